"""Words in a page: which are kept, which calls rest on which, whose idea a ballot lists."""

import json
from itertools import pairwise

import numpy as np
import pytest

from tests.scenarios.explorer.packed import unpack
from virsci_society.metrics.report.network_layout import run_communities
from virsci_society.scenarios.explorer.conversations import (
    AskedIdea,
    PromptBook,
    ShownPrompt,
    fit,
    ideas_of,
    needs_of,
    own_id,
    pack_prompts,
    pack_words,
    teams_in_order,
)
from virsci_society.scenarios.explorer.run_arrays import arrays_of, names_of, place_everybody


@pytest.fixture
def made(run):
    names = names_of(run)
    return arrays_of(run, names, place_everybody(run_communities([run]), names))


@pytest.mark.parametrize("room", [0, 7, 35, 99, 100, 500])
def test_as_many_items_as_there_is_room_for(room):
    items = [str(number) for number in range(50)]
    text, kept = fit(items, lambda some: "".join(f"{one:>2}" for one in some), room)
    assert len(text) == 2 * kept <= room
    assert kept >= 0.9 * min(room // 2, 50)


def test_few_texts_are_made(monkeypatch):
    made = []

    def make(some):
        made.append(len(some))
        return "x" * len(some)

    fit(["x"] * 100_000, make, 30_000)
    assert len(made) < 20


def test_all_calls_and_papers_are_kept_where_there_is_room(run, made):
    words = pack_words(run, made, PromptBook(missing="not asked for"), 10**6)
    values, arrays = unpack(words.said)
    assert len(values["replies"]) == len(run.table("calls"))
    assert values["abstracts"] == list(run.table("papers")["abstract"])
    assert words.left_out == ("All prompts: not asked for.",)
    stages = [values["stages"][code] for code in arrays["call_stage"]]
    assert sorted(set(stages)) == sorted(set(run.table("calls")["stage"]))


def test_what_is_left_out_is_said(run, made):
    words = pack_words(run, made, PromptBook(), 900)
    values, _ = unpack(words.said)
    assert len(words.said) <= 900
    assert words.left_out[0].startswith("Words of ")
    assert len(values["replies"]) < len(run.table("calls"))


def test_teams_with_a_paper_come_first(make_run, rows):
    rows["papers"] = [("S5/1", "S5/1", "t", "a", 60.0, "x", "y")]
    assert teams_in_order(make_run(rows)) == ["S5/1", "S1/1", "S6/1"]


def calls_of(run, *entries):
    """Calls as a table: id, scientist, reply, needs."""
    table = run.table("calls").head(len(entries)).copy()
    for column, place in (("call", 0), ("scientist", 1), ("reply", 2), ("needs", 3)):
        table[column] = [entry[place] for entry in entries]
    return table


def test_a_call_rests_on_those_it_names_and_on_their_guests(run):
    calls = calls_of(
        run,
        ("a", "S1", "{}", ""),
        ("a/guest/S5", "S5", "{}", "a"),
        ("b", "S2", "{}", "a a/guest x"),
    )
    arrays = needs_of(calls)
    assert arrays["need_start"].tolist() == [0, 0, 1, 3]
    assert arrays["need_to"].tolist() == [0, 0, 1]


def test_a_ballot_lists_the_calls_that_put_its_ideas_forward(run):
    idea = json.dumps({"Title": "Speech"})
    calls = calls_of(
        run,
        ("a", "S1", idea, ""),
        ("b", "S2", idea, ""),
        ("c", "S1", idea, ""),
        ("v", "S1", "{}", ""),
    )
    shown = (
        AskedIdea("S2", "Speech", ("P1",), ("P1", "P2")),
        AskedIdea("S1", "Speech"),
        AskedIdea("S9", "?"),
    )
    found = ideas_of(calls, {"v": ShownPrompt((), shown)})
    assert found["ballots"] == {3: [1, 2, -1]}
    assert found["used"] == {1: ["P1"], 2: []}
    assert found["retrieved"][1] == ["P1", "P2"]


def test_prompts_come_back_line_by_line_and_hold_each_line_once():
    text = "same\n\nlines"
    questions = {
        "a": ShownPrompt((("system", text), ("user", "one"))),
        "c": ShownPrompt((("system", text), ("user", "two\nsame"))),
    }
    values, arrays = unpack(pack_prompts(["a", "b", "c"], questions))
    assert sorted(values["lines"]) == sorted(["same", "", "lines", "one", "two"])
    lines = np.cumsum(arrays["line"], dtype=np.uint32)
    known = [*values["roles"], *values["lines"]]
    starts = arrays["start"].tolist()
    told = [[known[line] for line in lines[a:b]] for a, b in pairwise(starts)]
    assert told == [
        ["system", "same", "", "lines", "user", "one"],
        [],
        ["system", "same", "", "lines", "user", "two", "same"],
    ]


def test_an_id_is_kept_only_where_the_columns_do_not_say_it():
    call = {"team": "T/1", "stage": "s", "visit": 1, "turn": 2, "seat": 0, "act": "utter"}
    usual = {**call, "scientist": "S1", "call": "T/1/s/1/2/0/utter/S1"}
    assert own_id(usual) == ""
    assert own_id({**usual, "call": "other"}) == "other"
