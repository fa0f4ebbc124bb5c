"""Chance: the few draws that the rules make, each from the generator handed in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def pick(items: Sequence[T], rng: np.random.Generator) -> T:
    """One item, all equally likely."""
    return items[min(int(rng.random() * len(items)), len(items) - 1)]


def weighted(items: Sequence[T], weights: Sequence[float], rng: np.random.Generator) -> T:
    """One item with probability proportional to its weight (all zero: equally likely)."""
    total = math.fsum(weights)
    if not total > 0.0:
        return pick(items, rng)
    left = rng.random() * total
    for item, weight in zip(items, weights, strict=True):
        left -= weight
        if left < 0.0:
            return item
    return items[-1]


def gumbel(rng: np.random.Generator, scale: float) -> float:
    """Gumbel noise: the largest of noisy scores is then a draw from their softmax."""
    return -scale * math.log(-math.log(max(rng.random(), 1e-300)))


def ranked(
    items: Sequence[T], scores: Sequence[float], scale: float, rng: np.random.Generator
) -> list[T]:
    """Items by falling noisy score; ``scale`` 0 only breaks ties by chance."""
    noisy = [
        (-(score + (gumbel(rng, scale) if scale else 0.0)), rng.random(), i)
        for i, score in enumerate(scores)
    ]
    return [items[i] for _, _, i in sorted(noisy)]


def happens(probability: float, rng: np.random.Generator) -> bool:
    """True with the given probability."""
    return bool(rng.random() < probability)


def sigmoid(x: float) -> float:
    """The logistic function, safe for any finite argument."""
    return 0.5 * (1.0 + math.tanh(0.5 * x))


def number(value: object, default: float = 0.0) -> float:
    """The value as a finite float, or the default."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return default
    got = float(value)
    return got if math.isfinite(got) else default
