"""Conversation: one question from its slots to the form it filled.

The prompt is rendered when every slot has settled. Only words decide what follows: unreadable
ones are asked for again, a prompt that is too long is trimmed, and when there are no words the
form's default stands, flagged.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from agents.errors import Overflow, ReplyError, Verdict
from agents.forms import Form
from agents.gateway import Gateway
from agents.kept import name_of
from agents.memory import recall
from agents.prompt import asked_again, messages_of
from agents.reading import read_reply
from agents.request import Message, Reply, Request
from agents.trimming import length, trimmed
from society.call import Call, Question, text_of
from society.errand import settled

RE_ASKS = 2
"""Times an unreadable reply is asked for again before the form's default stands."""
TRIMS = 3
"""Times a prompt that is too long is halved before that is the verdict."""


async def converse(question: Question, gateway: Gateway) -> Form:
    """Render, ask, read; ask again for unreadable words; then the form's default.

    Raises:
        Verdict: nothing could be read, or nothing was said, and the form has no default.
    """
    question.call.live = not gateway.backend.voice(question.call.id).rules
    slots = {name: await settled(value) for name, value in question.slots.items()}
    slots["role"], slots["me"] = question.role, question.who
    recalled: tuple[str, ...] = ()
    if question.memory:
        recalled = recall(question.memory, text_of(await settled(question.cue)))
    slots["memory"] = recalled
    messages = messages_of(question.prompt, slots)
    call = question.call
    try:
        words = await _Asked(question, gateway, slots).words(messages)
    except Verdict as verdict:
        call.verdict = name_of(verdict)
        default = question.form.fallback(slots)
        if default is None:
            raise
        call.defaulted, call.rung = True, "default"
        words = default
    call.reply = words.as_json()
    return words


class _Asked:
    """One question with its slots settled: asked, trimmed where too long, asked again."""

    def __init__(self, question: Question, gateway: Gateway, slots: Mapping[str, Any]) -> None:
        self._question, self._gateway, self._slots = question, gateway, slots
        self._voice = gateway.backend.voice(question.call.id)
        self._request = partial(
            Request,
            who=question.who,
            form=question.form,
            slots=slots,
            seed=question.seed,
            due=question.call.due,
            asked=question.call.asked,
            told=self._voice.told,
        )

    async def words(self, messages: tuple[Message, ...]) -> Form:
        """The form as the model filled it.

        Raises:
            Verdict: it did not.
        """
        row = call = self._question.call
        for number in range(RE_ASKS + 1):
            if number:
                row = self._row("re-ask", number)
            reply, messages = await self._reply(row, messages, number)
            try:
                read = read_reply(self._question.form, reply.text, cut=reply.cut)
                read.words.heed(self._slots)
            except ReplyError as error:
                trouble = error
                row.rung = "unread"
                messages = asked_again(messages, reply, error)
            else:
                row.rung = read.rung
                call.rung = "re-asked" if number else read.rung
                return read.words
        raise trouble

    async def _reply(
        self, row: Call, messages: tuple[Message, ...], number: int
    ) -> tuple[Reply, tuple[Message, ...]]:
        """The reply to the messages, or to as much of them as the model can read."""
        room = self._voice.room
        if room is not None:
            messages = trimmed(messages, room)
        for trims in range(TRIMS + 1):
            if trims:
                row = self._row("trim", 10 * number + trims)
            asked = self._request(row.id, messages=messages, attempt=number)
            row.prompt_hash = asked.hash
            try:
                reply = await self._gateway.complete(asked)
            except Overflow:
                row.verdict = "overflow"
                if trims == TRIMS:
                    raise
                messages = trimmed(messages, length(messages) // 2)
            else:
                _enter(row, reply)
                return reply, messages
        raise AssertionError("a loop that only returns or raises")

    def _row(self, act: str, number: int) -> Call:
        row = self._question.call.again(act, number)
        self._question.calls.append(row)
        return row


def _enter(row: Call, reply: Reply) -> None:
    row.model = reply.model
    row.prompt_tokens = reply.usage.prompt_tokens
    row.completion_tokens = reply.usage.completion_tokens
    row.reply = reply.text
