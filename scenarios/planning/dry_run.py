"""Stage: where a scenario is rehearsed, and what one rehearsal would have taken for real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agents.backend import Backend
from agents.gateway import Gateway
from agents.kept import Kept
from agents.offline.rehearsal import Manner, Rehearsal
from agents.request import Request, Usage
from metrics.chain import Chain, rows_of
from scenarios.lessons import Record
from scenarios.schema import Scenario

if TYPE_CHECKING:
    from society.ecosystem.ecosystem import Ecosystem


@dataclass(frozen=True)
class Played:
    """One rehearsal.

    Attributes:
        calls: asked of the model, re-asks included.
        prompt_tokens: of all prompts.
        completion_tokens: of all replies.
        usd: their price; 0 where it is not known.
        chain: most calls of which each waits for the one before.
        span: simulated days from the first asking to the last.
        days: simulated days that were rehearsed.
        teams: most teams at one time.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float
    chain: float
    span: float
    days: float
    teams: int

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.completion_tokens


class Stage:
    """Where one scenario is rehearsed, as often as it takes.

    Args:
        scenario: checked.
        record: a run of this very scenario, whose calls are taken as they were made.
    """

    def __init__(self, scenario: Scenario, record: Record | None = None) -> None:
        from scenarios.build import build_ecosystem_of

        self.scenario = scenario
        self._record = record
        self._ecosystem: Ecosystem = build_ecosystem_of(scenario)

    def play(
        self,
        manner: Manner,
        salt: int = 0,
        *,
        until: float | None = None,
        most: int | None = None,
    ) -> Played:
        """Rehearse it once.

        Args:
            manner: how the model speaks.
            salt: of what is left to chance.
            until: last simulated day; that of the scenario by default.
            most: calls after which it is broken off, with the simulated week that is played.
        """
        from scenarios.build import build_society

        scenario, asked = self.scenario, 0
        if until is not None:
            scenario = scenario.model_copy(update={"until": until})

        def known(request: Request) -> Kept | None:
            nonlocal asked
            asked += 1
            return None if self._record is None else self._record.find(request)

        backend = Rehearsal(part=scenario.speaker, manner=manner, salt=salt, known=known)
        society = build_society(scenario, self._ecosystem, Gateway(backend, 1))
        while society.running and (most is None or asked < most):
            society.step()
        society.close()
        return self._played(society.log.rows, society.day)

    def _played(self, rows: Any, days: float) -> Played:
        calls = [call for call in rows_of(rows, "calls") if call["live"]]
        prompts = sum(call["prompt_tokens"] for call in calls)
        replies = sum(call["completion_tokens"] for call in calls)
        asked = [call["asked"] for call in calls]
        return Played(
            calls=len(calls),
            prompt_tokens=prompts,
            completion_tokens=replies,
            usd=price_of(self.scenario.backend.backend, len(calls), prompts, replies),
            chain=Chain(rows, {call["call"]: 1.0 for call in calls}).longest,
            span=max(asked, default=0.0) - min(asked, default=0.0),
            days=days,
            teams=_at_once(rows),
        )


def price_of(backend: Backend, calls: int, prompt_tokens: int, completion_tokens: int) -> float:
    """US dollars for so many calls of a mean length; a price may rise with the length of a call."""
    if not calls:
        return 0.0
    mean = Usage(round(prompt_tokens / calls), round(completion_tokens / calls))
    return calls * backend.price(mean)


def _at_once(rows: Any) -> int:
    """Most teams that work at one time."""
    teams = rows_of(rows, "teams")
    changes = [(team["founded"], 1) for team in teams]
    changes += [(team["finished"], -1) for team in teams if team["finished"] is not None]
    now = most = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most
