"""Multitude: a synthetic ecosystem of very many papers, from numbers straight into columns.

The community is the one of every synthetic ecosystem. What differs from a small one: words
come in streams of some thousand papers, the LSA is shorter and fitted on a sample of the past,
and the papers' vectors are drawn from their terms. Its manifest says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from society.ecosystem.census import Census, collaborators
from society.ecosystem.ecosystem import Ecosystem, encode_interests
from society.ecosystem.filters import COUNTED
from society.ecosystem.mixture import DRAWN, Mixture
from society.ecosystem.notes import COLLECTED_LATER, NO_CONTEMPORARY
from society.ecosystem.pages import Pages
from society.ecosystem.people import MASK, People, numbered
from society.ecosystem.plan import Listener
from society.ecosystem.population import joint_papers, shuffled
from society.ecosystem.vocabulary import Field, patterns
from society.ecosystem.works import Works
from society.literature.embedding import Lsa, Vectors
from society.literature.paper import DAYS_PER_YEAR
from society.literature.papers import Papers, schema

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy.sparse import csr_array

Numbers = npt.NDArray[np.int64]

DIMENSIONS = 64
SAMPLE = 100_000
MEASURED = 20_000
AT_ONCE = 65_536


@dataclass(frozen=True, eq=False)
class Multitude:
    """What a large synthetic ecosystem is made of.

    Attributes:
        works: the papers without words.
        known: the fields, by number.
        boundary: the year in which the society starts.
        scientists: how many of the most productive authors of the past are the population.
        seed: of words, masks and vectors.
    """

    works: Works
    known: Sequence[Field]
    boundary: int
    scientists: int
    seed: int

    def ecosystem(
        self,
        now: npt.NDArray[np.float64],
        collected: Numbers,
        manifest: dict[str, Any],
        heard: Listener,
    ) -> Ecosystem:
        """All of it.

        Args:
            now: where the attention of a field stands at each work, from 0 to 1.
            collected: citations of each work at collection time.
            manifest: source, licence and settings.
            heard: is told how it goes.
        """
        sample = self._rng(5).permutation(self.past)[:SAMPLE]
        pages = Pages(self.known)
        heard.begin(f"writing {len(self.works):,} papers")
        pages.write(self.works, now, self.seed, sample, heard.count)
        heard.begin(f"fitting the LSA to a sample of {len(sample):,} past papers")
        embedding, vectors = self._vectors(pages, sample)
        heard.begin(f"counting what {len(self.chosen):,} scientists have written")
        papers = self._papers(pages, collected)
        joint = _short(joint_papers(self._census.incidence(self.past), np.arange(len(self.chosen))))
        people = self._people(pages, joint)
        heard.begin(f"embedding the interests of {len(people):,} scientists")
        interests = encode_interests(people, embedding)
        return Ecosystem(
            boundary=self.boundary,
            past=papers[: self.past],
            contemporary=papers[self.past :],
            profiles=people,
            career_starts=self._census.first(self.works.years),
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
    def chosen(self) -> Numbers:
        """The people who are scientists, in the order of their masked names."""
        _, authors = self.works.seats(self.past)
        written = np.bincount(authors, minlength=self.works.people)
        productive = np.argsort(-written, kind="stable")[: self.scientists]
        found = np.sort(productive[written[productive] > 0])
        masked = np.empty_like(found)
        masked[shuffled(len(found), self.seed)] = found
        return masked

    @cached_property
    def _numbers(self) -> Numbers:
        """Everybody's number: scientists first, then others in order of their first paper."""
        chosen, everybody = self.chosen, self.works.people
        numbers = np.full(everybody, -1, dtype=np.int64)
        numbers[chosen] = np.arange(len(chosen))
        numbers[numbers < 0] = np.arange(len(chosen), everybody)
        return numbers

    @cached_property
    def _census(self) -> Census:
        papers, authors = self.works.seats(self.past)
        numbers = self._numbers[authors]
        inside = numbers < len(self.chosen)
        return Census(len(self.chosen), papers[inside], numbers[inside])

    @cached_property
    def _citations(self) -> Numbers:
        """Citations of the past papers at the boundary."""
        return self.works.cited(self.past)[: self.past]

    def _papers(self, pages: Pages, collected: Numbers) -> Papers:
        import pyarrow as pa

        works, count = self.works, len(self.works)
        titles, abstracts = pages.columns()
        ids = _padded("paper", count)
        others = numbered("Author", works.people - len(self.chosen))
        names = pa.concat_arrays([numbered(MASK, len(self.chosen)), others])
        venues = pa.array([f"Journal of {one.head.title()}" for one in self.known])
        starts = np.arange(0, pages.keywords.size + 1, pages.keywords.shape[1])
        citations = np.concatenate([self._citations, collected[self.past :]])
        columns = {
            "id": ids,
            "title": titles,
            "abstract": abstracts,
            "date": (works.years - self.boundary) * DAYS_PER_YEAR,
            "year": works.years,
            "authors": _lists(works.author_starts, self._numbers[works.authors], names),
            "references": _lists(works.reference_starts, works.references, ids),
            "keywords": _lists(starts, pages.keywords.ravel(), _text(pages.words)),
            "venue": venues.cast(pa.large_string()).take(pa.array(works.fields)),
            "citations": citations,
        }
        return Papers(pa.table([columns[name] for name in schema().names], schema=schema()))

    def _people(self, pages: Pages, joint: Any) -> People:
        import pyarrow as pa

        census, names = self._census, numbered(MASK, len(self.chosen))
        words = _text([word.lower() for word in pages.words])
        columns = {
            "id": names,
            "affiliations": self._affiliations(),
            "interests": census.interests(pages.keywords, words),
            "papers": census.written(),
            "citations": census.total(self._citations),
            "collaborators": collaborators(joint, names),
        }
        wanted = People.schema()
        return People(pa.table([columns[name] for name in wanted.names], schema=wanted))

    def _affiliations(self) -> pa.Array:
        """One department and institution for everybody, of the field of the first paper."""
        import pyarrow.compute as pc

        said, size, rng = patterns(), self._census.size, self._rng(4)
        departments = [
            one.format(field=field.head.title())
            for field in self.known
            for one in said["department"]
        ]
        sites = [one.format(place=place) for one in said["institution"] for place in said["place"]]
        kinds = len(said["department"])
        own = self._census.first(self.works.fields) * kinds + rng.integers(kinds, size=size)
        places = rng.integers(len(sites), size=size)
        parts = (_text(departments).take(own), _text(sites).take(places))
        whole = pc.binary_join_element_wise(*parts, _text([", "])[0])
        return _lists(np.arange(size + 1), np.arange(size), whole)

    def _vectors(self, pages: Pages, sample: Numbers) -> tuple[Lsa, Vectors]:
        texts = [pages.sample[row] for row in sample.tolist()]
        embedding = Lsa.fit(texts, seed=self.seed, dim=DIMENSIONS)
        told = embedding.encode(texts[:MEASURED])
        mixture = Mixture.of(pages.keywords[sample[:MEASURED]], told, len(pages.words))
        rows = np.empty((len(self.works), embedding.dim), dtype=np.float32)
        for start in range(0, len(rows), AT_ONCE):
            part, rng = slice(start, start + AT_ONCE), self._rng(6, start)
            rows[part] = mixture.draw(pages.keywords[part], rng)
        return embedding, rows

    def _notes(self, sample: int) -> list[str]:
        later = len(self.works) > self.past
        return [
            COUNTED,
            COLLECTED_LATER if later else NO_CONTEMPORARY,
            f"the LSA is fitted on a sample of {sample:,} past papers",
            DRAWN,
        ]

    def _rng(self, *numbers: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *numbers])


def _short(counts: csr_array) -> csr_array:
    """The same counts in numbers of half the length."""
    from scipy.sparse import csr_array

    parts = (counts.data, counts.indices, counts.indptr)
    return csr_array(tuple(part.astype(np.int32) for part in parts), shape=counts.shape)


def _padded(word: str, count: int) -> pa.Array:
    """Ids of a word and a number, zeros before it, so that they stand in order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = pa.array(np.arange(count)).cast(pa.large_string())
    padded = pc.utf8_lpad(numbers, len(str(count)), "0")
    return pc.binary_join_element_wise(_text([word])[0], padded, _text([""])[0])


def _text(words: Sequence[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(words, pa.large_string())


def _lists(starts: Numbers, items: Numbers, words: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.LargeListArray.from_arrays(pa.array(starts), words.take(pa.array(items)))
