"""The forms of the protocols: what they take for an answer, and what stands when there is none."""

from __future__ import annotations

import pytest

from tests.agents.replies.form_examples import FORMS
from virsci_society.agents.errors import ReplyError
from virsci_society.agents.offline.backend import rule_of
from virsci_society.agents.replies.parser import read_reply
from virsci_society.protocols.forms import (
    AnotherTurn,
    Choice,
    Draft,
    GuestReply,
    Remark,
    Summary,
    Topic,
)
from virsci_society.protocols.ideas import Ballot, Idea
from virsci_society.protocols.virsci.forms import Agreement, Revision, SelfReview, Stay


def said(field, form, read, *texts):
    """Texts of one value, and what is read of them; "unread": nothing is."""
    return [(form, f'{{"Response": "x", "{field}": {one}}}', read) for one in texts]


@pytest.mark.parametrize(
    ("form", "text", "read"),
    [
        *said("Ask", Remark, {"ask": None}, "null", '""', '"None."', "false", "{}", "[]", '"N/A"'),
        *said("Ask", Remark, {"ask": None}, '{"Scientist": "None"}'),
        *said("Ask", Remark, "unread", '{"Scientist": "Scientist4"}'),
        *said("Selected Action", Choice, {"accepted": True}, "1", '"Accept."'),
        *said("Selected Action", Choice, {"accepted": False}, '"2"', '"decline"'),
        *said("Selected Action", Choice, "unread", "true", "3"),
        *said("Decision Made", Ballot, {"choice": 2}, "2", '"2"', '"[Idea 2]"', '"Idea #2"'),
        *said("Decision Made", Ballot, {"choice": 2}, '["Idea 2"]', '"Idea 2 rather than Idea 0"'),
        *said("Decision Made", Ballot, {"choice": 1}, '"idea 1"'),
        *said("Decision Made", Ballot, {"choice": 0}, '"I choose **Idea 0**."'),
        *said("Decision Made", Ballot, "unread", "3", "true", '""', '"the second"', '"Idea 10"'),
        *said("Decision Made", Ballot, "unread", '"Idea 0 or Idea 1"', '"Idea 02x"'),
        *said("Decision Made", Ballot, "unread", '"Idea 0 is weaker than Idea 2"'),
        *said("Similarity Scores", SelfReview, {"highest": 85}, '{"A": "85%", "B": "40/100"}'),
        *said("similarity_scores", SelfReview, "unread", '{"A": 101}', '{"A": "8/10"}'),
        (Revision, '{"Title": "T", "Abstract": "A", "Scores": {"Clarity": 0}}', "unread"),
    ],
)
def test_what_is_read_of_a_value(form, text, read):
    if read == "unread":
        with pytest.raises(ReplyError):
            read_reply(form, text)
    else:
        filled = read_reply(form, text).form
        assert {name: getattr(filled, name) for name in read} == read


def test_a_question_names_whom_it_is_put_to():
    text = '{"Response": "x", "Ask": {"scientist": "Scientist4", "QUESTION": "How?"}}'
    assert read_reply(Remark, text).form.ask.scientist == "Scientist4"


def test_every_form_that_is_asked_has_a_default_or_says_why_not():
    modules = {f"virsci_society.protocols.{name}" for name in ("forms", "ideas", "virsci.forms")}
    asked = {form for form in FORMS if form.__module__ in modules and rule_of(form)}
    for form in asked:
        assert {"instead", "fallback"} & vars(form).keys(), form.__name__
    draft = Draft(title="T", abstract="A")
    defaults = {form: form.fallback({"draft": draft}) for form in asked}
    without = {form for form, default in defaults.items() if default is None}
    assert without == {Topic, Idea, Draft, SelfReview}
    assert not defaults[Choice].accepted
    assert defaults[Ballot].choice == -1
    assert not defaults[Agreement].agree
    assert defaults[Stay].stay
    assert not defaults[AnotherTurn].another
    assert (defaults[Revision].title, defaults[Revision].abstract) == ("T", "A")
    assert [defaults[form].words() for form in (Remark, Summary, GuestReply)] == ["", "", ""]
