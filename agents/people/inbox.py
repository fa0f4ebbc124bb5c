"""A backend that asks through files, into which somebody else writes the answers.

So a model without an API, a colleague or a class can play scientists. The gateway keeps its slots
(``in_flight`` questions stand open at once), its journal and its budget; a question has no time
limit unless one is set, and nothing that a person does is a fault: a file that cannot be taken for
an answer is named on the page, and the question stays open.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

from pydantic import Field, PrivateAttr

from virsci_society.agents.errors import Fault, Stopped
from virsci_society.agents.gateway.backend import Backend, Endpoint
from virsci_society.agents.people.folder import INDEX, QUESTIONS, QuestionFolder
from virsci_society.agents.prompts.request import (
    Reply,
    Request,
    Usage,
    estimate_tokens,
    total_characters,
)

ENDPOINT = "inbox"
"""Name of the endpoint in the ledger."""


class Inbox(Backend):
    """A person or any program answers: each prompt is a file, and so is each answer."""

    execution: ClassVar[frozenset[str]] = frozenset({"path", "poll", "deadline"})

    path: Path = Field(
        json_schema_extra={"hint": "name a folder, for instance with --set backend.path=inbox"}
    )
    """Folder in which questions are asked and answered; made if it is not there. A relative path
    is relative to the file in which it stands, or to the current folder with ``--set``."""
    answered_by: str | None = Field(
        default=None, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$"
    )
    """Who writes the answers, in a few words, for reports and tables; null: not stated. Source: the
    user's choice."""
    poll: float = Field(default=1.0, gt=0, le=3600, allow_inf_nan=False)
    """Seconds between two looks for answers; one that is the same at two looks is complete."""
    deadline: float | None = Field(default=None, gt=0, le=10**9, allow_inf_nan=False)
    """Seconds without an answer to a question after which the run stops, to be resumed.
    null: it waits for ever."""

    _watches: list[AnswerWatch] = PrivateAttr(default_factory=list)

    @property
    def about(self) -> str:
        """The sentence for reports: who answers."""
        who = f" ({self.answered_by})" if self.answered_by else ""
        return f"people or programs that answer through an inbox of files{who}"

    @property
    def model(self) -> str:
        """Name in place of a model's, for tables and reports."""
        return self.answered_by or ENDPOINT

    @property
    def model_settings(self) -> str:
        """Who answers, so that no run is resumed by somebody else unnoticed."""
        return json.dumps({"answered_by": self.answered_by}) if self.answered_by else ""

    @property
    def waiting_for(self) -> str:
        """Number and place of the open questions, and whether there are files to be looked at."""
        # A copy, because this is read from another thread than the loop's.
        watches = list(self._watches)
        number = sum(watch.number_open for watch in watches)
        if not number:
            return ""
        questions = "1 question waits" if number == 1 else f"{number:,} questions wait"
        line = f"{questions} for an answer in {self.path / QUESTIONS} (page: {self.path / INDEX})"
        refused = sum(watch.number_refused for watch in watches)
        return f"{line}, {refused:,} with a file that cannot be read" if refused else line

    def endpoint(self) -> Endpoint:
        """The folder as the endpoint.

        Raises:
            InputError: the folder cannot be used.
        """
        watch = AnswerWatch(QuestionFolder(self.path), self.poll, self.deadline)
        self._watches.append(watch)
        return Endpoint(ENDPOINT, partial(self._complete, watch))

    async def complete(self, request: Request) -> Reply:
        """Ask one question and wait for its answer."""
        return await self.endpoint().complete(request)

    async def close(self) -> None:
        """Look for no further answers; open questions stay, and can be answered until later."""
        await close_watches(self._watches)

    async def _complete(self, watch: AnswerWatch, request: Request) -> Reply:
        text = await watch.ask(request)
        asked = total_characters(request.messages)
        usage = Usage(estimate_tokens(asked), estimate_tokens(len(text)), estimated=True)
        return Reply(text, usage, self.model)


class AnswerWatch:
    """The open questions of a folder, and one task that looks for their answers.

    Args:
        folder: the folder.
        poll: seconds between two looks (> 0).
        deadline: seconds without an answer after which ``ask`` gives up; None: never.
    """

    def __init__(self, folder: QuestionFolder, poll: float, deadline: float | None) -> None:
        self._folder, self._poll, self._deadline = folder, poll, deadline
        # Several futures for one question: runs that share a folder may ask the same.
        self._open: dict[str, list[asyncio.Future[str]]] = {}
        self._shown: tuple[tuple[str, ...], dict[str, str]] | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def number_open(self) -> int:
        """Number of open questions."""
        return len(self._open)

    @property
    def number_refused(self) -> int:
        """Number of open questions with a file that is not taken for the answer."""
        return len(self._folder.refused)

    async def ask(self, request: Request) -> str:
        """Write a question and wait for its answer.

        Raises:
            Fault: the folder cannot be used any more, or the deadline has passed.
        """
        try:
            stem = self._folder.write_question(request)
        except OSError as error:
            raise _broken(self._folder, error) from None
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._open.setdefault(stem, []).append(answer)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch())
        try:
            async with asyncio.timeout(self._deadline):
                return await answer
        except TimeoutError:
            raise Fault(
                f"no answer to {stem} within {self._deadline:g} seconds (backend.deadline)",
                "unanswered",
            ) from None
        finally:
            self._open[stem].remove(answer)
            if not self._open[stem]:
                del self._open[stem]
                self._folder.refused.pop(stem, None)

    async def close(self) -> None:
        """End the task and whatever still waits, and show on the page that nobody waits now."""
        # First the task, which would write the page with its questions again.
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self._fail(Stopped("the run has been stopped"))
        # A page that cannot be written must not keep a run from ending.
        with suppress(OSError):
            self._folder.write_index(())

    async def _watch(self) -> None:
        """Look for answers as long as a question is open, and keep the page up to date."""
        while self._open:
            try:
                answers = self._folder.complete_answers(tuple(self._open))
                waiting = tuple(stem for stem in self._open if stem not in answers)
                shown = (waiting, dict(self._folder.refused))
                if shown != self._shown:
                    self._folder.write_index(waiting)
                    self._shown = shown
            except Exception as error:
                # Also an error of the program: a question must not stay open without its watch.
                self._fail(error)
                return
            for stem, text in answers.items():
                for future in self._open.get(stem, ()):
                    if not future.done():
                        future.set_result(text)
            await asyncio.sleep(self._poll)

    def _fail(self, error: Exception) -> None:
        for futures in list(self._open.values()):
            for future in futures:
                if not future.done():
                    broken = isinstance(error, OSError)
                    future.set_exception(_broken(self._folder, error) if broken else error)


async def close_watches(watches: list[AnswerWatch]) -> None:
    """Close all watches of a backend, and empty its list of them."""
    # Emptied before the first wait, so that closing twice closes nothing twice.
    closing, watches[:] = list(watches), []
    for watch in closing:
        await watch.close()


def _broken(folder: QuestionFolder, error: Exception) -> Fault:
    why = getattr(error, "strerror", None) or error
    return Fault(f"the inbox {folder.path} cannot be used: {why}", "folder")
