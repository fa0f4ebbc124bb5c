"""Plan: calls, tokens, money and time of a run, before anything is paid.

The scenario is rehearsed, several times, by rule-based scientists who are given the model's
manner. The model itself is not asked, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from agents.backend import Backend
from agents.errors import InputError
from agents.offline.scientist import Offline
from scenarios.lessons import Record
from scenarios.pace import Law, law_of, slots_of
from scenarios.rates import End, Rate, Rates
from scenarios.runfolder import identity_hash
from scenarios.schema import Scenario
from scenarios.stage import Played, Stage, price_of

CALLS = 4_000
"""Calls of all rehearsals at the likely rates together, if one alone has no more; and the length
to which those at other rates are cut."""
MOST = 8
"""Rehearsals at the likely rates; their mean is taken, because a society is a matter of chance."""
ENDS: tuple[tuple[End, End], ...] = (
    ("low", "low"),
    ("low", "high"),
    ("high", "low"),
    ("high", "high"),
)
"""Ends of what is said, and of how often yes is said; fewer yeses may mean fewer calls or more."""
Figure = Callable[[Played], float]
FIGURES: Mapping[str, Figure] = {
    "calls": lambda played: played.calls,
    "prompt_tokens": lambda played: played.prompt_tokens,
    "completion_tokens": lambda played: played.completion_tokens,
    "tokens": lambda played: played.tokens,
    "usd": lambda played: played.usd,
}


@dataclass(frozen=True)
class Made:
    """What has been paid for already: calls, their tokens, US dollars, and in which run folder."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    run: str | None = None


@dataclass(frozen=True)
class Plan:
    """What a run will take.

    Attributes:
        scenario: what is run.
        rates: how its model is taken to speak.
        figures: by name (see ``FIGURES``, and ``seconds`` of wall time), with their ends.
        rehearsals: how many there were.
        made: what has been paid for already, of these figures.
        priced: the price of the model is known.
        law: a bound of the wall time; None where no window is above zero.
    """

    scenario: Scenario
    rates: Rates
    figures: Mapping[str, Rate]
    rehearsals: int
    made: Made
    priced: bool
    law: Law | None

    def to_data(self) -> dict[str, Any]:
        """As one JSON object."""
        backend = self.scenario.backend.backend
        law = self.law
        return {
            "scenario": self.scenario.name,
            "seed": self.scenario.seed,
            "model": getattr(backend.paid, "model", None),
            "who_speaks": backend.about,
            "rehearsed_by": "rule-based scientists, not a language model",
            "rehearsals": self.rehearsals,
            **{name: _told(name, rate) for name, rate in self._shown().items()},
            "made": vars(self.made),
            "priced": self.priced,
            "law": None if law is None else vars(law),
            "rates": self.rates.to_data(),
        }

    def _shown(self) -> dict[str, Rate]:
        return {name: r for name, r in self.figures.items() if name != "usd" or self.priced}


def plan(scenario: Scenario, rates: Rates, record: Record | None = None) -> Plan:
    """Rehearse a scenario and add up.

    Args:
        scenario: what is to be run.
        rates: how its model speaks.
        record: an earlier run; what it has made of this very scenario is taken as it was.

    Raises:
        InputError: the scenario's ecosystem cannot be used.
    """
    own = record if record is not None and is_of(record, scenario) else None
    stage = Stage(scenario, own)
    manner = rates.manner()
    first = stage.play(manner)
    again = 1 if rates.exact else max(1, min(MOST, CALLS // max(1, first.calls)))
    likely = [first, *(stage.play(manner, salt) for salt in range(1, again))]
    ends = [] if rates.exact else _ends(stage, rates, first)
    figures = {
        name: _rate(figure, likely, [played for _, played in ends])
        for name, figure in FIGURES.items()
    }
    figures["seconds"] = _wall_time(scenario, rates, likely, ends)
    return Plan(
        scenario,
        rates,
        figures,
        rehearsals=len(likely) + len(ends),
        made=Made() if own is None else _made(own, scenario),
        priced=bool(getattr(scenario.backend.backend, "priced", True)),
        law=law_of(scenario, fmean(played.span for played in likely), rates.slowest),
    )


def rates_for(scenario: Scenario, record: Record | None) -> Rates:
    """The rates learnt from a record, or else those that are assumed.

    Raises:
        InputError: the record is of another model, or its run cannot be gone through again.
    """
    from scenarios.lessons import learn

    if record is None:
        rules = scenario.backend.backend.paid
        if isinstance(rules, Offline):
            return Rates.of_rules(rules.latency)
        return Rates("assumed; nothing has been learnt")
    theirs, ours = record.scenario.backend.backend, scenario.backend.backend
    if theirs.told != ours.told:
        raise InputError(
            f"{record.run}: was run with {theirs.about} or other sampling, the scenario names "
            f"{ours.about}; learn from a run with the same model"
        )
    return learn(record)


def is_of(record: Record, scenario: Scenario) -> bool:
    """Is it a record of this very scenario, with this seed?"""
    return identity_hash(record.scenario) == identity_hash(scenario)


def _ends(stage: Stage, rates: Rates, first: Played) -> list[tuple[End, Played]]:
    """Rehearsals at the ends of the rates; of a long run its beginning, scaled to the whole."""
    if first.calls <= CALLS:
        return [
            (words, stage.play(rates.manner(words, yes), salt))
            for salt, (words, yes) in enumerate(ENDS, 1)
        ]
    start = stage.play(rates.manner(), most=CALLS)
    return [
        (words, _scaled(stage.play(rates.manner(words, yes), salt, until=start.days), start, first))
        for salt, (words, yes) in enumerate(ENDS, 1)
    ]


def _scaled(played: Played, start: Played, whole: Played) -> Played:
    def grown(name: str) -> float:
        own, begun, all_ = (float(getattr(one, name)) for one in (played, start, whole))
        return own * all_ / begun if begun else own

    counts = ("calls", "prompt_tokens", "completion_tokens")
    return replace(
        played,
        **{name: round(grown(name)) for name in counts},
        usd=grown("usd"),
        chain=grown("chain"),
    )


def _rate(figure: Figure, likely: Sequence[Played], ends: Sequence[Played]) -> Rate:
    values = [figure(played) for played in (*likely, *ends)]
    return Rate(min(values), fmean(map(figure, likely)), max(values), len(values))


def _wall_time(
    scenario: Scenario, rates: Rates, likely: Sequence[Played], ends: Sequence[tuple[End, Played]]
) -> Rate:
    """Seconds: the longest chain of calls, or the work of all of them, whichever is longer."""
    slots = slots_of(scenario)

    def lasting(played: Played, latency: float) -> float:
        return max(played.chain, played.calls / slots) * latency

    middle = [lasting(played, rates.latency.likely) for played in likely]
    outer = [lasting(played, rates.latency.at(words)) for words, played in ends]
    every = [*middle, *outer]
    return Rate(min(every), fmean(middle), max(every), len(every))


def _told(name: str, rate: Rate) -> dict[str, float]:
    ends = {"low": rate.low, "likely": rate.likely, "high": rate.high}
    whole = name not in ("usd", "seconds")
    return {end: round(value) if whole else round(value, 6) for end, value in ends.items()}


def _is_paid(speaker: Backend, call: str) -> bool:
    """All but the calls that a hybrid leaves to rules."""
    return not (speaker.voices and speaker.voice(call).rules)


def _made(record: Record, scenario: Scenario) -> Made:
    speaker = scenario.speaker
    used = [kept.usage for id_, (_, kept) in record.known.items() if _is_paid(speaker, id_)]
    prompts = sum(usage.prompt_tokens for usage in used)
    replies = sum(usage.completion_tokens for usage in used)
    usd = price_of(scenario.backend.backend, len(used), prompts, replies)
    return Made(len(used), prompts + replies, usd, str(record.run))
