"""The JSON block on a page asks for what the schema asks for, in the same order."""

from __future__ import annotations

import json
import re

import pytest

from tests.agents.replies.form_examples import CANDIDATE, EMPTY, EVERYTHING, FORMS, PAPERS
from virsci_society.agents.replies.form import Form
from virsci_society.agents.replies.skeleton import render_skeleton
from virsci_society.protocols.ideas import Ballot, Idea, IdeaMarks
from virsci_society.protocols.peer_review.forms import Review
from virsci_society.protocols.virsci.forms import SelfReview

FIELD = re.compile(r'[{ ]("(?:[^"\\]|\\.)*"): (.+?)[,}]')


def fields(text):
    """Names at the beginning of the lines of a pattern, with what is said to belong there."""
    found = [FIELD.fullmatch(line) for line in text.splitlines()]
    assert all(found), text
    return {json.loads(one[1]): one[2] for one in found}


@pytest.mark.parametrize("slots", [EMPTY, EVERYTHING], ids=["empty", "everything"])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_the_block_names_the_fields_of_the_schema_in_their_order(form, slots):
    schema = form.schema_for(slots)
    text = render_skeleton(schema)
    assert text.startswith("{")
    assert text.endswith("}")
    assert list(fields(text)) == list(schema["properties"])


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_field_says_what_belongs_there(form):
    text = render_skeleton(form.schema_for(EVERYTHING))
    assert "text" not in text.split('"')
    for said in fields(text).values():
        assert said not in ("{}", "[, ...]", "a number")


def test_kinds_of_values():
    schema = {
        "type": "object",
        "properties": {
            "words": {"type": "string"},
            "told": {"type": "string", "description": 'the "whole" of it'},
            "one": {"const": "é"},
            "yes": {"type": "boolean"},
            "mark": {"type": "number", "minimum": 1, "maximum": 10},
            "half": {"type": "number", "minimum": 0.5, "maximum": 2.5},
            "open": {"type": "integer", "minimum": 1},
            "days": {"type": "integer", "description": "days from now"},
            "list": {"type": "array", "items": {"type": "boolean"}},
            "perhaps": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
            "table": {
                "type": "object",
                "description": "criterion",
                "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
            },
            "nothing": {"type": "object"},
        },
    }
    assert render_skeleton(schema) == (
        '{"words": "text",\n "told": "the \\"whole\\" of it",\n "one": "é",\n'
        ' "yes": true or false,\n "mark": 1 to 10,\n "half": 0.5 to 2.5,\n "open": a number,\n'
        ' "days": days from now,\n "list": [true or false, ...],\n'
        ' "perhaps": null or true or false,\n "table": {"criterion": 0 to 1},\n "nothing": {}}'
    )


def test_only_what_is_shown_can_be_chosen():
    two = fields(render_skeleton(Ballot.schema_for({"ideas": (CANDIDATE,) * 2})))
    assert two["Decision Made"] == '"Idea 0" or "Idea 1"'
    last = fields(render_skeleton(Review.schema_for({"final": True})))
    assert last["Recommendation"] == '"accept" or "reject"'
    scores = fields(render_skeleton(SelfReview.schema_for({"near": PAPERS[:2]})))
    assert scores["similarity_scores"] == (
        '{"Written Abstract vs A": 0 to 100, "Written Abstract vs B": 0 to 100}'
    )


def test_a_form_inside_a_form_is_written_out():
    marks = fields(render_skeleton(Idea.schema_for(EVERYTHING)))["Marks"]
    inner = ", ".join(f'"{name}": 1 to 10' for name in ("Clarity", "Feasibility", "Novelty"))
    assert marks == f"{{{inner}}}"
    assert list(fields(render_skeleton(IdeaMarks.json_schema()))) == [
        *("Clarity", "Feasibility", "Novelty")
    ]


class Knot(Form):
    name: str
    knots: tuple[Knot, ...] = ()


def test_a_form_that_holds_itself_comes_to_an_end():
    assert list(fields(render_skeleton(Knot.schema_for({})))) == ["name", "knots"]
