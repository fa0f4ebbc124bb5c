"""Calls, tokens, money and wall time of a run, estimated before anything is paid.

The scenario is rehearsed several times by rule-based scientists who imitate the model. The model
itself is not asked, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.dry_run import (
    DryRun,
    DryRunResult,
    LookaheadBound,
    call_totals,
    lookahead_bound,
)
from virsci_society.scenarios.planning.model_rates import (
    End,
    ModelRates,
    Rate,
    RecordedRun,
)
from virsci_society.scenarios.runs.rehearsal import tokens_needed
from virsci_society.scenarios.runs.run_journal import identity_hash

if TYPE_CHECKING:
    from virsci_society.scenarios.planning.dry_run import RehearsalStep

CALLS = 4_000
"""Calls of all rehearsals at the likely rates together, if one alone has no more; and the length
to which those at other rates are cut."""
MOST = 8
"""Rehearsals at the likely rates; their mean is taken, because a society is a matter of chance."""
CORNERS: tuple[tuple[End, End], ...] = (
    ("low", "low"),
    ("low", "high"),
    ("high", "low"),
    ("high", "high"),
)
"""Ends of what is said, and of how often yes is said; fewer yeses may mean fewer calls or more."""
Figure = Callable[[DryRunResult], float]
FIGURES: Mapping[str, Figure] = {
    "calls": lambda result: result.calls,
    "prompt_tokens": lambda result: result.prompt_tokens,
    "completion_tokens": lambda result: result.completion_tokens,
    "tokens": lambda result: result.tokens,
    "usd": lambda result: result.usd,
}


@dataclass(frozen=True)
class PaidCalls:
    """Calls that have been paid for already, and the run folder that holds them."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    run: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedPage:
    """How long the prompts of one act are, by all rehearsals at the likely rates.

    Attributes:
        stage: of the team; empty before its first.
        act: what is asked, such as ``utter`` or ``vote``.
        calls: in one run, on average.
        typical: tokens of the median prompt.
        largest: tokens of the longest prompt.
    """

    stage: str
    act: str
    calls: float
    typical: int
    largest: int


@dataclass(frozen=True)
class Plan:
    """What a run will take.

    Attributes:
        scenario: what is run.
        rates: how its model is taken to answer.
        figures: by name (see ``FIGURES``, and ``seconds`` of wall time), with their intervals.
        rehearsals: how many there were.
        paid: calls among these that have been paid for already.
        priced: the price of the model is known.
        law: a lower bound of the wall time; None where no window is longer than zero.
        pages: tokens of the prompts, by stage and act.
        window: tokens of a context window that holds the longest prompt and its reply.
    """

    scenario: Scenario
    rates: ModelRates
    figures: Mapping[str, Rate]
    rehearsals: int
    paid: PaidCalls
    priced: bool
    law: LookaheadBound | None
    pages: tuple[PlannedPage, ...]
    window: int

    def to_data(self) -> dict[str, Any]:
        """Plain data for one JSON object."""
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
            "made": vars(self.paid),
            "priced": self.priced,
            "law": None if law is None else vars(law),
            "pages": [asdict(page) for page in self.pages],
            "window": self.window,
            "rates": self.rates.to_data(),
        }

    def _shown(self) -> dict[str, Rate]:
        return {name: r for name, r in self.figures.items() if name != "usd" or self.priced}


def plan(
    scenario: Scenario,
    rates: ModelRates,
    record: RecordedRun | None = None,
    step: RehearsalStep = lambda number, society: None,
) -> Plan:
    """Rehearse a scenario and add up.

    Args:
        scenario: what is to be run.
        rates: how its model answers.
        record: an earlier run; calls that it has made of this very scenario are taken as they were.
        step: as of ``DryRun``.

    Raises:
        InputError: the scenario's ecosystem cannot be used.
    """
    # Only of this very scenario, with this seed.
    same = record is not None and identity_hash(record.scenario) == identity_hash(scenario)
    own = record if same else None
    dry_run = DryRun(scenario, own, step=step)
    likely = rehearse(dry_run, rates)
    ends = [] if rates.exact else _ends(dry_run, rates, likely[0])
    figures = {
        name: _rate(figure, likely, [result for _, result in ends])
        for name, figure in FIGURES.items()
    }
    figures["seconds"] = _wall_time(scenario, rates, likely, ends)
    return Plan(
        scenario,
        rates,
        figures,
        rehearsals=len(likely) + len(ends),
        paid=PaidCalls() if own is None else _made(own, scenario),
        priced=scenario.backend.backend.priced,
        law=lookahead_bound(scenario, fmean(result.span for result in likely), rates.slowest),
        pages=_planned_pages(likely),
        window=tokens_needed(
            scenario.backend.backend.paid, max(result.longest for result in likely)
        ),
    )


def rehearse(dry_run: DryRun, rates: ModelRates) -> list[DryRunResult]:
    """Rehearsals at the likely rates, whose mean is what a run is expected to take."""
    manner = rates.mimic_settings()
    first = dry_run.run(manner)
    again = 1 if rates.exact else max(1, min(MOST, CALLS // max(1, first.calls)))
    return [first, *(dry_run.run(manner, salt) for salt in range(1, again))]


def _ends(
    dry_run: DryRun, rates: ModelRates, first: DryRunResult
) -> list[tuple[End, DryRunResult]]:
    """Rehearsals at the ends of the rates; of a long run its beginning, scaled to the whole."""
    start = None if first.calls <= CALLS else dry_run.run(rates.mimic_settings(), most=CALLS)
    ends: list[tuple[End, DryRunResult]] = []
    for salt, (words, yes) in enumerate(CORNERS, 1):
        # To the same day, not to as many calls: how many there are is what differs at an end.
        until = None if start is None else start.days
        result = dry_run.run(rates.mimic_settings(words, yes), salt, until=until)
        ends.append((words, result if start is None else _scaled(result, start, first)))
    return ends


def _scaled(result: DryRunResult, start: DryRunResult, whole: DryRunResult) -> DryRunResult:
    def grown(name: str) -> float:
        own, begun, all_ = (float(getattr(one, name)) for one in (result, start, whole))
        return own * all_ / begun if begun else own

    # In proportion: what differs in the beginning is taken to differ to the end.
    counts: Any = {
        name: round(grown(name)) for name in ("calls", "prompt_tokens", "completion_tokens")
    }
    return replace(result, **counts, usd=grown("usd"), chain=grown("chain"))


def _rate(figure: Figure, likely: Sequence[DryRunResult], ends: Sequence[DryRunResult]) -> Rate:
    values = [figure(result) for result in (*likely, *ends)]
    return Rate(min(values), fmean(map(figure, likely)), max(values), len(values))


def _planned_pages(likely: Sequence[DryRunResult]) -> tuple[PlannedPage, ...]:
    names = list(dict.fromkeys(name for result in likely for name in result.pages))
    stages = list(dict.fromkeys(stage for stage, _ in names))
    pages = []
    # By stage only: a stable sort keeps the acts of a stage in the order of their first calls.
    for stage, act in sorted(names, key=lambda name: stages.index(name[0])):
        tokens = [one for result in likely for one in result.pages.get((stage, act), ())]
        calls = round(len(tokens) / len(likely), 1)
        pages.append(PlannedPage(stage, act, calls, round(median(tokens)), max(tokens)))
    return tuple(pages)


def _wall_time(
    scenario: Scenario,
    rates: ModelRates,
    likely: Sequence[DryRunResult],
    ends: Sequence[tuple[End, DryRunResult]],
) -> Rate:
    """Seconds: the longest chain of calls, or the work of all of them, whichever is longer."""
    slots = scenario.backend.in_flight

    def lasting(result: DryRunResult, latency: float) -> float:
        return max(result.chain, result.calls / slots) * latency

    middle = [lasting(result, rates.latency.likely) for result in likely]
    outer = [lasting(result, rates.latency.at(words)) for words, result in ends]
    every = [*middle, *outer]
    return Rate(min(every), fmean(middle), max(every), len(every))


def _told(name: str, rate: Rate) -> dict[str, float]:
    ends = {"low": rate.low, "likely": rate.likely, "high": rate.high}
    whole = name not in ("usd", "seconds")
    return {end: round(value) if whole else round(value, 6) for end, value in ends.items()}


def _made(record: RecordedRun, scenario: Scenario) -> PaidCalls:
    speaker = scenario.seeded_backend
    # Rules of a hybrid have answered the other calls, and were not paid.
    used = [
        kept.usage
        for call, (_, kept) in record.known.items()
        if not (speaker.parts and speaker.backend_for(call).rule_based)
    ]
    made = call_totals(scenario, [(one.prompt_tokens, one.completion_tokens) for one in used])
    tokens = made["prompt_tokens"] + made["completion_tokens"]
    return PaidCalls(made["calls"], tokens, made["usd"], str(record.run))
