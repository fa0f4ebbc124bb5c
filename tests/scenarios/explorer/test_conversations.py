"""Words in a page: which are kept, which calls rest on which, whose idea a ballot lists."""

import pytest

from tests.scenarios.explorer.packed import unpack
from virsci_society.metrics.network_layout import run_communities
from virsci_society.metrics.report.transcript import SpokenReply, TeamTalk
from virsci_society.protocols.ideas import CandidateIdea, Idea
from virsci_society.scenarios.explorer.conversations import (
    PromptBook,
    fit,
    ideas_of,
    pack_prompts,
    pack_words,
    said_in,
)
from virsci_society.scenarios.explorer.explorer_data import arrays_of, names_of


@pytest.fixture
def made(run):
    names = names_of(run)
    return arrays_of(run, names, run_communities(run))


@pytest.mark.parametrize("room", [0, 7, 35, 99, 100, 500])
def test_as_many_items_as_there_is_room_for(room):
    items = [str(number) for number in range(50)]
    text, kept = fit(items, lambda some: "".join(f"{one:>2}" for one in some), room)
    assert len(text) == 2 * kept <= room
    assert kept >= 0.9 * min(room // 2, 50)


def test_all_calls_and_papers_are_kept_where_there_is_room(run, made):
    words = pack_words(run, made, PromptBook(missing="not asked for"), 10**6)
    values, _ = unpack(words.said)
    calls = run.table("calls").set_index("call")
    assert {call["id"] for call in values["calls"]} == set(calls.index)
    assert values["abstracts"] == list(run.table("papers")["abstract"])
    assert words.left_out == ("All prompts: not asked for.",)
    for call in values["calls"]:
        assert call["stage"] == calls.at[call["id"], "stage"]
        assert call["who"] == made.people[calls.at[call["id"], "scientist"]]


def test_what_is_left_out_is_said(run, made):
    words = pack_words(run, made, PromptBook(), 900)
    values, _ = unpack(words.said)
    assert len(words.said) <= 900
    assert words.left_out[0].startswith("Conversations of ")
    assert len(values["calls"]) < len(run.table("calls"))


def test_teams_with_a_paper_come_first(make_run, rows, add_call):
    rows["papers"] = [("S5/1", "S5/1", "t", "a", 60.0, "x", "y")]
    rows["calls"].append(add_call("S5/1", "topic", 1, 1, 0, "utter", "S5", 13.0))
    run = make_run(rows)
    words = pack_words(
        run, arrays_of(run, names_of(run), run_communities(run)), PromptBook(), 10**6
    )
    values, _ = unpack(words.said)
    order = [run.table("teams")["team"][one["team"]] for one in values["calls"]]
    assert (order[0], order[-1]) == ("S5/1", "S1/1")


def talk_of(*entries):
    """A team of which these calls are told: id, scientist, title of an idea, ids waited for."""
    said = [
        SpokenReply(call, "ideas", 1, 1, 9.0, who, "utter", "Idea", "", False, needs, fields, "")
        for call, who, title, needs in entries
        for fields in [(("Title", title),) if title else ()]
    ]
    return TeamTalk("S1/1", "S1", "", (), tuple(said), None)


def test_a_call_rests_on_those_it_names_and_on_their_guests(run, made):
    talk = talk_of(
        ("a", "S1", "", ()),
        ("a/guest/S5", "S5", "", ("a",)),
        ("b", "S2", "", ("a", "a/guest", "x")),
    )
    calls = said_in(run, made, PromptBook(), [talk])["calls"]
    assert [call["needs"] for call in calls] == [[], [0], [0, 1]]


def test_a_ballot_lists_the_calls_that_put_its_ideas_forward():
    talk = talk_of(
        *((one, who, "Speech", ()) for one, who in zip("abc", ("S1", "S2", "S1"), strict=True))
    )
    vote = talk_of(("v", "S1", "", ()))
    shown = [
        CandidateIdea(Idea.model_construct(title=title), author, used=used, retrieved=retrieved)
        for author, title, used, retrieved in (
            ("S2", "Speech", ("P1",), ("P1", "P2")),
            ("S1", "Speech", (), ()),
            ("S9", "?", (), ()),
        )
    ]
    said = [(talk, one) for one in (*talk.said, *vote.said)]
    found = ideas_of(said, {"v": shown})
    assert found["ballots"] == {3: [1, 2, -1]}
    assert found["used"] == {1: ["P1"], 2: []}
    assert found["retrieved"][1] == ["P1", "P2"]


def test_prompts_come_back_line_by_line_and_hold_each_line_once():
    texts = {"a": "same\n\nlines\none", "c": "same\n\nlines\ntwo\nsame"}
    values, _ = unpack(pack_prompts(["a", "b", "c"], texts))
    assert values["lines"] == ["same", "", "lines", "one", "two"]
    told = ["\n".join(values["lines"][line] for line in lines) for lines in values["prompts"]]
    assert told == [texts["a"], "", texts["c"]]
