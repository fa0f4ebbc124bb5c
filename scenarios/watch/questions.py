"""The open questions to people in a run, and the answers that come from the watch page."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import make_folder, read_plain_text, write_atomically
from virsci_society.agents.people.folder import QUESTIONS, read_unanswered, write_answer
from virsci_society.agents.people.question import parse_question

CONSENT = "consent.json"
"""File beside questions and answers: to which text somebody agreed, and when."""


class Questions:
    """The open questions of the folder through which people answer in one run.

    Args:
        folder: of questions and answers.
        answered: ids of the calls that the run has an answer to, from whomever.
        time_limit: seconds for each answer; None: there is no limit.
        consent: a text to which people agree before the first question is shown; empty: none.
    """

    def __init__(
        self,
        folder: Path,
        answered: Callable[[], set[str]],
        time_limit: float | None = None,
        consent: str = "",
    ) -> None:
        self._folder, self._answered = folder, answered
        self._limit, self._consent = time_limit, consent
        # A run that goes on gives everybody the whole time again.
        self._began = time.time()
        self._parsed: dict[str, dict[str, Any]] = {}

    def state(self) -> dict[str, Any]:
        """Open questions with all that they show, as plain data for JSON."""
        agreed = self.has_agreed()
        texts = read_unanswered(self._folder) if agreed else {}
        answered = self._answered()
        self._parsed = {
            stem: self._parsed.get(stem) or _question(stem, text) for stem, text in texts.items()
        }
        # A question that was answered for a person has no file of an answer.
        shown = [one for one in self._parsed.values() if one.get("call") not in answered]
        return {
            "consent": "" if agreed else self._consent,
            "time_limit": self._limit,
            "questions": [one | {"until": self._until(one["stem"])} for one in shown],
        }

    def answer(self, given: Mapping[str, Any]) -> None:
        """Take an answer, or the agreement to the consent text.

        Args:
            given: ``stem`` and ``text``, or ``consent`` as true.

        Raises:
            InputError: no such open question, no agreement yet, or it cannot be written.
        """
        try:
            if given.get("consent") is True:
                self._agree()
                return
            stem, text = given.get("stem"), given.get("text")
            if not isinstance(stem, str) or not isinstance(text, str):
                raise InputError("an answer has a stem and a text")
            if not self.has_agreed():
                raise InputError("nobody has agreed to the text on this page yet")
            write_answer(self._folder, stem, text)
        except OSError as error:
            raise InputError(f"the answer cannot be written: {error.strerror}") from error

    def has_agreed(self) -> bool:
        """Has somebody agreed to this very text, or is there none?"""
        if not self._consent:
            return True
        with suppress(OSError, InputError, ValueError):
            held = json.loads(read_plain_text(self._folder / CONSENT, within=self._folder))
            return isinstance(held, dict) and held.get("sha256") == self._hash()
        return False

    def _agree(self) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        note = {"agreed": now, "sha256": self._hash(), "text": self._consent}
        make_folder(self._folder)
        write_atomically(self._folder / CONSENT, json.dumps(note, indent=1) + "\n", over_links=True)

    def _hash(self) -> str:
        return hashlib.sha256(self._consent.encode()).hexdigest()

    def _until(self, stem: str) -> float | None:
        """Until when a question can be answered, in seconds since 1970; None: without end."""
        if self._limit is None:
            return None
        asked = self._began
        with suppress(OSError):
            path = self._folder / QUESTIONS / f"{stem}.md"
            asked = max(asked, path.stat(follow_symlinks=False).st_mtime)
        return asked + self._limit


def _question(stem: str, text: str) -> dict[str, Any]:
    """A question as plain data; one that cannot be taken apart is shown as its text."""
    try:
        parsed = parse_question(text)
    except ValueError:
        return {
            **{"stem": stem, "who": "", "call": "", "again": False, "schema": {}},
            "messages": [{"role": "question", "content": text}],
        }
    return {
        "stem": stem,
        "who": parsed.who,
        "call": parsed.call,
        "again": parsed.asked_again,
        "messages": [{"role": one.role, "content": one.content} for one in parsed.messages],
        "schema": dict(parsed.schema),
    }
