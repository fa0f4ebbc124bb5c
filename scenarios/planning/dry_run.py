"""Dry runs, in which rule-based scientists stand for a model and the costs are counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from virsci_society.agents.backends.model_mimic import MimicSettings, ModelMimic
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.journal.records import CallOutcome
from virsci_society.agents.prompts.prompt import total_characters
from virsci_society.agents.prompts.request import Request
from virsci_society.agents.usage import Usage
from virsci_society.metrics.critical_path import CriticalPath, table_rows
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.calibration import RecordedRun

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem


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
        teams: most teams at one time.
        longest: characters of the longest prompt.
        pages: tokens of each prompt, by stage and act, in the order of the first call of each.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float
    chain: float
    span: float
    days: float
    teams: int
    longest: int = 0
    pages: Mapping[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)

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
    """

    def __init__(
        self,
        scenario: Scenario,
        record: RecordedRun | None = None,
        ecosystem: Ecosystem | None = None,
    ) -> None:
        from virsci_society.scenarios.runs.build import build_ecosystem_of, require_team

        self.scenario = scenario
        self._record = record
        if ecosystem is not None:
            require_team(scenario, ecosystem)
        self.ecosystem = ecosystem if ecosystem is not None else build_ecosystem_of(scenario)

    def run(
        self,
        manner: MimicSettings,
        salt: int = 0,
        *,
        until: float | None = None,
        most: int | None = None,
    ) -> DryRunResult:
        """Rehearse the scenario once.

        Args:
            manner: how the rule-based scientists imitate the model.
            salt: changes the random part of the imitation.
            until: last simulated day; that of the scenario by default.
            most: calls after which the rehearsal stops, at the end of the simulated period.
        """
        from virsci_society.scenarios.runs.build import build_society

        scenario, asked, longest = self.scenario, 0, 0
        if until is not None:
            scenario = scenario.model_copy(update={"until": until})

        def known(request: Request) -> CallOutcome | None:
            nonlocal asked, longest
            asked += 1
            longest = max(longest, total_characters(request.messages))
            return None if self._record is None else self._record.lookup(request)

        imitated = scenario.seeded_backend
        backend = ModelMimic(imitated=imitated, settings=manner, salt=salt, lookup=known)
        society = build_society(scenario, self.ecosystem, Gateway(backend, 1))
        while society.running and (most is None or asked < most):
            society.step()
        society.close()
        return self._played(society.log.rows, society.day, longest)

    def _played(self, rows: Any, days: float, longest: int) -> DryRunResult:
        calls = [call for call in table_rows(rows, "calls") if call["live"]]
        prompts = sum(call["prompt_tokens"] for call in calls)
        replies = sum(call["completion_tokens"] for call in calls)
        asked = [call["asked"] for call in calls]
        return DryRunResult(
            calls=len(calls),
            prompt_tokens=prompts,
            completion_tokens=replies,
            usd=price_of(self.scenario.backend.backend, len(calls), prompts, replies),
            chain=CriticalPath(rows, {call["call"]: 1.0 for call in calls}).length,
            span=max(asked, default=0.0) - min(asked, default=0.0),
            days=days,
            teams=_at_once(rows),
            longest=longest,
            pages=_pages(calls),
        )


def price_of(backend: Backend, calls: int, prompt_tokens: int, completion_tokens: int) -> float:
    """US dollars for a number of calls of mean length; a price may rise with the length of a call.

    Args:
        backend: knows the price of a call by its tokens.
        calls: how many.
        prompt_tokens: of all of them.
        completion_tokens: of all of them.
    """
    if not calls:
        return 0.0
    mean = Usage(round(prompt_tokens / calls), round(completion_tokens / calls))
    return calls * backend.price(mean)


def _pages(calls: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], tuple[int, ...]]:
    """Tokens of each prompt, by stage and act."""
    pages: dict[tuple[str, str], list[int]] = defaultdict(list)
    for call in calls:
        if call["prompt_tokens"]:  # a call without words has none
            pages[call["stage"], call["act"]].append(call["prompt_tokens"])
    return {page: tuple(tokens) for page, tokens in pages.items()}


def _at_once(rows: Any) -> int:
    """Most teams that work at one time."""
    teams = table_rows(rows, "teams")
    changes = [(team["founded"], 1) for team in teams]
    changes += [(team["finished"], -1) for team in teams if team["finished"] is not None]
    now = most = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most
