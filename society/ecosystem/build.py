"""Building an ecosystem from the raw records of a source."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from virsci_society.agents.arrays import BoolArray, IntArray, VectorArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import replacing
from virsci_society.agents.lazy_imports import pa, pc, pq, sparse
from virsci_society.society.ecosystem.build_options import (
    BuildOptions,
    BuildProgress,
    PaperFilters,
    PeopleFilters,
)
from virsci_society.society.ecosystem.ecosystem import Ecosystem, encode_interests, require_past
from virsci_society.society.ecosystem.importers.records import RawRecord
from virsci_society.society.ecosystem.knowledge_bank import MASK, People, numbered_names
from virsci_society.society.literature.embedding.base import Embedding, paper_text
from virsci_society.society.literature.embedding.lsa import (
    DIMENSIONS,
    SAMPLE,
    LSAEmbedding,
    TermCounts,
    count_terms,
)
from virsci_society.society.literature.embedding.registry import SideBySide, make_model, parts_of
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Papers

UNKNOWN = -1
AT_ONCE = 2000
"""Records in memory as Python objects at a time."""


def _schema() -> pa.Schema:
    text, texts, numbers = pa.large_string(), pa.large_list(pa.large_string()), pa.list_(pa.int32())
    columns = {"id": text, "title": text, "abstract": text, "year": pa.int32()}
    columns |= {"author_ids": texts, "author_names": texts, "affiliations": texts}
    columns |= {"references": texts, "keywords": texts, "venue": text, "citations": pa.int32()}
    return pa.schema(columns | {"cited_years": numbers, "cited_counts": numbers})


class RawCorpus:
    """One row per record, in the source's order; links and counts are those of known papers.

    Words stay in one Parquet file until they are asked for by row, so those of a dropped paper are
    never held.

    Attributes:
        later_citations: of those collected, those of the boundary year and after.
        first_counted: first year for which the known papers have counts per year; None without.
        links: (citing, cited) rows, each pair once, no paper itself.
    """

    def __init__(self, path: Path, boundary: int) -> None:
        self.path, self.boundary = path, boundary
        with pq.ParquetFile(path) as file:

            def column(name: str) -> pa.Array:
                return file.read(columns=[name])[name].combine_chunks()

            abstracts = [np.zeros(0, dtype=bool)]
            for batch in file.iter_batches(AT_ONCE, columns=["abstract"]):
                abstracts.append(np.asarray(pc.binary_length(batch["abstract"])) > 0)
            self.abstracts: BoolArray = np.concatenate(abstracts)
            self.keywords: BoolArray = pc.list_value_length(column("keywords")).to_numpy() > 0
            self.ids = column("id")
            self.years: IntArray = column("year").to_numpy().astype(np.int64)
            people = column("author_ids")
            coded = people.flatten().dictionary_encode()
            self.authors = pa.LargeListArray.from_arrays(people.offsets, coded.indices)
            self.author_ids = coded.dictionary

            collected = column("citations").fill_null(UNKNOWN)
            self.collected_citations: IntArray = collected.to_numpy().astype(np.int64)
            cited_years = column("cited_years")
            rows = pc.list_parent_indices(cited_years).to_numpy()
            of_known = self.known[rows]
            counted = cited_years.flatten().to_numpy()
            self.first_counted = int(counted[of_known].min()) if of_known.any() else None
            later = of_known & (counted >= boundary)
            counts = column("cited_counts").flatten().to_numpy()
            later_citations = np.bincount(rows[later], counts[later], len(self))
            self.later_citations: IntArray = later_citations.astype(np.int64)

            references = column("references")
            citing = pc.list_parent_indices(references).to_numpy()
            cited = references.flatten().filter(pa.array(self.known[citing]))
            citing, early = citing[self.known[citing]], np.flatnonzero(self.known)
            positions = pc.index_in(cited, value_set=self.ids.take(pa.array(early)))
            inside = positions.is_valid().to_numpy(zero_copy_only=False)
            sources, targets = citing[inside], early[positions.drop_null().to_numpy()]
            pairs = np.unique((sources * len(self) + targets)[sources != targets])
            self.links = pairs // max(1, len(self)), pairs % max(1, len(self))
            named = pc.not_equal(cited, self.ids.take(pa.array(citing)))
            self.has_references = bool(pc.any(named).as_py())

    @classmethod
    def read(
        cls,
        records: Iterable[RawRecord],
        boundary: int,
        path: Path,
        progress: Callable[[int], None] = lambda _: None,
    ) -> RawCorpus:
        """Read a source once, write its records into a file, and make the arrays."""
        done, left, schema = 0, iter(records), _schema()
        with replacing(path) as new, pq.ParquetWriter(new, schema, compression="zstd") as writer:
            while some := list(islice(left, AT_ONCE)):
                rows = []
                for one in some:
                    people = tuple(zip(*one.authors, strict=True)) or ((), (), ())
                    cited = tuple(zip(*one.citations_by_year, strict=True)) or ((), ())
                    texts = (one.id, one.title, one.abstract, one.year)
                    rest = (one.references, one.keywords, one.venue, one.citations)
                    rows.append((*texts, *people, *rest, *cited))
                columns = dict(zip(schema.names, zip(*rows, strict=True), strict=True))
                writer.write_table(pa.table(columns, schema=schema))
                done += len(some)
                progress(done)
        return cls(path, boundary)

    def __len__(self) -> int:
        return len(self.years)

    @cached_property
    def known(self) -> BoolArray:
        """Which papers are of years before the boundary."""
        return self.years < self.boundary

    @cached_property
    def people(self) -> sparse.csr_array:
        """Papers by authors, 1 where a known paper has an author; each row in author order."""
        sizes = pc.list_value_length(self.authors).to_numpy()
        seats = np.repeat(self.known, sizes)
        columns = self.authors.flatten().to_numpy()[seats].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(np.where(self.known, sizes, 0))])
        ones = np.ones(len(columns), dtype=np.int32)
        return sparse.csr_array((ones, columns, starts), shape=(len(self), len(self.author_ids)))

    def by_date(self, rows: IntArray) -> IntArray:
        """Sort rows by year, then id."""
        table = pa.table({"year": self.years[rows], "id": self.ids.take(pa.array(rows))})
        order = pc.sort_indices(table, [("year", "ascending"), ("id", "ascending")])
        return np.asarray(rows[order], dtype=np.int64)

    def table(self, rows: BoolArray, *columns: str) -> pa.Table:
        """Columns of the file for some rows, in their order."""
        empty = pa.schema([_schema().field(name) for name in columns]).empty_table()
        return pa.concat_tables([empty, *self.batches(rows, *columns)])

    def batches(self, rows: BoolArray, *columns: str) -> Iterator[pa.Table]:
        """The same, some thousand rows at a time."""
        start = 0
        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(AT_ONCE, columns=list(columns)):
                chosen = rows[start : start + len(batch)]
                start += len(batch)
                if chosen.any():
                    yield pa.Table.from_batches([batch]).filter(pa.array(chosen))


COUNTED = "citations of past papers are counted from the references of papers before the boundary"
BY_YEAR = (
    "citations of past papers are the source's counts per year, those from the boundary on left out"
)
COUNTED_BOTH_WAYS = (
    "citations of past papers are counted from the references of papers before the boundary or, "
    "where that is more, are the source's counts per year without those from the boundary on"
)
COLLECTED = (
    "citations of past papers are counts at collection time, which include citations made "
    "after the boundary: the source has no references to count"
)
UNDATED = (
    "citations of scientists are unknown: counts at collection time are not those of the past, so "
    "that no profile and no rule uses them"
)
NO_COUNTS = "citations of past papers are unknown: the source has neither references nor counts"
COLLECTED_LATER = "citations of contemporary papers (for CI) are counts at collection time"
NO_CI = "citations of contemporary papers are unknown: CI and ON are not available"
NO_CONTEMPORARY = "there are no contemporary papers: CD, CI and ON are not available"
NO_VECTOR = "paper without a vector: no word of it is known to the embedding"
OWN_TERMS = "interests of papers without keywords are terms of their own text"

BLOCK = 4096
"""People whose co-authors are counted together."""
Step = dict[str, int | str]
"""One filter for the manifest: ``filter``, number ``in``, number ``removed``."""


@dataclass(frozen=True, eq=False)
class PaperSelection:
    """The papers of a corpus that are kept, by row, and their citations; -1 where unknown."""

    past: BoolArray
    contemporary: BoolArray
    citations: IntArray
    citation_source: str
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def kept(self) -> BoolArray:
        """All papers that are kept."""
        return self.past | self.contemporary


def select_papers(corpus: RawCorpus, filters: PaperFilters) -> PaperSelection:
    """Split a source at the boundary and apply the filters to either side."""
    citations, citations_are = citations_at_boundary(corpus)
    first, last = filters.first_year, filters.last_year
    everything = np.ones(len(corpus), dtype=bool)
    in_years = everything if first is None else corpus.years >= first
    in_years = in_years if last is None else in_years & (corpus.years <= last)
    sides = {"past": corpus.known, "contemporary": ~corpus.known}
    leasts = {"past": filters.min_citations_past}
    leasts["contemporary"] = filters.min_citations_contemporary
    steps: list[Step] = []
    notes: list[str] = []
    for side, least in leasts.items():
        at_collection = side == "contemporary" or citations_are == COLLECTED
        when = " at collection" if at_collection and least > 0 else ""
        rules = {
            f"year range {first or 'any'} to {last or 'any'}": in_years,
            "abstract required": corpus.abstracts if filters.require_abstract else everything,
            f"at least {least} citations{when}": everything if least <= 0 else citations >= least,
        }
        for name, holds in rules.items():
            before, left = sides[side], sides[side] & holds
            removed = int(before.sum() - left.sum())
            steps.append({"filter": f"{side}: {name}", "in": int(before.sum()), "removed": removed})
            sides[side] = left
        # The last rule is that of citations.
        if least > 0 and (unknown := int((before & (citations < 0)).sum())):
            notes.append(
                f"{unknown} {side} papers were left out by the least number of citations because "
                "theirs is unknown: an unknown count cannot be shown to reach it"
            )
    return PaperSelection(
        sides["past"], sides["contemporary"], citations, citations_are, steps, notes
    )


def citations_at_boundary(corpus: RawCorpus) -> tuple[IntArray, str]:
    """Citations of papers before the boundary as of it, of others as collected, and their origin.

    Without references or counts back to the boundary, those at collection stand for all.
    """
    known, collected = corpus.known, corpus.collected_citations
    received = np.bincount(corpus.links[1], minlength=len(corpus)).astype(np.int64)
    by_year = None
    if corpus.first_counted is not None and corpus.first_counted <= corpus.boundary:
        # Counts per year may cover the last years only: what they leave is from before them.
        left = np.maximum(collected - corpus.later_citations, 0)
        by_year = np.where(collected >= 0, left, UNKNOWN)
    if corpus.has_references and by_year is not None:
        at_boundary, sentence = np.maximum(received, by_year), COUNTED_BOTH_WAYS
    elif corpus.has_references:
        at_boundary, sentence = received, COUNTED
    elif by_year is not None:
        at_boundary, sentence = by_year, BY_YEAR
    else:
        at_boundary = collected
        sentence = COLLECTED if bool((collected[known] >= 0).any()) else NO_COUNTS
    return np.where(known, at_boundary, collected), sentence


def select_scientists(
    corpus: RawCorpus, selection: PaperSelection, filters: PeopleFilters
) -> tuple[IntArray, list[Step]]:
    """Select the scientists, as ascending columns of ``corpus.people``, and note each filter."""

    def papers_of_each(papers: BoolArray) -> IntArray:
        authors = corpus.people[np.flatnonzero(papers)].indices
        return np.bincount(authors, minlength=corpus.people.shape[1]).astype(np.int64)

    written = papers_of_each(corpus.known)
    left = np.flatnonzero(written)
    steps: list[Step] = []

    def keep(name: str, holds: BoolArray) -> IntArray:
        removed = int(len(left) - holds.sum())
        steps.append({"filter": f"people: {name}", "in": len(left), "removed": removed})
        return left[holds]

    left = keep("at least one kept past paper", papers_of_each(selection.past)[left] > 0)
    left = keep(f"at least {filters.min_papers} papers", written[left] >= filters.min_papers)
    enough = np.ones(len(left), dtype=bool)
    if filters.min_coauthors > 0:
        by_author = corpus.people.T.tocsr()
        for start in range(0, len(left), BLOCK):
            together = by_author[left[start : start + BLOCK]] @ corpus.people
            # The product counts everybody as an own co-author, too.
            enough[start : start + BLOCK] = np.diff(together.indptr) > filters.min_coauthors
    left = keep(f"at least {filters.min_coauthors} co-authors", enough)
    if filters.active_years is not None:
        since = corpus.boundary - filters.active_years
        recent = papers_of_each(selection.past & (corpus.years >= since))
        left = keep(f"a kept past paper from {since} on", recent[left] > 0)
    return left, steps


def count_joint_papers(
    people: sparse.csr_array, columns: Sequence[int] | IntArray
) -> sparse.csr_array:
    """The joint papers of each two of some columns of ``corpus.people``: int64, zero diagonal."""
    of_each = people.T.tocsr()[np.asarray(columns, dtype=np.int64)].astype(np.int64)
    counts = (of_each @ of_each.T).tocoo()
    # Without the diagonal, which counts everybody's own papers.
    apart = counts.row != counts.col
    pairs = (counts.row[apart], counts.col[apart])
    joint = sparse.csr_array((counts.data[apart], pairs), shape=counts.shape)
    joint.sort_indices()
    return joint


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


def fit_lsa(
    texts: Sequence[str], seed: int, length: int
) -> tuple[LSAEmbedding, TermCounts | None, list[str]]:
    """Fit an LSA on the texts of past papers; one that knows no word, and a note, without words."""
    try:
        counted = count_terms(texts) if len(texts) <= SAMPLE else None
        return LSAEmbedding.fit(texts, seed=seed, dim=length, counted=counted), counted, []
    except InputError:
        nothing = LSAEmbedding([], np.zeros(0), np.zeros((0, 1), dtype=np.float32))
        note = f"the {len(texts):,} past papers have no text to fit an embedding on"
        return nothing, None, [f"{note}: every vector is zero and searches find nothing near"]


def make_profiles(
    corpus: RawCorpus,
    scientists: IntArray,
    citations: IntArray,
    joint: sparse.csr_array,
    lsa: LSAEmbedding,
    progress: Callable[[int], None],
) -> tuple[People, IntArray]:
    """Make the profiles at the boundary, with masked names, and the career starts."""
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
    counted = counts >= 0
    cited = np.bincount(people[counted], counts[counted], count).astype(np.int64)
    names = numbered_names(MASK, count)
    # Those with the most joint papers, among equals by name. Nobody outside of the population is
    # named: the name would lead nowhere.
    owners = np.repeat(np.arange(count), np.diff(joint.indptr))
    by_name = np.empty(count, dtype=np.int64)
    by_name[pc.sort_indices(names).to_numpy()] = np.arange(count)
    partners = joint.indices[np.lexsort((by_name[joint.indices], -joint.data, owners))]
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
        "citations": pa.array(cited, mask=np.bincount(people[counted], minlength=count) == 0),
        "collaborators": _capped(owners, partners, names, count, COLLABORATORS),
    }
    starts: IntArray = corpus.years[rows[np.searchsorted(people, np.arange(count))]]
    return People(pa.table(columns, schema=People.schema())), starts


def _paper_terms(
    corpus: RawCorpus, written: BoolArray, lsa: LSAEmbedding, progress: Callable[[int], None]
) -> tuple[pa.LargeListArray, pa.Array]:
    """The terms of some papers in lower case, the best first, each once, as numbers of words."""
    # Keywords that other papers use are preferred: they read better than other terms.
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


def _capped(owners: IntArray, items: IntArray, words: pa.Array, size: int, most: int) -> pa.Array:
    """The first ``most`` items of each owner, as lists of words; owners are ascending."""
    starts = np.searchsorted(owners, np.arange(size + 1))
    kept = np.arange(len(owners)) - starts[owners] < most
    offsets = np.concatenate([[0], np.cumsum(np.minimum(np.diff(starts), most))])
    return pa.LargeListArray.from_arrays(pa.array(offsets), words.take(pa.array(items[kept])))


def _source_notes(corpus: RawCorpus, selection: PaperSelection, scientists: int) -> list[str]:
    """The notes on a source: origin of its citation counts, unknown values, and empty sides."""
    notes = [selection.citation_source]
    if selection.citation_source == COLLECTED:
        notes.append(UNDATED)
    counts = selection.citations[selection.contemporary]
    if not len(counts):
        notes.append(NO_CONTEMPORARY)
    elif not (counts >= 0).any():
        notes.append(NO_CI)
    else:
        notes.append(COLLECTED_LATER)
        if unknown := int((counts < 0).sum()):
            notes.append(
                f"citations of {unknown:,} of the {len(counts):,} contemporary papers are unknown; "
                "they are left out of CI"
            )
    if not bool(corpus.keywords[corpus.known].all()):
        notes.append(OWN_TERMS)
    notes.extend(selection.notes)
    if not len(counts):
        span = f"the source has only papers of {corpus.years.min()} to {corpus.years.max()}"
        why = f"{span}, all before it" if corpus.known.all() else "the filters leave none"
        notes.append(f"EMPTY: no contemporary papers from {corpus.boundary} on: {why}")
    if not scientists:
        notes.append(
            "EMPTY: no scientists: no author passes the filters; a society cannot start from this"
        )
    return notes


def build(
    records: Iterable[RawRecord],
    options: BuildOptions,
    facts: Callable[[], Mapping[str, Any]] = dict,
    progress: BuildProgress | None = None,
    folder: Path | None = None,
) -> Ecosystem:
    """Build an ecosystem by options; ``folder`` has the records meanwhile."""
    # Before reading, so that an invalid name or a missing extra fails at once.
    model = make_model(options.embedding, options.hosting)
    progress = progress or BuildProgress()
    with TemporaryDirectory(prefix="society-", dir=folder) as temporary:
        progress.begin("reading the source")
        path = Path(temporary, "records.parquet")
        corpus = RawCorpus.read(records, options.boundary, path, progress.count)
        if not len(corpus):
            raise InputError("the source has no record; give one with papers")
        return _build(corpus, options, facts(), progress, model)


def _build(
    corpus: RawCorpus,
    options: BuildOptions,
    facts: Mapping[str, Any],
    progress: BuildProgress,
    model: Embedding | None,
) -> Ecosystem:
    selection = select_papers(corpus, options.papers)
    if not selection.past.any():
        raise InputError(_why_no_past_papers(corpus, selection))
    scientists, steps = _scientists_by_mask(corpus, selection, options)
    progress.begin("reading titles and abstracts of the kept papers")
    past, contemporary, key = _kept_papers(corpus, selection, scientists)
    # Arrow keeps the memory of the unsorted columns, which the LSA needs.
    pa.default_memory_pool().release_unused()

    require_past(past.years, options.boundary, "the vectors")
    texts = paper_texts(past)
    length = parts_of(options.embedding)[0]
    # Always, even with a model: terms of papers without keywords come from it.
    why = " for terms" if length is None else ""
    progress.begin(f"fitting the LSA to {len(texts):,} past papers{why}")
    lsa, counted, fit_notes = fit_lsa(texts, options.seed, length or DIMENSIONS)
    embedding: Embedding = lsa
    if model is not None:
        embedding = model if length is None else SideBySide.fit(lsa, model, texts)
    progress.begin(f"embedding {len(past):,} past papers")
    if model is None:
        past_vectors = lsa.encode(texts, progress.texts, counted)
    else:
        past_vectors = embedding.encode(texts, progress.texts)
    progress.begin(f"embedding {len(contemporary):,} contemporary papers")
    later_vectors = embedding.encode(paper_texts(contemporary), progress.texts)

    progress.begin(f"reading the topics of {len(scientists):,} scientists")
    joint = count_joint_papers(corpus.people, scientists)
    citations = selection.citations
    if selection.citation_source == COLLECTED:
        citations = np.full_like(citations, UNKNOWN)
    people, starts = make_profiles(corpus, scientists, citations, joint, lsa, progress.count)
    interests = None
    if model is not None:
        progress.begin(f"embedding the interests of {len(people):,} scientists")
        interests = encode_interests(people, embedding, progress.texts)
    notes = _source_notes(corpus, selection, len(scientists))
    cleaning = [*facts.get("cleaning", ())]
    blank = _without_vector(past, past_vectors) + _without_vector(contemporary, later_vectors)
    if blank:
        cleaning.append({"what": NO_VECTOR, "number": len(blank), "example": blank[0]})
        total = len(past) + len(contemporary)
        notes.append(
            f"{len(blank):,} of the {total:,} papers have no vector: the embedding knows no word "
            "of their title and abstract, so that no search finds them by meaning"
        )
    manifest = {
        "filters": options.filters,
        "steps": selection.steps + steps,
        "records": len(corpus),
        "seed": options.seed,
        **facts,
        "cleaning": cleaning,
        "notes": [*notes, *fit_notes, *embedding.notes, *facts.get("unknown", ())],
    }
    return Ecosystem(
        boundary=options.boundary,
        past=past,
        contemporary=contemporary,
        profiles=people,
        career_starts=starts,
        coauthors=joint,
        embedding=embedding,
        past_vectors=past_vectors,
        contemporary_vectors=later_vectors,
        manifest=manifest,
        key=key,
        interest_vectors=interests,
    )


def _scientists_by_mask(
    corpus: RawCorpus, selection: PaperSelection, options: BuildOptions
) -> tuple[IntArray, list[dict[str, Any]]]:
    """The author numbers of the population in the order of their masks, and the filter steps."""
    scientists, steps = select_scientists(corpus, selection, options.people)
    if options.scientists is not None:
        wanted = pa.array(list(options.scientists), pa.large_string())
        listed = np.flatnonzero(pc.is_in(corpus.author_ids, value_set=wanted))
        listed = np.intersect1d(scientists, listed)
        removed = len(scientists) - len(listed)
        steps.append({"filter": "people: listed", "in": len(scientists), "removed": removed})
        scientists = listed
    # By id first, so that masks do not depend on the order of the source; then shuffled, so that
    # they reveal nothing about a name.
    by_id = pc.sort_indices(corpus.author_ids.take(pa.array(scientists))).to_numpy()
    rng = np.random.default_rng([options.seed % 2**64, len(scientists)])
    return scientists[by_id][rng.permutation(len(scientists))], steps


def _why_no_past_papers(corpus: RawCorpus, selection: PaperSelection) -> str:
    first, last = int(corpus.years.min()), int(corpus.years.max())
    inside = first < corpus.boundary <= last + 1
    years = f"{first}" if first == last else f"{first} to {last}"
    ends = f"{first + 1}" if first == last else f"from {first + 1} to {last + 1}"
    other = "another boundary" if inside else f"a boundary {ends}"
    filtered = corpus.known.any()
    why = "the filters leave none" if filtered else f"the source has only papers of {years}"
    fault = f"no past papers before {corpus.boundary}: {why}; a society cannot start from this"
    return "\n".join([f"{fault}, choose {other} or weaker filters", *selection.notes])


def _without_vector(papers: Papers, vectors: VectorArray) -> list[str]:
    """The ids of the papers whose vector is zero, as no word of theirs is known."""
    return [papers[row].id for row in np.flatnonzero(~vectors.any(axis=1)).tolist()]


def _kept_papers(
    corpus: RawCorpus, selection: PaperSelection, scientists: IntArray
) -> tuple[Papers, Papers, dict[str, tuple[str, str]]]:
    """The kept papers with masked names, and the source id and name of each mask."""
    rows = corpus.by_date(np.flatnonzero(selection.kept))
    columns = ("id", "title", "abstract", "references", "keywords", "venue", "author_names")
    table = corpus.table(selection.kept, *columns)
    table = table.take(pa.array(np.searchsorted(np.flatnonzero(selection.kept), rows)))

    authors = corpus.authors.take(pa.array(rows))
    seats = authors.flatten().to_numpy()
    # As the papers name them, by year and id: the order of the source must not show.
    named, first = np.unique(seats, return_index=True)
    named = named[np.argsort(first)]
    others = named[~np.isin(named, scientists)]
    people = np.concatenate([scientists, others])
    names = pa.concat_arrays(
        [numbered_names(MASK, len(scientists)), numbered_names("Author", len(others))]
    )
    number_of = np.zeros(len(corpus.author_ids), dtype=np.int64)
    number_of[people] = np.arange(len(people))
    masked = names.take(pa.array(number_of[seats]))

    # Names change; the key has the one on the newest paper.
    newest = np.zeros(len(people), dtype=np.int64)
    newest[number_of[seats]] = np.arange(len(seats))
    real = pc.list_flatten(table["author_names"]).take(pa.array(newest)).to_pylist()
    ids = corpus.author_ids.take(pa.array(people)).to_pylist()
    key = dict(zip(names.to_pylist(), zip(ids, real, strict=True), strict=True))

    counts = selection.citations[rows]
    more = {
        "date": (corpus.years[rows] - corpus.boundary) * DAYS_PER_YEAR,
        "year": corpus.years[rows],
        "authors": pa.LargeListArray.from_arrays(authors.offsets, masked),
        "citations": pa.array(counts, pa.int64(), mask=counts < 0),
    }
    for name, column in more.items():
        table = table.append_column(name, pa.array(column))
    papers = Papers(table.select(Papers.schema().names).cast(Papers.schema()))
    past = int((corpus.years[rows] < corpus.boundary).sum())
    return papers[:past], papers[past:], key
