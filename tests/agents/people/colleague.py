"""A colleague who answers the questions of an inbox, for tests: a thread that writes files."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

LOOK = 0.01
"""Seconds between two looks for questions."""
_CALL = re.compile(r"^Call: `([^`]+)`", re.MULTILINE)


def call_of(text: str) -> str:
    """The call id in the text of a question."""
    return _CALL.search(text)[1]


class Colleague:
    """Answers questions until the block ends; what goes wrong in the thread is raised there.

    Args:
        folder: of the inbox.
        answer: gets the text of a question, and gives the answer, or None to leave it open.
        suffix: of the answers' names.

    Attributes:
        answered: names of the questions answered, in their order.
    """

    def __init__(
        self, folder: Path, answer: Callable[[str], str | None], suffix: str = ".json"
    ) -> None:
        self.folder, self._answer, self._suffix = folder, answer, suffix
        self.answered: list[str] = []
        self._left: set[str] = set()
        self._ended = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="colleague", daemon=True)

    def __enter__(self) -> Colleague:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            while not self._ended.wait(LOOK):
                self._look()
        except BaseException as error:
            self._error = error

    def _look(self) -> None:
        for question in sorted((self.folder / "questions").glob("*.md")):
            if question.stem in self._left:
                continue
            self._left.add(question.stem)
            text = self._answer(question.read_text(encoding="utf-8"))
            if text is not None:
                target = self.folder / "answers" / f"{question.stem}{self._suffix}"
                target.write_text(text, encoding="utf-8")
                self.answered.append(question.stem)
