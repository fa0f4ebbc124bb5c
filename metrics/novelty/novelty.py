"""The novelty measures of abstracts (VirSci, section 4.1), of the k nearest papers in a database.

HD: mean distance to the past ones; CD: to the contemporary; CI: their citations; ON: HD x CI / CD.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field, ValidationError, field_validator

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray, zero_rows
from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.correlations import spearman
from virsci_society.metrics.novelty.nearest_papers import (
    Neighbours,
    VectorSpace,
    mean_pairwise_distance,
)
from virsci_society.metrics.registry import measure, measures, metric
from virsci_society.society.literature.embedding.base import Embedding, Progress, paper_text
from virsci_society.society.results.run import Run

COLUMNS = ("HD", "CD", "CI", "ON")
OWN = "own"
"""The embedding of the ecosystem, as ``novelty.embeddings`` names it."""


@dataclass(frozen=True)
class Database:
    """Papers to compare with."""

    vectors: NDArray[Any]
    years: NDArray[Any]
    citations: NDArray[Any] | None
    ids: Sequence[str]
    text: Callable[[int], str] | None = None

    def __post_init__(self) -> None:
        sizes = {len(self.vectors), len(self.years), len(self.ids)}
        sizes |= set() if self.citations is None else {len(self.citations)}
        if len(sizes) != 1 or np.ndim(self.vectors) != 2:
            raise InputError(
                f"database: vectors {np.shape(self.vectors)}, years {len(self.years)}, ids "
                f"{len(self.ids)}: expected n x d vectors and n of everything else"
            )
        zero_rows(np.asarray(self.vectors), "database", "embed its papers again")

    def comparable(self) -> Database:
        """The papers that have a vector: one of length zero would be near to everything."""
        rows = np.flatnonzero(np.asarray(self.vectors).any(axis=1))
        if len(rows) == len(self.ids):
            return self
        counts = None if self.citations is None else self.citations[rows]
        ids = [self.ids[row] for row in rows.tolist()]
        return Database(self.vectors[rows], self.years[rows], counts, ids)


@dataclass(frozen=True)
class Databases:
    """The past papers (before the boundary year) and the contemporary ones."""

    past: Database
    contemporary: Database
    embedding: Embedding | None = None
    progress: Progress | None = None


class Novelty(Part):
    """Settings of the novelty measure."""

    k: int = Field(default=5, ge=1, le=10_000)
    """Nearest neighbours per database (VirSci: 5)."""
    squared: bool = False
    """Compare squared distances, as faiss ``IndexFlatL2`` returns them."""
    unit: bool = True
    """Normalise embeddings to length 1."""
    normalise: Literal["query", "self", "pairwise", "none"] = "query"
    """Divisor of a distance, per year: mean distance from the text to all papers (``query``), mean
    distance of papers to their own neighbours (``self``), mean distance of two papers
    (``pairwise``) or none."""
    sample: int = Field(default=1000, ge=2, le=1_000_000)
    """Papers per year used for ``self`` and ``pairwise``."""
    seed: int = Field(default=0, ge=0, lt=2**63)
    """Seed of these samples."""
    evaluated: Literal["query", "abstract"] = "query"
    """Text whose distances are measured: the query by which neighbours are found, or title and
    abstract (VirSci, appendix C.3)."""
    words: int | None = Field(default=None, ge=10, le=100_000)
    """Words used of longer texts; null: all. Unit: words."""

    embeddings: tuple[str, ...] = Field(default=(OWN,), min_length=1)
    """Embeddings used: ``own`` (the ecosystem's) first, then names as in ``society ecosystem build
    --embedding``, except hosted ones."""

    @field_validator("embeddings")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if names[0] != OWN or len(set(names)) < len(names):
            raise ValueError("give own first, and each embedding once: [own, NAME]")
        for name in names[1:]:
            from virsci_society.society.literature.embedding.registry import is_hosted

            if is_hosted(name):
                raise ValueError(f"{name}: measuring makes no calls; name a model of this machine")
        return names

    @property
    def measures_queries(self) -> bool:
        """Are the measured texts those by which papers are found, which a run has embedded?"""
        return self.evaluated == "query" and self.words is None


def novelty_scores(
    vectors: NDArray[Any],
    past: Database,
    contemporary: Database,
    settings: Novelty | None = None,
    ids: Sequence[str] | None = None,
    neighbour_query: NDArray[Any] | None = None,
) -> pd.DataFrame:
    """Measure each abstract (VirSci, section 4.1); exact, in float64."""
    use = settings or Novelty()
    queries = np.asarray(vectors)
    for name, database in (("past", past), ("contemporary", contemporary)):
        if queries.ndim != 2 or queries.shape[1] != np.shape(database.vectors)[1]:
            raise InputError(
                f"abstracts of shape {queries.shape} against {name} papers of shape "
                f"{np.shape(database.vectors)}: both must come from one embedding"
            )
    names = [str(n) for n in range(len(queries))] if ids is None else list(ids)
    old, new = (
        _NoveltyDatabase(one.comparable(), use, queries, neighbour_query)
        for one in (past, contemporary)
    )
    hd, cd, ci = old.distance(), new.distance(), new.impact()
    with np.errstate(divide="ignore", invalid="ignore"):
        # An abstract that equals a contemporary paper has CD 0, and no ON.
        on = np.where(cd.value > 0, hd.value * ci.value / cd.value, np.nan)
    parts = {"HD": hd, "CD": cd, "CI": ci}
    columns: dict[str, Any] = {name: part.value for name, part in parts.items()} | {"ON": on}
    columns |= {f"{name}_raw": part.raw for name, part in parts.items()}
    columns = {name: pd.array(values, dtype="Float64") for name, values in columns.items()}
    columns["past_neighbours"] = pd.array(old.neighbours(), dtype="string")
    columns["contemporary_neighbours"] = pd.array(new.neighbours(), dtype="string")
    counts = {f"{name}_fallbacks": part.fallbacks for name, part in parts.items()}
    counts["CI_unknown"] = ci.unknown
    columns |= {name: pd.array(values, dtype="Int64") for name, values in counts.items()}
    return pd.DataFrame({"paper": pd.array(names, dtype="string"), **columns})


@measures(
    "novelty",
    """
    ON  number  overall novelty: HD x CI / CD, mean over papers (VirSci, section 4.1)
    HD  number  historical dissimilarity: mean distance to the nearest past papers, mean over papers
        (VirSci, section 4.1)
    CD  number  contemporary dissimilarity: mean distance to the nearest contemporary papers, mean
        over papers (VirSci, section 4.1)
    CI  number  contemporary impact: mean citations of the nearest contemporary papers, mean over
        papers (VirSci, section 4.1)
    """,
)
@metric("novelty", "novelty")
def run_novelty(run: Run, settings: Novelty | None = None) -> pd.DataFrame:
    """Measure the papers of a run against its databases (VirSci, section 4.1)."""
    held = run.metric("novelty") if "novelty" in run.metric_names() else None
    if held is not None and (settings is None or run.databases is None):
        return held
    if run.databases is None or run.vectors is None or not len(run.vectors.ids):
        return _empty_table()
    past, contemporary = run.databases.past, run.databases.contemporary
    use, ids = settings or settings_of(run), run.vectors.ids
    evaluated, queries = run.vectors.values, None
    if not use.measures_queries:
        evaluated, queries = encoded_texts(run, use, run.databases.embedding)
    return novelty_scores(evaluated, past, contemporary, use, ids, queries)


def encoded_texts(
    run: Run, settings: Novelty, embedding: Embedding | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Vectors of the evaluated texts and of the queries of a run, in the order of its vectors."""
    if embedding is None:
        raise InputError(
            "novelty.evaluated and novelty.words need the embedding of the run, which is not here: "
            "give Databases its embedding"
        )
    texts = measured_texts(run.table("papers"), settings).loc[
        list(run.vectors.ids if run.vectors else ())
    ]
    return embedding.encode(texts["evaluated"].tolist()), embedding.encode(texts["query"].tolist())


@metric("novelty")
def novelty_by_embedding(run: Run) -> pd.DataFrame:
    """The novelty of each paper in each embedding of ``novelty.embeddings`` (VirSci, 4.1)."""
    settings, held = settings_of(run), run.databases
    columns = ["paper", *COLUMNS]
    tables = [_empty_table()[columns].assign(embedding="", label="")]
    if len(settings.embeddings) > 1 and held is not None and run.vectors is not None:
        title, label = (
            (held.embedding.title, held.embedding.label) if held.embedding else (OWN, OWN)
        )
        tables.append(run_novelty(run)[columns].assign(embedding=title, label=label))
        for name in settings.embeddings[1:]:
            other, embedding = in_embedding(held, name, run.seed)
            evaluated, queries = encoded_texts(run, settings, embedding)
            databases = other.past, other.contemporary
            scores = novelty_scores(evaluated, *databases, settings, run.vectors.ids, queries)
            tables.append(scores[columns].assign(embedding=embedding.title, label=embedding.label))
    table = pd.concat(tables, ignore_index=True)[["embedding", "label", *columns]]
    return table.astype({"embedding": "string", "label": "string"})


def means_by_embedding(run: Run, names: Iterable[str]) -> dict[str, float]:
    """The mean of each named measure in the further embeddings, as ``HD by all-MiniLM-L6-v2``."""
    asked = [name for name in COLUMNS if name in set(names)]
    held = "novelty_by_embedding" in run.metric_names()
    table = run.metric("novelty_by_embedding") if asked and held else pd.DataFrame()
    titles = table["embedding"].unique()[1:] if len(table) else ()
    return {
        f"{name} by {title}": float(table.loc[table["embedding"] == title, name].mean())
        for title in titles
        for name in asked
        if table.loc[table["embedding"] == title, name].notna().any()
    }


def in_embedding(databases: Databases, name: str, seed: int) -> tuple[Databases, Embedding]:
    """The same papers in an embedding by its name, and that; an LSA is fitted on the past."""
    from virsci_society.society.literature.embedding.registry import make_embedding

    sides = [databases.past, databases.contemporary]
    texts = [[one.text(row) for row in range(len(one.ids))] if one.text else [] for one in sides]
    embedding = make_embedding(name, texts=texts[0], seed=seed)
    rows = embedding.encode([*texts[0], *texts[1]], databases.progress)
    vectors = np.split(rows, [len(texts[0])])
    past, later = (replace(one, vectors=some) for one, some in zip(sides, vectors, strict=True))
    return replace(databases, past=past, contemporary=later, embedding=embedding), embedding


@metric("novelty")
def novelty_agreement(run: Run) -> pd.DataFrame:
    """Means and rank correlations of the measures in two embeddings; this project."""
    table = run.metric(novelty_by_embedding)
    rows = []
    first, *others = table["embedding"].unique() or ("",)
    for other in others:
        for name in COLUMNS:
            wide = table.pivot(index="paper", columns="embedding", values=name)
            both = wide[[first, other]].dropna().to_numpy(dtype=np.float64)
            found = spearman(both[:, 0], both[:, 1])
            one, two = both.mean(axis=0) if len(both) else (np.nan, np.nan)
            told = (name, first, one, other, two, len(both), found.r, found.low, found.high)
            rows.append(told)
    kinds = {"measure": "string", "embedding": "string", "mean": "Float64", "other": "string"}
    kinds |= {"other_mean": "Float64", "papers": "Int64"}
    kinds |= dict.fromkeys(("rank_correlation", "low", "high"), "Float64")
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def measured_texts(papers: pd.DataFrame, settings: Novelty) -> pd.DataFrame:
    """Return the text by which neighbours of a paper are found, and the text that is measured."""
    papers = papers.set_index("paper")
    own = papers[["title", "abstract"]].fillna("")
    whole = [paper_text(title, abstract) for title, abstract in own.itertuples(index=False)]
    texts = pd.DataFrame({"query": papers["neighbour_query"], "evaluated": whole}, dtype="object")
    texts["query"] = texts["query"].where(texts["query"].notna(), texts["evaluated"])
    if settings.evaluated == "query":
        texts["evaluated"] = texts["query"]
    if settings.words is None:
        return texts
    return texts.map(lambda text: " ".join(text.split()[: settings.words]))


@measure("novelty", "words", "words")
def evaluated_words(run: Run) -> float:
    """Mean length of a paper: of the text whose HD and CD are measured."""
    texts = measured_texts(run.table("papers"), settings_of(run))["evaluated"]
    return float(np.mean([len(text.split()) for text in texts])) if len(texts) else float("nan")


def settings_of(run: Run) -> Novelty:
    """The settings that the scenario of a run names."""
    given = run.scenario.get("novelty")
    named = given if isinstance(given, dict) else {}
    try:
        return Novelty(**{key: named[key] for key in Novelty.model_fields if key in named})
    except ValidationError as error:
        raise InputError(f"the run's settings of novelty cannot be read: {error}") from error


def embedding_of(run: Run, fact: str = "label") -> str:
    """The embedding in which the novelty of a run is measured, with its corpus; empty if untold."""
    stated, corpus = run.manifest.get("embedding"), run.manifest.get("ecosystem")
    told = str(stated.get(fact) or "") if isinstance(stated, dict) else ""
    source = corpus.get("source") if isinstance(corpus, dict) and fact == "label" else None
    return f"{told}; corpus: {source}" if told and source else told


def _empty_table() -> pd.DataFrame:
    none = Database(np.zeros((0, 1)), np.zeros(0, dtype=int), None, ())
    return novelty_scores(np.zeros((0, 1)), none, none)


@dataclass(frozen=True)
class _Component:
    value: FloatArray
    raw: FloatArray
    fallbacks: IntArray
    unknown: IntArray


class _NoveltyDatabase:
    """One database with the neighbours of each abstract and the mean distances of years."""

    def __init__(
        self,
        database: Database,
        settings: Novelty,
        abstracts: NDArray[Any],
        neighbour_query: NDArray[Any] | None = None,
    ) -> None:
        self.database = database
        self.settings = settings
        self.space = VectorSpace(database.vectors, settings.unit, settings.squared)
        self.ids = np.asarray([str(one) for one in database.ids], dtype=object)
        self.years, self.year_of = np.unique(np.asarray(database.years), return_inverse=True)
        search = self.space.nearest(abstracts, settings.k, self.ids, self.year_of)
        if neighbour_query is not None:
            # The means of the years stay those of the abstracts: a distance and what it is divided
            # by are of the same text.
            hits = self.space.nearest(neighbour_query, settings.k, self.ids, self.year_of).hits
            search = Neighbours(hits, self.space.distances(abstracts, hits), search.year_sums)
        self.search: Neighbours = search

    def neighbours(self) -> list[str]:
        """Ids of the neighbours of each abstract, nearest first."""
        return [" ".join(self.ids[hits]) for hits in self.search.hits]

    def distance(self) -> _Component:
        """Mean distance to the neighbours, each divided by the mean of its year."""
        hits, raw = self.search.hits, self.search.distances
        count = np.bincount(self.year_of, minlength=len(self.years))
        if self.settings.normalise == "none":
            return _averaged(raw, np.ones_like(raw), np.zeros(raw.shape, dtype=bool))
        if self.settings.normalise == "query":
            sums = self.search.year_sums
            whole = _divide(sums.sum(axis=1, keepdims=True), np.float64(len(self.ids)))
            means = _divide(sums, count[None, :])
            means = np.take_along_axis(means, self.year_of[hits], axis=1)
            whole = np.broadcast_to(whole, means.shape)
        else:
            year_means, mean = self._year_means(np.unique(self.year_of[hits]))
            means = year_means[self.year_of[hits]]
            whole = np.full_like(means, mean)
        fallen = (count[self.year_of[hits]] < 2) | ~(means > 0)
        return _averaged(raw, np.where(fallen, whole, means), fallen)

    def _year_means(self, needed: IntArray) -> tuple[FloatArray, float]:
        """Means of the needed years, and of the whole database, in the chosen reading."""
        use = self.settings

        def mean_of(rows: IntArray) -> float:
            if len(rows) > use.sample:
                # At most ``sample`` of the rows, chosen by seed and by nothing else.
                rng = np.random.default_rng([use.seed, len(rows)])
                by_id = rows[np.argsort(self.ids[rows], kind="stable")]
                rows = np.sort(rng.choice(by_id, use.sample, replace=False))
            if use.normalise == "pairwise":
                return mean_pairwise_distance(self.space.rows(rows), use.squared)
            return self.space.mean_neighbour_distance(rows, use.k, self.ids)

        means = np.full(len(self.years), np.nan)
        for year in needed:
            means[year] = mean_of(np.flatnonzero(self.year_of == year))
        return means, mean_of(np.arange(len(self.ids)))

    def impact(self) -> _Component:
        """Mean citations of the neighbours that have a count, each divided by its year's mean."""
        hits = self.search.hits
        given = self.database.citations
        counts = np.full(len(self.ids), np.nan) if given is None else np.asarray(given, float)
        known = ~np.isnan(counts)
        raw = counts[hits]
        if self.settings.normalise == "none":
            return _averaged(raw, np.ones_like(raw), np.zeros(raw.shape, dtype=bool))
        size = np.bincount(self.year_of[known], minlength=len(self.years))
        total = np.bincount(self.year_of[known], counts[known], minlength=len(self.years))
        means = _divide(total, size)[self.year_of[hits]]
        whole = counts[known].mean() if known.any() else np.nan
        fallen = (size[self.year_of[hits]] < 2) | ~(means > 0)
        return _averaged(raw, np.where(fallen, whole, means), fallen & ~np.isnan(raw))


def _averaged(raw: FloatArray, means: FloatArray, fallen: BoolArray) -> _Component:
    """Average over the neighbours with a value; no neighbour, or a zero mean, gives NaN."""
    known = ~np.isnan(raw)
    count = known.sum(axis=1)
    parts = np.where(known, _divide(raw, means), 0.0)
    value = _divide(parts.sum(axis=1), count)
    plain = _divide(np.where(known, raw, 0.0).sum(axis=1), count)
    return _Component(value, plain, fallen.sum(axis=1), (~known).sum(axis=1))


def _divide(above: NDArray[Any], below: Any) -> FloatArray:
    """Quotient as float64, NaN where the divisor is not positive."""
    under = np.broadcast_to(np.asarray(below, dtype=np.float64), np.shape(above))
    result = np.full(np.shape(above), np.nan)
    np.divide(above, under, out=result, where=under > 0)
    return result
