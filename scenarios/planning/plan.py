"""Calls, tokens, cost and time of a run, from one rehearsal by rules and stated ratios."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from virsci_society.agents.backends.http import ChatCompletionsBackend
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Usage
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.speed import ASSUMED, Speed, duration, speed_of, speed_text
from virsci_society.scenarios.runs.rehearsal import LONGEST_RATIO, Rehearsal, tokens_needed
from virsci_society.society.results.tables import REPEATED_ACTS, TableRows, table_rows

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.model import Society

REPLY_RATIO = 3.0
"""Tokens of a model's reply as a multiple of the rules': assumed. That is texts twice as long, and
half as much again around the form."""
PROMPT_RATIO = 1.3
"""Tokens of a prompt as a multiple of the rehearsal's: what longer replies add in our protocols."""
SUMS = {
    "calls": "calls",
    "prompt_tokens": "tokens of prompts",
    "completion_tokens": "tokens of replies",
    "tokens": "all tokens",
    "usd": "US dollars",
}
"""Figures of a plan that add up over runs, with their labels."""
UNPRICED = (
    "the price of the model is not known: give it in US dollars per million tokens with "
    "--set backend.prices.input=USD --set backend.prices.output=USD"
)


@dataclass(frozen=True)
class Plan:
    """The estimate for one run; ``speed`` is None where rules answer."""

    scenario: Scenario
    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float
    chain: float
    """Seconds of the longest chain of calls that wait for one another."""
    work: float
    """Seconds of all calls, one after the other."""
    speed: Speed | None
    window: int
    papers: pd.DataFrame

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def seconds(self) -> float:
        """Wall time: of the longest chain of calls, or of all calls with those in flight."""
        calls = self.scenario.backend.at_once
        return max(self.chain, self.work / (self.speed.gain_of(calls) if self.speed else calls))

    @property
    def by_rules(self) -> bool:
        """True if rules answer, so that the figures are exact."""
        return isinstance(self.scenario.backend.backend.paid, Offline)

    @property
    def priced(self) -> bool:
        """True if the price of the model is known."""
        return self.scenario.backend.backend.priced

    @property
    def assumptions(self) -> str:
        """The assumptions about the model in one line; empty where rules answer."""
        if self.speed is None:
            return ""
        text = (
            f"assumed: replies {REPLY_RATIO:g} times and prompts {PROMPT_RATIO:g} times as long as "
            "in the rehearsal, 4 characters a token"
        )
        if self.speed is ASSUMED:
            text += (
                f"; {ASSUMED.prompt:g} tokens of a prompt read and {ASSUMED.reply:g} of a reply "
                "written in a second (backend.tokens_per_second)"
            )
        return text

    def to_data(self) -> dict[str, Any]:
        """Plain data for one JSON object."""
        backend = self.scenario.backend.backend
        return {
            "scenario": self.scenario.name,
            "seed": self.scenario.seed,
            "model": getattr(backend.paid, "model", None),
            "answers": backend.about,
            "rehearsed_by": "rule-based scientists, not a language model",
            "assumptions": self.assumptions,
            **{name: getattr(self, name) for name in SUMS if name != "usd" or self.priced},
            "seconds": self.seconds,
            "priced": self.priced,
            "speed": None if self.speed is None else asdict(self.speed),
            "longest_chain_seconds": self.chain,
            "window": self.window,
        }

    def figures(self) -> Iterator[tuple[str, str]]:
        """Label and estimate of each figure; rules cost nothing and take no time."""
        free = self.by_rules or self.scenario.backend.backend.free
        for name, label in SUMS.items():
            if name != "usd" or (self.priced and not free):
                yield label, figure_text(name, getattr(self, name))
        if self.seconds:
            yield "wall time", duration(self.seconds)

    def notes(self) -> Iterator[str]:
        """Notes beside the figures, line by line."""
        backend = self.scenario.backend.backend
        yield f"answers: {backend.about}"
        if self.by_rules:
            yield "the estimate is exact: the run was rehearsed with the same rules"
            yield "for a language model: --set backend.use=openai --set backend.model=NAME"
            return
        yield "rehearsed once by rule-based scientists, not by a language model"
        yield self.assumptions
        if self.speed is not None and self.speed is not ASSUMED:
            yield speed_text(self.speed)
        if backend.free:
            yield "the server runs on this machine, so calls are free"
        yield "a model may make fewer or more calls; backend.budget limits what is spent"
        if not self.priced:
            yield UNPRICED
        if self.window:
            size = f"a context window of {self.window:,} tokens"
            yield f"{size} fits the longest prompt and its reply"


def figure_text(name: str, value: float) -> str:
    """A figure of ``SUMS`` for people."""
    return f"{value:,.4f}" if name == "usd" and value < 100 else f"{value:,.0f}"


def plan(
    scenario: Scenario,
    ecosystem: Ecosystem | None = None,
    step: Callable[[Society], object] = lambda _: None,
) -> Plan:
    """Rehearse a scenario once and add up."""
    rehearsal = Rehearsal(scenario)
    rows = rehearsal.run(ecosystem, step=step).log.rows
    backend, paid = scenario.backend.backend, scenario.backend.backend.paid
    speed: Speed | None = ASSUMED
    replies, prompts, longest = REPLY_RATIO, PROMPT_RATIO, LONGEST_RATIO
    if isinstance(paid, Offline):
        speed, replies, prompts, longest = None, 1.0, 1.0, 1.0
    elif isinstance(paid, ChatCompletionsBackend):
        question = next(iter(rehearsal.first.values()), None)
        speed = speed_of(paid, question, scenario.backend.at_once)
    names = ["call", "prompt_tokens", "completion_tokens"]
    # The others are answered by rules in the run too, and cost nothing.
    live = [[row[name] for name in names] for row in table_rows(rows, "calls") if row["live"]]
    calls = pd.DataFrame(live, columns=names)
    # Longer prompts are trimmed to the room, and longer replies are cut off.
    room = None if paid.max_prompt_characters is None else paid.max_prompt_characters // 4
    sent, written = (
        (ratio * calls[name].astype(float)).clip(upper=most).round().astype(int)
        for name, ratio, most in (
            ("prompt_tokens", prompts, room),
            ("completion_tokens", replies, paid.max_reply_tokens or None),
        )
    )
    seconds = (
        pd.Series(getattr(paid, "latency", 0.0), index=calls.index, dtype=float)
        if speed is None
        else sent / speed.prompt + written / speed.reply
    )
    return Plan(
        scenario,
        calls=len(calls),
        prompt_tokens=int(sent.sum()),
        completion_tokens=int(written.sum()),
        # Each call separately, because prices may depend on its length.
        usd=sum(backend.price(Usage(*pair)) for pair in zip(sent, written, strict=True)),
        chain=longest_chain(rows, dict(zip(calls["call"], seconds, strict=True))),
        work=float(seconds.sum()),
        speed=speed,
        window=tokens_needed(paid, round(longest * rehearsal.longest)),
        papers=pd.DataFrame(
            table_rows(rows, "papers"),
            columns=["paper", "title", "abstract", "neighbour_query"],
            dtype="object",
        ),
    )


def longest_chain(rows: TableRows, seconds: Mapping[str, float]) -> float:
    """Wall time of a run with unlimited calls in flight, by its log and the time of each call."""
    # The clock waits at each read for the replies that it needs, and until then nobody asks
    # anything of a later date: a call starts when all reads before it and its slots are in.
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
