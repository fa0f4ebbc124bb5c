"""Scenarios in which people answer for scientists, and the questions to them on the watch page.

The page and the run share a folder of questions and answers (``agents.people.folder``), so the page
can be read and answered while the run, in a thread beside it, waits.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from virsci_society.agents.errors import InputError, disk_errors_as
from virsci_society.agents.files.atomic_files import make_folder, read_plain_text, write_atomically
from virsci_society.agents.people.folder import QUESTIONS, read_unanswered, write_answer
from virsci_society.agents.people.question import parse_question
from virsci_society.agents.people.seat import Seat
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.runs.execute import default_folder
from virsci_society.scenarios.runs.preflight import held_scenario

SEAT = "seat"
"""Folder of questions and answers, in the run folder."""
OPTIONS = {"scientists": "--as", "answered_by": "--name", "time_limit": "--limit"}
"""Options of the command by the key of the backend that they set."""


def with_seats(
    scenario: Scenario,
    names: Sequence[str],
    folder: Path,
    answered_by: str | None = None,
    time_limit: float | None = None,
) -> Scenario:
    """The scenario with people in the place of some scientists.

    Args:
        scenario: checked; its backend speaks for all others.
        names: masked names, or ids of teams.
        folder: the run folder.
        answered_by: who they are, as a pseudonym; None: not stated.
        time_limit: seconds for each answer; None: no limit.

    Raises:
        InputError: its backend cannot speak for the rest, or a name or pseudonym is no such text.
    """
    speaking = scenario.backend
    try:
        seat = Seat(
            scientists=tuple(dict.fromkeys(names)),
            path=folder / SEAT,
            answered_by=answered_by,
            time_limit=time_limit,
            base=speaking.backend,
        )
    except ValidationError as error:
        raise InputError("; ".join(_fault(one) for one in error.errors())) from error
    return scenario.model_copy(update={"backend": speaking.model_copy(update={"backend": seat})})


def _fault(found: ErrorDetails) -> str:
    """A fault of the backend, with the option that it comes from."""
    key = str(found["loc"][0]) if found["loc"] else ""
    return f"{OPTIONS.get(key, 'backend')}: {found['msg'].removeprefix('Value error, ')}"


def check_folder(scenario: Scenario, folder: Path) -> None:
    """Check that a folder that holds a run holds one that the same people play.

    Else what they wrote would be asked again, or a run without them would be written over.

    Raises:
        InputError: it holds another run, with what to type.
    """
    held, seat = held_scenario(folder), scenario.backend.backend
    if not held or not isinstance(seat, Seat):
        return
    backend = held.get("backend") or {}
    if backend.get("use") != "seat":
        raise InputError(
            f"{folder}: holds a run in which nobody plays; give another folder with --out"
        )
    there, name = tuple(backend.get("scientists") or ()), backend.get("answered_by")
    if set(there) == set(seat.scientists) and name == seat.answered_by:
        return
    options = [*(f"--as {one}" for one in there), *([f"--name {name}"] if name else [])]
    raise InputError(
        f"{folder}: holds a run that was begun with {' '.join(options)}; give the same, or another "
        "folder with --out"
    )


def check_names(names: Sequence[str], known: Sequence[str]) -> None:
    """Check that the scientists for whom people answer are there on day 0.

    Raises:
        InputError: there is no such scientist; some who are there are named.
    """
    there = set(known)
    for name in names:
        leader, stroke, ordinal = name.partition("/")
        if leader not in there:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known[:5])}, ..."
            raise InputError(f"--as {name}: no such scientist{hint}")
        if stroke and not re.fullmatch(r"[1-9]\d*", ordinal):
            raise InputError(
                f"--as {name}: not the name of a team; the first one that {leader} leads is "
                f"{leader}/1"
            )


def folder_of_play(scenario: Scenario, names: Sequence[str]) -> Path:
    """The default run folder: that of the scenario, with who is played in its name."""
    folder = default_folder(scenario)
    who = "-".join(name.replace("/", "-") for name in names)
    return folder.with_name(f"{folder.name}-as-{who}"[:200])


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
        self._lock = threading.Lock()
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

        Raises:
            InputError: no such open question, no agreement yet, or it cannot be written.
        """
        # One at a time: of an answer that is sent twice at once, the second finds no question.
        with disk_errors_as(InputError, "the answer cannot be written"), self._lock:
            self._take(given)

    def _take(self, given: Mapping[str, Any]) -> None:
        if given.get("consent") is True:
            if not self.has_agreed():  # sent again, it must not change when somebody agreed
                self._agree()
            return
        stem, text = given.get("stem"), given.get("text")
        if not isinstance(stem, str) or not isinstance(text, str):
            raise InputError("an answer has a stem and a text")
        if not self.has_agreed():
            raise InputError("nobody has agreed to the text on this page yet")
        question = read_unanswered(self._folder).get(stem)
        if question is not None and _question(stem, question)["call"] in self._answered():
            raise InputError(f"{stem}: no open question; somebody has answered for you meanwhile")
        write_answer(self._folder, stem, text)

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
