"""A synthetic ecosystem of very many papers, made in columns without an object per paper.

The community is that of every synthetic ecosystem. What differs from a small one: words come in
random streams of some thousand papers, the LSA is shorter and fitted on a sample of the past, and
the papers' vectors are drawn from their terms. Its manifest says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from virsci_society.agents.arrays import FloatArray, IntArray, VectorArray
from virsci_society.agents.lazy_imports import pa, pc, sparse
from virsci_society.society.ecosystem.building.build_options import BuildProgress
from virsci_society.society.ecosystem.building.builder import COLLECTED_LATER, NO_CONTEMPORARY
from virsci_society.society.ecosystem.building.filters import (
    COUNTED,
    count_joint_papers,
    shuffled_numbers,
)
from virsci_society.society.ecosystem.building.profiles import collaborator_lists, frequent_items
from virsci_society.society.ecosystem.ecosystem import Ecosystem, encode_interests
from virsci_society.society.ecosystem.people import MASK, People, numbered_names
from virsci_society.society.ecosystem.synthetic.community import InventedPapers
from virsci_society.society.ecosystem.synthetic.text import (
    PaperTexts,
    ResearchField,
    sentence_patterns,
)
from virsci_society.society.literature.embedding.base import DECIMALS
from virsci_society.society.literature.embedding.lsa import LSAEmbedding
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Papers


@dataclass(frozen=True, eq=False)
class AuthorshipCounts:
    """The authorships of a number of people, and figures counted from them.

    A seat is one person on one paper.

    Attributes:
        size: number of people, each with at least one seat.
        papers: the paper of each seat; ascending, papers are in order of date.
        people: the person of each seat, from 0; nobody twice on a paper.
    """

    size: int
    papers: IntArray
    people: IntArray

    def paper_counts(self) -> IntArray:
        """Number of papers, by person."""
        return np.bincount(self.people, minlength=self.size).astype(np.int64)

    def sum_over_papers(self, of_papers: IntArray) -> IntArray:
        """Sum of a figure over each person's papers, by person."""
        sums = np.bincount(self.people, of_papers[self.papers], self.size)
        return sums.astype(np.int64)

    def value_of_first_paper(self, of_papers: IntArray) -> IntArray:
        """A figure of each person's first paper, by person."""
        _, seats = np.unique(self.people, return_index=True)
        values: IntArray = of_papers[self.papers[seats]]
        return values

    def incidence(self, papers: int) -> sparse.csr_array:
        """A sparse matrix of ``papers`` papers by people, 1 where a person is an author."""
        ones = np.ones(len(self.papers), dtype=np.int64)
        return sparse.csr_array((ones, (self.papers, self.people)), shape=(papers, self.size))

    def interests(self, terms: npt.NDArray[Any], words: pa.Array) -> pa.Array:
        """The most frequent terms of each person's papers; among equals the first to come.

        ``terms`` has a row per paper, of different numbers into ``words``.
        """
        owners = np.repeat(self.people, terms.shape[1])
        return frequent_items(owners, terms[self.papers].ravel(), words, self.size)


DRAWN_VECTORS = (
    "vectors of papers are drawn from their topics (field, themes, method) in the space of the "
    "LSA; they are not embeddings of their texts"
)
"""The note of an ecosystem whose vectors were made so."""


@dataclass(frozen=True, eq=False)
class TopicVectors:
    """Directions of terms, and the distance of papers from the sum of theirs.

    Attributes:
        directions: a row per term; zero for a term that the sample does not have.
        noise: length of the noise, beside a sum of length 1.
    """

    directions: FloatArray
    noise: float

    @classmethod
    def of(cls, terms: IntArray, vectors: VectorArray, count: int) -> TopicVectors:
        """Measure directions and noise on papers of known terms (below ``count``) and vectors."""
        sums, together = np.zeros((count, vectors.shape[1])), np.zeros((count, count))
        for column in terms.T:
            np.add.at(sums, column, vectors.astype(np.float64))
            for other in terms.T:
                np.add.at(together, (column, other), 1)
        # Least squares: what each term adds beside the others.
        fitted = np.linalg.lstsq(together, sums, rcond=None)[0]
        directions: FloatArray = np.asarray(fitted, dtype=np.float64)
        cosine = float((vectors * _unit(directions[terms].sum(axis=1))).sum(axis=1).mean())
        # The tangent of the mean angle, so that what is drawn lies as far off as the sample.
        return cls(directions, float(np.sqrt(1 / max(cosine, 0.1) ** 2 - 1)))

    def draw(self, terms: IntArray, rng: np.random.Generator) -> VectorArray:
        """Draw a unit vector for each row of terms, rounded as embedded ones are."""
        dim = self.directions.shape[1]
        spread = rng.standard_normal((len(terms), dim), dtype=np.float32)
        spread *= self.noise / np.sqrt(dim)
        rows = _unit(_unit(self.directions[terms].sum(axis=1)) + spread)
        return np.round(rows, DECIMALS).astype(np.float32)


def _unit(rows: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: FloatArray = rows / np.where(lengths > 0, lengths, 1)
    return unit


DIMENSIONS = 64
"""Length of a vector."""
SAMPLE = 100_000
"""Past papers on which the LSA is fitted."""
MEASURED = 20_000
"""Papers on which the directions of terms are measured."""
AT_ONCE = 65_536
"""Vectors that are drawn from one random stream."""


@dataclass(frozen=True, eq=False)
class LargeEcosystem:
    """The parts of which a large synthetic ecosystem is made.

    Attributes:
        works: the papers without words.
        fields: the fields, by number.
        boundary: the year in which the society starts.
        scientists: size of the population: the most productive authors of the past.
        seed: of words, masked names and vectors.
    """

    works: InventedPapers
    fields: Sequence[ResearchField]
    boundary: int
    scientists: int
    seed: int

    def build(
        self,
        now: FloatArray,
        collected: IntArray,
        manifest: dict[str, Any],
        progress: BuildProgress,
    ) -> Ecosystem:
        """Make the ecosystem.

        Args:
            now: position of the field's attention at each paper, from 0 (oldest theme) to 1
                (newest).
            collected: citations of each paper at collection time.
            manifest: source, licence and settings.
            progress: shows the phases.
        """
        sample = self._rng(5).permutation(self.past)[:SAMPLE]
        texts = PaperTexts(self.fields)
        progress.begin(f"writing {len(self.works):,} papers")
        texts.write(self.works, now, self.seed, sample, progress.count)
        progress.begin(f"fitting the LSA to a sample of {len(sample):,} past papers")
        embedding, vectors = self._vectors(texts, sample)
        progress.begin(f"counting what {len(self.population):,} scientists have written")
        papers = self._papers(texts, collected)
        incidence = self._authorships.incidence(self.past)
        joint = _short(count_joint_papers(incidence, np.arange(len(self.population))))
        people = self._people(texts, joint)
        progress.begin(f"embedding the interests of {len(people):,} scientists")
        interests = encode_interests(people, embedding)
        return Ecosystem(
            boundary=self.boundary,
            past=papers[: self.past],
            contemporary=papers[self.past :],
            profiles=people,
            career_starts=self._authorships.value_of_first_paper(self.works.years),
            coauthors=joint,
            embedding=embedding,
            past_vectors=vectors[: self.past],
            contemporary_vectors=vectors[self.past :],
            manifest=manifest | {"seed": self.seed, "notes": self._notes(len(sample))},
            interest_vectors=interests,
        )

    @cached_property
    def past(self) -> int:
        """Number of papers before the boundary; they are the first."""
        return self.works.before(self.boundary)

    @cached_property
    def population(self) -> IntArray:
        """The people who are scientists, in the order of their masked names."""
        _, authors = self.works.seats(self.past)
        written = np.bincount(authors, minlength=self.works.people)
        productive = np.argsort(-written, kind="stable")[: self.scientists]
        chosen = np.sort(productive[written[productive] > 0])
        masked = np.empty_like(chosen)
        masked[shuffled_numbers(len(chosen), self.seed)] = chosen
        return masked

    @cached_property
    def _numbers(self) -> IntArray:
        """The number of each person: scientists first, then others by their first paper."""
        chosen, everybody = self.population, self.works.people
        numbers = np.full(everybody, -1, dtype=np.int64)
        numbers[chosen] = np.arange(len(chosen))
        numbers[numbers < 0] = np.arange(len(chosen), everybody)
        return numbers

    @cached_property
    def _authorships(self) -> AuthorshipCounts:
        papers, authors = self.works.seats(self.past)
        numbers = self._numbers[authors]
        inside = numbers < len(self.population)
        return AuthorshipCounts(len(self.population), papers[inside], numbers[inside])

    @cached_property
    def _citations(self) -> IntArray:
        """Citations of the past papers at the boundary."""
        return self.works.cited(self.past)[: self.past]

    def _papers(self, texts: PaperTexts, collected: IntArray) -> Papers:
        works, count = self.works, len(self.works)
        titles, abstracts = texts.columns()
        ids = _padded("paper", count)
        others = numbered_names("Author", works.people - len(self.population))
        names = pa.concat_arrays([numbered_names(MASK, len(self.population)), others])
        venues = pa.array([f"Journal of {one.head.title()}" for one in self.fields])
        starts = np.arange(0, texts.keywords.size + 1, texts.keywords.shape[1])
        citations = np.concatenate([self._citations, collected[self.past :]])
        columns = {
            "id": ids,
            "title": titles,
            "abstract": abstracts,
            "date": (works.years - self.boundary) * DAYS_PER_YEAR,
            "year": works.years,
            "authors": _lists(works.author_starts, self._numbers[works.authors], names),
            "references": _lists(works.reference_starts, works.references, ids),
            "keywords": _lists(starts, texts.keywords.ravel(), _text(texts.words)),
            "venue": venues.cast(pa.large_string()).take(pa.array(works.fields)),
            "citations": citations,
        }
        return Papers(pa.table(columns, schema=Papers.schema()))

    def _people(self, texts: PaperTexts, joint: Any) -> People:
        authorships, names = self._authorships, numbered_names(MASK, len(self.population))
        words = _text([word.lower() for word in texts.words])
        columns = {
            "id": names,
            "affiliations": self._affiliations(),
            "interests": authorships.interests(texts.keywords, words),
            "papers": authorships.paper_counts(),
            "citations": authorships.sum_over_papers(self._citations),
            "collaborators": collaborator_lists(joint, names),
        }
        return People(pa.table(columns, schema=People.schema()))

    def _affiliations(self) -> pa.Array:
        """One department and institution per scientist, of the field of the first paper."""
        patterns, size, rng = sentence_patterns(), self._authorships.size, self._rng(4)
        departments = [
            one.format(field=field.head.title())
            for field in self.fields
            for one in patterns["department"]
        ]
        sites = [
            one.format(place=place)
            for one in patterns["institution"]
            for place in patterns["place"]
        ]
        kinds = len(patterns["department"])
        own = self._authorships.value_of_first_paper(self.works.fields) * kinds + rng.integers(
            kinds, size=size
        )
        places = rng.integers(len(sites), size=size)
        parts = (_text(departments).take(own), _text(sites).take(places))
        whole = pc.binary_join_element_wise(*parts, _text([", "])[0])
        return _lists(np.arange(size + 1), np.arange(size), whole)

    def _vectors(self, texts: PaperTexts, sample: IntArray) -> tuple[LSAEmbedding, VectorArray]:
        sampled = [texts.sample[row] for row in sample.tolist()]
        embedding = LSAEmbedding.fit(sampled, seed=self.seed, dim=DIMENSIONS)
        vectors = embedding.encode(sampled[:MEASURED])
        topic_vectors = TopicVectors.of(
            texts.keywords[sample[:MEASURED]], vectors, len(texts.words)
        )
        rows = np.empty((len(self.works), embedding.dim), dtype=np.float32)
        for start in range(0, len(rows), AT_ONCE):
            part, rng = slice(start, start + AT_ONCE), self._rng(6, start)
            rows[part] = topic_vectors.draw(texts.keywords[part], rng)
        return embedding, rows

    def _notes(self, sample: int) -> list[str]:
        later = len(self.works) > self.past
        return [
            COUNTED,
            COLLECTED_LATER if later else NO_CONTEMPORARY,
            f"the LSA is fitted on a sample of {sample:,} past papers",
            DRAWN_VECTORS,
        ]

    def _rng(self, *numbers: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *numbers])


def _short(counts: sparse.csr_array) -> sparse.csr_array:
    """The same counts as 32-bit numbers."""
    parts = (counts.data, counts.indices, counts.indptr)
    return sparse.csr_array(tuple(part.astype(np.int32) for part in parts), shape=counts.shape)


def _padded(word: str, count: int) -> pa.Array:
    """Ids of a word and a zero-padded number, which sort by number."""
    numbers = pa.array(np.arange(count)).cast(pa.large_string())
    padded = pc.utf8_lpad(numbers, len(str(count)), "0")
    return pc.binary_join_element_wise(_text([word])[0], padded, _text([""])[0])


def _text(words: Sequence[str]) -> pa.Array:
    return pa.array(words, pa.large_string())


def _lists(starts: IntArray, items: IntArray, words: pa.Array) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array(starts), words.take(pa.array(items)))
