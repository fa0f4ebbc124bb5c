"""The share of answers that could not be used, by form, and the stop of a run where it is large.

A model that cannot write a form leaves its default in place of every answer, and the results then
say something about the defaults. The stop is a failure of the run, as a dead server is: it leaves
no trace in the simulated world, and the run can be gone on with under another setting.
"""

from __future__ import annotations

from collections import Counter

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.errors import Stopped
from virsci_society.agents.redaction import redact

WARN_AT = 0.05
"""Share of unusable answers from which a run warns of them."""
EXAMPLES = 3
"""Replies that the message shows."""
SHOWN = 160
"""Characters of each."""


class Unreadable(Part):
    """When a run is stopped because too many answers could not be used."""

    stop_at: float = Field(default=0.2, ge=0, le=1, allow_inf_nan=False)
    """The run stops when more than this share of all answers, or of those of one form, could not
    be used; 1: never."""
    after: int = Field(default=20, ge=1, le=1_000_000)
    """Answers before a share counts; a form that was never readable stops the run after a quarter
    as many."""


class ReadabilityWatch:
    """Counts the answers of a run that could not be used, those from its journal included.

    Args:
        bounds: when the run is stopped.
        advice: what a user can do about it, for the backend used.
    """

    def __init__(self, bounds: Unreadable, advice: str) -> None:
        self._bounds, self._advice = bounds, advice
        self._asked: Counter[str] = Counter()
        self._unusable: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}

    def record(self, form: str, reply: str | None) -> None:
        """Count one answer.

        Args:
            form: class name of its form.
            reply: what came in place of a usable answer; None: the answer could be used.

        Raises:
            Stopped: too many answers could not be used.
        """
        self._asked[form] += 1
        if reply is None:
            return
        self._unusable[form] += 1
        examples = self._examples.setdefault(form, [])
        if len(examples) < EXAMPLES:
            examples.append(_plain(reply) or "(no text)")
        if self._exceeds(form):
            raise Stopped(self._message(form))

    @property
    def warning(self) -> str:
        """One line if more than a twentieth of the answers could not be used; else empty."""
        asked, unusable = self._asked.total(), self._unusable.total()
        if not asked or unusable <= WARN_AT * asked:
            return ""
        worst = max(self._unusable, key=lambda name: (self._unusable[name], name))
        return (
            f"warning: {unusable:,} of {asked:,} answers could not be used, most often {worst}; "
            "defaults stand for them"
        )

    def _exceeds(self, form: str) -> bool:
        asked, unusable = self._asked[form], self._unusable[form]
        least, most = self._bounds.after, self._bounds.stop_at
        if most < 1 and asked == unusable >= max(1, least // 4):
            return True
        total = self._asked.total()
        of_form = asked >= least and unusable > most * asked
        return of_form or (total >= least and self._unusable.total() > most * total)

    def _message(self, form: str) -> str:
        examples = "".join(f"\n  - {text}" for text in self._examples[form])
        return (
            f"{self._unusable.total()} of {self._asked.total()} answers could not be used, and "
            f"{self._unusable[form]} of {self._asked[form]} of the form {form}. "
            f"Such as:{examples}\n"
            f"{self._advice}. Another model or request begins a new run (--out NEW); to go on with "
            f"this one and its defaults: --set backend.unreadable.stop_at=1"
        )


def _plain(text: str) -> str:
    """One line of a reply for a terminal, without secrets and control characters."""
    # Secrets go before the cut: half of one would not be recognised.
    shown = "".join(mark if mark.isprintable() else " " for mark in redact(text[:100_000]))
    return " ".join(shown.split())[:SHOWN]
