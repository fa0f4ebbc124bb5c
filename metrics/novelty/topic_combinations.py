"""Atypical combinations of cited topics (after Uzzi et al. 2013, with topics for journals).

Every pair of references of a paper is a pair of topics. The z of a pair compares how often the
society cites it with randomised citation networks, in which every paper cites as many papers and
is cited as often, from papers of the same years.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.metrics.networks.small_world import collisions
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.run import Run

NULLS = 10
"""Randomised networks, as many as Uzzi et al. take."""
ROUNDS = 5
FEW_ROUNDS = 2
MANY = 500_000
"""Times that every citation is tried between two randomised networks, above so many citations
the fewer; and twice that before the first (each begins with the one before it)."""
TAIL = 10.0
"""The percentile of a paper's z that tells how atypical its most atypical pairs are."""
COLUMNS = ("typical", "atypical")


def combinations(run: Run) -> pd.DataFrame:
    """Typical and atypical combinations of cited topics (Uzzi et al. 2013); seeded.

    A paper's topic is that of its keywords which most papers have (ties: the first by name), of
    the past and of the society. Only references of the society's papers are counted, and the
    keywords of past papers must be at hand: a run folder alone does not hold them.

    Returns:
        One row per ``paper`` of the society: ``references`` (whose topic is known), ``pairs`` (of
        these, with a z), ``typical`` (median z over its pairs: conventionality) and ``atypical``
        (their 10th percentile: below 0, it has pairs that chance alone would make oftener).
        Missing without a pair.
    """
    names = run.table("papers")["paper"]
    table = pd.DataFrame({"paper": names.astype("string")}).reset_index(drop=True)
    cites = run.table("citations").drop_duplicates(["citing", "cited"])
    topics, years = _topics_and_years(run, cites)
    # Plain texts: pandas looks up arrow's one by one.
    cites, names = cites.astype(object), names.astype(object)
    cites = cites[cites["cited"].isin(list(topics)) & cites["citing"].isin(names)]
    rows = pd.Index(names).get_indexer(cites["citing"]).astype(np.int64)
    codes, cited = pd.factorize(cites["cited"], sort=True)
    labels, _ = pd.factorize(pd.Series([topics[one] for one in cited], dtype=object), sort=True)
    when = np.array([years[one] for one in cited], dtype=np.int64)
    rng = Streams(run.seed, "metrics", "combinations").stream()
    of, z = pair_z_scores(rows, codes.astype(np.int64), labels.astype(np.int64), when, rng)
    table["references"] = np.bincount(rows, minlength=len(names))
    table["pairs"] = np.bincount(of, minlength=len(names))
    for name, values in zip(
        COLUMNS, group_percentiles(of, z, len(names), (50.0, TAIL)), strict=True
    ):
        table[name] = pd.Series(values).astype("Float64").mask(table["pairs"] == 0)
    return table.astype({"references": "Int64", "pairs": "Int64"})


def pair_z_scores(
    citing: IntArray, cited: IntArray, topics: IntArray, years: IntArray, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """The z of every pair of references of each paper; of pairs whose null varies.

    Args:
        citing: paper of each citation, from 0.
        cited: what it cites, from 0.
        topics: topic of everything cited, from 0.
        years: year of everything cited.
        rng: draws the randomised networks.

    Returns:
        The paper of each pair, never decreasing, and its z.
    """
    if not len(citing):
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    count = int(topics.max()) + 1
    keys, times = _counted(pair_counts(citing, topics[cited], count))
    total, squares = np.zeros(len(keys)), np.zeros(len(keys))
    rounds = FEW_ROUNDS if len(citing) > MANY else ROUNDS
    # The first network starts from the true one and needs longer to forget it.
    current = shuffle_citations(citing, cited, years, rng, 2 * rounds)
    for _ in range(NULLS):
        current = shuffle_citations(citing, current, years, rng, rounds)
        places, counts = _matched(keys, *_counted(pair_counts(citing, topics[current], count)))
        total[places] += counts
        squares[places] += counts**2
    # Counts are whole numbers, so that a null which never varies is told exactly.
    spread = np.sqrt(np.maximum(NULLS * squares - total**2, 0.0) / (NULLS * (NULLS - 1)))
    z = np.full(len(keys), np.nan)
    np.divide(times - total / NULLS, spread, out=z, where=spread > 0)
    of, pairs = reference_pairs(citing, topics[cited], count)
    z_of_pair = z[np.searchsorted(keys, pairs)]
    known = ~np.isnan(z_of_pair)
    return of[known], z_of_pair[known]


def _counted(matrix: sparse.csr_array) -> tuple[IntArray, FloatArray]:
    """Keys of the pairs of topics, in order, and how often each is found."""
    ends = matrix.tocoo()
    keys = ends.coords[0].astype(np.int64) * matrix.shape[1] + ends.coords[1]
    order = np.argsort(keys, kind="stable")
    return keys[order], ends.data[order]


def _matched(
    keys: IntArray, candidates: IntArray, counts: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Places among the keys of those found that are among them, and their counts."""
    places = np.minimum(np.searchsorted(keys, candidates), len(keys) - 1)
    same = keys[places] == candidates
    return places[same], counts[same]


def pair_counts(citing: IntArray, topics: IntArray, count: int) -> sparse.csr_array:
    """How many pairs of references of one paper have each pair of topics."""
    ones = np.ones(len(citing))
    size = int(citing.max()) + 1
    has = sparse.coo_array((ones, (citing, topics)), shape=(size, count)).tocsr()
    crossed = sparse.triu((has.T @ has).tocsr(), k=1)
    alone = np.asarray((has.multiply(has) - has).sum(axis=0)).ravel() / 2
    counts = (crossed + sparse.diags_array(alone)).tocsr()
    counts.eliminate_zeros()
    return counts


def shuffle_citations(
    citing: IntArray,
    cited: IntArray,
    years: IntArray,
    rng: np.random.Generator,
    rounds: int = ROUNDS,
) -> IntArray:
    """Randomise citations by swaps of two citations to papers of one year.

    Every paper cites as many papers of each year as before, each once, and each is cited as
    often. In a round every citation is tried once.
    """
    current, width = cited.copy(), int(cited.max()) + 1
    # A swap never changes the year of what a citation cites.
    year = years[cited]
    by = np.argsort(year, kind="stable")
    groups = np.split(by, np.flatnonzero(np.diff(year[by])) + 1)
    for _ in range(rounds):
        mixed = [rng.permutation(group) for group in groups]
        first = np.concatenate([group[:-1:2] for group in mixed])
        second = np.concatenate([group[1::2] for group in mixed])
        new = np.concatenate(
            [citing[first] * width + current[second], citing[second] * width + current[first]]
        )
        # A swap that would let a paper cite another twice is not made.
        free = ~collisions(new, citing * width + current)
        swap = free[: len(first)] & free[len(first) :]
        first, second = first[swap], second[swap]
        current[first], current[second] = current[second], current[first]
    return current


def reference_pairs(citing: IntArray, topics: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """The paper, and the key of the two topics (lower * count + higher), of every pair."""
    order = np.lexsort((topics, citing))
    papers, starts, sizes = np.unique(citing[order], return_index=True, return_counts=True)
    own, of, keys = topics[order], [], []
    for size in np.unique(sizes):
        first = starts[sizes == size]
        cited = own[first[:, None] + np.arange(size)]
        left, right = np.triu_indices(size, k=1)
        keys.append((cited[:, left] * count + cited[:, right]).ravel())
        of.append(np.repeat(papers[sizes == size], len(left)))
    every, pair_keys = np.concatenate(of), np.concatenate(keys)
    order = np.argsort(every, kind="stable")
    return every[order], pair_keys[order]


def group_percentiles(
    of: IntArray, values: FloatArray, count: int, percents: Sequence[float]
) -> list[FloatArray]:
    """Percentiles of the values of each group, linearly interpolated.

    Returns:
        For each percentile an array of shape (count,); NaN for a group without values.
    """
    grouped = pd.Series(values, dtype="float64").groupby(of)
    every = range(count)
    return [np.asarray(grouped.quantile(one / 100).reindex(every), float) for one in percents]


def main_keywords(keywords: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Of each paper, that one of its keywords which most papers have; ties go to the first by name.

    Papers without keywords are left out.
    """
    plain = {
        paper: sorted({word.casefold().strip() for word in words} - {""})
        for paper, words in keywords.items()
    }
    counts = pd.Series([word for words in plain.values() for word in words]).value_counts()
    often = counts.to_dict()
    return {
        paper: min(words, key=lambda word: (-often[word], word))
        for paper, words in plain.items()
        if words
    }


def _topics_and_years(run: Run, cites: pd.DataFrame) -> tuple[dict[str, str], dict[str, int]]:
    """Topics and years of the papers cited, as far as they are known."""
    papers = run.table("papers")
    own = zip(papers["paper"], papers["keywords"].fillna(""), strict=True)
    keywords: dict[str, Sequence[str]] = {paper: words.split("; ") for paper, words in own}
    first = float(run.boundary or 0)
    year = np.floor(first + papers["published"].to_numpy(dtype=np.float64) / DAYS_PER_YEAR)
    years = dict(zip(papers["paper"], year.astype(int).tolist(), strict=True))
    past = None if run.databases is None else run.databases.past
    if past is None or past.keywords is None:
        return {}, {}
    cited = set(cites["cited"]) - set(years)
    rows = [row for row, name in enumerate(past.ids) if name in cited]
    keywords |= {past.ids[row]: past.keywords(row) for row in rows}
    years |= {past.ids[row]: int(past.years[row]) for row in rows}
    return main_keywords(keywords), years
