"""The text of a question as Markdown, which a person reads and a program can take apart.

Each message of a request stands in a fence of its own, character by character as a language model
would be sent it; the form of the answer follows, field by field and as JSON Schema.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from virsci_society.agents.prompts.request import Message, Request

KEY_LENGTH = 12
"""Hexadecimal digits by which the name of a file tells its question from all others."""
NAME_LENGTH = 80
"""Most characters of a call id in the name of a file."""
ANSWER_SUFFIXES = (".json", ".md", ".txt")
"""Endings of an answer's name, in the order in which they are looked for."""

_HEAD = re.compile(r"# Question \d+, for (.*)\n\nCall: `([^`\n]*)`(?:, day (-?[\d.]+))?\n")
_MESSAGE = re.compile(r"^## Message \d+ of \d+: (.*)\n\n(`{3,})text\n", re.MULTILINE)
_FORM = re.compile(
    r"^## Form of the answer\n\n(?:- .*\n)*\nAs JSON Schema:\n\n(`{3,})json\n", re.MULTILINE
)
_UNSAFE = re.compile(r"[^A-Za-z0-9._]+")
_BACKTICKS = re.compile(r"`+")
_KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
    "null": "null",
}
"""Types of JSON Schema in words."""


def question_key(request: Request) -> str:
    """Hexadecimal digits that are the same for the same question only.

    Made of call id, attempt, seed and all that the answer depends on: a run that is resumed
    finds its question again, and a run with another seed gets one of its own.
    """
    parts = [request.id, request.attempt, request.seed, request.hash]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:KEY_LENGTH]


def safe_name(call: str) -> str:
    """A call id as a part of a file's name: letters, digits, dots, underscores and hyphens."""
    return _UNSAFE.sub("-", call).strip("-.")[:NAME_LENGTH] or "call"


def render_question(request: Request, stem: str) -> str:
    """The whole text of a question.

    Args:
        request: what is asked.
        stem: name of the file without its ending.
    """
    number = stem.partition("-")[0]
    endings = " or ".join(f"`{suffix}`" for suffix in ANSWER_SUFFIXES if suffix != ".md")
    parts = [
        f"# Question {number}, for {request.who.id}",
        f"Call: `{request.id}`, day {request.asked:.2f}",
        f"Write the answer into the file `answers/{stem}.md` (or with the ending {endings}). It is "
        "taken up as soon as it is not empty and has stopped changing. Whoever writes in several "
        "steps writes under another name first, and renames the file when it is done.",
        "An answer is the JSON object that is described at the end; text around it is passed over. "
        "Lines that begin with the name of a field and a colon are read as well, if the last one "
        "ends with a full stop.",
    ]
    if request.attempt:
        parts += [
            "**Asked again:** the answer to this question could not be read. That answer and what "
            "was wrong with it are the last two messages."
        ]
    parts += [describe_messages(request.messages), "## Form of the answer"]
    parts += [describe_form(json.loads(request.schema_text))]
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question as it stands in its file.

    Attributes:
        who: masked name of the scientist who is asked.
        call: id of the call.
        day: simulated date on which it was asked, in days; None: an older release did not say.
        asked_again: True if an earlier answer to it could not be read.
        messages: as a language model would be sent them.
        schema: JSON Schema of the answer.
    """

    who: str
    call: str
    day: float | None
    asked_again: bool
    messages: tuple[Message, ...]
    schema: Mapping[str, Any]


def parse_question(text: str) -> ParsedQuestion:
    """Take the text of ``render_question`` apart again.

    Args:
        text: of the file.

    Raises:
        ValueError: it is no such text.
    """
    if (head := _HEAD.match(text)) is None:
        raise ValueError("no question: it has no heading")
    at, messages = head.end(), []
    again = False
    # Read from fence to fence: what stands inside of one may look like a heading.
    while (found := _MESSAGE.search(text, at)) is not None:
        again = again or "**Asked again:**" in text[at : found.start()]
        content, at = _inside(text, found.end(), found[2])
        messages.append(Message(found[1], content))
    if (form := _FORM.search(text, at)) is None:
        raise ValueError("no question: it does not say which form the answer has")
    schema = json.loads(_inside(text, form.end(), form[1])[0])
    if not isinstance(schema, dict):
        raise ValueError("no question: its form is no JSON Schema")
    day = None if head[3] is None else float(head[3])
    return ParsedQuestion(head[1], head[2], day, again, tuple(messages), schema)


def _inside(text: str, at: int, fence: str) -> tuple[str, int]:
    """What stands in a fence that has been opened, and where it ends."""
    # From the end of the opening line, where a fence with nothing in it is closed.
    end = text.find(f"\n{fence}\n", at - 1)
    if end < 0:
        raise ValueError("no question: a fence has no end")
    return text[at:end] if end >= at else "", end + len(fence) + 1


def describe_messages(messages: Sequence[Message]) -> str:
    """The messages of a request as Markdown, each with a heading and in a fence."""
    return "\n\n".join(
        f"## Message {number} of {len(messages)}: {message.role}\n\n{fenced(message.content)}"
        for number, message in enumerate(messages, 1)
    )


def describe_form(schema: Mapping[str, Any]) -> str:
    """The fields of a reply as a list in their order, and its JSON Schema in a fence.

    Args:
        schema: the schema of the reply to one question.
    """
    required = schema.get("required", ())
    lines = []
    for name, field in schema.get("properties", {}).items():
        optional = "" if name in required else ", may be left out"
        lines.append(f"- `{name}`: {describe_type(field)}{optional}")
    text = json.dumps(schema, indent=2, ensure_ascii=False)
    return "\n".join([*lines, "", "As JSON Schema:", "", fenced(text, "json")])


def describe_type(schema: Mapping[str, Any]) -> str:
    """The type of a field in a few words, such as ``one of "a", "b"``."""
    if "enum" in schema or "const" in schema:
        values = schema.get("enum") or [schema["const"]]
        written = ", ".join(json.dumps(value, ensure_ascii=False) for value in values)
        return written if len(values) == 1 else f"one of {written}"
    either = schema.get("anyOf") or schema.get("oneOf")
    if either:
        return " or ".join(dict.fromkeys(describe_type(one) for one in either))
    kind = schema.get("type")
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        return f"list of {describe_type(schema['items'])}"
    if kind == "object" and schema.get("properties"):
        return f"object with {', '.join(f'`{name}`' for name in schema['properties'])}"
    return _KINDS.get(str(kind), "any value")


def fenced(text: str, language: str = "text") -> str:
    """A text in a fence of Markdown that is longer than any run of backticks in it.

    Args:
        text: shown character by character.
        language: word behind the opening fence.
    """
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
