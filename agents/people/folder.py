"""The folder of an inbox, with questions that are written and answers that are read.

Anybody may put something there. So files are opened without following links, nothing but a plain
file of bounded size is read, and what is written replaces whatever has its name. Which question has
been answered is read from the folder alone; nothing else has to survive a kill.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import make_folder, write_atomically
from virsci_society.agents.people.page import ShownQuestion, render_index
from virsci_society.agents.people.question import (
    ANSWER_SUFFIXES,
    KEY_LENGTH,
    question_key,
    render_question,
    safe_name,
)
from virsci_society.agents.prompts.request import Request

QUESTIONS, ANSWERS, INDEX = "questions", "answers", "index.html"
"""Names inside of the folder."""
MAX_BYTES = 1_000_000
"""Most bytes of a file that is read."""
SHOWN = 50
"""Answered questions whose texts stand on the page, the latest first; the others are linked."""

Signature = tuple[int, int, int]
"""Number of the file, bytes and time of the last change, by which two looks are compared."""

_NAME = re.compile(rf"(\d{{4,10}})-[A-Za-z0-9._-]+-([0-9a-f]{{{KEY_LENGTH}}})\.md")
# Without O_NONBLOCK, opening a pipe would wait for its other end.
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class RefusedFile(Exception):
    """A file that is not read; the message says why, and is shown on the page."""


class QuestionFolder:
    """The folder in which one run asks its questions; several runs may share a folder.

    Args:
        path: the folder; made if it is not there.

    Attributes:
        path: the folder.
        refused: why an answer was not taken up, by the stem of its question.

    Raises:
        InputError: it cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.refused: dict[str, str] = {}
        self._seen: dict[str, Signature] = {}
        try:
            for part in (QUESTIONS, ANSWERS):
                make_folder(path / part, within=path)
                with self._opened(part):
                    pass
            stems = list(self._stems())
        except OSError as error:
            raise InputError(
                f"backend.path: {error.filename or path}: {error.strerror}; give a folder that can "
                "be written to, with folders and no links below it"
            ) from error
        self._stem_of = {stem[-KEY_LENGTH:]: stem for stem in stems}
        self._last = max((int(stem.partition("-")[0]) for stem in stems), default=0)

    def write_question(self, request: Request) -> str:
        """Write the file of a question, unless it is there already.

        Returns:
            The stem of its name: number, call id and key.

        Raises:
            OSError: it cannot be written.
        """
        key = question_key(request)
        stem = self._stem_of.get(key)
        if stem is None:
            self._last += 1
            stem = f"{self._last:04d}-{safe_name(request.id)}-{key}"
            self._stem_of[key] = stem
        # Halves of surrogate pairs, which no file can hold, become question marks.
        text = render_question(request, stem).encode("utf-8", "replace").decode()
        with self._opened(QUESTIONS) as folder:
            if _text_or_none(folder, f"{stem}.md") != text:
                page = self.path / QUESTIONS / f"{stem}.md"
                write_atomically(page, text, within=self.path, over_links=True)
        return stem

    def complete_answers(self, stems: Iterable[str]) -> dict[str, str]:
        """Look once for answers; those that are complete are returned by the stem of the question.

        An answer is complete if it is not empty and is the same as at the last look. One that
        cannot be read is noted in ``refused``.

        Raises:
            OSError: the folder cannot be read.
        """
        complete = {}
        with self._opened(ANSWERS) as folder:
            for stem in stems:
                text, refusal = self._complete_answer(folder, stem)
                if text is not None:
                    complete[stem] = text
                if text is None and refusal:
                    self.refused[stem] = refusal
                else:
                    self.refused.pop(stem, None)
        return complete

    def write_index(self, waiting: Iterable[str]) -> None:
        """Make the page anew.

        Args:
            waiting: stems of the questions that the run waits for now.

        Raises:
            OSError: the folder cannot be read, or the page cannot be written.
        """
        waited_for = set(waiting)
        shown = []
        with self._opened(QUESTIONS) as questions, self._opened(ANSWERS) as answers:
            answered = _answered_stems(answers)
            texts_left = SHOWN
            for stem in sorted(self._stems(), key=_number, reverse=True):
                text = partial(_text_or_none, questions, f"{stem}.md")
                names = answered.get(stem, ())
                if stem in waited_for:
                    refusal = self.refused.get(stem, "")
                    shown.append(ShownQuestion(stem, "open", text() or "", refusal=refusal))
                elif names and not texts_left:
                    shown.append(ShownQuestion(stem, "answered", answer_name=names[0]))
                elif (answer := _first_answer(answers, names)) is not None:
                    shown.append(ShownQuestion(stem, "answered", text() or "", *answer))
                    texts_left -= 1
                else:
                    shown.append(ShownQuestion(stem, "idle", text() or ""))
        write_atomically(self.path / INDEX, render_index(shown), over_links=True)

    def _stems(self) -> Iterator[str]:
        """Stems of the questions in the folder, in no order; links are passed over."""
        with self._opened(QUESTIONS) as folder, os.scandir(folder) as entries:
            for entry in entries:
                if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    yield entry.name.removesuffix(".md")

    def _complete_answer(self, folder: int, stem: str) -> tuple[str | None, str]:
        """The first complete answer to a question, and why another file is none."""
        refusal = ""
        for name in (f"{stem}{suffix}" for suffix in ANSWER_SUFFIXES):
            try:
                text = self._complete_file(folder, name)
            except RefusedFile as refused:
                refusal = str(refused)
                continue
            if text is not None:
                return text, ""
        return None, refusal

    def _complete_file(self, folder: int, name: str) -> str | None:
        """The text of a file; None if there is none, or it may not be complete yet.

        Raises:
            RefusedFile: it will never be read.
        """
        try:
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        _check_plain(name, state)
        signature = _signature(state)
        earlier, self._seen[name] = self._seen.get(name), signature
        if not state.st_size or earlier != signature:
            return None
        content, read = _read(folder, name)
        text = _decoded(name, content)
        # Compared again after reading, since somebody may be writing at this very moment.
        return text if read == signature and text.strip() else None

    def _opened(self, part: str) -> AbstractContextManager[int]:
        """A folder below this one, opened for this look only: somebody may exchange it."""
        return _opened_below(self.path, part)


def read_questions(path: Path) -> dict[str, tuple[str, str]]:
    """The questions of an inbox, for whoever only looks; nothing is written.

    Args:
        path: the folder; may be missing.

    Returns:
        Text of the question and of its answer (empty: none) by stem, the oldest first.
    """
    texts: dict[str, tuple[str, str]] = {}
    with suppress(OSError), _opened_below(path, ANSWERS) as answers:
        answered = _answered_stems(answers)
        with _opened_below(path, QUESTIONS) as questions:
            names = [name for name in os.listdir(questions) if _NAME.fullmatch(name)]
            for stem in sorted((name.removesuffix(".md") for name in names), key=_number):
                text = _text_or_none(questions, f"{stem}.md")
                # A file that no run takes for the answer leaves the question open.
                answer = _first_answer(answers, answered.get(stem, ()))
                if text is not None:
                    texts[stem] = text, "" if answer is None else answer[0]
    return texts


def write_answer(path: Path, stem: str, text: str) -> None:
    """Write the answer to an open question of an inbox.

    Args:
        path: the folder.
        stem: of the question.
        text: the answer.

    Raises:
        InputError: there is no such open question, or the answer is empty or too long.
        OSError: it cannot be written.
    """
    if read_questions(path).get(stem, ("", "answered"))[1]:
        raise InputError(f"{stem}: no open question; it may have been answered already")
    if not text.strip() or len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise InputError(f"{stem}: an answer has 1 to {MAX_BYTES:,} bytes")
    whole = text.encode("utf-8", "replace").decode()
    write_atomically(path / ANSWERS / f"{stem}.json", whole, within=path, over_links=True)


@contextmanager
def _opened_below(path: Path, part: str) -> Iterator[int]:
    """A folder below another, opened without following a link in its place.

    Raises:
        OSError: it is a link, no folder, or cannot be opened.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path / part, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _number(stem: str) -> tuple[int, str]:
    return int(stem.partition("-")[0]), stem


def _answered_stems(folder: int) -> dict[str, list[str]]:
    """Names of what may be answers by the stem of the question: plain, bounded and not empty."""
    found: dict[str, list[str]] = {}
    # By name, in which order a run looks for the endings too: both take the same file.
    for name in sorted(os.listdir(folder)):
        if name.endswith(ANSWER_SUFFIXES):
            with suppress(FileNotFoundError, RefusedFile):
                state = os.stat(name, dir_fd=folder, follow_symlinks=False)
                _check_plain(name, state)
                if state.st_size:
                    found.setdefault(name.rpartition(".")[0], []).append(name)
    return found


def _first_answer(folder: int, names: Iterable[str]) -> tuple[str, str] | None:
    """Text and name of the first of these files that a run takes for an answer."""
    texts = ((_text_or_none(folder, name) or "", name) for name in names)
    return next((one for one in texts if one[0].strip()), None)


def _check_plain(name: str, state: os.stat_result) -> None:
    """Refuse everything but a plain file of its own.

    Raises:
        RefusedFile: a link, a folder, a pipe, a second name of another file, or too large.
    """
    if stat.S_ISLNK(state.st_mode):
        raise RefusedFile(f"{name} is a link; write a plain file")
    if not stat.S_ISREG(state.st_mode):
        raise RefusedFile(f"{name} is no plain file")
    if state.st_nlink > 1:
        raise RefusedFile(f"{name} is a second name of another file; write a file of its own")
    if state.st_size > MAX_BYTES:
        raise RefusedFile(f"{name} is larger than {MAX_BYTES:,} bytes")


def _read(folder: int, name: str) -> tuple[bytes, Signature]:
    """The content of a plain file, and its signature after reading.

    Raises:
        RefusedFile: it is no plain file, too large, or cannot be opened.
    """
    try:
        descriptor = os.open(name, _OPEN, dir_fd=folder)
    except OSError as error:
        raise RefusedFile(f"{name} cannot be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        _check_plain(name, os.fstat(file.fileno()))
        # Bounded again: it may have grown since it was measured.
        content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise RefusedFile(f"{name} is larger than {MAX_BYTES:,} bytes")
        return content, _signature(os.fstat(file.fileno()))


def _signature(state: os.stat_result) -> Signature:
    return state.st_ino, state.st_size, state.st_mtime_ns


def _decoded(name: str, content: bytes) -> str:
    try:
        # Some editors begin a file with a byte order mark.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedFile(f"{name} is not text in UTF-8; save it again in that encoding") from None


def _text_or_none(folder: int, name: str) -> str | None:
    """The text of a plain file; None if there is none that can be read."""
    try:
        return _decoded(name, _read(folder, name)[0])
    except RefusedFile:
        return None
