"""Questions put to a model outside a run, in a folder with a journal of its own.

Reviews and judgements of pairs are jobs of one class, ``QuestionJob``. A job that was
stopped is resumed by the same command: a call whose reply is in the journal is not made again,
so none is paid twice.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from virsci_society.agents.errors import Diverged, InputError, Stopped, Verdict, disk_errors_as
from virsci_society.agents.files.atomic_files import (
    holds_others,
    make_folder,
    read_plain_text,
    write_atomically,
)
from virsci_society.agents.files.file_hashes import check_file
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.runs.build import build_gateway
from virsci_society.scenarios.runs.run_folder import backend_summary
from virsci_society.scenarios.runs.run_journal import ledger_of, open_journal
from virsci_society.scenarios.runs.run_state import QUESTIONS
from virsci_society.scenarios.runs.signals import interruptible
from virsci_society.society.kernel.answer import Answer, Call, PendingCall, ask_model
from virsci_society.society.kernel.dispatcher import Dispatcher
from virsci_society.society.kernel.streams import Streams


class ModelReply(Protocol):
    """One question and what was said, as a job keeps it."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """Rows of the call and its re-asks."""


R = TypeVar("R", bound=ModelReply)


class ModelQuestions(Generic[R]):
    """Asks a model questions that are no part of a run, all at once.

    Args:
        gateway: the gateway to the model, with the journal of the questions.
        streams: from which the seeds of the calls are derived.
        day: simulated date of the questions, in days.
    """

    def __init__(self, gateway: Gateway, streams: Streams, day: float = 0.0) -> None:
        self._streams, self.day = streams, day
        self._dispatcher = Dispatcher(gateway, lambda: day, lambda: None, lambda: 1)

    def __enter__(self) -> Self:
        self._dispatcher.on_clock(True)
        return self

    def __exit__(self, *_: object) -> None:
        self._dispatcher.on_clock(False)
        self._dispatcher.close()

    def interrupt(self, reason: Stopped) -> None:
        """Stop soon, from a signal handler; what has been answered is kept."""
        self._dispatcher.interrupt(reason)

    def submit(self, id_: str, work: Coroutine[Any, Any, list[R]]) -> Answer[list[R]]:
        """Begin the work behind one answer, which may ask several times.

        Args:
            id_: unique among the answers.
            work: the coroutine; it asks by ``ask``.
        """

        def read(answer: Answer[Any]) -> Any:
            return self._dispatcher.read(answer, lambda: None)

        answer: Answer[list[R]] = Answer(id_, 0.0, (), False, read)
        self._dispatcher.submit(answer, work)
        return answer

    def read_all(
        self,
        begin: Callable[[], Sequence[Answer[list[R]]]],
        told: Callable[[int], None] = lambda done: None,
    ) -> list[R]:
        """Begin all work and wait for it.

        Args:
            begin: submits everything and returns the answers.
            told: is called after each answer with the number of those that have been read.

        Returns:
            The replies of all answers, in their order.

        Raises:
            Stopped: backend, budget, disk or a signal ended it early.
            Diverged: the journal knows a call that would now be made differently.
        """
        replies: list[R] = []
        try:
            for done, answer in enumerate(begin(), start=1):
                replies += answer.read()
                told(done)
        except Stopped as stop:
            # What it says is that there was a fault; the fault says what to do.
            raise self._dispatcher.fault or stop from None
        return replies

    async def ask(
        self,
        id_: str,
        place: tuple[str, str, int, int, int, str, str],
        who: Profile,
        role: str,
        prompt: Prompt,
        form: type[Form],
        slots: Mapping[str, Any],
        year: int | None = None,
    ) -> tuple[Form | None, tuple[Call, ...]]:
        """Ask once, and again where the reply cannot be read.

        Args:
            id_: of the call.
            place: team, stage, round, turn, seat, act and name, as the rows of calls hold them.
            who: profile of the scientist who is asked.
            role: of the scientist in its team; or a word for somebody outside the society.
            prompt: the page.
            form: of the reply.
            slots: content of the page.
            year: calendar year of the question; None: the page does not say.

        Returns:
            The form, or None where no reply could be read (a missing answer, never a default), and
            the rows of all calls.
        """
        day, name = self.day, form.__name__
        call = Call(id_, *place, asked=day, due=day, sequence=0, needs=(), form=name)
        seed = self._streams.key("words", id_)
        pending = PendingCall(call, who, role, prompt, form, slots, seed, year=year)
        pending.calls.append(call)
        try:
            words = await ask_model(pending, self._dispatcher.gateway)
        except Verdict:
            words = None
        return words, tuple(pending.calls)


@dataclass(frozen=True)
class QuestionJob(ABC, Generic[R]):
    """Questions to a model outside a run, and the folder that keeps what it says.

    Attributes:
        scenario: its backend answers.
        seed: root of the seeds of the calls.
        folder: for journal and answers.
        day: simulated date of the questions, in days.
    """

    scenario: Scenario
    seed: int
    folder: Path
    day: float

    stream: ClassVar[str]
    """Name of the random streams."""
    advice: ClassVar[str]
    """What to do where the journal holds a call that would now be made differently."""

    @property
    @abstractmethod
    def record(self) -> QuestionRecord:
        """What the folder says of the questions."""

    @abstractmethod
    def begin(self, questions: ModelQuestions[R]) -> Sequence[Answer[list[R]]]:
        """Submit every question."""

    @abstractmethod
    def progress(self, done: int) -> str:
        """A line about so many answers that have been read."""

    @abstractmethod
    def write(self, replies: Sequence[R]) -> None:
        """Write the tables."""

    @property
    def about(self) -> str:
        """A sentence about who answers."""
        return str(self.scenario.backend.backend.about)

    @property
    def done(self) -> bool:
        """Have these very questions been answered by this very model already?"""
        return self.record.done

    def asked_by(self, gateway: Gateway) -> ModelQuestions[R]:
        """What puts the questions to a gateway."""
        return ModelQuestions(gateway, Streams(self.seed, self.stream), self.day)

    def rehearse(self, gateway: Gateway) -> list[Call]:
        """Ask through another gateway, whose words are not kept; the rows of its calls."""
        with self.asked_by(gateway) as questions:
            replies = questions.read_all(lambda: self.begin(questions))
        return [call for reply in replies for call in reply.calls]

    def execute(self, announce: Callable[[str], None] = lambda line: None) -> list[R]:
        """Ask what has not been answered yet, and write the tables.

        Args:
            announce: is given a line of progress now and then.

        Returns:
            Every reply, those of earlier sessions too.

        Raises:
            Stopped: backend, budget, disk or a signal ended it early; the same call goes on.
            Diverged: the folder's journal knows a call that would now be made differently.
            InputError: the folder holds something else, or cannot be written to.
        """
        # Before the first call: a folder of other questions is refused at no cost.
        self.record.begin()
        with open_journal(self.folder) as journal:
            gateway = build_gateway(self.scenario, journal)
            with self.asked_by(gateway) as questions, interruptible(questions):
                try:
                    replies = questions.read_all(
                        lambda: self.begin(questions), lambda done: announce(self.progress(done))
                    )
                except Diverged as error:
                    raise Diverged(f"{error} ({self.advice})") from error
            journal.flush()
            ledger = ledger_of(journal)
        with disk_errors_as(Stopped, f"{self.folder}: cannot be written to"):
            self.write(replies)
        # Written last: a folder without it has not ended.
        self.record.finish({"backend": backend_summary(self.scenario), "ledger": ledger})
        return replies


@dataclass(frozen=True)
class QuestionRecord:
    """The record of a folder that holds the answers to one set of questions.

    Attributes:
        folder: the folder.
        asked: what decides the words of the calls, as plain data.
        whom: names or numbers of those who are asked; may grow from session to session.
    """

    folder: Path
    asked: dict[str, Any]
    whom: Sequence[str]
    file: ClassVar[str] = QUESTIONS

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
        if not held and holds_others(self.folder, self.file):
            raise InputError(f"{self.folder}: holds other files; give another folder with --out")
        self.make_folder(self.folder.parent)
        self.finish({})

    def finish(self, spent: dict[str, Any]) -> None:
        """Note what is asked, and at the end by whom it was answered and what it cost."""
        asked = {"identity": self.identity, "asked": self.asked, "whom": list(self.whom)}
        self.write({**asked, **spent})

    def make_folder(self, within: Path) -> None:
        """Make the folder; no link below ``within`` is followed.

        Raises:
            InputError: it cannot be written to.
        """
        with disk_errors_as(InputError, f"{self.folder}: cannot be written to"):
            make_folder(self.folder, within=within)

    def read(self, field: str) -> dict[str, Any]:
        """What the file holds; nothing where there is none.

        Args:
            field: that must be a mapping in it.

        Raises:
            InputError: the file is damaged.
        """
        path = self.folder / self.file
        if not path.exists() and not path.is_symlink():
            return {}
        try:
            content = json.loads(read_plain_text(check_file(path)))
            if not isinstance(content[field], dict):
                raise TypeError("no record of questions")
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise InputError(f"{path}: cannot be read ({error}); remove it") from error
        return dict(content)

    def write(self, content: dict[str, Any]) -> None:
        """Write the file, whole or not at all.

        Raises:
            InputError: it cannot be written.
        """
        with disk_errors_as(InputError, f"{self.folder}: cannot be written to"):
            write_atomically(self.folder / self.file, json.dumps(content, indent=2) + "\n")

    def _held(self) -> dict[str, Any]:
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder}: is a file; give another folder with --out")
        return self.read("asked")


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


def hash_of(data: Any) -> str:
    """sha256 of plain data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def call_cells(calls: Sequence[Call]) -> dict[str, Any]:
    """How the reply was read or why not, by which model, and what it took with its re-asks."""
    cells: dict[str, Any] = {"rung": calls[0].rung, "verdict": calls[0].verdict}
    cells |= {"model": calls[-1].model, "calls": len(calls)}
    for tokens in ("prompt_tokens", "completion_tokens"):
        cells[tokens] = sum(getattr(call, tokens) for call in calls)
    return cells
