"""The text of a question: everything that a reader needs, character by character."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from tests.agents.people.inbox_requests import Judgement, request
from virsci_society.agents.people.question import (
    describe_form,
    describe_messages,
    describe_type,
    fenced,
    question_key,
    render_question,
    safe_name,
)
from virsci_society.agents.prompts.request import Message


def fences(text: str) -> list[tuple[str, str]]:
    """Language and content of every fence, read as Markdown reads them."""
    found, fence, lines = [], "", []
    for line in text.split("\n"):
        opening = re.match(r"(`{3,})(\w*)$", line)
        if not fence and opening:
            fence, language, lines = opening[1], opening[2], []
        elif fence and line == fence:
            found.append((language, "\n".join(lines)))
            fence = ""
        elif fence:
            lines.append(line)
    assert not fence
    return found


def test_a_question_says_who_is_asked_and_where_the_answer_goes() -> None:
    text = render_question(request(), "0007-a-0123456789ab")
    assert "# Question 0007, for Scientist7" in text
    assert "Call: `Scientist3/1/topic/1/2/0/utter/Scientist7`" in text
    assert "`answers/0007-a-0123456789ab.md` (or with the ending `.json` or `.txt`)" in text
    assert "Asked again" not in text


def test_a_question_that_is_asked_again_says_so() -> None:
    assert "**Asked again:**" in render_question(request(attempt=1), "0007-a-0123456789ab")


@pytest.mark.parametrize(
    "content",
    ["plain", "```json\n{}\n```", "````\nlonger\n````", "## Message 9 of 9: system", "", "a\n\n"],
)
def test_messages_stand_there_character_by_character(content: str) -> None:
    messages = (Message("system", "Be brief."), Message("user", content))
    assert fences(describe_messages(messages)) == [("text", "Be brief."), ("text", content)]


def test_fields_are_listed_in_the_order_of_the_form() -> None:
    text = describe_form(Judgement.json_schema())
    assert text.splitlines()[:4] == [
        "- `Why`: text",
        '- `Verdict`: one of "take", "leave"',
        "- `Marks`: list of whole number, may be left out",
        "- `Asked`: text or null, may be left out",
    ]
    ((language, schema),) = fences(text)
    assert language == "json"
    assert json.loads(schema) == Judgement.json_schema()


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"const": 3}, "3"),
        ({"type": "object", "properties": {"a": {}, "b": {}}}, "object with `a`, `b`"),
        ({"oneOf": [{"type": "number"}, {"type": "number"}]}, "number"),
        ({"type": "array"}, "list"),
        ({}, "any value"),
    ],
)
def test_types_are_said_in_words(schema: dict, words: str) -> None:
    assert describe_type(schema) == words


@pytest.mark.parametrize(
    "change",
    [
        {"id": "Scientist3/1/topic/1/2/0/utter/Scientist8"},
        {"attempt": 1},
        {"seed": 12},
        {"messages": (Message("user", "What then?"),)},
        {"model_settings": "another"},
    ],
)
def test_another_question_has_another_key(change: dict) -> None:
    assert question_key(request()) == question_key(request(due=9.0, slots={"a": 1}))
    assert question_key(request()) != question_key(replace(request(), **change))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("Scientist3/1/topic/1/2/0/utter/Scientist7", "Scientist3-1-topic-1-2-0-utter-Scientist7"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\n<b>|c\0", "a-b-c"),
        ("/", "call"),
        ("é" * 9, "call"),
        ("x" * 300, "x" * 80),
    ],
)
def test_a_call_id_becomes_a_harmless_name(call: str, name: str) -> None:
    assert safe_name(call) == name


def test_a_fence_is_longer_than_any_in_the_text() -> None:
    assert fenced("a ````` b").startswith("``````text\n")
