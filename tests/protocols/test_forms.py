"""The forms of the protocols: what they take for an answer, and what stands when there is none."""

from __future__ import annotations

import pytest

import virsci_society.protocols.forms
import virsci_society.protocols.ideas
import virsci_society.protocols.virsci.forms
from virsci_society.agents.errors import ReplyError
from virsci_society.agents.offline.backend import rule_of
from virsci_society.agents.replies.form import Form
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


def unread(form, text):
    with pytest.raises(ReplyError) as error:
        read_reply(form, text)
    return str(error.value)


def test_asking_nobody():
    for said in ("null", '""', '"None."', "false", "{}", "[]", '{"Scientist": "None"}', '"N/A"'):
        assert read_reply(Remark, f'{{"Response": "x", "Ask": {said}}}').form.ask is None
    text = '{"Response": "x", "Ask": {"scientist": "Scientist4", "QUESTION": "How?"}}'
    assert read_reply(Remark, text).form.ask.scientist == "Scientist4"
    assert unread(Remark, '{"Response": "x", "Ask": {"Scientist": "Scientist4"}}')


def test_an_invitation_is_answered_by_number_or_name():
    for said, accepted in (("1", True), ('"2"', False), ('"Accept."', True), ('"decline"', False)):
        read = read_reply(Choice, f'{{"Selected Action": {said}}}').form
        assert read.accepted is accepted
    assert unread(Choice, '{"Selected Action": true}')
    assert unread(Choice, '{"Selected Action": 3}')


def test_a_vote_is_for_one_idea():
    for said in (
        "2",
        '"2"',
        '"[Idea 2]"',
        '"Idea #2"',
        '["Idea 2"]',
        '"Idea 2 rather than Idea 0"',
    ):
        assert read_reply(Ballot, f'{{"Decision Made": {said}}}').form.choice == 2
    for said in ("3", "true", '"Idea 0 or Idea 1"', '"Idea 0 is weaker than Idea 2"', '"Idea 02x"'):
        assert "Decision Made" in unread(Ballot, f'{{"Decision Made": {said}}}')


def test_scores_have_their_scales():
    assert unread(SelfReview, '{"similarity_scores": {"A": 101}}')
    assert unread(SelfReview, '{"similarity_scores": {"A": "8/10"}}')
    assert unread(Revision, '{"Title": "T", "Abstract": "A", "Scores": {"Clarity": 0}}')
    read = read_reply(SelfReview, '{"Similarity Scores": {"A": "85%", "B": "40/100"}}').form
    assert read.highest == 85


def test_every_form_that_is_asked_has_a_default_or_says_why_not():
    asked = {
        form
        for module in (
            virsci_society.protocols.forms,
            virsci_society.protocols.ideas,
            virsci_society.protocols.virsci.forms,
        )
        for form in vars(module).values()
        if isinstance(form, type) and issubclass(form, Form) and rule_of(form)
    }
    for form in asked:
        told = vars(form)["fallback"].__func__
        assert told.__doc__, form.__name__
    draft = Draft(title="T", abstract="A")
    defaults = {form: form.fallback({"draft": draft}) for form in asked}
    assert {form for form, default in defaults.items() if default is None} == {
        Topic,
        Idea,
        Draft,
        SelfReview,
    }
    assert not defaults[Choice].accepted
    assert defaults[Ballot].choice == -1
    assert not defaults[Agreement].agree
    assert defaults[Stay].stay
    assert not defaults[AnotherTurn].another
    assert (defaults[Revision].title, defaults[Revision].abstract) == ("T", "A")
    assert [defaults[form].words() for form in (Remark, Summary, GuestReply)] == ["", "", ""]
