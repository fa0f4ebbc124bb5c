"""Combinations: does a paper cite topics together that are seldom cited together?

After Uzzi et al. 2013, with topics where they have journals. Every pair of references of a paper
is a pair of topics. How often the society cites the pair, against networks of citations in which
every paper cites as many and is cited as often, from papers of the same years, gives its z.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from society.literature.paper import DAYS_PER_YEAR
from society.run import Run
from society.streams import Streams

NULLS = 10
"""Randomised networks, as many as Uzzi et al. take."""
ROUNDS = 5
"""Times that every citation is tried between two randomised networks, and twice that before the
first (each begins with the one before it)."""
TAIL = 10.0
"""The percentile of a paper's z that tells how atypical its most atypical pairs are."""
COLUMNS = ("typical", "atypical")
Whole = NDArray[np.int64]


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
    topics, years = _known(run, cites)
    cites = cites[cites["cited"].isin(list(topics)) & cites["citing"].isin(names)]
    rows = pd.Index(names).get_indexer(cites["citing"]).astype(np.int64)
    codes, cited = pd.factorize(cites["cited"], sort=True)
    labels, _ = pd.factorize(pd.Series([topics[one] for one in cited], dtype=object), sort=True)
    when = np.array([years[one] for one in cited], dtype=np.int64)
    rng = Streams(run.seed, "metrics", "combinations").stream()
    found = scored(rows, codes.astype(np.int64), labels.astype(np.int64), when, rng)
    table["references"] = np.bincount(rows, minlength=len(names))
    values = [found.get(row, np.array([])) for row in range(len(names))]
    table["pairs"] = [len(z) for z in values]
    for name, percent in zip(COLUMNS, (50.0, TAIL), strict=True):
        of_each = [float(np.percentile(z, percent)) if len(z) else None for z in values]
        table[name] = pd.array(of_each, dtype="Float64")
    return table.astype({"references": "Int64", "pairs": "Int64"})


def scored(
    citing: Whole, cited: Whole, topics: Whole, years: Whole, rng: np.random.Generator
) -> dict[int, NDArray[np.float64]]:
    """The z of every pair of references of each paper; of pairs whose null varies.

    Args:
        citing: paper of each citation, from 0.
        cited: what it cites, from 0.
        topics: topic of everything cited, from 0.
        years: year of everything cited.
        rng: draws the randomised networks.
    """
    if not len(citing):
        return {}
    count = int(topics.max()) + 1
    seen = together(citing, topics[cited], count).tocoo()
    keys = seen.coords[0].astype(np.int64) * count + seen.coords[1]
    order = np.argsort(keys)
    keys, times = keys[order], seen.data[order]
    nulls, now = np.zeros((NULLS, len(keys))), shuffled(citing, cited, years, rng)
    for row in range(NULLS):
        now = shuffled(citing, now, years, rng)
        null = together(citing, topics[now], count)
        nulls[row] = np.asarray(null[keys // count, keys % count]).ravel()
    spread = nulls.std(axis=0, ddof=1)
    z = np.full(len(keys), np.nan)
    np.divide(times - nulls.mean(axis=0), spread, out=z, where=spread > 0)
    return _of_papers(citing, topics[cited], count, keys, z)


def together(citing: Whole, topics: Whole, count: int) -> sparse.csr_array:
    """How many pairs of references of one paper have each pair of topics (upper triangle)."""
    ones = np.ones(len(citing))
    size = int(citing.max()) + 1
    has = sparse.coo_array((ones, (citing, topics)), shape=(size, count)).tocsr()
    crossed = sparse.triu((has.T @ has).tocsr(), k=1)
    alone = np.asarray((has.multiply(has) - has).sum(axis=0)).ravel() / 2
    found = (crossed + sparse.diags_array(alone)).tocsr()
    found.eliminate_zeros()
    return found


def shuffled(citing: Whole, cited: Whole, years: Whole, rng: np.random.Generator) -> Whole:
    """What each citation cites after swaps of two citations to papers of one year.

    Every paper cites as many papers of each year as before, each once, and each is cited as
    often.
    """
    now, width = cited.copy(), int(cited.max()) + 1
    for _ in range(ROUNDS):
        order = rng.permutation(len(now))
        order = order[np.argsort(years[now[order]], kind="stable")]
        one, other = order[:-1:2], order[1::2]
        fine = years[now[one]] == years[now[other]]
        one, other = one[fine], other[fine]
        keys = citing * width + now
        new = np.concatenate([citing[one] * width + now[other], citing[other] * width + now[one]])
        free = np.zeros(len(new), dtype=bool)
        free[np.unique(new, return_index=True)[1]] = True
        free &= ~np.isin(new, keys)
        swap = free[: len(one)] & free[len(one) :]
        one, other = one[swap], other[swap]
        now[one], now[other] = now[other], now[one]
    return now


def _of_papers(
    citing: Whole, topics: Whole, count: int, keys: Whole, z: NDArray[np.float64]
) -> dict[int, NDArray[np.float64]]:
    found: dict[int, NDArray[np.float64]] = {}
    order = np.argsort(citing, kind="stable")
    starts = np.flatnonzero(np.diff(citing[order], prepend=-1))
    for row, part in zip(citing[order][starts], np.split(order, starts[1:]), strict=True):
        own = np.sort(topics[part])
        left, right = np.triu_indices(len(own), k=1)
        values = z[np.searchsorted(keys, own[left] * count + own[right])]
        values = values[~np.isnan(values)]
        if len(values):
            found[int(row)] = values
    return found


def main_topics(keywords: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Of each paper, that of its keywords which most papers have; papers without are left out."""
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


def _known(run: Run, cites: pd.DataFrame) -> tuple[dict[str, str], dict[str, int]]:
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
    places = [place for place, name in enumerate(past.ids) if name in cited]
    keywords |= {past.ids[place]: past.keywords(place) for place in places}
    years |= {past.ids[place]: int(past.years[place]) for place in places}
    return main_topics(keywords), years
