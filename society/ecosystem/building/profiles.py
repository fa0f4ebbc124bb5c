"""Profiles of scientists at the boundary, which say what they wrote, where, and with whom.

Papers that the filters left out count here, too; nothing from the boundary year on does. The terms
of a paper are its keywords or, where it has none, those of its own text with the highest TF-IDF
weight in an LSA that is fitted on the kept past papers. Keywords that other papers use are
preferred: they read better than other terms.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import numpy as np

from virsci_society.agents.arrays import BoolArray, IntArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.lazy_imports import pa, pc, sparse
from virsci_society.society.ecosystem.building.raw_corpus import RawCorpus
from virsci_society.society.ecosystem.ecosystem import require_past
from virsci_society.society.ecosystem.knowledge_bank import MASK, People, numbered_names
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.literature.embedding.lsa import LSAEmbedding
from virsci_society.society.literature.papers import Papers

TERMS_PER_PAPER = 4
"""Most terms of a paper without keywords."""
AFFILIATIONS = 3
"""Most affiliations of a profile."""
INTERESTS = 10
"""Most interests of a profile."""
COLLABORATORS = 10
"""Most collaborators of a profile."""


def paper_texts(papers: Papers) -> list[str]:
    """The text by which each paper is embedded."""
    columns = papers.table["title"].to_pylist(), papers.table["abstract"].to_pylist()
    pairs = zip(*columns, strict=True)
    return [paper_text(title, abstract) for title, abstract in pairs]


def fit_lsa(texts: Sequence[str], seed: int, length: int) -> tuple[LSAEmbedding, list[str]]:
    """Fit an LSA on the texts of past papers; without texts or words it knows no word.

    Returns notes for the manifest, too.
    """
    nothing = LSAEmbedding([], np.zeros(0), np.zeros((0, 1), dtype=np.float32))
    if not texts:
        return nothing, []
    try:
        return LSAEmbedding.fit(texts, seed=seed, dim=length), []
    except InputError:
        told = f"the {len(texts):,} past papers have no words to fit an embedding on"
        return nothing, [f"{told}: every vector is zero and searches find nothing near"]


def make_profiles(
    corpus: RawCorpus,
    scientists: IntArray,
    citations: IntArray,
    joint: sparse.csr_array,
    lsa: LSAEmbedding,
    progress: Callable[[int], None],
) -> tuple[People, IntArray]:
    """Make the profiles at the boundary, with masked names, and the career starts.

    The scientists are numbers of authors, in the order of their names. Collaborators are named
    where they are scientists of this population: the name of anybody else would lead nowhere.
    ``citations`` are those known to be from before the boundary, by row of the corpus, -1 where
    unknown; ``joint`` are the joint papers of each two scientists.
    """
    count = len(scientists)
    number_of = np.full(len(corpus.author_ids), -1, dtype=np.int64)
    number_of[scientists] = np.arange(count)
    # A seat is one scientist on one paper; papers are numbered by date.
    people = number_of[corpus.people.indices]
    rows = np.repeat(np.arange(len(corpus)), np.diff(corpus.people.indptr))
    written = np.zeros(len(corpus), dtype=bool)
    written[rows[people >= 0]] = True
    dated = corpus.by_date(np.flatnonzero(written))
    require_past(corpus.years[dated], corpus.boundary, "profiles and interests")
    paper_of = np.zeros(len(corpus), dtype=np.int64)
    paper_of[dated] = np.arange(len(dated))
    seats = np.flatnonzero(people >= 0)
    seats = seats[np.lexsort((paper_of[rows[seats]], people[seats]))]
    # In the order of the source, as the words of the papers are read.
    authors = np.flatnonzero(written[rows])
    places = corpus.table(written, "affiliations")["affiliations"].combine_chunks().flatten()
    places = places.take(pa.array(np.searchsorted(authors, seats)))
    people, rows = people[seats], rows[seats]
    terms, words = _paper_terms(corpus, written, lsa, progress)
    terms = terms.take(pa.array(np.searchsorted(np.flatnonzero(written), rows)))
    counts = citations[rows]
    known = counts >= 0
    cited = np.bincount(people[known], counts[known], count).astype(np.int64)
    names = numbered_names(MASK, count)
    # Backwards: among equally frequent affiliations the one counts that is met first.
    stated = np.flatnonzero(pc.binary_length(places))[::-1]
    places = places.dictionary_encode()
    stated_places = places.indices.to_numpy()[stated].astype(np.int64)
    columns = {
        "id": names,
        "affiliations": frequent_items(
            people[stated], stated_places, places.dictionary, count, AFFILIATIONS
        ),
        "interests": frequent_items(
            np.repeat(people, pc.list_value_length(terms)),
            terms.flatten().to_numpy(),
            words,
            count,
            INTERESTS,
        ),
        "papers": np.bincount(people, minlength=count),
        "citations": pa.array(cited, mask=np.bincount(people[known], minlength=count) == 0),
        "collaborators": collaborator_lists(joint, names),
    }
    starts: IntArray = corpus.years[rows[np.searchsorted(people, np.arange(count))]]
    return People(pa.table(columns, schema=People.schema())), starts


def _paper_terms(
    corpus: RawCorpus, written: BoolArray, lsa: LSAEmbedding, progress: Callable[[int], None]
) -> tuple[pa.LargeListArray, pa.Array]:
    """The terms of some papers in lower case, the best first, each once, as numbers of words."""
    used: set[str] = set()
    # Of a source in which every known paper has keywords, none is chosen from a text.
    if not corpus.keywords[corpus.known].all():
        for table in corpus.batches(corpus.known & corpus.keywords, "keywords"):
            unique = pc.unique(pc.list_flatten(table["keywords"])).to_pylist()
            used.update(keyword.lower() for keyword in unique)
    words: dict[str, int] = {}
    sizes, items = array("q", [0]), array("q")
    for table in corpus.batches(written, "title", "abstract", "keywords"):
        for title, abstract, keywords in zip(*table.to_pydict().values(), strict=True):
            terms = dict.fromkeys(keyword.lower() for keyword in keywords)
            if not keywords:
                text = paper_text(title, abstract)
                terms = dict.fromkeys(lsa.keywords(text, TERMS_PER_PAPER, used))
            items.extend(words.setdefault(term, len(words)) for term in terms)
            sizes.append(len(items))
        progress(len(sizes) - 1)
    lists = pa.LargeListArray.from_arrays(np.asarray(sizes), np.asarray(items))
    return lists, pa.array(words, pa.large_string())


def frequent_items(
    owners: IntArray, items: IntArray, words: pa.Array, size: int, most: int = INTERESTS
) -> pa.Array:
    """The most frequent items of each owner as lists of words; among equals the first to come."""
    keys = owners * len(words) + items
    kinds, places, counts = np.unique(keys, return_index=True, return_counts=True)
    people = kinds // max(1, len(words))
    order = np.lexsort((places, -counts, people))
    return _capped(people[order], (kinds % max(1, len(words)))[order], words, size, most)


def collaborator_lists(joint: sparse.csr_array, names: pa.Array) -> pa.Array:
    """The names of the people with the most joint papers, for each person; among equals by name."""
    size = joint.shape[0]
    people = np.repeat(np.arange(size), np.diff(joint.indptr))
    by_name = np.empty(size, dtype=np.int64)
    by_name[pc.sort_indices(names).to_numpy()] = np.arange(size)
    order = np.lexsort((by_name[joint.indices], -joint.data, people))
    return _capped(people, joint.indices[order], names, size, COLLABORATORS)


def _capped(owners: IntArray, items: IntArray, words: pa.Array, size: int, most: int) -> pa.Array:
    """The first ``most`` items of each owner, as lists of words; owners are ascending."""
    starts = np.searchsorted(owners, np.arange(size + 1))
    kept = np.arange(len(owners)) - starts[owners] < most
    offsets = np.concatenate([[0], np.cumsum(np.minimum(np.diff(starts), most))])
    return pa.LargeListArray.from_arrays(pa.array(offsets), words.take(pa.array(items[kept])))
