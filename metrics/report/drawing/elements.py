"""Single SVG elements (words, hairlines, symbols) and the sizes that all figures share."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from html import escape

from virsci_society.metrics.exports import xml_text

FONT, TITLE_FONT, LETTER = 8.5, 9.0, 0.54
"""Height of text and of titles, and the mean width of a letter as a share of the height."""
HAIR = 0.7
"""Width of axes and grid."""


def words_at(
    text: str, x: float, y: float, colour: str, anchor: str = "start", size: float = FONT
) -> str:
    """A line of text, escaped and without the characters that XML cannot hold.

    Args:
        text: any text.
        x: of the anchor.
        y: of the base line.
        colour: of the letters.
        anchor: start, middle or end.
        size: height of the letters.
    """
    place = f'x="{short_number(x)}" y="{short_number(y)}" font-size="{size:g}" fill="{colour}"'
    more = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f"<text {place}{more}>{escape(xml_text(text))}</text>"


def hairlines(path: str, colour: str) -> str:
    """Thin lines along a path; nothing where the path is empty."""
    if not path:
        return ""
    return f'<path fill="none" stroke="{colour}" stroke-width="{HAIR:g}" d="{path}"/>'


def short_number(value: float) -> str:
    """A coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def symbol_path(shape: str, x: float, y: float, size: float) -> str:
    """The outline of a symbol, to be filled.

    Args:
        shape: a key of ``SYMBOLS``.
        x: of its middle.
        y: likewise.
        size: its width.
    """
    return f"M{short_number(x)} {short_number(y)}{SYMBOLS[shape](size / 2)}"


def _circle(r: float) -> str:
    return f"m{-r:.3g} 0a{r:.3g} {r:.3g} 0 1 0 {2 * r:.3g} 0a{r:.3g} {r:.3g} 0 1 0 {-2 * r:.3g} 0z"


def _square(r: float) -> str:
    half = 0.88 * r
    return f"m{-half:.3g} {-half:.3g}h{2 * half:.3g}v{2 * half:.3g}h{-2 * half:.3g}z"


def _diamond(r: float) -> str:
    tip = 1.22 * r
    turns = f"l{-tip:.3g} {tip:.3g}l{-tip:.3g} {-tip:.3g}z"
    return f"m0 {-tip:.3g}l{tip:.3g} {tip:.3g}{turns}"


def _triangle(r: float) -> str:
    return f"m0 {-1.15 * r:.3g}l{1.1 * r:.3g} {2 * r:.3g}h{-2.2 * r:.3g}z"


def _cross(r: float) -> str:
    """Two bars on their diagonals."""
    w = 0.32 * r
    arm = r - w
    steps = (
        *((0, -w), (arm, -arm), (w, w), (-arm, arm)),
        *((arm, arm), (-w, w), (-arm, -arm), (-arm, arm), (-w, -w), (arm, -arm), (-arm, -arm)),
        (w, -w),
    )
    return f"m{steps[0][0]:.3g} {steps[0][1]:.3g}" + _lines(steps[1:])


def _star(r: float) -> str:
    """Five points; the first step goes to the upper one."""
    outer, inner = 1.35 * r, 0.56 * r
    # Sine and cosine of the tenths of a turn, so that the outline is the same everywhere.
    sines = (0.0, 0.5878, 0.9511, 0.9511, 0.5878, 0.0, -0.5878, -0.9511, -0.9511, -0.5878)
    cosines = (1.0, 0.809, 0.309, -0.309, -0.809, -1.0, -0.809, -0.309, 0.309, 0.809)
    points = [
        ((inner if turn % 2 else outer) * sine, -(inner if turn % 2 else outer) * cosine)
        for turn, (sine, cosine) in enumerate(zip(sines, cosines, strict=True))
    ]
    steps = [(there[0] - here[0], there[1] - here[1]) for here, there in itertools.pairwise(points)]
    return f"m{points[0][0]:.3g} {points[0][1]:.3g}" + _lines(steps)


def _lines(steps: list[tuple[float, float]] | tuple[tuple[float, float], ...]) -> str:
    return "".join(f"l{x:.3g} {y:.3g}" for x, y in steps) + "z"


SYMBOLS: dict[str, Callable[[float], str]] = {
    "circle": _circle,
    "square": _square,
    "diamond": _diamond,
    "triangle": _triangle,
    "cross": _cross,
    "star": _star,
}
"""Outlines by name, as functions of half their width; they begin in the middle."""
