"""Rates: how a model speaks next to the rule-based scientists, with how sure that is.

They are assumed, or learnt from calls that were made. Every rate has a likely value and the two
ends between which it lies with a probability of eight in ten.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agents.offline.rehearsal import Leaning, Manner

End = Literal["low", "likely", "high"]
Z = 1.2816
"""Ends that leave out a tenth on either side."""
FEW = 3.0
"""Observations of one form by which its ratio is drawn towards that of all forms."""
DOUBT = 0.5
"""Observations by which a share is drawn towards the offline scientist's."""


@dataclass(frozen=True, slots=True)
class Rate:
    """One number and its ends; ``seen`` observations, none where it is assumed."""

    low: float
    likely: float
    high: float
    seen: int = 0

    def at(self, end: End) -> float:
        """Its value at one end."""
        return float(getattr(self, end))

    def to_data(self) -> dict[str, float]:
        """As it stands in JSON."""
        data = {"low": self.low, "likely": self.likely, "high": self.high}
        return {name: round(value, 4) for name, value in data.items()} | {"seen": self.seen}


@dataclass(frozen=True)
class Ratio:
    """A ratio over all forms, and that of every form that was seen."""

    all: Rate
    of: Mapping[str, Rate] = field(default_factory=dict)

    def each(self, end: End) -> dict[str, float]:
        """The ratio of every form at one end."""
        return {name: rate.at(end) for name, rate in self.of.items()}


@dataclass(frozen=True)
class Rates:
    """How a model speaks.

    Attributes:
        source: where the rates come from, in words.
        calls: calls they were learnt from; 0: all are assumed.
        wordiness: length of texts, as a multiple of the rule-based scientists'.
        around: characters beside the form, as a share of the form's.
        reply_tokens: tokens of a reply per character.
        prompt_tokens: tokens of a prompt per character.
        overhead: tokens of a prompt beside those.
        re_asks: share of the replies that cannot be read.
        yes: shares of the rule-based scientists' yeses and noes that are yeses, by trait.
        latency: seconds of a call.
        slowest: seconds of a slow call, the slowest of twenty.
        exact: nothing is uncertain.
    """

    source: str
    calls: int = 0
    wordiness: Ratio = Ratio(Rate(0.8, 2.0, 5.0))
    around: Ratio = Ratio(Rate(0.0, 0.5, 1.5))
    reply_tokens: Ratio = Ratio(Rate(0.2, 0.25, 0.35))
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
    def of_rules(cls, latency: float = 0.0) -> Rates:
        """Those of the rule-based scientists themselves, who speak as they rehearse."""
        same, none = Rate(1.0, 1.0, 1.0), Rate(0.0, 0.0, 0.0)
        token = Rate(0.25, 0.25, 0.25)
        return cls(
            "exact: the rule-based scientists speak themselves",
            wordiness=Ratio(same),
            around=Ratio(none),
            reply_tokens=Ratio(token),
            prompt_tokens=token,
            overhead=0.0,
            re_asks=none,
            yes={},
            latency=Rate(latency, latency, latency),
            slowest=3.0 * latency,
            exact=True,
        )

    def manner(self, words: End = "likely", yes: End = "likely") -> Manner:
        """The manner at one end of what is said, and at one end of how often yes is said."""
        return Manner(
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
        """As they stand in JSON; only what differs by form is left out."""
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


def share(hits: int, trials: int, otherwise: float) -> Rate:
    """A share, drawn a little towards what it is otherwise; its ends are Wilson's.

    Where nothing was tried, one end is what it is otherwise, and the other a half.
    """
    likely = (hits + DOUBT * otherwise) / (trials + DOUBT)
    low, high = wilson(hits, trials) if trials else (0.5, 0.5)
    return Rate(min(low, likely), likely, max(high, likely), trials)


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """Wilson's interval of a share at eight in ten; ``trials`` > 0."""
    seen, z = hits / trials, Z * Z / trials
    middle = (seen + z / 2) / (1 + z)
    half = Z * math.sqrt(seen * (1 - seen) / trials + z / (4 * trials)) / (1 + z)
    return max(0.0, middle - half), min(1.0, middle + half)


Pairs = Sequence[tuple[float, float]]
"""Of every observation, what is divided by and what is divided."""


def ratio(pairs: Pairs, otherwise: Rate) -> Rate:
    """The ratio of two sums; its ends come from the standard error of a ratio estimate."""
    below, above = sum(x for x, _ in pairs), sum(y for _, y in pairs)
    if below <= 0:
        return otherwise
    likely, n = above / below, len(pairs)
    if n < 2 or likely <= 0:
        wide = otherwise.high / otherwise.likely if otherwise.likely else 2.0
        return Rate(likely / wide, likely, likely * wide, n)
    spread = sum((y - likely * x) ** 2 for x, y in pairs) * n / (n - 1)
    factor = math.exp(Z * math.sqrt(spread) / below / likely)
    return Rate(likely / factor, likely, likely * factor, n)


def ratio_by_form(pairs: Mapping[str, Pairs], otherwise: Rate) -> Ratio:
    """The ratio over all forms and of each; a form seldom seen is drawn towards all."""
    everything = [pair for of in pairs.values() for pair in of]
    pooled = _unlike(ratio(everything, otherwise), pairs)
    each = {}
    for name, of in pairs.items():
        own, n = ratio(of, pooled), len(of)
        if own.seen:
            weight = n / (n + FEW)
            low, likely, high = (
                weight * own.at(end) + (1 - weight) * pooled.at(end) for end in _ENDS
            )
            each[name] = Rate(low, likely, high, n)
    return Ratio(pooled, each)


_ENDS: tuple[End, ...] = ("low", "likely", "high")


def _unlike(pooled: Rate, pairs: Mapping[str, Pairs]) -> Rate:
    """Ends as wide as the forms differ: what was not seen yet may be such a form."""
    if not pooled.seen or pooled.likely <= 0:
        return pooled
    own = [
        sum(y for _, y in of) / below for of in pairs.values() if (below := sum(x for x, _ in of))
    ]
    low, high = min([pooled.low, *own]), max([pooled.high, *own])
    return Rate(low, pooled.likely, high, pooled.seen)


def line(pairs: Pairs, otherwise: tuple[Rate, float]) -> tuple[Rate, float]:
    """Slope and intercept of tokens over characters; the intercept is not negative."""
    n = len(pairs)
    if n < 2:
        slope = ratio([(x, max(0.0, y - otherwise[1])) for x, y in pairs], otherwise[0])
        return slope, otherwise[1]
    middle, height = sum(x for x, _ in pairs) / n, sum(y for _, y in pairs) / n
    across = sum((x - middle) ** 2 for x, _ in pairs)
    slope_ = sum((x - middle) * (y - height) for x, y in pairs) / across if across else 0.0
    start = height - slope_ * middle
    if slope_ <= 0 or start < 0:
        start = 0.0
    return ratio([(x, y - start) for x, y in pairs], otherwise[0]), start


def slowest(seconds: Sequence[float], otherwise: float) -> float:
    """The 95th percentile, by the nearest rank."""
    ordered = sorted(seconds)
    return ordered[math.ceil(0.95 * len(ordered)) - 1] if ordered else otherwise
