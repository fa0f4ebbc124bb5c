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
from secrets import token_urlsafe
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from virsci_society.agents.errors import InputError, disk_errors_as
from virsci_society.agents.files.atomic_files import make_folder, read_plain_text, write_atomically
from virsci_society.agents.people.folder import QUESTIONS, read_questions, write_answer
from virsci_society.agents.people.question import parse_question, safe_name
from virsci_society.agents.people.seat import Seat
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.runs.execute import default_folder
from virsci_society.scenarios.runs.preflight import SEAT, held_scenario
from virsci_society.scenarios.watch.cards import brief_answer, make_card, team_of

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


CONSENT = "consent"
"""Beginning of the names of files beside questions and answers: to which text the person of a seat
agreed, and when."""
LINKS = "links.json"
"""File beside them with the secret of each seat's link, so that a run that goes on keeps them."""
SHOWN = 40
"""Newest answers of one's own that are shown."""


def secret_links(folder: Path, seats: Sequence[str]) -> dict[str, str]:
    """The secret of each seat's link, the same whenever the run of a folder goes on.

    Args:
        folder: of questions and answers; made if it is not there.
        seats: names of scientists and teams.

    Returns:
        Seats by secret.

    Raises:
        InputError: the file cannot be written.
    """
    held: Any = None
    with suppress(OSError, InputError, ValueError):
        held = json.loads(read_plain_text(folder / LINKS, within=folder))
    known = held if isinstance(held, dict) else {}
    secrets = {seat: str(known.get(seat) or token_urlsafe(24)) for seat in seats}
    with disk_errors_as(InputError, "the links cannot be written"):
        make_folder(folder)
        write_atomically(folder / LINKS, json.dumps(secrets, indent=1) + "\n", over_links=True)
        (folder / LINKS).chmod(0o600)
    return {secret: seat for seat, secret in secrets.items()}


class Questions:
    """The questions of the folder through which people answer in one run.

    A seat, a scientist or a team for which one person answers, sees its own questions alone.

    Args:
        folder: of questions and answers.
        answered: ids of the calls that the run has an answer to, from whomever.
        time_limit: seconds for each answer; None: there is no limit.
        consent: a text to which people agree before the first question is shown; empty: none.
        seats: who plays; the seat ``""`` has all questions.
        fate: what has become of a team, in a few words.
    """

    def __init__(
        self,
        folder: Path,
        answered: Callable[[], set[str]],
        time_limit: float | None = None,
        consent: str = "",
        seats: Sequence[str] = ("",),
        fate: Callable[[str], str] = lambda team: "",
    ) -> None:
        self._folder, self._answered = folder, answered
        self._limit, self._consent = time_limit, consent
        self._seats, self._fate = tuple(seats), fate
        # A run that goes on gives everybody the whole time again.
        self._began = time.time()
        self._lock = threading.Lock()
        self._parsed: dict[str, dict[str, Any]] = {}

    def states(self) -> dict[str, dict[str, Any]]:
        """By seat: open questions with all that they show, and what was answered, as plain data."""
        held, answered = read_questions(self._folder), self._answered()
        self._parsed = {
            stem: self._parsed.get(stem) or _question(stem, text)
            for stem, (text, _) in held.items()
        }
        answers = {stem: answer for stem, (_, answer) in held.items()}
        return {seat: self._state(seat, answers, answered) for seat in self._seats}

    def _state(self, seat: str, answers: Mapping[str, str], ended: set[str]) -> dict[str, Any]:
        agreed = self.has_agreed(seat)
        mine = [one for one in self._parsed.values() if agreed and self._is_of(one, seat)]
        # A question that was answered for a person has no file of an answer.
        shown = [one for one in mine if not answers[one["stem"]] and one["call"] not in ended]
        done = [one for one in mine if answers[one["stem"]] or one["call"] in ended]
        return {
            "who": seat,
            "consent": "" if agreed else self._consent,
            "time_limit": self._limit,
            "questions": [one | {"until": self._until(one["stem"])} for one in shown],
            "past": [self._past(one, answers[one["stem"]]) for one in done[: -SHOWN - 1 : -1]],
        }

    def _is_of(self, question: Mapping[str, Any], seat: str) -> bool:
        """Is a question one of a seat? A scientist's own seat comes before that of the team."""
        who = question["who"]
        return seat in ("", who) or (who not in self._seats and seat == team_of(question["call"]))

    def _past(self, question: Mapping[str, Any], answer: str) -> dict[str, str]:
        said = brief_answer(question["labels"], answer) if answer else "answered for you, too late"
        team = team_of(question["call"])
        facts = {"title": question["title"], "when": (question["facts"] or [""])[0]}
        return {**facts, "said": said, "team": team, "fate": self._fate(team)}

    def state(self) -> dict[str, Any]:
        """That of the first seat."""
        return self.states()[self._seats[0]]

    def answer(self, given: Mapping[str, Any]) -> None:
        """Take an answer, or the agreement to the consent text, from the seat that it names.

        Raises:
            InputError: no such open question of the seat, no agreement yet, or it cannot be
                written.
        """
        # One at a time: of an answer that is sent twice at once, the second finds no question.
        with disk_errors_as(InputError, "the answer cannot be written"), self._lock:
            self._take(given, str(given.get("seat", self._seats[0])))

    def _take(self, given: Mapping[str, Any], seat: str) -> None:
        if given.get("consent") is True:
            if not self.has_agreed(seat):  # sent again, it must not change when somebody agreed
                self._agree(seat)
            return
        stem, text = given.get("stem"), given.get("text")
        if not isinstance(stem, str) or not isinstance(text, str):
            raise InputError("an answer has a stem and a text")
        if not self.has_agreed(seat):
            raise InputError("nobody has agreed to the text on this page yet")
        held = read_questions(self._folder).get(stem)
        question = None if held is None else _question(stem, held[0])
        if question is not None and not self._is_of(question, seat):
            raise InputError(f"{stem}: no open question of this seat")
        if question is not None and question["call"] in self._answered():
            raise InputError(f"{stem}: no open question; somebody has answered for you meanwhile")
        write_answer(self._folder, stem, text)

    def has_agreed(self, seat: str = "") -> bool:
        """Has the person of a seat agreed to this very text, or is there none?"""
        if not self._consent:
            return True
        with suppress(OSError, InputError, ValueError):
            held = json.loads(read_plain_text(self._agreement(seat), within=self._folder))
            return isinstance(held, dict) and held.get("sha256") == self._hash()
        return False

    def _agree(self, seat: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        note = {"agreed": now, "seat": seat, "sha256": self._hash(), "text": self._consent}
        make_folder(self._folder)
        write_atomically(self._agreement(seat), json.dumps(note, indent=1) + "\n", over_links=True)

    def _agreement(self, seat: str) -> Path:
        return (
            self._folder / f"{CONSENT}{'-' if seat else ''}{safe_name(seat) if seat else ''}.json"
        )

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
            **{"stem": stem, "who": "", "call": "", "schema": {}, "title": stem, "facts": []},
            **{"blocks": [], "complaint": "", "labels": {}, "choices": {}},
            "messages": [{"role": "question", "content": text}],
        }
    return {
        "stem": stem,
        "who": parsed.who,
        "call": parsed.call,
        "messages": [{"role": one.role, "content": one.content} for one in parsed.messages],
        "schema": dict(parsed.schema),
        **make_card(parsed),
    }
