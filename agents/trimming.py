"""Trimming: a prompt made shorter by a rule, where a model cannot read all of it.

What is long in a prompt are the lines that carry data (abstracts, profiles, drafts); what says
what to do stands in short lines. So long lines are cut first, ever shorter, and only if that is
not enough does text go from the middle. The same messages are always cut in the same way.
"""

from __future__ import annotations

from agents.request import Message

LINES = (2000, 1000, 500, 250, 120)
"""Lengths, in characters, that long lines are cut to, one after another."""
CUT = " […]"


def trimmed(messages: tuple[Message, ...], characters: int) -> tuple[Message, ...]:
    """The messages in at most so many characters, or as near to it as keeps every message.

    Args:
        messages: of one request.
        characters: most characters of their contents together (> 0).
    """
    for longest in LINES:
        if length(messages) <= characters:
            return messages
        messages = tuple(_with_lines(message, longest) for message in messages)
    excess = length(messages) - characters
    if excess <= 0:
        return messages
    place = max(range(len(messages)), key=lambda at: len(messages[at].content))
    shorter = _without_middle(messages[place], excess)
    return (*messages[:place], shorter, *messages[place + 1 :])


def length(messages: tuple[Message, ...]) -> int:
    """Characters of the contents together."""
    return sum(len(message.content) for message in messages)


def _with_lines(message: Message, longest: int) -> Message:
    lines = [
        line if len(line) <= longest else line[: longest - len(CUT)] + CUT
        for line in message.content.split("\n")
    ]
    return Message(message.role, "\n".join(lines))


def _without_middle(message: Message, excess: int) -> Message:
    """Leave out the middle; the beginning says who and what, the end in which form."""
    text = message.content
    left = max(len(text) - excess - len(CUT) - 2, 0)
    head = left // 2
    return Message(message.role, f"{text[:head]}\n{CUT.strip()}\n{text[len(text) - left + head :]}")
