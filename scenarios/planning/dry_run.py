"""Dry runs, in which rule-based scientists rehearse a scenario and its costs are counted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from virsci_society.agents.backends.model_mimic import MimicSettings
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Usage
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.model_rates import ModelRates, RecordedRun
from virsci_society.scenarios.runs.rehearsal import Rehearsal, untrimmed
from virsci_society.society.results.tables import REPEATED_ACTS, TableRows, table_rows

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.model import Society

    RehearsalStep = Callable[[int, Society], object]

WINDOWS = ("meeting_notice", "reply_window", "publication_delay")
PAPER_TEXTS = ("paper", "title", "abstract", "found_by")
"""Columns of the table of papers that hold what outcomes are taken of."""
LOOKED_AT = 2_000
"""Calls that are rehearsed for a warning."""


@dataclass(frozen=True)
class DryRunResult:
    """Counts of one rehearsal.

    Attributes:
        calls: asked of the model, re-asks included.
        prompt_tokens: of all prompts.
        completion_tokens: of all replies.
        usd: their price in US dollars; 0 where it is not known.
        chain: most calls of which each waits for the one before.
        span: simulated days from the first call to the last.
        days: simulated days that were rehearsed.
        longest: characters of the longest prompt.
        pages: tokens of each prompt, by stage and act, in the order of the first call of each.
        papers: of each paper the values of ``PAPER_TEXTS``.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float
    chain: float
    span: float
    days: float
    longest: int = 0
    pages: Mapping[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)
    papers: tuple[tuple[str | None, ...], ...] = ()

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.completion_tokens


class DryRun:
    """A scenario with its ecosystem, to be rehearsed as often as needed.

    Args:
        scenario: checked.
        record: a run of this very scenario, whose calls are taken as they were made.
        ecosystem: of the scenario, where it has been made already.
        step: is given the number of the rehearsal, from 1, and its society before each period.
    """

    def __init__(
        self,
        scenario: Scenario,
        record: RecordedRun | None = None,
        ecosystem: Ecosystem | None = None,
        step: RehearsalStep = lambda number, society: None,
    ) -> None:
        # Imported here: 'society check' needs this module also where nothing is rehearsed.
        from virsci_society.scenarios.runs.build import build_ecosystem_of, require_team

        self.scenario, self._record, self._step = scenario, record, step
        self._begun = 0
        if ecosystem is not None:
            require_team(scenario, ecosystem)
        self.ecosystem = ecosystem if ecosystem is not None else build_ecosystem_of(scenario)

    def run(
        self,
        manner: MimicSettings,
        salt: int = 0,
        *,
        until: float | None = None,
        most: float = math.inf,
    ) -> DryRunResult:
        """Rehearse the scenario once.

        Args:
            manner: how the rule-based scientists imitate the model.
            salt: changes the random part of the imitation.
            until: last simulated day; that of the scenario by default.
            most: calls after which the rehearsal stops, at the end of the simulated period.
        """
        scenario = self.scenario
        if until is not None:
            scenario = scenario.model_copy(update={"until": until})
        known = None if self._record is None else self._record.lookup
        rehearsal = Rehearsal(scenario, manner, salt=salt, known=known)
        self._begun += 1
        society = rehearsal.run(self.ecosystem, most, step=partial(self._step, self._begun))
        rows = society.log.rows
        # The others are answered by rules in the run too, and cost nothing.
        calls = [call for call in table_rows(rows, "calls") if call["live"]]
        asked = [call["asked"] for call in calls]
        tokens = [(call["prompt_tokens"], call["completion_tokens"]) for call in calls]
        lengths = {call["call"]: 1.0 for call in calls}
        return DryRunResult(
            **call_totals(scenario, tokens),
            chain=longest_chain(rows, lengths),
            span=max(asked, default=0.0) - min(asked, default=0.0),
            days=society.day,
            longest=rehearsal.longest_characters,
            pages=_pages(calls),
            papers=tuple(
                tuple(paper[name] for name in PAPER_TEXTS) for paper in table_rows(rows, "papers")
            ),
        )


def longest_chain(rows: TableRows, seconds: Mapping[str, float]) -> float:
    """Wall time of a run with unlimited calls in flight, by its log and the time of each call.

    The clock waits at each read for the replies that it needs, and until then nobody asks anything
    of a later date. So a call starts when all reads before it and the replies in its prompt are in.
    """
    ends: dict[str, float] = {}
    guests: dict[str, list[str]] = defaultdict(list)
    acts = []
    for call in table_rows(rows, "calls"):
        acts.append((call["asked"], call["team"], call["sequence"], call))
        if call["act"] == "guest":
            guests[call["call"].rsplit("/", 1)[0]].append(call["call"])
    for read in table_rows(rows, "reads"):
        acts.append((read["date"], read["team"], read["sequence"], read))

    def end(need: str) -> float:
        # The second and later guests of one utterance have the needs ``/guest2`` and so on.
        said, sign, place = need.rpartition("/guest")
        if sign and (not place or place.isdigit()):
            return max(ends.get(call, 0.0) for call in (said, *guests.get(said + sign, ())))
        return ends.get(need, 0.0)

    clock = 0.0
    for *_, row in sorted(acts, key=lambda act: act[:3]):
        ready = max([clock, *map(end, row["needs"].split())])
        if "call" not in row:
            clock = ready
        elif row["act"] in REPEATED_ACTS:
            # What needs the reply to the first asking waits for the last one.
            ends[row["call"]] = ends[row["needs"]] = end(row["needs"]) + seconds.get(row["call"], 0)
        else:
            ends[row["call"]] = ready + seconds.get(row["call"], 0.0)
    return max(ends.values(), default=0.0)


def call_totals(scenario: Scenario, tokens: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Calls, their tokens (of prompt and reply) and their price, as a plan shows them."""
    prompts, replies = sum(one for one, _ in tokens), sum(one for _, one in tokens)
    return {
        "calls": len(tokens),
        "prompt_tokens": prompts,
        "completion_tokens": replies,
        "usd": price_of(scenario.backend.backend, len(tokens), prompts, replies),
    }


def price_of(backend: Backend, calls: int, prompt_tokens: int, completion_tokens: int) -> float:
    """US dollars for a number of calls with so many tokens together."""
    if not calls:
        return 0.0
    # By the mean length, because a price may rise with the length of a call.
    mean = Usage(round(prompt_tokens / calls), round(completion_tokens / calls))
    return calls * backend.price(mean)


def _pages(calls: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], tuple[int, ...]]:
    """Tokens of each prompt, by stage and act."""
    pages: dict[tuple[str, str], list[int]] = defaultdict(list)
    for call in calls:
        if call["prompt_tokens"]:  # a call without words has none
            pages[call["stage"], call["act"]].append(call["prompt_tokens"])
    return {page: tuple(tokens) for page, tokens in pages.items()}


@dataclass(frozen=True)
class LookaheadBound:
    """A lower bound of the wall time of a society that always waits for some reply.

    Attributes:
        seconds: span / days * slowest.
        span: simulated days from the first call to the last.
        window: key of the shortest window.
        days: its length in simulated days.
        slowest: seconds of the slowest call.
    """

    seconds: float
    span: float
    window: str
    days: float
    slowest: float


def windows_of(scenario: Scenario) -> dict[str, float]:
    """The windows of a scenario in days, by their keys."""
    of_time = {f"time.{name}": float(getattr(scenario.time, name)) for name in WINDOWS}
    return {**of_time, **scenario.publication.windows}


def shortest_window(scenario: Scenario) -> tuple[float, str] | None:
    """Length in days and key of the shortest window; None where no window is longer than zero."""
    windows = ((days, key) for key, days in windows_of(scenario).items() if days > 0)
    return min(windows, default=None)


def lookahead_bound(scenario: Scenario, span: float, slowest: float) -> LookaheadBound | None:
    """The lower bound of the wall time; None where no window is longer than zero.

    The span is in simulated days from the first call to the last, ``slowest`` in seconds of a call.
    """
    window = shortest_window(scenario)
    if window is None:
        return None
    days, key = window
    return LookaheadBound(span / days * slowest, span, key, days, slowest)


def rehearse_beginning(scenario: Scenario) -> DryRunResult | None:
    """A rehearsal of the first calls, with no page trimmed; None if no model is asked anything."""
    if isinstance(scenario.backend.backend.paid, Offline):
        return None
    return DryRun(untrimmed(scenario)).run(ModelRates("").mimic_settings(), most=LOOKED_AT)
