"""Forms of a survey: what a file may say, and which replies count as answers."""

import numpy as np
import pytest
from pydantic import ValidationError

from virsci_society.agents.errors import ReplyError
from virsci_society.agents.offline.backend import answer_by_rule
from virsci_society.agents.profile import Profile
from virsci_society.scenarios.judgement.interview import QUESTION, Knowledge, draw_arm
from virsci_society.scenarios.judgement.survey import (
    FORMS,
    AnswerKind,
    ChoiceAnswer,
    ScaleAnswer,
    Survey,
    TextAnswer,
)

ASKED = {"id": "one", "text": "How crowded?", "answer": {"scale": [1, 7]}}
VIGNETTE = {
    "text": "Somebody with {papers} asks you.",
    "arms": {"new": {"papers": "no paper"}, "old": {"papers": "80 papers"}},
}
SCALE = {"question": "", "answer_kind": AnswerKind(scale=(1, 7), low="no", high="yes")}
CHOICE = {"question": "", "answer_kind": AnswerKind(options=("Yes, at once", "No"))}
TEXT = {"question": "", "answer_kind": AnswerKind(words=4)}


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ({}, "got none, expected exactly one"),
        ({"words": 5, "scale": [1, 7]}, "got words and scale"),
        ({"scale": [7, 1]}, "the lower number first"),
        ({"words": 5, "low": "no"}, "labels of a scale"),
        ({"options": ["yes", "Yes "]}, "an option twice"),
        ({"options": ["yes"]}, "at least 2"),
    ],
)
def test_an_answer_is_of_exactly_one_kind(answer, fault):
    with pytest.raises(ValidationError, match=fault):
        AnswerKind(**answer)


def test_ids_differ_and_every_arm_fills_every_place():
    with pytest.raises(ValidationError, match="the id 'one' twice"):
        Survey(title="t", questions=[ASKED, ASKED])
    wrong = {**VIGNETTE, "arms": {"new": {"title": "x"}}}
    with pytest.raises(ValidationError, match="arm 'new' gives title; the text has places for pap"):
        Survey(title="t", questions=[ASKED], vignette=wrong)


def test_a_vignette_has_one_arm_for_each_respondent_whoever_else_is_asked():
    survey = Survey(title="t", questions=[ASKED], vignette=VIGNETTE)
    arms = [draw_arm(survey, f"Scientist{n}", 3) for n in range(60)]
    assert arms == [draw_arm(survey, f"Scientist{n}", 3) for n in range(60)]
    assert 15 <= arms.count("new") <= 45
    assert arms != [draw_arm(survey, f"Scientist{n}", 4) for n in range(60)]
    assert survey.vignette.shown("old") == "Somebody with 80 papers asks you."
    assert draw_arm(Survey(title="t", questions=[ASKED]), "Scientist1", 3) == ""


def test_only_what_answers_the_question_is_an_answer():
    ScaleAnswer(answer=7).check_against(SCALE)
    with pytest.raises(ReplyError, match="8 is not on the scale from 1 to 7"):
        ScaleAnswer(answer=8).check_against(SCALE)
    assert ChoiceAnswer(answer="yes, at once.").value(CHOICE["answer_kind"]) == "Yes, at once"
    ChoiceAnswer(answer="NO").check_against(CHOICE)
    with pytest.raises(ReplyError, match="'perhaps' is none of the options"):
        ChoiceAnswer(answer="perhaps").check_against(CHOICE)
    TextAnswer(answer="one two three four five six").check_against(TEXT)
    with pytest.raises(ReplyError, match="more than 4 words"):
        TextAnswer(answer="one two three four five six seven").check_against(TEXT)


@pytest.mark.parametrize("slots", [SCALE, CHOICE, TEXT], ids=["scale", "choice", "text"])
def test_the_rule_answers_what_is_asked(slots):
    form = FORMS[slots["answer_kind"].name]
    me = Profile("Scientist1", interests=("graph learning", "crowds"))
    for seed in range(20):
        answer = answer_by_rule(form, {**slots, "me": me}, np.random.default_rng(seed))
        answer.check_against(slots)
    schema = str(form.schema_for(slots)["properties"]["Answer"])
    assert ("'maximum': 7" in schema, "Yes, at once" in schema) == (
        form is ScaleAnswer,
        form is ChoiceAnswer,
    )


def test_the_page_tells_what_is_known_and_how_to_answer():
    knowledge = Knowledge(
        Profile("Scientist1", papers=14),
        2011,
        papers=("A paper (2010, with Scientist2)",),
        older=13,
        coauthors=("Scientist2 (3 joint papers)",),
        teams=("since day 40 with Scientist3; you lead it",),
        memory=("We wrote X.",),
    )
    slots = {"me": knowledge.profile, "role": "", "year": 2011, "memory": (), "title": "T"}
    slots |= {"knowledge": knowledge, "vignette": "Imagine.", "question": "Why?", "answer_form": ""}
    page = QUESTION.render({**slots, "instruction": SCALE["answer_kind"].instruction()})
    for words in (
        "> A paper (2010, with Scientist2)",
        "and 13 older papers.",
        "Scientist2 (3 joint",
    ):
        assert words in page
    for words in (
        "> since day 40 with",
        "> We wrote X.",
        "Imagine.",
        "It is 2011",
        "from 1 (no) to",
    ):
        assert words in page
    bare = {**slots, "knowledge": Knowledge(Profile("Scientist1"), 2011), "vignette": ""}
    page = QUESTION.render({**bare, "instruction": ""})
    assert "You have not published a paper yet." in page
    assert "You work in no team at present." in page
    assert "situation" not in page
