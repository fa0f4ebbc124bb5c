"""Folders of questions that are put to a model outside a run, with a journal of their own.

Reviews, interviews and judgements of pairs are asked in such folders. A stopped one is gone on
with, and no call is paid twice.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from virsci_society.agents.errors import Diverged, InputError, Stopped
from virsci_society.agents.files.atomic_files import make_folder, read_plain_text, write_atomically
from virsci_society.agents.files.file_hashes import check_file
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.runs.build import build_gateway
from virsci_society.scenarios.runs.run_folder import backend_summary
from virsci_society.scenarios.runs.run_journal import ledger_of, open_journal
from virsci_society.scenarios.runs.run_list import QUESTIONS
from virsci_society.scenarios.runs.signals import interruptible


class Asker(Protocol):
    """An object that asks a model within a ``with`` block and can be stopped."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def interrupt(self, reason: Stopped) -> None:
        """Stop soon; called by a signal handler."""


A = TypeVar("A", bound=Asker)
T = TypeVar("T")


def load_speaker(
    written: Path | str, settings: Sequence[str], what: str, *, trust: bool = False
) -> Scenario:
    """A scenario whose backend is to answer questions outside a run.

    Where rules speak for a part of its society, the model alone answers: one speaker for all.

    Args:
        written: file or name of the scenario.
        settings: ``backend.key=value``.
        what: is asked, for the message: ``a review``.
        trust: let dotted paths in the scenario be imported.

    Raises:
        InputError: settings of something else, or a scenario that is wrong.
    """
    for setting in settings:
        if not setting.startswith("backend"):
            raise InputError(f"--set {setting}: {what} takes keys of backend only")
    scenario = load_scenario(written, settings=settings, trust=trust)
    speaking = scenario.backend
    only = speaking.model_copy(update={"backend": speaking.backend.paid})
    return scenario.model_copy(update={"backend": only})


def speaker_slug(scenario: Scenario) -> str:
    """The name of the model that speaks, as the name of a folder."""
    summary = backend_summary(scenario)
    name = re.sub(r"[^\w.-]+", "-", str(summary["model"] or summary["use"])).strip("-.")
    return name or "panel"


def make_question_folder(folder: Path, within: Path) -> None:
    """Make the folder; no link in it is followed.

    Raises:
        InputError: it cannot be written to.
    """
    try:
        make_folder(folder, within=within)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to ({error.strerror})") from error


def ask_in_folder(
    folder: Path,
    scenario: Scenario,
    asker: Callable[[Gateway], AbstractContextManager[A]],
    ask: Callable[[A], T],
    advice: str,
) -> tuple[T, dict[str, Any]]:
    """Ask through the journal of a folder.

    Args:
        folder: exists.
        scenario: its backend answers.
        asker: makes the object that asks, from the gateway.
        ask: asks everything.
        advice: what to do where the journal holds a call that would now be made differently.

    Returns:
        What ``ask`` returns, and the cost over all sessions.

    Raises:
        Stopped: backend, budget, disk or a signal ended it early; the same call goes on.
        Diverged: the journal knows a call that would now be made differently.
    """
    with open_journal(folder) as journal:
        gateway = build_gateway(scenario, journal)
        with asker(gateway) as one, interruptible(one):
            try:
                answers = ask(one)
            except Diverged as error:
                raise Diverged(f"{error} ({advice})") from error
        journal.flush()
        return answers, ledger_of(journal)


@dataclass(frozen=True)
class QuestionRecord:
    """What a folder says of the questions that are asked in it.

    Attributes:
        folder: the folder.
        asked: what decides the words of the calls, as plain data.
        whom: names or numbers of those who are asked; may grow from session to session.
    """

    folder: Path
    asked: dict[str, Any]
    whom: Sequence[str]

    @property
    def identity(self) -> str:
        """sha256 of what decides the words."""
        return hashlib.sha256(json.dumps(self.asked, ensure_ascii=True).encode()).hexdigest()

    @property
    def done(self) -> bool:
        """Have these very questions been answered by all of these already?"""
        held = self._held()
        same = held.get("identity") == self.identity and held.get("whom") == list(self.whom)
        return same and "ledger" in held

    def begin(self) -> None:
        """Make the folder and note what is asked in it.

        Raises:
            InputError: it holds other questions or other files, or cannot be written to.
        """
        held = self._held()
        if held.get("identity", self.identity) != self.identity:
            changed = [name for name in self.asked if held["asked"].get(name) != self.asked[name]]
            raise InputError(
                f"{self.folder}: holds answers to other questions (another "
                f"{', '.join(changed) or 'release'}); give another folder with --out"
            )
        if not held and self.folder.exists() and any(self.folder.iterdir()):
            raise InputError(f"{self.folder}: holds other files; give another folder with --out")
        make_question_folder(self.folder, self.folder.parent)
        self._write({})

    def finish(self, scenario: Scenario, ledger: dict[str, Any]) -> None:
        """Note that everything is answered; written last."""
        self._write({"backend": backend_summary(scenario), "ledger": ledger})

    def _held(self) -> dict[str, Any]:
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder}: is a file; give another folder with --out")
        path = self.folder / QUESTIONS
        if not path.exists() and not path.is_symlink():
            return {}
        try:
            held = json.loads(read_plain_text(check_file(path)))
            if not isinstance(held["asked"], dict):
                raise TypeError("no record of questions")
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise InputError(f"{path}: cannot be read ({error}); remove it") from error
        return dict(held)

    def _write(self, more: dict[str, Any]) -> None:
        content = {"identity": self.identity, "asked": self.asked, "whom": list(self.whom), **more}
        try:
            write_atomically(self.folder / QUESTIONS, json.dumps(content, indent=2) + "\n")
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be written to ({error.strerror})") from error
