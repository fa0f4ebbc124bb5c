"""Calls, tokens, cost and time of a run, estimated before anything is paid.

Rule-based scientists rehearse the scenario once; the model is not asked, and nothing is written. A
model's replies are assumed to be a stated number of times as long as the rules'. A society of a
model's own words can take fewer calls or more, so the guard of a run is its budget.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from virsci_society.agents.backends.http import ChatCompletionsBackend
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Usage
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.speed import ASSUMED, Speed, speed_of
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
PAPER_TEXTS = ("paper", "title", "abstract", "found_by")
"""Columns of the table of papers that hold what outcomes are taken of."""
SUMS = ("calls", "prompt_tokens", "completion_tokens", "tokens", "usd")
"""Figures of a plan that add up over runs."""


@dataclass(frozen=True, slots=True)
class PlannedPage:
    """How long the prompts of one act are in the rehearsal.

    Attributes:
        typical: tokens of the median prompt.
        largest: tokens of the longest prompt.
    """

    stage: str
    act: str
    calls: int
    typical: int
    largest: int


@dataclass(frozen=True)
class Plan:
    """What a run will take.

    Attributes:
        usd: their price in US dollars; 0 where it is not known.
        chain: seconds of the longest chain of calls that wait for one another.
        work: seconds of all calls one after the other.
        speed: tokens a second; None: rules answer.
        pages: tokens of the prompts, by stage and act.
        window: tokens of a context window that holds the longest prompt and its reply.
    """

    scenario: Scenario
    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float
    chain: float
    work: float
    speed: Speed | None
    pages: tuple[PlannedPage, ...]
    window: int
    papers: tuple[tuple[str | None, ...], ...]

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def at_a_time(self) -> float:
        """Calls alone in whose time the model makes all calls in flight."""
        calls = self.scenario.backend.at_once
        return calls if self.speed is None else self.speed.gain_of(calls)

    @property
    def seconds(self) -> float:
        """Wall time: of the longest chain of calls, or of all calls at a time."""
        return max(self.chain, self.work / self.at_a_time)

    @property
    def by_rules(self) -> bool:
        """True if rules answer, so that the figures are exact."""
        return isinstance(self.scenario.backend.backend.paid, Offline)

    @property
    def priced(self) -> bool:
        """True if the price of the model is known."""
        return self.scenario.backend.backend.priced

    @property
    def assumptions(self) -> dict[str, float]:
        """What is assumed of the model, by name; empty where rules answer."""
        if self.speed is None:
            return {}
        assumed = {
            "reply_ratio": REPLY_RATIO,
            "prompt_ratio": PROMPT_RATIO,
            "characters_a_token": 4,
        }
        if self.speed is ASSUMED:
            assumed |= {"prompt_tokens_a_second": ASSUMED.prompt}
            assumed |= {"reply_tokens_a_second": ASSUMED.reply}
        return assumed

    def to_data(self) -> dict[str, Any]:
        """Plain data for one JSON object."""
        backend = self.scenario.backend.backend
        shown = [name for name in SUMS if name != "usd" or self.priced]
        return {
            "scenario": self.scenario.name,
            "seed": self.scenario.seed,
            "model": getattr(backend.paid, "model", None),
            "answers": backend.about,
            "rehearsed_by": "rule-based scientists, not a language model",
            "assumptions": self.assumptions,
            **{name: getattr(self, name) for name in shown},
            "seconds": self.seconds,
            "priced": self.priced,
            "speed": None if self.speed is None else asdict(self.speed),
            "longest_chain_seconds": self.chain,
            "pages": [asdict(page) for page in self.pages],
            "window": self.window,
        }


def plan(
    scenario: Scenario,
    ecosystem: Ecosystem | None = None,
    step: Callable[[Society], object] = lambda _: None,
) -> Plan:
    """Rehearse a scenario once and add up."""
    rehearsal = Rehearsal(scenario)
    rows = rehearsal.run(ecosystem, step=step).log.rows
    backend, paid = scenario.backend.backend, scenario.backend.backend.paid
    speed: Speed | None = None
    replies, prompts, longest = REPLY_RATIO, PROMPT_RATIO, LONGEST_RATIO
    if isinstance(paid, Offline):
        replies = prompts = longest = 1.0
    elif isinstance(paid, ChatCompletionsBackend):
        question = next(iter(rehearsal.first.values()), None)
        speed = speed_of(paid, question, scenario.backend.at_once)
    else:
        speed = ASSUMED
    # The others are answered by rules in the run too, and cost nothing.
    calls = [call for call in table_rows(rows, "calls") if call["live"]]
    room, limit = paid.max_prompt_characters, paid.max_reply_tokens
    # Longer prompts are trimmed to the room, and longer replies are cut off.
    most = float("inf") if room is None else room // 4
    prompt_tokens = [round(min(prompts * call["prompt_tokens"], most)) for call in calls]
    completion_tokens = [
        round(min(replies * call["completion_tokens"], limit or float("inf"))) for call in calls
    ]
    seconds = {
        call["call"]: getattr(paid, "latency", 0.0) if speed is None else speed.seconds(*tokens)
        for call, *tokens in zip(calls, prompt_tokens, completion_tokens, strict=True)
    }
    by_act: dict[tuple[str, str], list[int]] = defaultdict(list)
    for call, tokens in zip(calls, prompt_tokens, strict=True):
        if tokens:  # a call without words has none
            by_act[call["stage"], call["act"]].append(tokens)
    stages = list(dict.fromkeys(stage for stage, _ in by_act))
    return Plan(
        scenario,
        calls=len(calls),
        prompt_tokens=sum(prompt_tokens),
        completion_tokens=sum(completion_tokens),
        # Each call by itself, because a price may rise with the length of a call.
        usd=sum(
            backend.price(Usage(*tokens))
            for tokens in zip(prompt_tokens, completion_tokens, strict=True)
        ),
        chain=longest_chain(rows, seconds),
        work=sum(seconds.values()),
        speed=speed,
        pages=tuple(
            PlannedPage(stage, act, len(tokens), round(median(tokens)), max(tokens))
            # By stage only: a stable sort keeps the acts of a stage in the order of their calls.
            for (stage, act), tokens in sorted(
                by_act.items(), key=lambda item: stages.index(item[0][0])
            )
        ),
        window=tokens_needed(paid, round(longest * rehearsal.longest)),
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
