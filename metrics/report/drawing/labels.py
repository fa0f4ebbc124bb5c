"""Names beside points, placed so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def place_labels(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    gap: float,
    within: Box,
) -> list[tuple[float, float] | None]:
    """Where names stand, the first ones first: right, left, above or below their point.

    Args:
        points: all points; no name covers one.
        widths: of the names, which are those of the first points.
        height: of all names.
        gap: distance of a name from its point.
        within: where names may stand.

    Returns:
        Left and bottom of each name; None where there is no room that is still free.
    """
    taken: list[Box] = [(x - gap, y - gap, x + gap, y + gap) for x, y in points]
    placed: list[tuple[float, float] | None] = []
    for number, ((x, y), width) in enumerate(zip(points, widths, strict=False)):
        half = height / 2
        corners = (
            (x + gap, y + half),
            (x - gap - width, y + half),
            (x - width / 2, y - gap),
            (x - width / 2, y + gap + height),
        )
        others = [box for place, box in enumerate(taken) if place != number]
        free = (
            (left, bottom)
            for left, bottom in corners
            if _is_free((left, bottom - height, left + width, bottom), others, within)
        )
        found = next(free, None)
        placed.append(found)
        if found is not None:
            taken.append((found[0], found[1] - height, found[0] + width, found[1]))
    return placed


def _is_free(box: Box, others: Sequence[Box], within: Box) -> bool:
    left, top, right, bottom = box
    inside = left >= within[0] and top >= within[1] and right <= within[2] and bottom <= within[3]
    return inside and not any(
        left < other[2] and other[0] < right and top < other[3] and other[1] < bottom
        for other in others
    )
