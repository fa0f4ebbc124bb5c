"""Text made safe for a cell of a CSV file, which spreadsheets and terminals open.

A spreadsheet runs a cell that begins with a sign of a formula, the full-width signs of East Asian
keyboards included. Where semicolons separate cells, as in many countries, a cell can begin in the
middle of a text. A terminal obeys control characters.
"""

from __future__ import annotations

import re

SIGNS = "=+\\-@＝＋－＠"
_FIRST = re.compile(rf"(?= *[{SIGNS}\t\r\n])")
_INNER = re.compile(rf'(?<=[;\t\r\n])([ "]*)(?=[{SIGNS}])')
_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
REPLACEMENT = "\ufffd"
"""What stands in the place of a control character, or of one that turns the direction of text."""


def safe_cell(text: str) -> str:
    """The text with a quote before whatever could begin a formula, and no control characters.

    Tabs and line breaks stay; whatever stands in the middle of a text is left alone, unless it
    follows a semicolon, a tab or a line break.
    """
    quoted = _INNER.sub(r"\1'", _CONTROLS.sub(REPLACEMENT, text))
    return f"'{quoted}" if _FIRST.match(text) else quoted
