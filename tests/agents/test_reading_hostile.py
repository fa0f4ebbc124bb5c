"""Hostile replies: whatever a model says, its form is read, or it is a ReplyError, soon (R6)."""

from __future__ import annotations

import random
import time

import pytest

import protocols.forms
import protocols.virsci.forms
from agents.errors import ReplyError
from agents.forms import Form
from agents.reading import RUNGS, read_reply
from protocols.forms import AnotherTurn, Choice, GuestReply, Question, Remark, Summary
from protocols.virsci.forms import (
    Agreement,
    Ballot,
    Draft,
    Idea,
    OverlapPair,
    Revision,
    SelfReview,
    Stay,
    Topic,
)

SENTENCE = "We compare what is said in a room with what is written later, and count the rest. "
ASK = '"Ask": {"Scientist": "Scientist7", "Question": "Which of the two do you trust?"}'
TOLD = f'"Title": "Rooms and records", "Abstract": "{SENTENCE * 4}"'
REPLIES: dict[type[Form], str] = {
    Choice: f'{{"Selected Action": "Action 1", "Reasoning": "{SENTENCE}"}}',
    Question: '{"Scientist": "Scientist7", "Question": "Which of the two do you trust?"}',
    Remark: f'{{"Response": "{SENTENCE * 3}", "Direction": "rooms and records", {ASK}}}',
    GuestReply: f'{{"Answer": "{SENTENCE * 2}"}}',
    Summary: f'{{"Summary": "{SENTENCE * 3}"}}',
    AnotherTurn: '{"Another Turn": true}',
    Topic: '{"Selected Topic": "What rooms remember"}',
    Agreement: f'{{"Agree": true, "Reason": "{SENTENCE}"}}',
    Stay: f'{{"Stay": "yes", "Reason": "{SENTENCE}"}}',
    Idea: f'{{"Idea": "{SENTENCE * 4}", "Title": "Rooms", "Experiment": {{"Step 1": ["ask"], '
    f'"Step 2": ["count", "compare"]}}, "Clarity": 8, "Feasibility": "7/10", "Novelty": 9.5, '
    f'"Uses": [1, 3], {ASK}}}',
    Ballot: '{"Decision Made": "Idea 2"}',
    Draft: f"{{{TOLD}, {ASK}}}",
    Revision: f'{{"Scores": {{"Clarity": 8, "Originality": "6 out of 10"}}, {TOLD}, {ASK}}}',
    SelfReview: '{"similarity_scores": {"Written Abstract vs A": 85, "Written Abstract vs B": 12}, '
    '"high_overlap_pairs": [{"pair": "Written Abstract vs A", "score": 85, "reason": "Rooms."}]}',
    OverlapPair: '{"pair": "Written Abstract vs A", "score": 85, "reason": "Both count rooms."}',
}
AROUND = (
    "{}",
    "```json\n{}\n```",
    'Let me think: "rooms" come first.\n\n```json\n{}\n```\n\nThat is 8/10, I\'d say.',
    "<think>{{maybe}}</think>\n{}",
    "I would say {}, on the whole.",
)
SPLINTERS = (
    *"{}[]()\",:'\\`\n\t\r\0\ufeff\ud800\udfff“”’/*#<>&=-+e.8",
    *("null", "None", "NaN", "-Infinity", "1e308", "1e999", "9" * 400, "true", "undefined"),
    *(
        '"Title": ',
        '{"Idea": ',
        '"""',
        "```",
        "```json\n{",
        "</think>",
        "<think>",
        "\\u",
        "\\ud800",
    ),
    *('\\"', '": "', '", "', '"}', "//", "/*", "*/", "[1,", "Action 2", "Idea 0", "8/10", "\u202e"),
    *("{{{{{{{{", "[[[[[[[[", '{"a":' * 9, "'" * 9, "Title: ", "\nAbstract: ", "$ref", "__class__"),
)


def mutated(text, rng):
    """One reply with one to six of: flips, cuts, doublings, nestings, splinters put in."""
    for _ in range(rng.randint(1, 6)):
        a, b = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        match rng.randint(0, 8):
            case 0 | 1:
                byte = chr(ord(text[a]) ^ (1 << rng.randint(0, 7))) if a < len(text) else ""
                text = text[:a] + byte + text[a + 1 :]
            case 2:
                text = text[:b]
            case 3:
                text = text[:a] + text[a:b] + text[a:b][:2000] + text[b:]
            case 4:
                text = text[:a] + text[b:] if b - a < 40 else text[:a] + text[a + 3 :]
            case 5:
                opened, closed = rng.choice((('{"New Idea": ', "}"), ("[", "]"), ('{"a": [', "]}")))
                text = opened + text + closed
            case _:
                text = text[:a] + rng.choice(SPLINTERS) * rng.choice((1, 1, 1, 3)) + text[a:]
    return text


def heard(form, text):
    """How a reply was read, and the seconds of work that it took."""
    start = time.process_time()
    try:
        read = read_reply(form, text)
    except ReplyError:
        return "unread", time.process_time() - start
    seconds = time.process_time() - start
    assert read.rung in RUNGS[:3]
    assert isinstance(read.words, form)
    read.words.as_json().encode()
    return read.rung, seconds


def test_no_form_is_forgotten():
    found = {
        value
        for module in (protocols.forms, protocols.virsci.forms)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Form) and value.model_fields
    }
    assert found - {Form, protocols.forms.Spoken} == set(REPLIES)


def sweep(form, count):
    """Read mutated replies; how many were read on each rung, and the seconds of each."""
    rng = random.Random(f"hostile {form.__name__}")
    rungs = dict.fromkeys(("strict", "found", "repaired", "unread"), 0)
    seconds = []
    for number in range(count):
        around = AROUND[number % len(AROUND)]
        rung, spent = heard(form, mutated(around.format(REPLIES[form]), rng))
        rungs[rung] += 1
        seconds.append(spent)
    return rungs, sorted(seconds)


def check(form, count):
    rungs, seconds = sweep(form, count)
    worst, p99 = seconds[-1], seconds[int(0.99 * count)]
    print(f"R6: {form.__name__}: {count} mutated, {rungs}, p99 {p99:.4f} s, max {worst:.4f} s")
    assert rungs["unread"] > 0
    assert p99 < 0.005
    assert worst < 1.0


@pytest.mark.parametrize("form", list(REPLIES), ids=lambda form: form.__name__)
def test_mutated_replies_are_read_or_refused_soon(form):
    check(form, 1_500)


@pytest.mark.slow
@pytest.mark.parametrize("form", list(REPLIES), ids=lambda form: form.__name__)
def test_many_mutated_replies_are_read_or_refused_soon(form):
    check(form, 12_000)
