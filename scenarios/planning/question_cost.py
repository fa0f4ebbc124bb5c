"""Calls, tokens and money of questions outside a run, estimated before anything is paid.

The questions are rendered and answered by rule-based scientists who imitate the model, three times:
at the likely rates of a model's words, and at both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from virsci_society.agents.backends.model_mimic import ModelMimic
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.dry_run import price_of
from virsci_society.scenarios.planning.model_rates import End, ModelRates, Rate
from virsci_society.scenarios.planning.plan import rates_for
from virsci_society.society.kernel.answer import Call

ENDS: tuple[End, ...] = ("low", "likely", "high")


@dataclass(frozen=True)
class QuestionCost:
    """What the questions will take.

    Attributes:
        figures: calls, prompt_tokens, completion_tokens and usd, with their intervals.
        rates: how the model is taken to answer.
        priced: the price of the model is known.
    """

    figures: Mapping[str, Rate]
    rates: ModelRates
    priced: bool


def question_cost(scenario: Scenario, ask: Callable[[Gateway], Sequence[Call]]) -> QuestionCost:
    """Rehearse the questions and add up.

    Args:
        scenario: its backend is to answer.
        ask: asks everything through a gateway, and returns the rows of the calls.
    """
    rates = rates_for(scenario, None)
    low, likely, high = (_total(scenario, rates, end, ask) for end in ENDS)
    figures = {name: Rate(low[name], likely[name], high[name]) for name in likely}
    priced = bool(getattr(scenario.backend.backend, "priced", True))
    return QuestionCost(figures, rates, priced)


def _total(
    scenario: Scenario, rates: ModelRates, end: End, ask: Callable[[Gateway], Sequence[Call]]
) -> dict[str, float]:
    backend = ModelMimic(imitated=scenario.seeded_backend, settings=rates.mimic_settings(end))
    calls = ask(Gateway(backend, 1))
    prompts = sum(call.prompt_tokens for call in calls)
    replies = sum(call.completion_tokens for call in calls)
    usd = price_of(scenario.backend.backend, len(calls), prompts, replies)
    return {
        "calls": len(calls),
        "prompt_tokens": prompts,
        "completion_tokens": replies,
        "usd": usd,
    }
