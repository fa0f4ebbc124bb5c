"""What ``show``, the page and the summary say of a model's replies, which nobody has judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from virsci_society.agents.replies.text_checks import SHOWS_THE_FORM, WARN_AT

TEXT_COUNTS = ["asked", "spoilt", "echoed", "default", "equal", "short", "loop", "cut"]
"""What is counted of a model's replies by form (``cost.reply_texts``)."""


def text_counts(reading: Mapping[str, Any] | None) -> dict[str, int]:
    """The counts of ``reply_texts`` over all forms, of ``summary["reading"]``."""
    rows = ((reading or {}).get("texts") or {}).values()
    return {name: sum(row[name] for row in rows) for name in TEXT_COUNTS}


def text_sentences(reading: Mapping[str, Any] | None) -> list[str]:
    """What to say first of a model's replies, which nobody has judged; nothing of rules."""
    counts = text_counts(reading)
    asked, spoilt = counts["asked"], counts["spoilt"]
    if not asked or reading is None:
        return []
    told = {
        "echoed": "repeated the words of the page and were asked for again",
        "default": "were replaced by a default",
        "equal": "equal another scientist's",
        "short": "are far shorter than asked for",
        "loop": "repeat a phrase over and over",
        "cut": "were cut at the limit of length",
    }
    noticed = ", ".join(f"{counts[name]:,} {words}" for name, words in told.items() if counts[name])
    unread = reading["rungs"].get("unread", 0)
    parsed = "All replies were parsed." if not unread + counts["default"] else ""
    said = f"{parsed} Nobody has judged what they say; of {asked:,}, {noticed or 'none stand out'}."
    first = f"{SHOWS_THE_FORM}: {spoilt:,} of {asked:,} replies were copies or defaults."
    return [first, said.strip()] if spoilt > WARN_AT * asked else [said.strip()]
