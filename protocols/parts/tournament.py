"""A tournament of pairwise comparisons, by which ideas are ranked.

In each round ideas of about as many points meet (Swiss system); each pair is shown once, with the
places A and B drawn, and the better one gets a point. Source: Si et al. 2024, section 3.3, who take
five rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from virsci_society.protocols.parts.forms import PairChoice
from virsci_society.protocols.parts.team_work import TeamWork

if TYPE_CHECKING:
    import numpy as np

    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.process import Process


def pair_by_points(points: Sequence[float], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs of neighbours in the order of points; ties are ordered at random.

    Args:
        points: of every idea.
        rng: orders ties, and draws who stands first in a pair.

    Returns:
        Pairs of places; with an odd number the last idea in the order pauses.
    """
    drawn = rng.random(len(points))
    order = sorted(range(len(points)), key=lambda place: (-points[place], drawn[place]))
    pairs = [(order[at], order[at + 1]) for at in range(0, len(order) - 1, 2)]
    return [pair if rng.random() < 0.5 else (pair[1], pair[0]) for pair in pairs]


def award_points(
    points: Sequence[float], pairs: Sequence[tuple[int, int]], choices: Sequence[PairChoice]
) -> list[float]:
    """The points after a round: 1 for the better idea of a pair, half each for a tie or a pause.

    Args:
        points: of every idea before the round.
        pairs: places of the ideas that were compared.
        choices: one per pair.
    """
    after = [float(point) for point in points]
    met = [place for pair in pairs for place in pair]
    for place in range(len(after)):
        after[place] += 0.0 if place in met else 0.5
    for (first, second), choice in zip(pairs, choices, strict=True):
        won = {"A": 1.0, "B": 0.0}.get(choice.better, 0.5)
        after[first] += won
        after[second] += 1.0 - won
    return after


def hold_tournament(
    work: TeamWork, judge: str, ideas: Sequence[Answer[Any]], rounds: int
) -> Process[Answer[Any]]:
    """Rank ideas by pairs; the choices of one round are read on the date of the next.

    Args:
        work: of the team.
        judge: masked name of who compares.
        ideas: at least one.
        rounds: of the tournament (>= 1).

    Returns:
        The idea with most points, unread; of equal ones the earliest.
    """
    points = [0.0] * len(ideas)
    pairs: list[tuple[int, int]] = []
    choices: list[Answer[PairChoice]] = []

    def count() -> bool:
        nonlocal points
        points = award_points(points, pairs, [choice.read() for choice in choices])
        return False

    def compare(number: int) -> Process[None]:
        nonlocal pairs, choices
        pairs = pair_by_points(points, work.lab.rng("tournament", work.lab.visit, number))
        choices = yield from work.lab.ask_each(
            [judge] * len(pairs),
            lambda seat, who: work.pose(
                who,
                "pair",
                PairChoice,
                "vote",
                seat=seat,
                first=ideas[pairs[seat][0]],
                second=ideas[pairs[seat][1]],
            ),
        )

    if len(ideas) < 2:
        return ideas[0]
    yield from work.hold_rounds("ranking by pairs", rounds, compare, count)
    return work.lab.later(
        partial(best_of_pairs, tuple(points), tuple(pairs)), tuple(choices), tuple(ideas)
    )


def best_of_pairs(
    points: tuple[float, ...],
    pairs: tuple[tuple[int, int], ...],
    choices: tuple[PairChoice, ...],
    ideas: tuple[Any, ...],
) -> Any:
    """The idea with most points after the last round; of equal ones the earliest.

    Args:
        points: before the last round.
        pairs: of the last round.
        choices: of the last round.
        ideas: all of them.
    """
    after = award_points(points, pairs, choices)
    return ideas[max(range(len(ideas)), key=lambda place: (after[place], -place))]
