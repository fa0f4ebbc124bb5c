"""Questions put to a model outside a run, all at once, through a gateway with a journal.

Reviewers, judges and scientists who are interviewed are asked by this. A call whose reply is in
the journal of the gateway is not made again.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Self, TypeVar

from virsci_society.agents.errors import Stopped, Verdict
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.agents.replies.form import Form
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.calls import Call, PendingCall, ask_model
from virsci_society.society.kernel.dispatcher import Dispatcher
from virsci_society.society.kernel.streams import Streams

T = TypeVar("T")


class ModelQuestions:
    """Asks a model questions that are no part of a run.

    Args:
        gateway: the gateway to the model, with the journal of the questions.
        streams: from which the seeds of the calls are derived.
        day: simulated date of the questions, in days.
    """

    def __init__(self, gateway: Gateway, streams: Streams, day: float = 0.0) -> None:
        self._streams = streams
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

    def submit(self, id_: str, work: Coroutine[Any, Any, T]) -> Answer[T]:
        """Begin the work behind one answer, which may ask several times.

        Args:
            id_: unique among the answers.
            work: the coroutine; it asks by ``ask``.
        """

        def read(answer: Answer[Any]) -> Any:
            return self._dispatcher.read(answer, lambda: None)

        answer: Answer[T] = Answer(id_, 0.0, (), False, read)
        self._dispatcher.submit(answer, work)
        return answer

    def read_all(
        self,
        begin: Callable[[], Sequence[Answer[T]]],
        told: Callable[[int], None] = lambda done: None,
    ) -> list[T]:
        """Begin all work and wait for it.

        Args:
            begin: submits everything and returns the answers.
            told: is called after each answer with the number of those that have been read.

        Returns:
            The values of the answers, in their order.

        Raises:
            Stopped: backend, budget, disk or a signal ended it early.
            Diverged: the journal knows a call that would now be made differently.
        """
        values: list[T] = []
        try:
            for done, answer in enumerate(begin(), start=1):
                values.append(answer.read())
                told(done)
        except Stopped as stop:
            # What it says is that there was a fault; the fault says what to do.
            raise self._dispatcher.fault or stop from None
        return values

    async def ask(
        self,
        call: Call,
        who: Profile,
        role: str,
        prompt: Prompt,
        form: type[Form],
        slots: Mapping[str, Any],
        year: int | None = None,
    ) -> tuple[Form | None, tuple[Call, ...]]:
        """Ask once, and again where the reply cannot be read.

        Args:
            call: the row of the call.
            who: profile of the scientist who is asked.
            role: of the scientist in its team; or a word for somebody outside the society.
            prompt: the page.
            form: of the reply.
            slots: content of the page.
            year: calendar year of the question; None: the page does not say.

        Returns:
            The form, or None where no reply could be read, and the rows of all calls.
        """
        seed = self._streams.key("words", call.id)
        pending = PendingCall(call, who, role, prompt, form, slots, seed, year=year)
        pending.calls.append(call)
        try:
            words = await ask_model(pending, self._dispatcher.gateway)
        except Verdict:
            words = None
        return words, tuple(pending.calls)
