"""A plan as tables and notes for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from virsci_society.scenarios.planning.model_rates import ENDS, Rate
from virsci_society.scenarios.planning.plan import Plan
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
    """Print what a run will take, where the figures come from, and what bounds its time."""
    name = f"{plan.scenario.name}, seed {plan.scenario.seed}: what a run will take"
    print_table(name, ("figure", *ENDS), list(_figures(plan)))
    if plan.pages:
        columns = ("stage", "page", "calls", "typical", "longest")
        print_table("tokens of a page", columns, [*_pages(plan)])
    if not plan.rates.exact:
        print_table("rates, and what they were seen in", ("rate", *ENDS, "from"), [*_rates(plan)])
    tell(*plan_notes(plan))


def plan_notes(plan: Plan) -> Iterator[str]:
    """Notes beside the figures, line by line."""
    backend, rates, made = plan.scenario.backend.backend, plan.rates, plan.paid
    times = "once" if plan.rehearsals == 1 else f"{plan.rehearsals} times"
    yield f"rehearsed {times} by rule-based scientists, not by a language model"
    yield f"who will speak: {backend.about}"
    yield f"rates: {rates.source}"
    if rates.exact:
        yield "for a language model: --set backend.use=openai --set backend.model=NAME"
    elif not rates.calls:
        yield "surer with --learn RUN, or --probe 50: it makes the first 50 calls of this run"
    if made.calls:
        paid = f", {made.usd:.4f} US dollars" if plan.priced else ""
        done = f"{made.calls:,} calls, {made.tokens:,} tokens{paid}"
        yield f"made already, of these: {done}; a run in {made.run} does not make them again"
    if not plan.priced:
        yield UNPRICED
    if plan.window and not rates.exact:
        yield f"a context window of {plan.window:,} tokens holds the longest page and its reply"
    law = plan.law
    if law is not None and law.seconds:
        yield (
            f"shortest time: if every {law.days:g} d ({law.window}) of the {law.span:.0f} d wait "
            f"for one slowest call ({law.slowest:.3g} s), the run takes {duration(law.seconds)}"
        )


def duration(seconds: float) -> str:
    """A length of real time, to two digits or so."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.3g} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def _figures(plan: Plan) -> Iterator[tuple[str, ...]]:
    # Rules cost nothing, and take no time that could be told.
    told = {"usd": plan.priced and not plan.rates.exact, "seconds": plan.figures["seconds"].high}
    for name, label in NAMES.items():
        if told.get(name, True):
            yield (label, *(_figure(name, getattr(plan.figures[name], end)) for end in ENDS))


def _pages(plan: Plan) -> Iterator[tuple[str, ...]]:
    for page in plan.pages:
        calls = f"{page.calls:,.1f}" if page.calls < 10 else f"{page.calls:,.0f}"
        yield (page.stage, page.act, calls, f"{page.typical:,}", f"{page.largest:,}")


def _figure(name: str, value: float) -> str:
    if name == "seconds":
        return duration(value)
    return f"{value:,.4f}" if name == "usd" and value < 100 else f"{value:,.0f}"


def _rates(plan: Plan) -> Iterator[tuple[str, ...]]:
    rates = plan.rates
    yield _rate("length of texts, x that of rules", rates.wordiness.all)
    yield _rate("characters beside the form, share", rates.around.all)
    yield _rate("tokens per character of a reply", rates.reply_tokens.all)
    yield _rate("tokens per character of a prompt", rates.prompt_tokens)
    yield _rate("replies that cannot be read, share", rates.re_asks)
    for trait, (kept, turned) in rates.yes.items():
        yield _rate(f"{trait}: yes where rules say yes, share", kept)
        yield _rate(f"{trait}: yes where rules say no, share", turned)
    yield _rate("seconds of a call", rates.latency)


def _rate(label: str, rate: Rate) -> tuple[str, ...]:
    seen = f"{rate.seen:,} seen" if rate.seen else "assumed"
    return (label, *(f"{getattr(rate, end):.3g}" for end in ENDS), seen)
