"""Matplotlib figures as small inline SVG, whose colours follow the theme of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from io import StringIO
from typing import Any

from markupsafe import Markup

COLOURS = {
    "ink": "#010101",
    "muted": "#020202",
    "grid": "#030303",
    "page": "#040404",
    "blue": "#050505",
    "orange": "#060606",
    "green": "#070707",
    "pink": "#080808",
    "past": "#090909",
}
"""Stand-ins: each becomes ``var(--name)`` in the SVG, so that one figure fits light and dark."""

INK, MUTED, GRID, PAGE = (COLOURS[name] for name in ("ink", "muted", "grid", "page"))
BLUE, ORANGE, GREEN, PINK = (COLOURS[name] for name in ("blue", "orange", "green", "pink"))
PAST = COLOURS["past"]

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "axes.titlesize": 9.0,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlepad": 7.0,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 3.0,
    "ytick.major.size": 0.0,
    "xtick.major.width": 0.7,
    "text.color": INK,
    "text.parse_math": False,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "path.simplify": True,
}

_HEAD = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_META = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_SIZE = re.compile(r'<svg[^>]*viewBox="([^"]+)"[^>]*>')
_GROUP_ID = re.compile(r'<g id="[^"]*"')
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BLANK = re.compile(r"\s*\n\s*")


@contextmanager
def figure(name: str, width: float, height: float) -> Iterator[Any]:
    """A figure of the house style, in inches; hand it to ``inline_svg`` before leaving.

    Args:
        name: salts the ids inside the SVG, so that two figures of a page never share one.
        width: at 1/72 inch per SVG unit; text is 8.5 units high.
        height: likewise.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
        yield Figure(figsize=(width, height), layout="constrained")


def inline_svg(drawn: Any, label: str) -> Markup:
    """The figure as one inline SVG element: no ids of groups, no metadata, no links out.

    Args:
        drawn: the matplotlib figure that ``figure`` gave.
        label: what the figure shows, for those who cannot see it; escaped here.
    """
    target = StringIO()
    drawn.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
    text = _META.sub("", _HEAD.sub("", target.getvalue()))
    text = _COMMENT.sub("", text)
    size = _SIZE.search(text)
    box = size.group(1) if size else "0 0 1 1"
    head = f'<svg viewBox="{box}" role="img" aria-label="{escape(label)}">'
    text = _SIZE.sub(lambda _: head, text, count=1)
    text = _GROUP_ID.sub("<g", text).replace("xlink:href", "href")
    text = text.replace("'DejaVu Sans'", "var(--sans)").replace(
        '<style type="text/css">', "<style>"
    )
    text = re.sub(r"<defs>\s*<style>.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    for colour, stand_in in COLOURS.items():
        text = text.replace(stand_in, f"var(--{colour})")
    return Markup(_BLANK.sub("\n", text).strip())  # noqa: S704 - drawn here from numbers only


def integer_ticks(axis: Any, most: int = 5) -> None:
    """Put ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=most, integer=True, min_n_ticks=1))
