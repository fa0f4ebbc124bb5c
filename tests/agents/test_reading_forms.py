"""Forms: what is read from a reply, and what is not (rules 1 and 5)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from agents.errors import ReplyError
from agents.forms import Form, read_form


class Idea(Form):
    title: str = Field(alias="Title", min_length=1)
    score: float = Field(default=0.0, alias="Score", ge=0)


GOOD = '{"Title": "A", "Score": 2}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"Let me think.\n```json\n{GOOD}\n```\nThat is all.",
        f"I would say {GOOD}, on the whole.",
        f'```json\n{{"Title": ""}}\n```\nNo:\n```json\n{GOOD}\n```',
        f"```json\n{GOOD}\n```\n```json\nnot json at all\n```",
        '{"Title": "A", "Score": "2", "More": [1]}',
        '{"title": "A", "score": 2}',
    ],
    ids=[
        "plain",
        "space",
        "fenced",
        "fence without a name",
        "prose and fence",
        "prose around",
        "the last that fills it",
        "an unreadable last",
        "converted and more",
        "by field name",
    ],
)
def test_a_form_is_read_from(text):
    assert read_form(Idea, text) == Idea(title="A", score=2.0)


def test_the_last_fenced_block_wins():
    text = f'```json\n{{"Title": "first"}}\n```\n```json\n{GOOD}\n```'
    assert read_form(Idea, text).title == "A"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Idea: not JSON"),
        ("I refuse.", "Idea: not JSON"),
        ("{", "Idea: not JSON"),
        ('{"Title": }', "Idea: not JSON"),
        ("{}", "Idea: Title: Field required"),
        ('{"Title": ""}', "Idea: Title: String should have at least 1 character"),
        ('{"Title": "A", "Score": -1}', "Idea: Score: Input should be greater than"),
        ("[1, 2]", "Idea: : Input should be a valid dictionary"),
        ("3", "Idea: : Input should be"),
        ("null", "Idea: : Input should be"),
    ],
)
def test_what_cannot_be_read_says_why(text, message):
    with pytest.raises(ReplyError) as error:
        read_form(Idea, text)
    assert message in str(error.value)


@given(st.text())
def test_any_text_is_a_form_or_a_reply_error(text):
    try:
        read_form(Idea, text)
    except ReplyError as error:
        assert str(error).startswith("Idea: ")  # noqa: PT017


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "1" * 100_000])
def test_a_hostile_reply_is_a_reply_error(text):
    with pytest.raises(ReplyError):
        read_form(Idea, text)


@given(st.text(min_size=1), st.floats(0, 1e9))
def test_what_a_form_writes_it_reads(title, score):
    idea = Idea(title=title, score=score)
    assert read_form(Idea, idea.as_json()) == idea
    assert set(json.loads(idea.as_json())) == {"Title", "Score"}


def test_schema_text_is_canonical_and_per_form():
    class Other(Form):
        text: str

    assert json.loads(Idea.schema_text())["required"] == ["Title"]
    assert Idea.schema_text() is Idea.schema_text()
    assert Other.schema_text() != Idea.schema_text()


def test_a_plain_form_has_neither_rule_nor_default():
    assert Idea.fallback({}) is None
    assert not Idea.ruled
    with pytest.raises(NotImplementedError):
        Idea.rehearse({}, None)


def test_a_form_never_changes():
    with pytest.raises(ValueError, match="frozen"):
        Idea(title="A").title = "B"
