"""What is recorded of a rehearsal and of a finished run, and the file in which it is read."""

from dataclasses import replace

import pytest

from tests.journal_rows import texts
from virsci_society.agents.errors import InputError
from virsci_society.agents.journal.journal import Journal
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.planning.prompts import (
    rehearse_prompts,
    replay_prompts,
    write_prompts,
)
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.society.results.run import Run

MODEL = {"use": "openai", "model": "any", "api_base": "http://127.0.0.1:1/v1"}


@pytest.fixture(scope="module")
def scenario(small_text, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    return load_scenario(path)


@pytest.fixture(scope="module")
def whole(scenario):
    """The listing of the small scenario."""
    return rehearse_prompts(scenario)


@pytest.fixture(scope="module")
def live(scenario):
    """The listing with a language model that nobody serves."""
    return rehearse_prompts(scenario.set("backend", MODEL))


def test_every_call_is_listed_with_its_page_and_its_words(whole, small_run):
    calls = Run.open(small_run).table("calls").set_index("call")
    assert {call.id for call in whole.calls} == set(calls.index)
    with Journal(small_run / JOURNAL, frozen=True) as journal:
        words = texts(journal)
    for call in whole.calls:
        assert call.text == words[call.id]
        assert call.row["scientist"] == calls.loc[call.id, "scientist"]
    assert {call.page for call in whole.calls} >= {"invitation", "topic_turn", "ballot", "draft"}
    assert not whole.rehearsed


def test_calls_are_listed_by_team_and_by_their_place_in_it(whole):
    teams = [call.row["team"] for call in whole.calls]
    assert len(set(teams)) == 2
    assert teams == sorted(teams, key=list(dict.fromkeys(teams)).index)
    for team in set(teams):
        places = [call.row["sequence"] for call in whole.calls if call.row["team"] == team]
        assert places == sorted(places)


def test_a_model_is_rehearsed_and_not_asked(live, whole):
    assert live.rehearsed
    assert live.about == "the language model any, through the OpenAI API"
    assert [call.messages for call in live.calls] == [call.messages for call in whole.calls]


def test_calls_of_a_hybrid_that_rules_answer_are_left_out(scenario, whole):
    hybrid = scenario.set("backend", {"use": "hybrid", "live": MODEL, "stages": ["topic"]})
    listing = rehearse_prompts(hybrid)
    assert {call.row["stage"] for call in listing.calls} == {"topic"}
    assert 0 < len(listing.calls) < len(whole.calls)


def test_the_first_teams_are_those_that_ask_first(scenario, whole):
    first, second = dict.fromkeys(call.row["team"] for call in whole.calls)
    for number, teams in ((1, {first}), (5, {first, second})):
        calls = [call for call in whole.calls if call.row["team"] in teams]
        assert list(rehearse_prompts(scenario, number).calls) == calls


def test_a_scenario_that_asks_nothing_says_so(scenario):
    with pytest.raises(InputError, match="this scenario makes no call"):
        rehearse_prompts(scenario.set("protocol", {"use": "wordless", "team_size": 2}))


def test_a_finished_run_is_listed_as_it_was(whole, small_run):
    assert replay_prompts(small_run) == whole


@pytest.mark.parametrize("missing", [JOURNAL, "scenario.yaml", "manifest.json"])
def test_a_run_that_is_not_whole_is_refused(small_run, tmp_path, missing):
    for path in (JOURNAL, "scenario.yaml", "manifest.json"):
        if path != missing:
            (tmp_path / path).write_bytes((small_run / path).read_bytes())
    with pytest.raises(InputError, match="not finished" if "manifest" in missing else "no run"):
        replay_prompts(tmp_path)


def test_all_that_is_sent_is_written_and_tokens_add_up(live, tmp_path):
    path = tmp_path / "out" / "prompts.md"
    write_prompts(live, path)
    text = path.read_text(encoding="utf-8")
    assert "A rehearsal." in text
    assert text.count("\n### Call ") == len(live.calls)
    for number, call in enumerate(live.calls, 1):
        part = text.partition(f"### Call {number} of {len(live.calls)}: ")[2]
        part = part.partition("\n### Call ")[0]
        assert f"`{call.id}`" in part
        assert all(message.content in part for message in call.messages)
        assert call.text in part.partition("#### Reply of the rehearsal")[2]
    *pages, (last, _, calls, *sums) = live.totals()
    assert list(dict.fromkeys(row[0] for row in pages)) == [
        *("selection", "topic", "ideas", "novelty", "abstract")
    ]
    assert (last, calls) == ("all", len(live.calls))
    assert sums == [sum(column) for column in zip(*(one.tokens for one in live.calls), strict=True)]
    assert f"| all |  | {calls} | {' | '.join(map(str, sums))} |" in text


def test_no_terminal_obeys_what_a_model_has_written(live, tmp_path):
    hostile = "\x1b]0;mine\x07\x1b[2J\x9b31m over\rwritten \u202e"
    call = live.calls[0]
    messages = (*call.messages, replace(call.messages[0], content=hostile))
    changed = replace(call, text=hostile, messages=messages, row={**call.row, "scientist": hostile})
    write_prompts(replace(live, calls=(changed,), title=hostile), tmp_path / "out.md")
    held = set((tmp_path / "out.md").read_text(encoding="utf-8"))
    assert not held & set("\x1b\x07\x9b\r\u202e")


def test_a_listing_takes_the_place_of_an_earlier_one_and_of_nothing_else(live, tmp_path):
    path = tmp_path / "prompts.md"
    write_prompts(live, path)
    write_prompts(replace(live, calls=live.calls[:3]), path)
    assert path.read_text(encoding="utf-8").count("\n### Call ") == 3
    path.write_text("# Mine\n")
    for target, message in ((path, "is another file"), (tmp_path, "is a folder")):
        with pytest.raises(InputError, match=message):
            write_prompts(live, target)
    assert path.read_text() == "# Mine\n"
