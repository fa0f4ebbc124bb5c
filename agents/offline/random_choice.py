"""The few kinds of random draws that the rules make, from the generator given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def pick(items: Sequence[T], rng: np.random.Generator) -> T:
    """One item, all equally likely."""
    # One number a draw, which rng.integers does not promise; near 1 the product may round up.
    return items[min(int(rng.random() * len(items)), len(items) - 1)]


def weighted_choice(items: Sequence[T], weights: Sequence[float], rng: np.random.Generator) -> T:
    """One item with a probability proportional to its weight (>= 0); all zero: equally likely."""
    total = math.fsum(weights)
    if not total > 0.0:
        return pick(items, rng)
    left = rng.random() * total
    for item, weight in zip(items, weights, strict=True):
        left -= weight
        if left < 0.0:
            return item
    # Only rounding leads here.
    return items[-1]


def gumbel_noise(rng: np.random.Generator, scale: float) -> float:
    """Gumbel noise of this scale: the largest noisy score is a draw from the softmax."""
    # The generator may give 0, which has no logarithm.
    return -scale * math.log(-math.log(max(rng.random(), 1e-300)))


def ranked(items: Sequence[T], scores: Sequence[float], rng: np.random.Generator) -> list[T]:
    """Items by falling score; chance breaks ties."""
    # A number for each item, tied or not: later draws must not hang on how scores fall.
    order = sorted((-score, rng.random(), i) for i, score in enumerate(scores))
    return [items[i] for _, _, i in order]


def bernoulli(probability: float, rng: np.random.Generator) -> bool:
    """True with this probability."""
    return bool(rng.random() < probability)


def sigmoid(x: float) -> float:
    """The logistic function, without overflow for any finite argument."""
    return 0.5 * (1.0 + math.tanh(0.5 * x))


def finite_number(value: object, default: float = 0.0) -> float:
    """The value as a finite float, or the default."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return default
    got = float(value)
    return got if math.isfinite(got) else default
