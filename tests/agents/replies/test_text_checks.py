"""Copies, loops and shortness in the text of a reply; real text is not hit."""

import gzip
import json
from pathlib import Path

import pytest

from tests.agents.replies.form_examples import EVERYTHING, FORMS
from virsci_society.agents.replies.form import FIELDS, PATTERN, texts_for
from virsci_society.agents.replies.parser import read_reply
from virsci_society.agents.replies.text_checks import check_text, is_loop, split_words
from virsci_society.protocols.forms import Choice, Draft, Question, Remark, Topic
from virsci_society.protocols.ideas import Idea
from virsci_society.protocols.virsci.forms import Agreement, Revision
from virsci_society.protocols.virsci.team_memory import PROMPTS

DATA = Path(__file__).parents[4] / "shared" / "data"
IDEA = PROMPTS["idea_turn"].instructions
OWN = "Tide gauges and school registers are read side by side, to date when harbours were rebuilt."
MARKS = {"clarity": 5, "feasibility": 5, "novelty": 5}


def checked(reply, slots, instructions, **more):
    return check_text(reply, texts_for(type(reply), slots)[1], instructions, **more)


def filled(schema):
    """What a model writes that copies the form: descriptions in place of texts."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return None if {"type": "null"} in schema["anyOf"] else filled(schema["anyOf"][0])
    kind = schema.get("type")
    if kind == "object":
        return {name: filled(part) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        item = schema.get("items", {})
        return [
            schema["description"]
            if item.get("type") == "string" and "enum" not in item
            else filled(item)
        ]
    if kind in ("number", "integer"):
        return max(1, int(schema.get("minimum", 1)))
    return False if kind == "boolean" else schema.get("description", "text")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_copied_form_is_an_echo(form):
    schema = form.schema_for(EVERYTHING)
    reply = read_reply(form, json.dumps(filled(schema))).form
    texts = [
        one
        for one in schema["properties"].values()
        if one.get("type") == "string" and "enum" not in one
    ]
    echoed = checked(reply, EVERYTHING, "").echoed
    assert bool(echoed) or not texts


@pytest.mark.parametrize(
    "reply",
    [
        Agreement(
            reason="Say in one sentence what the topic would bring, and to whom.", agree=True
        ),
        Agreement(reason="what the topic would bring, and to whom", agree=True),
        Agreement(reason="...", agree=True),
        Agreement(reason="Reason", agree=False),
        Topic(topic="state the topic in one sentence of at most 40 words", reason=OWN),
        Topic(topic="the topic in one sentence of at most 40 words please", reason=OWN),
        Topic(topic=OWN, reason=FIELDS),
        Topic(topic=OWN, reason=PATTERN),
        Remark(response=OWN, direction="speak to the team"),
        Remark(
            response=OWN,
            direction=OWN,
            ask=Question(scientist="S", question="name the one you ask"),
        ),
        Idea(title="Give the paper a title", idea=OWN, **MARKS),
        Idea(
            title="Tides",
            idea=f"{OWN} Be ambitious and critical, and use what you know yourself."
            " Say what made you think of your idea and in what it differs from what exists",
            **MARKS,
        ),
    ],
)
def test_words_of_the_form_or_of_the_page_are_an_echo(reply):
    assert checked(reply, {"outsiders": ("S",)}, IDEA).echoed


@pytest.mark.parametrize(
    "reply",
    [
        Agreement(reason="", agree=True),
        Agreement(reason="It would bring harbour masters a date for every quay.", agree=True),
        Choice(reasoning="I work on tides myself, and have no other team.", action="join"),
        Topic(topic="Tides by ear: how harbours were rebuilt", reason=OWN),
        Remark(response=OWN, direction="Tide gauges as archives"),
        Idea(title="Tides by ear", idea=f"Be critical: {OWN}", **MARKS),
        Draft(title="The title effect in indexing", abstract=OWN),
        Revision(title="The whole abstract", abstract=f"Say what you will: {OWN}"),
    ],
)
def test_words_of_ones_own_are_no_echo(reply):
    assert not checked(reply, {}, IDEA).echoed


@pytest.mark.parametrize(
    ("text", "loop"),
    [
        ("and why it matters, and why it matters, and why it matters", True),
        ("2024-2024-2024-2024-2024-2024", True),
        ("Comments on 7, Comments on 8, Comments on 9, Comments on 10, Comments on 11", True),
        ("Phase 1, Phase 2, Phase 3", False),
        ("In 2019, 2020, 2021, 2022, 2023 and 2024 it rose.", False),
        ("very very very good", False),
        ("of the model, of the data, of the field", False),
        (f"{OWN} First. {OWN} Second. {OWN}", True),
        (f"{OWN} {OWN[:40]}", False),
        ("", False),
    ],
)
def test_a_phrase_three_times_is_a_loop(text, loop):
    assert is_loop(split_words(text)) is loop


def test_short_texts_are_named_by_field_and_follow_the_limit_of_length():
    few, many = Draft(title="Tides", abstract=OWN), Draft(title="Tides", abstract=f"{OWN} " * 8)
    assert checked(few, {}, "").short == ("Abstract",)
    assert checked(many, {}, "").short == ()
    assert checked(few, {}, "", most_words=30).short == ()
    assert checked(Topic(topic="Tides by ear"), {}, "").short == ("Selected Topic",)
    assert checked(Idea(title="Tides", idea=OWN, **MARKS), {}, "").short == ("",)


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize(("field", "every"), [("vis", 7), ("nlp", 200)])
def test_real_abstracts_are_no_echoes(field, every):
    with gzip.open(DATA / field / "papers.jsonl.gz", "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for number, line in enumerate(lines) if number % every == 0]
    told = [(one["title"], one["abstract"]) for one in papers if one.get("abstract")]
    assert len(told) > 100
    loops = 0
    for title, abstract in told:
        for page, reply in (
            ("draft", Draft(title=title, abstract=abstract)),
            ("idea_turn", Idea(title=title, idea=abstract, reason=title, **MARKS)),
        ):
            noticed = checked(reply, {}, PROMPTS[page].instructions)
            assert not noticed.echoed, title
            loops += noticed.loop
    assert loops <= len(told) // 50
