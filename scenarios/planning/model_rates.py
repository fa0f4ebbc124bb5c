"""Rates by which replies of a model differ from rule-based ones, with intervals.

Rates are assumed, or estimated from calls that were made. Each has a likely value and an 80 %
interval around it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from virsci_society.agents.backends.model_mimic import WORDINESS, Leaning, MimicSettings

End = Literal["low", "likely", "high"]
Z = 1.2816
"""Ends that leave out a tenth on either side."""
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
    """A ratio over all forms, and that of every form that was seen.

    Attributes:
        all: over all forms.
        of: by the name of the form.
    """

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
        """The exact rates of the rule-based scientists themselves.

        Args:
            latency: seconds of an artificial delay.
        """
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
        """Settings of a rehearsal.

        Args:
            words: the end of the rates of text.
            yes: the end of the rates of consent.
        """
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
        trials: how many; with none, the interval reaches from the prior share to a half.
        otherwise: the prior share, which weighs as much as half a trial.
    """
    likely = (hits + DOUBT * otherwise) / (trials + DOUBT)
    low, high = wilson_interval(hits, trials) if trials else (0.5, 0.5)
    return Rate(min(low, likely), likely, max(high, likely), trials)


def wilson_interval(hits: int, trials: int) -> tuple[float, float]:
    """Wilson's score interval of a share at 80 %.

    Args:
        hits: of the trials.
        trials: more than 0.

    Source:
        Wilson 1927, doi:10.1080/01621459.1927.10502953.
    """
    seen, z = hits / trials, Z * Z / trials
    middle = (seen + z / 2) / (1 + z)
    half = Z * math.sqrt(seen * (1 - seen) / trials + z / (4 * trials)) / (1 + z)
    return max(0.0, middle - half), min(1.0, middle + half)


Pairs = Sequence[tuple[float, float]]
"""Of every observation, what is divided by and what is divided."""


def estimate_ratio(pairs: Pairs, otherwise: Rate) -> Rate:
    """The ratio of two sums, with an interval from the standard error of a ratio estimate.

    Args:
        pairs: of every observation, divisor and dividend.
        otherwise: where there is nothing to divide by; its relative width serves a single
            observation.
    """
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


def estimate_ratio_by_form(pairs: Mapping[str, Pairs], otherwise: Rate) -> FormRatio:
    """The ratio over all forms and of each; that of a form seldom seen is shrunk towards all.

    Args:
        pairs: of every observation, divisor and dividend, by form.
        otherwise: where there is nothing to divide by.
    """
    everything = [pair for of in pairs.values() for pair in of]
    pooled = _unlike(estimate_ratio(everything, otherwise), pairs)
    each = {}
    for name, of in pairs.items():
        own, n = estimate_ratio(of, pooled), len(of)
        if own.seen:
            weight = n / (n + FEW)
            low, likely, high = (
                weight * own.at(end) + (1 - weight) * pooled.at(end) for end in _ENDS
            )
            each[name] = Rate(low, likely, high, n)
    return FormRatio(pooled, each)


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


def fit_line(pairs: Pairs, otherwise: tuple[Rate, float]) -> tuple[Rate, float]:
    """Slope and intercept of tokens over characters by least squares; the intercept is at least 0.

    Args:
        pairs: characters and tokens of every observation.
        otherwise: slope and intercept for fewer than two observations.
    """
    n = len(pairs)
    if n < 2:
        slope = estimate_ratio([(x, max(0.0, y - otherwise[1])) for x, y in pairs], otherwise[0])
        return slope, otherwise[1]
    middle, height = sum(x for x, _ in pairs) / n, sum(y for _, y in pairs) / n
    across = sum((x - middle) ** 2 for x, _ in pairs)
    slope_ = sum((x - middle) * (y - height) for x, y in pairs) / across if across else 0.0
    start = height - slope_ * middle
    if slope_ <= 0 or start < 0:
        start = 0.0
    return estimate_ratio([(x, y - start) for x, y in pairs], otherwise[0]), start


def slow_call_seconds(seconds: Sequence[float], otherwise: float) -> float:
    """The 95th percentile of the seconds of calls, by the nearest rank.

    Args:
        seconds: one for each call.
        otherwise: where there are none.
    """
    ordered = sorted(seconds)
    return ordered[math.ceil(0.95 * len(ordered)) - 1] if ordered else otherwise
