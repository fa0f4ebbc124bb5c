"""An ecosystem made from a seed, with figures near those of a real research community."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field as Setting
from pydantic import model_validator

from virsci_society.agents.config import Part
from virsci_society.agents.lazy_imports import sparse
from virsci_society.agents.profile import Profile
from virsci_society.society.ecosystem.build import build
from virsci_society.society.ecosystem.build_options import BuildOptions
from virsci_society.society.ecosystem.ecosystem import Ecosystem, encode_interests
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord
from virsci_society.society.ecosystem.knowledge_bank import MASK, People
from virsci_society.society.ecosystem.synthetic.text import (
    ResearchField,
    affiliation,
    research_fields,
    theme_weights,
    write_paper,
)
from virsci_society.society.literature.papers import Papers

GROWTH = 1.05
NEWCOMERS = 0.5
COLLECTED_PER_YEAR = 2.0
ONE_PAPER = 0.5
CAREER_YEARS = 7.0
MEAN_TEAM = 3.3
SEAT_PARTNER = 0.78
SEAT_TRIAD = 0.10
OTHER_FIELD = 0.12
TRIES = 6
MEAN_REFERENCES = 5.0
MEMORY_YEARS = 5.0
CITE_COPY = 0.45
CITE_RECENT = 0.35
CITE_OWN = 0.10


class CommunityMember(NamedTuple):
    """One member of the community: its field, its first year and the last year of its career."""

    field: int
    entry: int
    leaves: int


class InventedPaper(NamedTuple):
    """One paper without words: its year, field, authors and references (by number)."""

    year: int
    field: int
    authors: tuple[int, ...]
    references: tuple[int, ...]


@dataclass
class CommunityModel:
    """Careers, teams and citations without words, which grow paper by paper in order of years."""

    rng: np.random.Generator
    field_weights: np.ndarray
    newcomers: float
    people: list[CommunityMember] = field(default_factory=list)
    works: list[InventedPaper] = field(default_factory=list)

    def __post_init__(self) -> None:
        count = len(self.field_weights)
        self._field_ends = np.cumsum(self.field_weights / self.field_weights.sum())
        self._seats: list[list[int]] = [[] for _ in range(count)]
        self._partners: dict[int, list[int]] = {}
        self._written: dict[int, list[int]] = {}
        self._of_field: list[list[int]] = [[] for _ in range(count)]
        self._cited: list[list[int]] = [[] for _ in range(count)]

    def write_year(self, year: int, papers: int) -> None:
        """Add a year's papers; they cite earlier years only."""
        fresh: list[InventedPaper] = []
        for _ in range(papers):
            topic = int(np.searchsorted(self._field_ends, self.rng.random(), side="right"))
            topic = min(topic, len(self._seats) - 1)
            authors = self._team(topic, year)
            wanted = int(self.rng.geometric(1.0 / MEAN_REFERENCES))
            drawn = (self._reference(topic, authors, year) for _ in range(wanted))
            references = tuple(dict.fromkeys(paper for paper in drawn if paper is not None))
            fresh.append(InventedPaper(year, topic, authors, references))
        # Only now, because papers of one year do not cite each other.
        for work in fresh:
            number = len(self.works)
            self.works.append(work)
            self._of_field[work.field].append(number)
            for author in work.authors:
                self._written.setdefault(author, []).append(number)
            for cited in work.references:
                self._cited[self.works[cited].field].append(cited)

    def _team(self, topic: int, year: int) -> tuple[int, ...]:
        size = 1 + int(self.rng.poisson(MEAN_TEAM - 1))
        team = [self._newcomer(topic, year) if self._is_new() else self._veteran(topic, year)]
        while len(team) < size:
            somebody = None if self._is_new() else self._known_to(team, topic, year)
            team.append(self._newcomer(topic, year) if somebody is None else somebody)
        for member in team:
            self._seats[topic].append(member)
            self._partners.setdefault(member, []).extend(m for m in team if m != member)
        return tuple(team)

    def _is_new(self) -> bool:
        return bool(self.rng.random() < self.newcomers)

    def _newcomer(self, topic: int, year: int) -> int:
        stays = self.rng.random() >= ONE_PAPER
        years = int(self.rng.exponential(CAREER_YEARS)) + 1 if stays else 0
        self.people.append(CommunityMember(topic, year, year + years))
        return len(self.people) - 1

    def _veteran(self, topic: int, year: int) -> int:
        for _ in range(TRIES):
            if self._seats[topic]:
                person = self._one_of(self._seats[topic])
                if self.people[person].leaves >= year:
                    return person
        return self._newcomer(topic, year)

    def _known_to(self, team: list[int], topic: int, year: int) -> int | None:
        for _ in range(TRIES):
            person = self._candidate(team, topic)
            if person is not None and person not in team and self.people[person].leaves >= year:
                return person
        return None

    def _candidate(self, team: list[int], topic: int) -> int | None:
        draw = self.rng.random()
        member = self._one_of(team)
        partners = self._partners.get(member)
        if partners and draw < SEAT_PARTNER:
            return self._one_of(partners)
        if partners and draw < SEAT_PARTNER + SEAT_TRIAD:
            return self._one_of(self._partners[self._one_of(partners)])
        if self.rng.random() < OTHER_FIELD:
            topic = int(self.rng.random() * len(self._seats))
        return self._one_of(self._seats[topic]) if self._seats[topic] else None

    def _reference(self, topic: int, authors: tuple[int, ...], year: int) -> int | None:
        draw = self.rng.random()
        if draw < CITE_COPY:
            pool = self._cited[topic]
        elif draw < CITE_COPY + CITE_RECENT:
            pool = self._of_field[topic]
        elif draw < CITE_COPY + CITE_RECENT + CITE_OWN:
            pool = self._written.get(self._one_of(authors), [])
        else:
            pool = self._of_field[int(self.rng.random() * len(self._of_field))]
        for _ in range(TRIES):
            if pool:
                number = self._one_of(pool)
                age = year - self.works[number].year
                if self.rng.random() < math.exp(-age / MEMORY_YEARS):
                    return number
        return None

    def _one_of(self, pool: list[int] | tuple[int, ...]) -> int:
        return pool[int(self.rng.random() * len(pool))]


class Synthetic(Part):
    """An invented research community of a stated size."""

    scientists: Annotated[int, Setting(ge=1, le=100_000)] = 300
    """Population size: the most productive past authors. Unit: people. Source: VirSci: 156 and
    3,169."""
    papers: Annotated[int, Setting(ge=2, le=100_000)] = 4000
    """Past and contemporary papers. Unit: papers. Source: VirSci: 178,197."""
    fields: Annotated[int, Setting(ge=1, le=12)] = 8
    """Research fields; one is everybody's first interest. Unit: fields."""
    boundary: Annotated[int, Setting(ge=1000, le=2999)] = 2024
    """First year of the simulation. Unit: year. Source: VirSci, section 1."""
    years_past: Annotated[int, Setting(ge=1, le=1000)] = 16
    """Years of papers before the boundary. Unit: years. Source: VirSci: 11."""
    years_contemporary: Annotated[int, Setting(ge=0, le=1000)] = 4
    """Years of papers from the boundary on. Unit: years. Source: VirSci, appendix C.2."""
    seed: Annotated[int, Setting(ge=-(2**63), lt=2**63)] | None = None
    """Fixed seed of the ecosystem; null: the run's."""

    @model_validator(mode="after")
    def _enough_papers(self) -> Synthetic:
        past = sum(self._papers_per_year()[: self.years_past])
        if self.scientists > 0.7 * MEAN_TEAM * past:
            raise ValueError(
                f"{self.scientists} scientists cannot all have written one of the {past} past "
                f"papers; give at least {int(self.papers * self.scientists / past / 2) + 1} papers"
            )
        return self

    @property
    def same_for_every_seed(self) -> bool:
        """Whether it is the same for every seed of a run: where it has a seed of its own."""
        return self.seed is not None

    def generate(self, seed: int) -> Ecosystem:
        """Make the ecosystem of a seed, which counts where the section gives none."""
        seed = (seed if self.seed is None else self.seed) % 2**64
        records = self._records(self._community(seed), seed)
        papers = Counter(
            author.id
            for record in records
            if record.year < self.boundary
            for author in record.authors
        )
        by_papers = sorted(papers, key=lambda author: (-papers[author], author))
        population = sorted(by_papers[: self.scientists])
        step = {
            "filter": f"people: the {self.scientists} most productive",
            "in": len(by_papers),
            "removed": len(by_papers) - len(population),
        }
        manifest = {
            "source": "synthetic",
            "licence": "made from a seed; free of rights",
            "filters": self.model_dump(exclude={"seed"}),
            "steps": [step],
        }
        in_order = sorted(records, key=lambda record: (record.year, record.id))
        options = BuildOptions(boundary=self.boundary, scientists=population, seed=seed)
        return build(in_order, options, lambda: manifest)

    def _papers_per_year(self) -> list[int]:
        years = self.years_past + self.years_contemporary
        ends = np.cumsum(GROWTH ** np.arange(years))
        # At least one paper in the first year, so that the past is never empty.
        totals = np.maximum(np.floor(self.papers * ends / ends[-1] + 1e-6).astype(int), 1)
        return [int(count) for count in np.diff(totals, prepend=0)]

    def _community(self, seed: int) -> CommunityModel:
        rng = np.random.default_rng([seed, 1])
        per_year = self._papers_per_year()
        seats = MEAN_TEAM * sum(per_year[: self.years_past])
        community = CommunityModel(
            rng=rng,
            field_weights=rng.uniform(0.6, 1.4, self.fields),
            newcomers=min(1.0, max(NEWCOMERS, 1.25 * self.scientists / seats)),
        )
        for number, papers in enumerate(per_year):
            community.write_year(self.boundary - self.years_past + number, papers)
        return community

    def _records(self, community: CommunityModel, seed: int) -> list[RawRecord]:
        rng = np.random.default_rng([seed, 2])
        order = rng.permutation(len(research_fields()))
        fields = [research_fields()[number] for number in order[: self.fields]]
        people = [
            RawAuthor(
                f"person{number:07d}", f"Person {number}", affiliation(rng, fields[person.field])
            )
            for number, person in enumerate(community.people)
        ]
        inside = Counter(cited for work in community.works for cited in work.references)
        end, luck = self.boundary + self.years_contemporary, np.random.default_rng([seed, 3])
        interest = COLLECTED_PER_YEAR * luck.lognormal(0.0, 1.1, len(community.works))
        collected = [
            inside[number] + int(luck.poisson(interest[number] * (end - work.year)))
            for number, work in enumerate(community.works)
        ]
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
                venue=f"Journal of {fields[work.field].head.title()}",
                citations=collected[number],
            )
            for number, work in enumerate(community.works)
            for title, abstract, keywords in [self._write_paper(rng, fields, work)]
        ]

    def _write_paper(
        self, rng: np.random.Generator, known: Sequence[ResearchField], work: InventedPaper
    ) -> tuple[str, str, tuple[str, ...]]:
        own = known[work.field]
        years = self.years_past + self.years_contemporary
        # The field's attention moves from its oldest theme, 0, to its newest, 1.
        now = 0.1 + 0.85 * (work.year - self.boundary + self.years_past) / years
        weights = theme_weights(now, len(own.themes))
        first, second = rng.choice(len(weights), 2, replace=False, p=weights / weights.sum())
        neighbour = known[int(rng.random() * len(known))]
        return write_paper(rng, own, neighbour, (own.themes[first], own.themes[second]))


FOUNDERS = 40
"""Invented scientists whose interests and departments the strangers take over."""
NO_PAST = "nobody in the population has a paper or a co-author before day 0"


class Strangers(Part):
    """Scientists without past papers, and a small invented literature by others."""

    people: Annotated[int, Setting(ge=2, le=20_000)] = 1000
    """Population size. Unit: people."""
    papers: Annotated[int, Setting(ge=200, le=20_000)] = 300
    """Past and contemporary papers, all by others. Unit: papers."""
    fields: Annotated[int, Setting(ge=1, le=12)] = 8
    """Research fields; one is everybody's first interest. Unit: fields."""
    boundary: Annotated[int, Setting(ge=1000, le=2999)] = 2024
    """First year of the simulation. Unit: year. Source: VirSci, section 1."""
    seed: Annotated[int, Setting(ge=-(2**63), lt=2**63)] | None = None
    """Fixed seed of the ecosystem; null: the run's."""

    @property
    def same_for_every_seed(self) -> bool:
        """Whether it is the same for every seed of a run: where it has a seed of its own."""
        return self.seed is not None

    def generate(self, seed: int) -> Ecosystem:
        """Make the ecosystem of a seed; the same in every process."""
        seed = (seed if self.seed is None else self.seed) % 2**64
        literature = Synthetic(
            scientists=FOUNDERS, papers=self.papers, fields=self.fields, boundary=self.boundary
        ).generate(seed)
        # Stream 7 of the seed: streams 1 to 6 belong to the community, its texts and vectors.
        like = np.random.default_rng([seed, 7]).integers(len(literature.profiles), size=self.people)
        models, embedding = tuple(literature.profiles), literature.embedding
        interests = encode_interests(literature.profiles, embedding)
        facts = {name: fact for name, fact in literature.manifest.items() if name != "steps"}
        notes = [NO_PAST, *facts.get("notes", ())]
        return Ecosystem(
            boundary=self.boundary,
            past=_by_others(literature.past),
            contemporary=_by_others(literature.contemporary),
            profiles=People.of(
                Profile(f"{MASK}{row}", models[model_row].affiliations, models[model_row].interests)
                for row, model_row in enumerate(like.tolist())
            ),
            career_starts=np.zeros(self.people, dtype=np.int64),
            coauthors=sparse.csr_array((self.people, self.people), dtype=np.int32),
            embedding=embedding,
            past_vectors=literature.past_vectors,
            contemporary_vectors=literature.contemporary_vectors,
            manifest=facts | {"filters": self.model_dump(exclude={"seed"}), "notes": notes},
            interest_vectors=interests[like],
        )


def _by_others(papers: Papers) -> Papers:
    """The same papers, by authors outside the population."""
    return Papers.of(
        replace(paper, authors=tuple(name.replace(MASK, "Elder") for name in paper.authors))
        for paper in papers
    )
