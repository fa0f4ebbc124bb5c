"""Inline figures as SVG files of their own."""

from __future__ import annotations

import re

from markupsafe import Markup

SVG = "http://www.w3.org/2000/svg"
INK_ON_PAPER = {
    **{"ink": "#1c1f23", "muted": "#5c636b", "grid": "#e4e5e1", "page": "#ffffff"},
    **{"blue": "#0072b2", "orange": "#c8500a", "green": "#00805e", "pink": "#b04a86"},
    "past": "#b9bdc1",
}
"""The page's colours by day: a figure on its own follows no theme."""
_VARIABLE = re.compile(r"var\(--(\w+)\)")
_BOX = re.compile(r'<svg viewBox="0 0 ([\d.]+) ([\d.]+)"')


def standalone_svg(picture: Markup) -> str:
    """An inline figure of a page as a file: its namespace, size and colours.

    Args:
        picture: from ``Plot.svg``.
    """
    text = _VARIABLE.sub(lambda found: INK_ON_PAPER.get(found[1], "sans-serif"), str(picture))
    head = f'<svg xmlns="{SVG}"'
    text = _BOX.sub(rf'{head} width="\1pt" height="\2pt" viewBox="0 0 \1 \2"', text, count=1)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'
