"""Every form with a rule answers any slots with a reply that its own reader accepts."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.agents.offline.offline_examples import (
    advice,
    any_text,
    ballots,
    drafts,
    few,
    ideas,
    person,
    profiles,
    references,
    remarks,
    reviews,
    said_by_member,
    standings,
    summaries,
    topics,
)
from tests.agents.replies.form_examples import FORMS
from virsci_society.agents.offline.backend import answer_offline, rule_of
from virsci_society.agents.prompts.request import Request
from virsci_society.agents.replies.parser import read_reply
from virsci_society.protocols.engines.forms import DeepReview
from virsci_society.protocols.forms import Draft
from virsci_society.protocols.virsci.forms import Revision

talked = st.one_of(said_by_member(remarks), advice)
thought = st.one_of(said_by_member(ideas), advice)
small = st.integers(0, 50)
SLOTS = {
    "me": profiles,
    "inviter": profiles,
    "asker": profiles,
    "members": few(profiles),
    "knowledge": few(profiles),
    "outsiders": few(profiles),
    "memory": few(any_text),
    **dict.fromkeys(("start", "stage", "question", "context"), any_text),
    "role": st.sampled_from(["leader", "member"]),
    **{"load": small, "ties": small, "similarity": st.floats(-1, 1)},
    **{"turn": st.integers(1, 7), "turns_left": st.integers(1, 6), "count": st.integers(1, 3)},
    **dict.fromkeys(("final", "searching", "ends"), st.booleans()),
    "turns": st.integers(1, 3),
    "topic": topics,
    "summaries": few(summaries),
    "said": st.one_of(few(talked, 5), few(thought, 5)),
    "feedback": few(talked, 2),
    "progress": st.one_of(few(summaries), few(ballots), few(drafts)),
    "references": few(references, 5),
    **dict.fromkeys(("idea", "first", "second"), standings),
    "ideas": few(standings),
    "others": few(standings, 2),
    "previous": st.none() | standings,
    "extras": st.sets(st.sampled_from(["gist", "marks", "comparisons"])).map(sorted).map(tuple),
    "draft": drafts,
    "guest": st.none() | advice | few(advice, 1),
    "review": st.none() | reviews,
    "text": topics,
    "criteria": st.sampled_from([(), ("Clarity",), ("Clarity", "Validity")]),
    "step": st.sampled_from(["problem", "method", "experiment"]),
    "entities": few(any_text, 4),
}
"""Whatever a question can show; a form takes what it knows."""
OTHERWISE = {
    "Revision": {"near": few(references, 4)},
    "SelfReview": {"near": few(references, 4)},
    "NoveltyVerdict": {"found": few(references, 2)},
    "Lessons": {"reviews": few(st.builds(DeepReview, Weakness=any_text), 2)},
    "Proposal": {"idea": st.none() | standings},
    "SearchQueries": {"idea": st.none() | standings},
    "PlanStep": {"previous": st.none(), "earlier": st.just(())},
    "RefinedIdea": {"previous": standings},
    "StepReview": {"criteria": st.sampled_from([("Clarity",), ("Clarity", "Validity")])},
}
RULED = [form for form in FORMS if rule_of(form) and "review" not in form.__module__]


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
@pytest.mark.parametrize("form", RULED, ids=lambda form: form.__name__)
@given(data=st.data(), seed=st.integers(0, 2**64 - 1))
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_slots_are_answered_readably(form, data, seed):
    slots = data.draw(st.fixed_dictionaries(SLOTS | OTHERWISE.get(form.__name__, {})))
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


@pytest.mark.parametrize("form", RULED, ids=lambda form: form.__name__)
def test_slots_that_are_missing_are_read_as_empty(form):
    """A protocol may offer less than the full contract; only a draft cannot be invented."""
    slots = {"draft": Draft(title="T", abstract="A b c.")} if form is Revision else {}
    reply = answer_offline(Request("id", person(0), (), form, slots, 1))
    read_reply(form, reply.text)
