"""How an idea is carried out, between a team's manuscript and its publication.

Appearance and worth are two things, since ratings before and after hardly agree (Si et al. 2025).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.config import Part
from virsci_society.agents.errors import Dissolved, ProtocolError
from virsci_society.society.kernel.durations import (
    Days,
    Duration,
    FixedDuration,
    Process,
    parse_days,
    to_ticks,
)
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.literature.landscape import DECIMALS, WorthField, appearance
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.teams.library import Place, vector_of_text
from virsci_society.society.teams.membership import at_desk
from virsci_society.society.teams.publication import ByChance
from virsci_society.society.teams.team import Execution

if TYPE_CHECKING:
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.teams.contracts import Manuscript
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team
    from virsci_society.society.teams.world import World

STAGE = "execution"
"""The stage of the work by which an idea is carried out."""
EVERYBODY = ""
"""Whose lesson everybody knows."""
REPLICATES = "replicates"
"""The note of a team with the id of the paper that it repeats."""
NOT_FUNDED = "not funded"
NO_MONEY = "no money left"
GIVEN_UP = "execution given up"
NULL_RESULT = "null result not published"
"""Reasons why a team ends without a paper whose idea was to be carried out."""


NODES = 400
"""Number of quantiles of worth by which a bar is found."""


class Panel(Part):
    """A panel, whose mean mark is compared with a threshold."""

    accept: float = Field(default=0.25, gt=0, lt=1)
    """Share accepted of ideas as good as the past papers. Unit: share. Source: near NeurIPS
    2021."""
    decision: Days = Field(default_factory=lambda: parse_days("90d"))
    """From a submission to its decision."""
    reviewers: int = Field(default=3, ge=1, le=1000)
    """Marks averaged. Unit: reviewers."""
    agreement: float = Field(default=0.33, ge=0, le=1)
    """Correlation of two reviewers' marks. Unit: correlation. Source: disagreement as at NeurIPS
    2021, Beygelzimer et al. 2023."""
    signal: float = Field(default=0.0, ge=0, le=1)
    """Correlation of an idea's appearance with its worth. Unit: correlation. Source: -0.05 in Si et
    al. 2025."""
    lottery: float = Field(default=0.0, ge=0, le=1)
    """Share of ideas, nearest to the threshold, decided by lot. Unit: share."""

    @model_validator(mode="after")
    def _leaves_room_for_the_lot(self) -> Panel:
        most = 2.0 * min(self.accept, 1.0 - self.accept)
        if self.lottery > most:
            raise ValueError(
                f"lottery is more than {most:g}: half of it is accepted and half rejected, and "
                f"{self.accept:g} are accepted in all"
            )
        return self

    def accepts(self, looks: float, worthless: float, rng: np.random.Generator) -> bool:
        """Whether an idea is accepted by the mean of the marks."""
        marks, lot = rng.standard_normal(self.reviewers), rng.random()
        mean = math.sqrt(self.agreement) * looks
        mean += math.sqrt(1.0 - self.agreement) * float(marks.mean())
        if mean >= self.bar(self.accept - self.lottery / 2.0, worthless):
            return True
        # Without a lottery both bars are one.
        return lot < 0.5 and mean >= self.bar(self.accept + self.lottery / 2.0, worthless)

    def bar(self, share: float, worthless: float) -> float:
        """The mean mark that a share of the ideas reaches."""
        return _bar(share, self.signal, self.agreement, self.reviewers, worthless)


@cache
def _bar(share: float, signal: float, agreement: float, reviewers: int, worthless: float) -> float:
    from scipy import optimize, special

    if not 0.0 < share < 1.0:
        return math.inf if share <= 0.0 else -math.inf
    ranks = (np.arange(NODES) + 0.5) / NODES
    worth = np.maximum(ranks - worthless, 0.0) / (1.0 - worthless)
    expected = math.sqrt(agreement) * signal * (worth - worth.mean()) / worth.std()
    # The rest of a mean mark: how the idea happens to look, and the own parts of the reviewers.
    spread = math.sqrt(agreement * (1.0 - signal**2) + (1.0 - agreement) / reviewers)

    def above(bar: float) -> float:
        if not spread:
            return float((expected >= bar).mean()) - share
        return float(special.ndtr((expected - bar) / spread).mean()) - share

    return float(optimize.brentq(above, -20.0, 20.0))


class ExecutionAttempt(Execution):
    """One attempt: work at the desks, then an outcome (the worth plus noise)."""

    duration: Duration = Field(default_factory=lambda: FixedDuration(length=parse_days("6mo")))
    """From manuscript to outcome, if members find the time."""
    funding: Panel | None = None
    """Panel that decides which ideas are carried out; null: all are."""
    cost: float = Field(default=0.0, ge=0, le=1e12)
    """Cost of one attempt, successful or not. Unit: money."""
    budget: float | None = Field(default=None, ge=0, le=1e15)
    """Money available to all teams, unspent money kept; null: unlimited. Unit: money per year."""
    effort: Days = Field(default=0.0, ge=0)
    """Work of each member. Unit: days of full attention."""
    patience: Days | None = None
    """Time without an outcome after which a team gives up; null: never."""
    noise: float = Field(default=0.1, ge=0, le=10)
    """Standard deviation of the outcome around the worth. Unit: worth."""
    success: float = Field(default=0.5, ge=-10, le=10)
    """Outcome from which on it is a success. Unit: worth."""
    drawer: float = Field(default=0.0, ge=0, le=1)
    """Probability that a failure is not published. Unit: probability. Source: 65 % in Franco,
    Malhotra and Simonovits 2014."""

    overrated: dict[str, Annotated[float, Field(ge=-1, le=1)]] = Field(default_factory=dict)
    """How much ideas appear better than they are, by protocol, such as ``{virsci: 0.22}``; affects
    ``funding`` only. Unit: worth. Source: Si et al. 2025: models 0.22, people 0.07."""
    informed: Literal["members", "coauthors", "first_coauthors", "strangers", "everybody"] = (
        "members"
    )
    """Who learns the outcome at once, and can build on it (``protocol.learning``); first_coauthors:
    co-authors before day 0; strangers: as many others at random."""

    @model_validator(mode="after")
    def _budget_is_spent(self) -> Self:
        if self.budget is not None and not self.cost:
            raise ValueError("budget: attempts cost nothing; set cost, or leave budget out")
        return self

    def carry_out(self, team: Team, lab: Lab, manuscript: Manuscript) -> Process[None]:
        """Work, then read what the idea was, and draw its outcome."""
        world, overrated = lab.world, self.overrated.get(team.protocol_name, 0.0)
        if self.funding is not None:
            yield from lab.stage(STAGE, lab.wait(self.funding.decision))
            chance = lab.rng("funding")
            if not is_accepted(self.funding, team, lab, manuscript, chance, overrated):
                raise Dissolved(NOT_FUNDED)
        if self.budget is not None:
            # Counted and multiplied, so that no sum of costs is rounded.
            if (world.paid + 1) * self.cost > self.budget * world.day / DAYS_PER_YEAR:
                raise Dissolved(NO_MONEY)
            world.paid += 1
        started, longest = lab.now, math.inf if self.patience is None else self.patience
        # A stream per team, so that no attempt shifts another (rule 9).
        rng = lab.rng(STAGE)
        planned, noise, kept = self.duration.draw(rng), rng.standard_normal(), rng.random()
        row: tuple[object, ...] = (None, None, "given_up")
        rated: float | None = None
        try:
            yield from lab.stage(STAGE, self._work(world, team, lab, min(planned, longest)))
            if planned > longest or lab.now - started > longest:
                raise Dissolved(GIVEN_UP)
            worth = worth_of_manuscript(world, team, manuscript)
            if self.overrated:
                # How good the idea looked to everybody, as the worth that ideas look to have.
                field = landscape_of(world)
                signal = self.signal if self.funding is None else self.funding.signal
                looks = appearance(signal, field.standardised(worth), _chance(lab))
                mean, deviation = field.moments
                rated = round(mean + deviation * looks + overrated, DECIMALS)
            outcome = round(worth + self.noise * float(noise), DECIMALS)
            succeeded = outcome >= self.success
            row = (worth, outcome, "succeeded" if succeeded else "failed")
            self._let_know(lab, team, manuscript, outcome)
            world.successes[team.id] = succeeded
            if not succeeded and kept < self.drawer:
                raise Dissolved(NULL_RESULT)
        finally:
            # Also where it is interrupted: the time is spent.
            world.log.row(
                "outcomes",
                team.id,
                started,
                lab.now,
                *row,
                self.success,
                team.notes.get(REPLICATES),
                self.cost or None,
                rated,
            )

    def looks(
        self, lab: Lab, texts: Sequence[Answer[str]], *purpose: object
    ) -> tuple[Answer[float], ...]:
        """One draw for each text, around its worth by ``signal``."""
        # Drawn and dated now, although the reply may arrive later (rules 9 and 14).
        draws = lab.rng("looks", *purpose).standard_normal(len(texts)).tolist()
        return tuple(
            lab.later(
                partial(_looks, self.signal, lab.world, (f"{text.id}/looks", lab.now)), text, draw
            )
            for text, draw in zip(texts, draws, strict=True)
        )

    def _work(self, world: World, team: Team, lab: Lab, days: float) -> Process[None]:
        """Let every member spend the effort at its desk; ``days`` pass in all."""
        began, effort = lab.now, to_ticks(self.effort)
        if effort > 0:
            place = (STAGE, lab.visit, 1)
            members = list(team.members)
            yield from lab.together(
                *(at_desk(world, team, member, place, effort) for member in members)
            )
        yield from lab.wait(max(days - (lab.now - began), 0.0))

    def _let_know(self, lab: Lab, team: Team, manuscript: Manuscript, outcome: float) -> None:
        """Let some know an outcome: each keeps the best one, with the idea's keywords."""
        world, informed = lab.world, [EVERYBODY]
        if self.informed != "everybody":
            people = world.population
            rows = [people.rows[member] for member in team.members]
            before = 0.0 if self.informed == "first_coauthors" else None
            others = set[int]()
            if self.informed != "members":
                others.update(*(world.network.coauthors(row, before)[0].tolist() for row in rows))
                others -= set(rows)
            if self.informed == "strangers":
                # As many as there are co-authors, so that the arms differ in the network alone.
                order = lab.rng("strangers").permutation(len(people)).tolist()
                others = set([row for row in order if row not in rows][: len(others)])
            informed = [people.names[row] for row in [*rows, *sorted(others)]]
        keywords = tuple(getattr(manuscript.text.read(), "keywords", ()))
        for name in informed:
            lesson = world.lessons.get(name)
            if lesson is None or outcome > lesson[0]:
                world.lessons[name] = (outcome, keywords)


def is_accepted(
    panel: Panel,
    team: Team,
    lab: Lab,
    manuscript: Manuscript,
    rng: np.random.Generator,
    overrated: float = 0.0,
) -> bool:
    """Whether a panel accepts what a team hands in."""
    standing, worthless = 0.0, 0.0
    if panel.signal:
        field = landscape_of(lab.world)
        standing = field.standardised(worth_of_manuscript(lab.world, team, manuscript))
        worthless = field.worthless
    looks = appearance(panel.signal, standing, _chance(lab))
    if overrated:
        looks += overrated / landscape_of(lab.world).moments[1]
    return panel.accepts(looks, worthless, rng)


def _chance(lab: Lab) -> float:
    # One stream for all panels of a team: an idea that looks good does so to each of them.
    return float(lab.rng("looks").standard_normal())


def _looks(signal: float, world: World, place: Place, text: str, draw: float) -> float:
    worth = worth_of_vector(world, vector_of_text(world, place, text))
    return appearance(signal, landscape_of(world).standardised(worth), draw)


def worth_of_manuscript(world: World, team: Team, manuscript: Manuscript) -> float:
    """The hidden worth of what a team has handed in, whose words are read here (rule 13)."""
    replicated = team.notes.get(REPLICATES)
    if isinstance(replicated, str):
        return worth_of_vector(world, world.literature.vector(replicated))
    if manuscript.neighbour_query is not None:
        text = manuscript.neighbour_query.read()
    else:
        words = manuscript.text.read()
        text = paper_text(words.title, words.abstract)
    return worth_of_text(world, f"{team.id}/worth", text)


def worth_of_text(world: World, name: str, text: str) -> float:
    """The hidden worth of an idea by its text."""
    return worth_of_vector(world, vector_of_text(world, (name, world.day), text))


def worth_of_vector(world: World, vector: VectorArray) -> float:
    """The hidden worth of an idea by its vector, of shape (dim,) or (1, dim)."""
    return float(landscape_of(world).worth(np.atleast_2d(vector))[0])


def landscape_of(world: World) -> WorthField:
    """The landscape of a world in which ideas are carried out."""
    if world.landscape is None:
        raise ProtocolError("outcomes are drawn around the worth of ideas; give a worth")
    return world.landscape


class ByPanel(Panel, ByChance):
    """A panel whose marks can correlate with the hidden worth.

    Each submission has reviewers of its own, who see the same idea.
    """

    def _accepts(
        self, team: Team, lab: Lab, manuscript: Manuscript, rng: np.random.Generator
    ) -> bool:
        return is_accepted(self, team, lab, manuscript, rng)
