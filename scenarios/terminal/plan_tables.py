"""A plan as tables and notes for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from virsci_society.scenarios.planning.plan import Plan
from virsci_society.scenarios.planning.speed import ASSUMED, duration, speed_text
from virsci_society.scenarios.terminal.arguments import tell
from virsci_society.scenarios.terminal.console import print_table

UNPRICED = (
    "the price of the model is not known: give it in US dollars per million tokens with "
    "--set backend.prices.input=USD --set backend.prices.output=USD"
)
NAMES = {
    "calls": "calls",
    "prompt_tokens": "tokens of prompts",
    "completion_tokens": "tokens of replies",
    "usd": "US dollars",
    "seconds": "wall time",
}


def print_plan(plan: Plan) -> None:
    """Print what a run will take, and what is assumed."""
    title = f"{plan.scenario.name}, seed {plan.scenario.seed}: what a run will take"
    # Rules cost nothing, and take no time that could be estimated.
    free = plan.by_rules or plan.scenario.backend.backend.free
    shown = {"usd": plan.priced and not free, "seconds": plan.seconds}
    rows = [
        (label, figure_text(name, getattr(plan, name)))
        for name, label in NAMES.items()
        if shown.get(name, True)
    ]
    print_table(title, ("figure", "estimate"), rows)
    if plan.pages:
        columns = ("stage", "page", "calls", "typical", "longest")
        pages = [
            (page.stage, page.act, f"{page.calls:,}", f"{page.typical:,}", f"{page.largest:,}")
            for page in plan.pages
        ]
        print_table("tokens of a prompt", columns, pages)
    tell(*plan_notes(plan))


def plan_notes(plan: Plan) -> Iterator[str]:
    """Notes beside the figures, line by line."""
    yield "rehearsed once by rule-based scientists, not by a language model"
    yield f"answers: {plan.scenario.backend.backend.about}"
    if plan.by_rules:
        yield "for a language model: --set backend.use=openai --set backend.model=NAME"
        return
    yield assumptions_text(plan)
    if plan.speed is not None and plan.speed is not ASSUMED:
        yield speed_text(plan.speed)
    if plan.scenario.backend.backend.free:
        yield "the server is on this machine, so nothing is paid"
    yield "a model's own words can make it less or more; backend.budget bounds what is spent"
    if not plan.priced:
        yield UNPRICED
    if plan.window:
        yield f"a context window of {plan.window:,} tokens holds the longest prompt and its reply"


def assumptions_text(plan: Plan) -> str:
    """What is assumed of the model, in one line."""
    assumed = plan.assumptions
    speed = (
        f"; {ASSUMED.prompt:g} tokens of a prompt read and {ASSUMED.reply:g} of a reply written "
        "in a second (backend.tokens_per_second)"
    )
    return (
        f"assumed: replies {assumed['reply_ratio']:g} times as long as those of the rules, prompts "
        f"{assumed['prompt_ratio']:g} times as long as in the rehearsal, "
        f"{assumed['characters_a_token']:g} characters a token"
        + (speed if plan.speed is ASSUMED else "")
    )


def figure_text(name: str, value: float) -> str:
    """A figure of ``NAMES`` for people."""
    if name == "seconds":
        return duration(value)
    return f"{value:,.4f}" if name == "usd" and value < 100 else f"{value:,.0f}"
