"""Hostile replies: each is read as its form or is a ReplyError, in bounded work (R6)."""

from __future__ import annotations

import random
import sys

import pytest

from tests.agents.replies.form_examples import FORMS
from tests.agents.replies.test_parser import THOUGHTS
from virsci_society.agents.errors import ReplyError
from virsci_society.agents.replies.form import Form
from virsci_society.agents.replies.parser import RUNGS, read_reply
from virsci_society.protocols.forms import (
    AnotherTurn,
    Choice,
    Critique,
    Draft,
    GuestReply,
    Question,
    Remark,
    Summary,
    Topic,
)
from virsci_society.protocols.ideas import Ballot, Idea, IdeaMarks, NoveltyComparison
from virsci_society.protocols.virsci.forms import Agreement, OverlapPair, Revision, SelfReview, Stay

SENTENCE = "We compare what is said in a room with what is written later, and count the rest."
SENTENCES = " ".join([SENTENCE] * 4)
ASK = '"Ask": {"Scientist": "Scientist7", "Question": "Which of the two do you trust?"}'
TOLD = f'"Title": "Rooms and records", "Abstract": "{SENTENCES}"'
REPLIES: dict[type[Form], str] = {
    Choice: f'{{"Selected Action": "Action 1", "Reasoning": "{SENTENCE}"}}',
    Question: '{"Scientist": "Scientist7", "Question": "Which of the two do you trust?"}',
    Remark: f'{{"Response": "{SENTENCES}", "Direction": "rooms and records", {ASK}}}',
    GuestReply: f'{{"Answer": "{SENTENCES}"}}',
    Summary: f'{{"Summary": "{SENTENCES}"}}',
    AnotherTurn: '{"Another Turn": true}',
    Topic: '{"Selected Topic": "What rooms remember"}',
    Agreement: f'{{"Agree": true, "Reason": "{SENTENCE}"}}',
    Stay: f'{{"Stay": "yes", "Reason": "{SENTENCE}"}}',
    Idea: f'{{"Idea": "{SENTENCES}", "Title": "Rooms", "Experiment": {{"Step 1": ["ask"], '
    f'"Step 2": ["count", "compare"]}}, "Clarity": 8, "Feasibility": "7/10", "Novelty": 9.5, '
    f'"Uses": [1, "P3"], {ASK}}}',
    IdeaMarks: '{"Clarity": 8, "Feasibility": "7/10", "Novelty": 9.5}',
    NoveltyComparison: '{"Idea": "Idea 1", "Nearest": "P17", "Difference": "It counts rooms."}',
    Ballot: '{"Comparisons": [{"Idea": "Idea 0", "Nearest": "P3", "Difference": "Rooms."}], '
    f'"Reason": "{SENTENCE}", "Decision Made": "Idea 2"}}',
    Critique: f'{{"Soundness": "{SENTENCE}", "Objection": "{SENTENCE}", "Advice": "Count."}}',
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
    "{begin}{{maybe}}{end}\n{}",
    "I would say {}, on the whole.",
)
SPLINTERS = (
    *"{}[]()\",:'\\`\n\t\r\0\ufeff\ud800\udfff“”’/*#<>&=-+e.8",
    *("null", "None", "NaN", "-Infinity", "1e308", "1e999", "9" * 400, "true", "undefined"),
    *('"Title": ', '{"Idea": ', '"""', "```", "```json\n{", "\\u"),
    *(mark for pair in THOUGHTS for mark in pair),
    *("\\ud800",),
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
    """How a reply was read, and how many functions of Python and of C were called for it.

    Counted calls are a measure of work that does not depend on the machine or on its load. Work
    within one C function is bounded by pytest's time limit for hangs alone: with the lengths
    here, anything that grows with the square of a text takes hours.
    """
    calls = [0]

    def count(frame, event, arg):
        calls[0] += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        read = read_reply(form, text)
    except ReplyError:
        return "unread", calls[0]
    finally:
        sys.setprofile(before)
    assert read.rung in RUNGS[:3]
    assert isinstance(read.form, form)
    read.form.as_json().encode()
    return read.rung, calls[0]


def test_no_form_is_forgotten():
    modules = ("forms", "ideas", "virsci.forms")
    modules = {f"virsci_society.protocols.{name}" for name in modules}
    assert {form for form in FORMS if form.__module__ in modules} == set(REPLIES)


def check(form, count, promise):
    """Read mutated replies, each within so many calls, and some in each way."""
    rng = random.Random(f"hostile {form.__name__}")
    rungs, calls = dict.fromkeys(("strict", "found", "repaired", "unread"), 0), []
    for number in range(count):
        around = AROUND[number % len(AROUND)]
        begin, end = THOUGHTS[number // len(AROUND) % len(THOUGHTS)]
        text = around.format(REPLIES[form], begin=begin, end=end)
        rung, made = heard(form, mutated(text, rng))
        rungs[rung] += 1
        calls.append(made)
    promise("R6", "mutated replies", count)
    for rung, times in rungs.items():
        promise("R6", f"of them {rung}", times)
        assert times > 0
    assert sorted(calls)[int(0.99 * count)] < 30_000
    assert max(calls) < 200_000


@pytest.mark.sweep(3)
@pytest.mark.parametrize("form", list(REPLIES), ids=lambda form: form.__name__)
def test_mutated_replies_are_read_or_refused_within_bounded_work(form, promise):
    check(form, 250, promise)


@pytest.mark.slow
@pytest.mark.parametrize("form", list(REPLIES), ids=lambda form: form.__name__)
def test_many_mutated_replies_are_read_or_refused_within_bounded_work(form, promise):
    check(form, 12_000, promise)


@pytest.mark.parametrize("form", list(REPLIES), ids=lambda form: form.__name__)
def test_a_reply_that_is_known_to_be_cut_is_never_read(form):
    text = REPLIES[form]
    for end in range(len(text)):
        with pytest.raises(ReplyError):
            read_reply(form, text[:end], cut=True)


MEGA = 3_000_000
MONSTERS = {
    "brackets nested": "[" * 100_000,
    "braces nested": "{" * 100_000,
    "objects nested": '{"a":' * 100_000,
    "objects nested and closed": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "wrapped deep": '{"New Idea": ' * 60 + "{}" + "}" * 60,
    "lists in a field": '{"Title": ' + "[" * 900 + '"x"' + "]" * 900 + "}",
    "an unterminated string": '{"Title": "' + "a" * MEGA,
    "unterminated strings": '{"Title": "a, ' * (MEGA // 14),
    "escapes": '{"Title": "' + "\\" * MEGA,
    "escaped quotes": '{"Title": "' + '\\"' * (MEGA // 2),
    "braces": "{" * MEGA,
    "braces closed": "{}" * (MEGA // 2),
    "closing braces": "}" * MEGA,
    "openings of objects": '{"' * (MEGA // 2),
    "backticks": "`" * MEGA,
    "fences": "```json\n{" * (MEGA // 9),
    "quotes": '"' * MEGA,
    "spaces": "{" + " " * MEGA,
    "lines": "\n" * MEGA,
    "stars": "*" * MEGA,
    "stars in lines": "\n" + "- * " * 50_000 + "Title: x",
    "NUL": "\0" * MEGA,
    "surrogates": "\ud800" * 1_000_000,
    "marks of bytes": "\ufeff" * MEGA,
    **{f"thoughts {begin!r}": begin * (MEGA // len(begin)) for begin, _ in THOUGHTS},
    "ends of thoughts": "".join(end for _, end in THOUGHTS) * 10_000,
    "spaces in the mark of a thought": "<think" + " " * 200_000 + "x",
    "attributes of thoughts": "<think a" * 30_000,
    "attributes in other brackets": "◁think a" * 30_000,
    "the name of a thought": "<" + "think" * 50_000,
    "empty lists": "[" + "[]," * (MEGA // 3) + "[]]",
    "one name again and again": "{" + '"a":1,' * (MEGA // 6) + '"a":1}',
    "many names": "{" + ",".join(f'"{n}":1' for n in range(30_000)) + "}",
    "a long name": '{"' + "a_" * 400_000 + '": 1}',
    "many objects": '{"a": 1} ' * 100_000,
    "half a quote in a list": '{"Title": [' + '"a' * 32_000,
    "quotes in a value": '{"Title": ' + '"a' * 10_000 + "}",
    "parentheses": '{"Title": ' + "(" * 60 + "1," * 4_000 + "}",
    "unnamed strings": '{"Title": "x" ' + '"a"' * 6_000 + "}",
    "names without values": "{" + '"Title" ' * 3_000 + "}",
    "comments": '{"Title": /*' * 5_000,
    "stars and comments": "{Title: " + "/*" * 30_000 + "}",
    "names in braces": '{"Title": ' * 6_000,
    "names in lines": "Title: x\n" * 20_000,
    "a number of digits": '{"Clarity": ' + "9" * 60_000 + ', "Title": "T"}',
    "digits in quotes": '{"Clarity": "' + "9" * 300 + '", "Title": "T"}',
    "a fence in a value": '{"Title": "' + "```" * 20_000 + '", }',
}
NUMBERS = ("NaN", "Infinity", "-Infinity", "1e308", "-1e308", "1e999", "9" * 5_000, "true", '"inf"')


@pytest.mark.sweep(3)
@pytest.mark.parametrize("monster", list(MONSTERS.values()), ids=list(MONSTERS))
def test_a_monster_is_refused_within_bounded_work(monster, promise):
    for form in (Idea, SelfReview):
        rung, calls = heard(form, monster)
        promise("R6", "monstrous replies", 1)
        assert rung == "unread"
        assert calls < 1_500_000


@pytest.mark.parametrize("value", NUMBERS, ids=lambda value: value[:10])
def test_no_number_beyond_all_numbers_is_read(value):
    for form, name in ((Idea, "Clarity"), (SelfReview, "Written Abstract vs A")):
        text = REPLIES[form]
        start = text.index(f'"{name}": ') + len(name) + 4
        end = text.index(",", start)
        assert heard(form, text)[0] == "strict"
        assert heard(form, text[:start] + value + text[end:])[0] == "unread"


def test_halves_of_characters_do_not_come_through():
    for text in ('{"Answer": "a\ud800b"}', '{"Answer": "a\\ud800b"}', 'So: {Answer: "a\\udc00b"}'):
        assert read_reply(GuestReply, text).form.answer == "a\ufffdb"
    for text in (
        '{"Answer": "\\ud83d\\ude00"}',
        '{"Answer": "\\ud83d\\ude00",}',
        "Answer: \ud83d\ude00.",
    ):
        assert read_reply(GuestReply, text).form.answer.rstrip(".") == "\U0001f600"
