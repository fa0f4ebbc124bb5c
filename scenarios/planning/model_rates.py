"""Rates by which replies of a model differ from rule-based ones, with intervals.

Rates are assumed, or learnt from the calls of an earlier or unfinished run: it is rehearsed again
from its journal, so that every call that was made stands beside the reply of a rule-based scientist
to the very same request. Each rate has a likely value and an 80 % interval around it.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression
from typing import Any, Literal

from virsci_society.agents.backends.model_mimic import (
    WORDINESS,
    Leaning,
    MimicSettings,
    iterate_strings,
    iterate_texts,
    traits,
)
from virsci_society.agents.errors import InputError, ReplyError
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import ANSWERED, CallOutcome
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Reply, Request, total_characters
from virsci_society.agents.replies.parser import read_reply
from virsci_society.scenarios.config.document import Document
from virsci_society.scenarios.config.schema import Scenario, read_scenario
from virsci_society.scenarios.config.yaml_io import Key
from virsci_society.scenarios.runs.rehearsal import Rehearsal
from virsci_society.scenarios.runs.run_journal import JOURNAL

End = Literal["low", "likely", "high"]
ENDS: tuple[End, ...] = ("low", "likely", "high")
LEVEL, Z = 0.8, 1.2816
"""Coverage of the intervals, and the normal quantile that leaves out a tenth on either side."""
FEW = 3.0
"""Observations of one form by which its ratio is drawn towards that of all forms."""
DOUBT = 0.5
"""Observations by which a share is drawn towards the offline scientist's."""


@dataclass(frozen=True, slots=True)
class Rate:
    """One number with its 80 % interval.

    Attributes:
        low: lower end.
        likely: best estimate.
        high: upper end.
        seen: observations; 0 where the rate is assumed.
    """

    low: float
    likely: float
    high: float
    seen: int = 0

    def at(self, end: End) -> float:
        """The value at one end."""
        return float(getattr(self, end))

    def to_data(self) -> dict[str, float]:
        """Plain data for JSON, rounded."""
        data = {"low": self.low, "likely": self.likely, "high": self.high}
        return {name: round(value, 4) for name, value in data.items()} | {"seen": self.seen}


@dataclass(frozen=True)
class FormRatio:
    """A ratio over all forms, and that of every form that was seen, by the form's name."""

    all: Rate
    of: Mapping[str, Rate] = field(default_factory=dict)

    def each(self, end: End) -> dict[str, float]:
        """The ratio of every form at one end."""
        return {name: rate.at(end) for name, rate in self.of.items()}


@dataclass(frozen=True)
class ModelRates:
    """How a model answers.

    Attributes:
        source: where the rates come from, in words.
        calls: calls they were estimated from; 0: all are assumed.
        wordiness: length of texts, as a multiple of the rule-based scientists'.
        around: characters beside the form, as a share of the form's.
        reply_tokens: tokens of a reply per character.
        prompt_tokens: tokens of a prompt per character.
        overhead: tokens of a prompt beside those.
        re_asks: share of the replies that cannot be read.
        yes: by trait, the shares of yes where the rule-based scientists say yes, and where no.
        latency: seconds of a call.
        slowest: seconds of a slow call, the slowest of twenty.
        exact: nothing is uncertain.
    """

    source: str
    calls: int = 0
    wordiness: FormRatio = FormRatio(Rate(0.8, WORDINESS, 5.0))
    around: FormRatio = FormRatio(Rate(0.0, 0.5, 1.5))
    reply_tokens: FormRatio = FormRatio(Rate(0.2, 0.25, 0.35))
    prompt_tokens: Rate = Rate(0.2, 0.25, 0.3)
    overhead: float = 10.0
    re_asks: Rate = Rate(0.0, 0.02, 0.1)
    yes: Mapping[str, tuple[Rate, Rate]] = field(
        default_factory=lambda: {"Choice.accepted": (Rate(0.5, 1.0, 1.0), Rate(0.0, 0.0, 0.5))}
    )
    latency: Rate = Rate(1.0, 4.0, 15.0)
    slowest: float = 15.0
    exact: bool = False

    @classmethod
    def of_rules(cls, latency: float = 0.0) -> ModelRates:
        """The exact rates of the rule-based scientists; ``latency`` is an artificial delay."""
        same, none = Rate(1.0, 1.0, 1.0), Rate(0.0, 0.0, 0.0)
        token = Rate(0.25, 0.25, 0.25)
        return cls(
            "exact: the rule-based scientists speak themselves",
            wordiness=FormRatio(same),
            around=FormRatio(none),
            reply_tokens=FormRatio(token),
            prompt_tokens=token,
            overhead=0.0,
            re_asks=none,
            yes={},
            latency=Rate(latency, latency, latency),
            slowest=3.0 * latency,
            exact=True,
        )

    def mimic_settings(self, words: End = "likely", yes: End = "likely") -> MimicSettings:
        """Settings of a rehearsal, at one end of the rates of text and of those of consent."""
        return MimicSettings(
            wordiness=self.wordiness.all.at(words),
            wordiness_of=self.wordiness.each(words),
            around=self.around.all.at(words),
            around_of=self.around.each(words),
            leanings={
                trait: Leaning(kept.at(yes), turned.at(yes))
                for trait, (kept, turned) in self.yes.items()
            },
            re_asks=self.re_asks.at(words),
            prompt_tokens=self.prompt_tokens.at(words),
            overhead=self.overhead,
            reply_tokens=self.reply_tokens.all.at(words),
            reply_tokens_of=self.reply_tokens.each(words),
        )

    def to_data(self) -> dict[str, Any]:
        """Plain data for JSON; only what differs by form is left out."""
        return {
            "source": self.source,
            "calls": self.calls,
            "wordiness": self.wordiness.all.to_data(),
            "around": self.around.all.to_data(),
            "reply_tokens": self.reply_tokens.all.to_data(),
            "prompt_tokens": self.prompt_tokens.to_data(),
            "overhead": round(self.overhead, 1),
            "re_asks": self.re_asks.to_data(),
            "yes": {
                trait: {"kept": kept.to_data(), "turned": turned.to_data()}
                for trait, (kept, turned) in self.yes.items()
            },
            "latency": self.latency.to_data(),
            "slowest": round(self.slowest, 3),
        }


def estimate_share(hits: int, trials: int, otherwise: float) -> Rate:
    """A share with its Wilson interval, shrunk a little towards a prior share.

    Args:
        hits: of the trials.
        trials: with none, the interval reaches from the prior share to a half.
        otherwise: the prior share, which weighs as much as half a trial.
    """
    # Imported here: it needs scipy, and `society check` imports this module without an estimate.
    from virsci_society.metrics.inference.intervals import wilson_interval

    likely = (hits + DOUBT * otherwise) / (trials + DOUBT)
    low, high = 0.5, 0.5
    if trials:
        band = wilson_interval(hits, trials, LEVEL)
        low, high = band.low, band.high
    return Rate(min(low, likely), likely, max(high, likely), trials)


Pairs = Sequence[tuple[float, float]]
"""Of every observation, what is divided by and what is divided."""


def estimate_ratio(pairs: Pairs, otherwise: Rate) -> Rate:
    """The ratio of two sums, with an interval from the standard error of a ratio estimate.

    Where there is nothing to divide by, ``otherwise``, whose relative width serves a single pair.
    """
    below, above = sum(x for x, _ in pairs), sum(y for _, y in pairs)
    if below <= 0:
        return otherwise
    likely, n = above / below, len(pairs)
    if n < 2 or likely <= 0:
        wide = otherwise.high / otherwise.likely if otherwise.likely else 2.0
        return Rate(likely / wide, likely, likely * wide, n)
    spread = sum((y - likely * x) ** 2 for x, y in pairs) * n / (n - 1)
    # On the scale of the logarithm, so that the lower end of a ratio stays above zero.
    factor = math.exp(Z * math.sqrt(spread) / below / likely)
    return Rate(likely / factor, likely, likely * factor, n)


def estimate_ratio_by_form(pairs: Mapping[str, Pairs], otherwise: Rate) -> FormRatio:
    """The ratio over all forms and of each; that of a form seldom seen is shrunk towards all."""
    everything = [pair for of in pairs.values() for pair in of]
    pooled = _unlike(estimate_ratio(everything, otherwise), pairs)
    each = {}
    for name, of in pairs.items():
        own, n = estimate_ratio(of, pooled), len(of)
        if own.seen:
            weight = n / (n + FEW)
            low, likely, high = (
                weight * own.at(end) + (1 - weight) * pooled.at(end) for end in ENDS
            )
            each[name] = Rate(low, likely, high, n)
    return FormRatio(pooled, each)


def _unlike(pooled: Rate, pairs: Mapping[str, Pairs]) -> Rate:
    """Ends as wide as the forms differ: what was not seen yet may be such a form."""
    if not pooled.seen or pooled.likely <= 0:
        return pooled
    own = [
        sum(y for _, y in of) / below for of in pairs.values() if (below := sum(x for x, _ in of))
    ]
    low, high = min([pooled.low, *own]), max([pooled.high, *own])
    return Rate(low, pooled.likely, high, pooled.seen)


def fit_line(pairs: Pairs, otherwise: tuple[Rate, float]) -> tuple[Rate, float]:
    """Slope and intercept (>= 0) of tokens over characters by least squares.

    ``otherwise`` has both for fewer than two observations.
    """
    n = len(pairs)
    if n < 2:
        slope = estimate_ratio([(x, max(0.0, y - otherwise[1])) for x, y in pairs], otherwise[0])
        return slope, otherwise[1]
    # Prompts of one length have no slope.
    level = len({x for x, _ in pairs}) == 1
    slope_, start = (0.0, 0.0) if level else linear_regression(*zip(*pairs, strict=True))
    # No prompt has fewer than no tokens, and none has fewer for being longer.
    if slope_ <= 0 or start < 0:
        start = 0.0
    return estimate_ratio([(x, y - start) for x, y in pairs], otherwise[0]), start


def slow_call_seconds(seconds: Sequence[float], otherwise: float) -> float:
    """The 95th percentile of the seconds of calls, by the nearest rank."""
    ordered = sorted(seconds)
    return ordered[math.ceil(0.95 * len(ordered)) - 1] if ordered else otherwise


Known = Mapping[str, tuple[str, CallOutcome]]
"""Of every call that has ended, by id: the hash of what was told, and how it ended."""


class RecordedRun:
    """The calls that a journal holds, with the scenario of the run.

    Args:
        run: its folder.
        trust: let dotted paths in its scenario be imported.

    Attributes:
        known: hash of the request and outcome of every call that has ended, by its id.
        seconds: that each answered attempt took.
        scenario: of the run.

    Raises:
        InputError: there is no journal, or it holds no call.
    """

    def __init__(self, run: Path, *, trust: bool = False) -> None:
        path = run / JOURNAL
        if not path.is_file():
            raise InputError(
                f"{run}: holds no run with a journal, so nothing can be learnt from it"
            )
        with Journal.open(path, frozen=True) as journal:
            self.known: Known = {
                id_: (hash_, outcome) for id_, hash_, outcome in journal.outcomes()
            }
            self.seconds = [one.seconds for one in journal.attempts() if one.outcome == ANSWERED]
            scenario_text = journal.meta("scenario")
        if not self.known or scenario_text is None:
            raise InputError(f"{run}: no call has been answered there yet")
        self.run = run
        data: dict[Key, object] = json.loads(scenario_text)
        self.scenario = read_scenario(Document(data), trust=trust)

    def lookup(self, request: Request) -> CallOutcome | None:
        """The outcome of this very request; None if it was never made."""
        hash_, outcome = self.known.get(request.id, ("", None))
        return outcome if outcome is not None and hash_ == request.hash else None


class Calibration:
    """Pairs of observations, call by call: a model beside the rule-based scientists."""

    def __init__(self) -> None:
        self.calls = 0
        self._unread = 0
        self._texts: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._around: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._spoken: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._told: list[tuple[float, float]] = []
        self._yes: dict[tuple[str, bool], list[bool]] = defaultdict(list)

    def observe(self, request: Request, outcome: CallOutcome, offline: Reply) -> None:
        """Add one call beside the rule-based scientist's reply; only answers teach of words."""
        self.calls += 1
        if outcome.kind != "answer":
            return
        name, usage = request.form.__name__, outcome.usage
        characters = total_characters(request.messages)
        if usage.prompt_tokens:
            self._told.append((characters, usage.prompt_tokens))
        if usage.completion_tokens:
            self._spoken[name].append((len(outcome.text), usage.completion_tokens))
        try:
            words = read_reply(request.form, outcome.text, cut=outcome.cut).form.as_json()
        except ReplyError:
            self._unread += 1
            return
        self._around[name].append((len(words), max(0, len(outcome.text) - len(words))))
        self._compare(request, words, offline.text)

    def _compare(self, request: Request, words: str, offline: str) -> None:
        name = request.form.__name__
        ours, theirs = dict(traits(request, offline)), dict(traits(request, words))
        for trait, yes in ours.items():
            if trait in theirs:
                self._yes[f"{name}.{trait}", yes].append(theirs[trait])
        rules = dict(iterate_texts(json.loads(offline)))
        model = dict(iterate_strings(json.loads(words)))
        # Another decision has other grounds: its length says nothing of how wordy they are put.
        if rules and ours == theirs:
            length = sum(len(model.get(place, "")) for place in rules)
            self._texts[name].append((sum(map(len, rules.values())), length))

    def rates(self, source: str, seconds: list[float]) -> ModelRates:
        """The rates estimated so far; a rate that nothing was seen of is the assumed one."""
        assumed = ModelRates(source)
        tokens, overhead = fit_line(self._told, (assumed.prompt_tokens, assumed.overhead))
        traits_ = dict.fromkeys(trait for trait, _ in self._yes)
        return ModelRates(
            source,
            self.calls,
            wordiness=estimate_ratio_by_form(self._texts, assumed.wordiness.all),
            around=estimate_ratio_by_form(self._around, assumed.around.all),
            reply_tokens=estimate_ratio_by_form(self._spoken, assumed.reply_tokens.all),
            prompt_tokens=tokens,
            overhead=overhead,
            re_asks=self._re_asks(assumed.re_asks),
            yes=dict(assumed.yes) | {trait: self._leaning(trait) for trait in traits_},
            latency=estimate_ratio([(1.0, one) for one in seconds], assumed.latency),
            slowest=slow_call_seconds(seconds, assumed.slowest),
        )

    def _re_asks(self, assumed: Rate) -> Rate:
        answered = sum(map(len, self._around.values())) + self._unread
        return estimate_share(self._unread, answered, assumed.likely) if answered else assumed

    def _leaning(self, trait: str) -> tuple[Rate, Rate]:
        kept, turned = self._yes.get((trait, True), ()), self._yes.get((trait, False), ())
        return (
            estimate_share(sum(kept), len(kept), 1.0),
            estimate_share(sum(turned), len(turned), 0.0),
        )


def rates_for(scenario: Scenario, record: RecordedRun | None) -> ModelRates:
    """The rates estimated from a record, or else the assumed ones.

    Raises:
        InputError: the record is of another model, or its run cannot be gone through again.
    """
    if record is None:
        rules = scenario.backend.backend.paid
        if isinstance(rules, Offline):
            return ModelRates.of_rules(rules.latency)
        return ModelRates("assumed; nothing has been learnt")
    theirs, ours = record.scenario.backend.backend, scenario.backend.backend
    if theirs.model_settings != ours.model_settings:
        raise InputError(
            f"{record.run}: was run with {theirs.about} or other sampling, the scenario names "
            f"{ours.about}; learn from a run with the same model"
        )
    return learn_rates(record)


def learn_rates(record: RecordedRun) -> ModelRates:
    """Rehearse a recorded run as far as its journal goes, and estimate rates from its calls.

    Raises:
        InputError: its ecosystem cannot be used, or none of its calls is made any more.
    """
    calibration = Calibration()
    rehearsal = Rehearsal(
        record.scenario, MimicSettings(), known=record.lookup, on_known=calibration.observe
    )
    # Beyond the calls that the journal holds there is nothing to compare.
    rehearsal.run(enough=lambda: calibration.calls >= len(record.known))
    if not calibration.calls:
        raise InputError(
            f"{record.run}: none of its calls would be made any more: prompts or code have changed"
        )
    return calibration.rates(
        f"learnt from {calibration.calls:,} calls of {record.run}", record.seconds
    )
