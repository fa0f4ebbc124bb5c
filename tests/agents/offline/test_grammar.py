"""Frames and traces: the wording, and reading terms back out of it."""

from __future__ import annotations

import re
import string

import pytest

from virsci_society.agents.offline.grammar import (
    FRAMES,
    HEARD,
    MARKS,
    PARTS,
    fill,
    frame_mark,
    frame_terms,
)
from virsci_society.agents.offline.terms import sentence_terms, split_terms
from virsci_society.agents.offline.text import count_words

ABSTRACT = [frame for part in PARTS for frame in FRAMES[part]]
TALK = [frame for kind in HEARD if kind not in PARTS for frame in FRAMES[kind]]
EVERY = [*ABSTRACT, *TALK]
FILLING = {
    "a": "edge bundling",
    "b": "MRI",
    "d": "maps for graphs",
    "g": "eye tracking",
    "o": "parallel coordinates",
    "r": "flow fields",
    "t": "box plots",
    "x": "text mining",
    "who": "Scientist7",
}


def filled(frame: str) -> str:
    return frame.format(**FILLING)


@pytest.mark.parametrize("frame", EVERY)
def test_a_frame_is_a_sentence(frame):
    assert frame[0] in string.ascii_uppercase
    assert frame.endswith((".", "?"))
    assert "  " not in frame
    assert len(re.findall(r"[.?!](?=\s)", frame)) == 0


@pytest.mark.parametrize("frame", [*EVERY, *FRAMES["directions"], *FRAMES["titles"]])
def test_no_slot_governs_a_verb_or_an_article(frame):
    verbs = "is|are|was|were|has|have|does|do|helps|gives|makes|shows|brings|adds|offers|enters"
    prepositions = "on|of|about|for|to|with|from|in|by|around|behind|and|adding"
    governed = re.findall(rf"(\w+) \{{(\w+)\}} (?:{verbs})\b", frame)
    for before, slot in governed:
        assert slot == "who" or before in prepositions.split("|"), frame
    assert not re.search(r"\b(?:a|an|this|these|each|every|many|its own) \{", frame), frame


@pytest.mark.parametrize("frame", EVERY)
def test_a_trace_gives_the_slots_back(frame):
    wanted = [FILLING[name] for name in re.findall(r"\{(\w+)\}", frame) if name != "who"]
    assert list(frame_terms(filled(frame)) or ()) == wanted


@pytest.mark.parametrize("frame", [*EVERY, *FRAMES["directions"], *FRAMES["titles"]])
def test_terms_with_an_and_come_back_whole(frame):
    slots = re.findall(r"\{(\w+)\}", frame)
    terms = {slot: f"focus and context {slot * 3} techniques" for slot in slots}
    text = fill(frame, **terms | {"who": "Scientist7", "d": "maps for graphs"})
    if frame in EVERY:
        wanted = [term for slot, term in terms.items() if slot not in ("d", "who")]
        assert [term for term in frame_terms(text) if term in terms.values()] == wanted
    else:
        assert set(split_terms(text)) == set(terms.values())


@pytest.mark.parametrize("frame", EVERY)
def test_an_article_is_no_part_of_a_term(frame):
    names = {name: f"{name * 3} recorder" for name in re.findall(r"\{(\w+)\}", frame)}
    text = fill(frame, **names | {"who": "Scientist7", "d": "maps for graphs"})
    wanted = {term for name, term in names.items() if name not in ("d", "who")}
    if wanted:
        assert all(re.search(rf"\b(an?) {term}", text) for term in wanted)
        assert wanted <= set(sentence_terms([text]))


def test_strangers_leave_no_trace():
    assert frame_terms("The quick brown fox jumps.") is None
    assert frame_terms("") is None
    assert frame_terms("This study is about something else entirely.") is None


def test_each_mark_belongs_to_one_part():
    seen: dict[str, str] = {}
    for part in PARTS:
        for frame in FRAMES[part]:
            assert seen.setdefault(frame_mark(frame), part) == part
    for frame in FRAMES["cores"]:
        assert seen.get(frame_mark(frame), "objective") == "objective"


def test_each_abstract_frame_has_its_own_mark():
    marks = [frame_mark(frame) for frame in ABSTRACT]
    assert len(set(marks)) == len(marks)
    assert all("{" not in m for m in marks)


def test_marks_survive_filling():
    for part in PARTS:
        for frame in FRAMES[part]:
            assert MARKS[frame_mark(filled(frame))] == part


def test_there_is_variety_in_every_part():
    assert all(len(FRAMES[part]) >= 6 for part in PARTS)
    assert len(FRAMES["methods"]) >= 12


@pytest.mark.parametrize("frame", ABSTRACT)
def test_abstract_frames_are_of_readable_length(frame):
    assert 12 <= count_words(filled(frame)) <= 32
