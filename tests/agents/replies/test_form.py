"""Schemas of the forms and their blocks on pages: order, what is asked, and what can be chosen."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
from pydantic import ValidationError

from tests.agents.replies.form_examples import (
    CANDIDATE,
    EMPTY,
    EVERYTHING,
    FORMS,
    PAPERS,
    names_in_sources,
)
from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Request
from virsci_society.agents.replies.form import (
    FIELDS,
    PATTERN,
    Form,
    as_sent,
    render_form,
    texts_for,
)
from virsci_society.protocols.forms import AnotherTurn, Choice, Draft, Remark, Spoken, Topic
from virsci_society.protocols.ideas import Ballot, Idea
from virsci_society.protocols.peer_review.forms import Review
from virsci_society.protocols.virsci.forms import Agreement, Revision, SelfReview, Stay


def keys(form, slots):
    return list(form.schema_for(slots)["properties"])


def declared(form):
    return [field.alias or name for name, field in form.model_fields.items()]


def test_no_form_is_forgotten():
    assert {form.__name__ for form in FORMS} == names_in_sources() - {Spoken.__name__}


every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)


@every_form
def test_the_schema_of_a_form_is_valid_and_keeps_the_declared_order(form):
    schema = form.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "$" not in json.dumps(schema)
    assert list(schema["properties"]) == declared(form) == keys(form, EVERYTHING)
    some = keys(form, EMPTY)
    assert some == [name for name in declared(form) if name in some]


@every_form
def test_only_fields_with_a_default_can_be_left_out(form):
    inapplicable = form.inapplicable_fields(EMPTY)
    assert set(inapplicable) <= set(declared(form)) - set(form.json_schema().get("required", ()))
    assert form.inapplicable_fields(EVERYTHING) == ()
    for slots in (EMPTY, EVERYTHING):
        schema = form.schema_for(slots)
        assert set(schema.get("required", ())) <= set(schema["properties"])


@every_form
def test_one_question_changes_no_other_and_its_texts_are_those_of_its_schema(form):
    before = form.schema_for(EMPTY)
    form.schema_for(EVERYTHING)["properties"].clear()
    assert form.schema_for(EMPTY) == before
    for slots in (EMPTY, EVERYTHING, EMPTY):
        schema = form.schema_for(slots)
        for sent in (True, False):
            page = render_form(schema, schema_sent=sent)
            texts = page, json.dumps(as_sent(schema))
            assert texts_for(form, slots, sent=sent) == texts


@pytest.mark.parametrize(
    ("form", "reason", "choice"),
    [
        (Choice, "Reasoning", "Selected Action"),
        (AnotherTurn, "Reason", "Another Turn"),
        (Topic, "Reason", "Selected Topic"),
        (Agreement, "Reason", "Agree"),
        (Stay, "Reason", "Stay"),
        (Ballot, "Comparisons", "Reason"),
        (Ballot, "Reason", "Decision Made"),
        (Idea, "Objection", "Marks"),
        (Idea, "Marks", "Reason"),
        (Idea, "Reason", "Idea"),
        (Idea, "Novelty", "Ask"),
        (Draft, "Reason", "Abstract"),
        (Revision, "Scores", "Abstract"),
        (Revision, "Modifications", "Abstract"),
        (Review, "Comments", "Recommendation"),
        (Review, "Comments", "Originality"),
    ],
)
def test_what_is_thought_stands_before_what_is_chosen(form, reason, choice):
    order = keys(form, EVERYTHING)
    assert order.index(reason) < order.index(choice)


@pytest.mark.parametrize("form", [Remark, Idea, Draft, Revision])
def test_nobody_can_be_asked_where_no_outsider_is_shown(form):
    assert "Ask" not in keys(form, {**EVERYTHING, "outsiders": ()})
    assert keys(form, EVERYTHING)[-1] == "Ask"


def test_an_idea_is_asked_for_what_there_is():
    plain = {"Objection", "Marks", "In Short", "Uses", "Ask"}
    assert plain.isdisjoint(keys(Idea, EMPTY))
    assert "Uses" in keys(Idea, {"references": PAPERS})
    assert "In Short" in keys(Idea, {"extras": ("gist",)})
    assert "Marks" not in keys(Idea, {"extras": ("marks",), "previous": None})
    assert {"Objection", "Marks"} <= set(keys(Idea, {"extras": ("marks",), "previous": CANDIDATE}))


@pytest.mark.parametrize("shown", [1, 2, 3])
def test_only_ideas_that_are_shown_can_be_chosen(shown):
    schema = Ballot.schema_for({"ideas": (CANDIDATE,) * shown})
    names = [f"Idea {number}" for number in range(shown)]
    assert schema["properties"]["Decision Made"]["enum"] == names
    assert schema["required"] == ["Decision Made"]
    assert "Comparisons" not in schema["properties"]


def test_in_the_last_round_nothing_can_be_revised():
    def words(final):
        return Review.schema_for({"final": final})["properties"]["Recommendation"]["enum"]

    assert words(False) == ["accept", "revise", "reject"]
    assert words(True) == ["accept", "reject"]


@pytest.mark.parametrize("shown", [1, 3])
def test_each_abstract_that_is_shown_needs_a_score(shown):
    scores = SelfReview.schema_for({"near": PAPERS[:shown]})["properties"]["similarity_scores"]
    names = [f"Written Abstract vs {letter}" for letter in "ABC"[:shown]]
    assert list(scores["properties"]) == scores["required"] == names
    assert scores["additionalProperties"] is False
    for part in scores["properties"].values():
        assert (part["minimum"], part["maximum"]) == (0, 100)
    free = SelfReview.schema_for({"near": ()})["properties"]["similarity_scores"]
    assert "required" not in free


@every_form
def test_the_schema_that_is_sent_requires_every_field_in_the_order_of_the_page(form):
    """Decoders such as llama.cpp's write required fields first, so a reason must be required."""

    def check(one):
        if isinstance(one, dict):
            if "properties" in one and isinstance(one["properties"], dict):
                assert one["required"] == list(one["properties"])
            for part in one.values():
                check(part)
        for part in one if isinstance(one, list) else ():
            check(part)

    messages = (Message("user", "What now?"),)
    for slots in (EMPTY, EVERYTHING):
        request = Request("t/topic/0/1/0/utter/", Profile("S"), messages, form, slots)
        sent = json.loads(request.schema_text)
        check(sent)
        assert list(sent["properties"]) == list(form.schema_for(slots)["properties"])


def test_what_is_sent_requires_all_fields_and_asks_for_whole_ratings():
    schema = {
        "type": "object",
        "properties": {"required": {"type": "string"}, "b": {"anyOf": [{"type": "null"}]}},
    }
    made = as_sent(schema)
    assert made == {**schema, "required": ["required", "b"]}
    free = {"type": "number", "minimum": 0.0}
    assert as_sent(free) == free
    bounded = {"type": "number", "minimum": 1.0, "maximum": 10.0}
    assert json.dumps(as_sent(bounded)) == '{"type": "integer", "minimum": 1, "maximum": 10}'
    assert "required" not in schema


LINE = re.compile(r'( *)- "(.+?)": (.+)')


def fields(text):
    """Names of the list of a page, each with its kind or with what to write."""
    first, *lines = text.splitlines()
    assert first == FIELDS
    found = [LINE.fullmatch(line) for line in lines]
    assert all(found), text
    return {one[2]: one[3] for one in found if not one[1]}


@every_form
def test_the_page_lists_the_fields_of_the_schema_in_their_order(form):
    for slots in (EMPTY, EVERYTHING):
        schema = form.schema_for(slots)
        listed = fields(render_form(schema, schema_sent=True))
        assert list(listed) == list(schema["properties"])
    for name, asked in listed.items():
        assert asked != "text", f"{name}: nothing says what to write"


@every_form
def test_a_page_without_a_schema_shows_one_line_of_json_without_words(form):
    schema = form.schema_for(EVERYTHING)
    listed = render_form(schema, schema_sent=True)
    page = render_form(schema, schema_sent=False)
    head, sentence, pattern = page.rsplit("\n", 2)
    assert (head, sentence) == (listed, PATTERN)
    shown = json.loads(re.sub(r": \.\.\.", ": 0", pattern))
    assert list(shown) == list(schema["properties"])
    assert {*shown.values()} <= {"...", 0}


def test_an_invitation_is_answered_by_names_or_by_the_codes_of_the_paper():
    action = [Choice.schema_for({"coded": one})["properties"]["Selected Action"] for one in (0, 1)]
    assert [one["enum"] for one in action] == [["join", "decline"], ["Action 1", "Action 2"]]
    for said in ("join", "Join.", "Action 1", "[Action 1]", "Action 1: I join", "accept", 1, "1"):
        assert Choice.model_validate({"Selected Action": said}).accepted, said
    for said in ("decline", "Action 2", "action2: no time", "reject", 2):
        assert not Choice.model_validate({"Selected Action": said}).accepted, said
    for said in (True, 3, "perhaps", "Action 1 or Action 2", None):
        with pytest.raises(ValidationError):
            Choice.model_validate({"Selected Action": said})


class Knot(Form):
    knots: tuple[Knot, ...] = ()


def test_a_form_that_holds_itself_is_refused_by_name():
    with pytest.raises(ProtocolError, match="the form Knot contains itself"):
        Knot.json_schema()
