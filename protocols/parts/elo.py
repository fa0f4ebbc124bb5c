"""Elo ratings of ideas that are compared in pairs, and who meets whom next.

Matches are held in rounds in which nobody plays twice. The ratings follow from the list of all
matches, so nothing else has to be kept. Source: Elo 1978, The Rating of Chessplayers, Past and
Present.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypeAlias

import numpy as np

from virsci_society.agents.arrays import FloatArray

START = 1200.0
"""Rating before the first match. Source: Gottweis et al. 2025, section 3.3.3."""
SCALE = 400.0
"""Difference of ratings at which the better of two is expected to win ten of eleven matches."""

Match: TypeAlias = tuple[int, int, float]
"""Places of the two that met, and the score of the first: 1 won, 0.5 drawn, 0 lost."""


def expected_score(rating: float, other: float) -> float:
    """The score that a rating lets expect against another one, 0 to 1."""
    return float(1.0 / (1.0 + 10.0 ** ((other - rating) / SCALE)))


def elo_ratings(count: int, matches: Sequence[Match], k: float) -> list[float]:
    """The ratings after some matches.

    Args:
        k: largest change by one match (> 0). Half of it moves between two of equal ratings.
    """
    ratings = [START] * count
    for first, second, score in matches:
        gain = k * (score - expected_score(ratings[first], ratings[second]))
        # Rounded, so that the last digits of a power on another machine decide nothing.
        ratings[first] = round(ratings[first] + gain, 6)
        ratings[second] = round(ratings[second] - gain, 6)
    return ratings


def rank(ratings: Sequence[float]) -> list[int]:
    """Places by falling rating; of equal ones the earliest first."""
    return sorted(range(len(ratings)), key=lambda place: (-ratings[place], place))


def pair_by_rating(
    ratings: Sequence[float],
    matches: Sequence[Match],
    likeness: FloatArray,
    playing: Collection[int],
) -> list[tuple[int, int]]:
    """Who meets whom in the next round; nothing is drawn.

    Those who have to play choose, the least tried first and of them the best rated. A partner is
    one whom they have met least often, of those the best rated, and of equal ones the most alike:
    so those without any match meet their likes, winners meet winners, and newcomers the best.

    Args:
        likeness: cosine of each with each, of shape (n, n).
    """
    met = Counter(frozenset(match[:2]) for match in matches)
    played = Counter(place for match in matches for place in match[:2])
    free = rank(ratings)
    pairs: list[tuple[int, int]] = []
    for one in sorted((place for place in free if place in playing), key=played.__getitem__):
        others = [place for place in free if place != one]
        if one not in free or not others:
            continue
        other = min(
            others,
            key=lambda place: (
                met[frozenset((one, place))],
                -ratings[place],
                -float(likeness[one, place]),
            ),
        )
        free = [place for place in others if place != other]
        pairs.append((one, other))
    return pairs


def likeness_of(units: Sequence[FloatArray]) -> FloatArray:
    """The cosine of each with each.

    Args:
        units: vectors of length 1, or zero vectors, of shape (dim,).

    Returns:
        A matrix of shape (n, n), rounded to nine digits, so that the last ones decide nothing.
    """
    stacked = np.stack(list(units)) if units else np.zeros((0, 1))
    return np.round(stacked @ stacked.T, 9)
