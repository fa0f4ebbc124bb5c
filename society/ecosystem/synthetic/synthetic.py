"""Synthetic: an ecosystem made from a seed, for the demo, the tests and the tutorials.

A community writes, a vocabulary gives the papers their words, and the same code that builds
an ecosystem from real records builds this one; from ``MANY`` papers on they go straight into
columns (see ``multitude``). Its figures lie near those of a real research community (see
``info``); its sentences say nothing true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, overload

import numpy as np
import numpy.typing as npt
from pydantic import Field as Setting
from pydantic import model_validator

from agents.part import Part
from society.ecosystem.build import assemble
from society.ecosystem.community import MEAN_TEAM, Community, Work
from society.ecosystem.ecosystem import Ecosystem
from society.ecosystem.filters import PaperFilters, select
from society.ecosystem.plan import Listener, Quiet
from society.ecosystem.population import Careers
from society.ecosystem.records import RawAuthor, RawRecord
from society.ecosystem.vocabulary import Field, affiliation, fields, theme_weights, write_paper
from society.ecosystem.works import Works

Count = Annotated[int, Setting(ge=1)]

GROWTH = 1.05
NEWCOMERS = 0.5
COLLECTED_PER_YEAR = 2.0
MANY = 50_000
"""So many papers are not worth an object each."""


class Synthetic(Part):
    """An invented research community of a stated size.

    Attributes:
        scientists: size of the population: the most productive authors of the past; others
            who wrote with them are outside it.
        papers: past and contemporary papers together.
        fields: number of research fields; each scientist's first interest is one of them.
        boundary: the year in which the society starts.
        years_past: years of papers before the boundary.
        years_contemporary: years of papers from the boundary on.
        seed: pins the ecosystem; without it the seed of the run makes it.
    """

    scientists: Count = 300
    papers: Annotated[int, Setting(ge=2)] = 4000
    fields: Annotated[int, Setting(ge=1, le=12)] = 8
    boundary: Annotated[int, Setting(ge=1000, le=2999)] = 2024
    years_past: Count = 16
    years_contemporary: Annotated[int, Setting(ge=0)] = 4
    seed: int | None = None

    @model_validator(mode="after")
    def _enough_papers(self) -> Synthetic:
        past = sum(self._papers_per_year()[: self.years_past])
        if self.scientists > 0.7 * MEAN_TEAM * past:
            raise ValueError(
                f"{self.scientists} scientists cannot all have written one of the {past} past "
                f"papers; give at least {int(self.papers * self.scientists / past / 2) + 1} papers"
            )
        return self

    def generate(self, seed: int, progress: Listener | None = None) -> Ecosystem:
        """The ecosystem of a seed; the same in every process, whoever is told how it goes."""
        seed = (seed if self.seed is None else self.seed) % 2**64
        heard: Listener = progress or Quiet()
        heard.begin(f"growing a community that writes {self.papers:,} papers")
        community = self._community(seed, heard)
        facts = {
            "source": "synthetic",
            "licence": "made from a seed; free of rights",
            "filters": self.model_dump(exclude={"seed"}),
        }
        if self.papers >= MANY:
            works = Works.of(community)
            del community
            return self._multitude(works, facts, seed, heard)
        return self._assembled(community, facts, seed)

    def _assembled(self, community: Community, facts: dict[str, Any], seed: int) -> Ecosystem:
        selection = select(self._records(community, seed), self.boundary, PaperFilters())
        selection.steps.clear()
        careers = Careers(selection.known)
        by_papers = sorted(careers.papers, key=lambda a: (-len(careers.papers[a]), a))
        chosen = sorted(by_papers[: self.scientists])
        manifest = facts | {"steps": [self._most_productive(len(by_papers), len(chosen))]}
        return assemble(
            selection, careers, chosen, boundary=self.boundary, seed=seed, manifest=manifest
        )

    def _multitude(
        self, works: Works, facts: dict[str, Any], seed: int, heard: Listener
    ) -> Ecosystem:
        from society.ecosystem.multitude import Multitude

        whole = Multitude(works, self._words_of(seed)[1], self.boundary, self.scientists, seed)
        authors = len(np.unique(works.seats(whole.past)[1]))
        manifest = facts | {"steps": [self._most_productive(authors, len(whole.chosen))]}
        rng = np.random.default_rng([seed, 3])
        interest = COLLECTED_PER_YEAR * rng.lognormal(0.0, 1.1, len(works))
        later = rng.poisson(interest * (self.boundary + self.years_contemporary - works.years))
        collected = works.cited(len(works)) + later
        return whole.ecosystem(self._now(works.years), collected, manifest, heard)

    def _most_productive(self, authors: int, chosen: int) -> dict[str, int | str]:
        name = f"people: the {self.scientists} most productive"
        return {"filter": name, "in": authors, "removed": authors - chosen}

    def _papers_per_year(self) -> list[int]:
        years = self.years_past + self.years_contemporary
        ends = np.cumsum(GROWTH ** np.arange(years))
        # At least one paper in the first year, so that the past is never empty.
        totals = np.maximum(np.floor(self.papers * ends / ends[-1] + 1e-6).astype(int), 1)
        return [int(count) for count in np.diff(totals, prepend=0)]

    def _community(self, seed: int, heard: Listener) -> Community:
        rng = np.random.default_rng([seed, 1])
        per_year = self._papers_per_year()
        seats = MEAN_TEAM * sum(per_year[: self.years_past])
        community = Community(
            rng=rng,
            field_weights=rng.uniform(0.6, 1.4, self.fields),
            newcomers=min(1.0, max(NEWCOMERS, 1.25 * self.scientists / seats)),
        )
        for number, papers in enumerate(per_year):
            community.write_year(self.boundary - self.years_past + number, papers)
            heard.count(len(community.works))
        return community

    def _records(self, community: Community, seed: int) -> list[RawRecord]:
        rng, known = self._words_of(seed)
        people = [
            RawAuthor(f"person{number:07d}", f"Person {number}", affiliation(rng, known[p.field]))
            for number, p in enumerate(community.people)
        ]
        collected = self._collected(community.works, np.random.default_rng([seed, 3]))
        digits = len(str(len(community.works)))
        ids = [f"paper{number:0{digits}d}" for number in range(len(community.works))]
        return [
            RawRecord(
                id=ids[number],
                title=title,
                abstract=abstract,
                year=work.year,
                authors=tuple(people[author] for author in work.authors),
                references=tuple(ids[cited] for cited in work.references),
                keywords=keywords,
                venue=f"Journal of {known[work.field].head.title()}",
                citations=collected[number],
            )
            for number, work in enumerate(community.works)
            for title, abstract, keywords in [self._words(rng, known, work)]
        ]

    def _words_of(self, seed: int) -> tuple[np.random.Generator, list[Field]]:
        rng = np.random.default_rng([seed, 2])
        return rng, [fields()[i] for i in rng.permutation(len(fields()))[: self.fields]]

    @overload
    def _now(self, year: int) -> float: ...

    @overload
    def _now(self, year: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]: ...

    def _now(self, year: int | npt.NDArray[np.int64]) -> float | npt.NDArray[np.float64]:
        """Where a field's attention stands in a year, from its oldest theme to its newest."""
        years = self.years_past + self.years_contemporary
        return 0.1 + 0.85 * (year - self.boundary + self.years_past) / years

    def _words(
        self, rng: np.random.Generator, known: Sequence[Field], work: Work
    ) -> tuple[str, str, tuple[str, ...]]:
        own = known[work.field]
        weights = theme_weights(self._now(work.year), len(own.themes))
        first, second = rng.choice(len(weights), 2, replace=False, p=weights / weights.sum())
        neighbour = known[int(rng.random() * len(known))]
        return write_paper(rng, own, neighbour, (own.themes[first], own.themes[second]))

    def _collected(self, works: Sequence[Work], rng: np.random.Generator) -> list[int]:
        inside = Counter(cited for work in works for cited in work.references)
        end = self.boundary + self.years_contemporary
        interest = COLLECTED_PER_YEAR * rng.lognormal(0.0, 1.1, len(works))
        return [
            inside[number] + int(rng.poisson(interest[number] * (end - work.year)))
            for number, work in enumerate(works)
        ]
