"""Every form with a rule answers any slots with a reply that its own reader accepts."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import virsci_society.protocols.engines.forms
import virsci_society.protocols.forms
import virsci_society.protocols.ideas
import virsci_society.protocols.virsci.forms
from tests.agents.offline.offline_examples import (
    advice,
    any_text,
    ballots,
    drafts,
    few,
    ideas,
    profiles,
    references,
    remarks,
    reviews,
    said_by_member,
    standings,
    summaries,
    topics,
    with_me,
    with_talk,
)
from virsci_society.agents.offline.backend import answer_offline, rule_of
from virsci_society.agents.prompts.request import Request
from virsci_society.agents.replies.form import Form
from virsci_society.agents.replies.parser import read_reply
from virsci_society.protocols.engines.forms import (
    ChairReview,
    Contribution,
    DeepReview,
    HypothesisReview,
    IdeaScore,
    Lessons,
    MergedIdea,
    NoveltyVerdict,
    PairChoice,
    PaperReview,
    PlanStep,
    Proposal,
    ReadingNotes,
    RefinedIdea,
    SearchedIdea,
    SearchQueries,
    Seeds,
    StepReview,
)
from virsci_society.protocols.forms import (
    AnotherTurn,
    Choice,
    Critique,
    Draft,
    GuestReply,
    Remark,
    Summary,
    Topic,
)
from virsci_society.protocols.ideas import Ballot, Idea
from virsci_society.protocols.virsci.forms import Agreement, Revision, SelfReview, Stay

talked = st.one_of(said_by_member(remarks), advice)
thought = st.one_of(said_by_member(ideas), advice)
extras = st.sets(st.sampled_from(["gist", "marks", "comparisons"])).map(sorted).map(tuple)
SLOTS: dict[type[Form], st.SearchStrategy] = {
    Choice: with_me(
        inviter=profiles,
        members=few(profiles),
        load=st.integers(0, 50),
        ties=st.integers(0, 50),
        similarity=st.floats(-1, 1),
    ),
    Remark: with_talk(
        members=few(profiles),
        role=st.sampled_from(["leader", "member"]),
        summaries=few(summaries),
        said=few(talked, 4),
        start=any_text,
    ),
    GuestReply: with_me(asker=profiles, question=any_text, stage=any_text, context=any_text),
    Summary: with_me(stage=any_text, said=few(st.one_of(talked, thought), 5)),
    AnotherTurn: with_me(
        stage=any_text,
        turn=st.integers(1, 7),
        turns_left=st.integers(1, 6),
        progress=st.one_of(few(summaries), few(ballots), few(drafts)),
    ),
    Topic: with_me(summaries=few(summaries), said=few(talked, 5)),
    Agreement: with_me(topic=topics),
    Stay: with_me(topic=topics, load=st.integers(0, 20)),
    Idea: with_talk(
        topic=topics,
        references=few(references, 5),
        previous=st.none() | standings,
        summaries=few(summaries),
        said=few(thought, 4),
        extras=extras,
    ),
    Ballot: with_me(ideas=few(standings), extras=extras),
    Critique: with_me(idea=standings),
    Draft: with_talk(idea=standings),
    Revision: with_talk(
        draft=drafts,
        guest=st.none() | advice | few(advice, 1),
        review=st.none() | reviews,
        near=few(references),
    ),
    SelfReview: with_me(draft=drafts, near=few(references, 4)),
    RefinedIdea: with_talk(
        topic=topics,
        references=few(references, 5),
        previous=standings,
        feedback=few(talked, 2),
        others=few(standings, 2),
        ends=st.booleans(),
    ),
    MergedIdea: with_me(topic=topics, said=few(thought, 3), references=few(references, 3)),
    SearchedIdea: with_me(
        topic=topics,
        references=few(references, 5),
        previous=st.none() | standings,
        searching=st.booleans(),
        ends=st.booleans(),
    ),
    Seeds: with_me(topic=topics, references=few(references, 5), count=st.integers(1, 3)),
    SearchQueries: with_me(topic=topics, idea=st.none() | standings, said=few(talked, 2)),
    ReadingNotes: with_me(topic=topics, references=few(references, 5)),
    NoveltyVerdict: with_me(
        topic=topics,
        idea=standings,
        references=few(references, 4),
        found=few(references, 2),
        final=st.booleans(),
    ),
    IdeaScore: with_me(topic=topics, idea=standings),
    PairChoice: with_me(topic=topics, first=standings, second=standings, turns=st.integers(1, 3)),
    DeepReview: with_me(idea=standings),
    Lessons: with_me(topic=topics, reviews=few(st.builds(DeepReview, Weakness=any_text), 2)),
    Proposal: with_me(
        topic=topics, said=few(talked, 5), idea=st.none() | standings, references=few(references, 5)
    ),
    Contribution: with_me(
        topic=topics, said=few(talked, 5), references=few(references), searching=st.booleans()
    ),
    PlanStep: with_me(
        step=st.sampled_from(["problem", "method", "experiment"]),
        topic=topics,
        earlier=st.just(()),
        references=few(references, 4),
        entities=few(any_text, 4),
        previous=st.none(),
        feedback=few(talked, 2),
    ),
    StepReview: with_me(
        step=any_text,
        text=topics,
        criteria=st.sampled_from([("Clarity",), ("Clarity", "Validity")]),
    ),
    PaperReview: with_me(
        text=topics, cited=few(references, 3), criteria=st.sampled_from([(), ("Soundness",)])
    ),
    ChairReview: with_me(text=topics, reviews=st.just(())),
    HypothesisReview: with_me(idea=standings, said=few(talked, 3)),
}


def ruled_forms():
    found = []
    for module in (
        virsci_society.protocols.forms,
        virsci_society.protocols.ideas,
        virsci_society.protocols.engines.forms,
        virsci_society.protocols.virsci.forms,
    ):
        for name, value in sorted(vars(module).items()):
            if isinstance(value, type) and issubclass(value, Form) and rule_of(value):
                found.append((name, value))
    return dict(found)


def test_no_form_is_forgotten():
    assert set(ruled_forms().values()) == set(SLOTS)


def strings_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings_in(part)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("form", list(SLOTS), ids=lambda form: form.__name__)
@given(data=st.data(), seed=st.integers(0, 2**64 - 1))
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_slots_are_answered_readably(form, data, seed):
    slots = data.draw(SLOTS[form])
    request = Request("id", slots["me"], (), form, slots, seed)
    reply = answer_offline(request)
    assert reply.model == "offline"
    reread = read_reply(form, reply.text).form
    assert reread.as_json() == reply.text
    schema = form.schema_for(slots)
    told = json.loads(reply.text)
    pytest.importorskip("jsonschema").validate(told, schema)
    body = {name: told[name] for name in schema["properties"]}
    for name in schema["required"]:
        assert body[name] not in ("", None)
    assert all(text.strip() for text in strings_in(body))


@pytest.mark.parametrize("form", list(SLOTS), ids=lambda form: form.__name__)
def test_slots_that_are_missing_are_read_as_empty(form):
    """A protocol may offer less than the full contract; only a draft cannot be invented."""
    from tests.agents.offline.offline_examples import person

    slots = {"draft": Draft(title="T", abstract="A b c.")} if form is Revision else {}
    reply = answer_offline(Request("id", person(0), (), form, slots, 1))
    read_reply(form, reply.text)
