"""What is recorded of a rehearsal and of a finished run."""

import json

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.replies.form import as_sent
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.planning import prompt_recording
from virsci_society.scenarios.planning.prompt_pages import totals_by
from virsci_society.scenarios.planning.prompt_recording import (
    TeamChoice,
    TokenCounts,
    count_tokens,
    rehearse_pages,
    replay_pages,
)
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.society.results.run import Run

MODEL = {"use": "openai", "model": "any", "api_base": "http://127.0.0.1:1/v1"}


@pytest.fixture(scope="module")
def whole(small_text, tmp_path_factory):
    """The listing of the small scenario."""
    path = tmp_path_factory.mktemp("whole") / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    return rehearse_pages(load_scenario(path))


@pytest.fixture
def live(small):
    """The small scenario with a language model that nobody serves."""
    return small.set("backend", MODEL)


def test_every_call_is_listed_with_its_page_and_its_words(whole, small_run):
    listing = whole
    calls = Run.open(small_run).table("calls").set_index("call")
    assert {call.id for call in listing.calls} == set(calls.index)
    with Journal.open(small_run / JOURNAL, frozen=True) as journal:
        words = {id_: outcome.text for id_, _, outcome in journal.outcomes()}
    for call in listing.calls:
        assert call.text == words[call.id]
        assert call.row["scientist"] == calls.loc[call.id, "scientist"]
    assert {call.page for call in listing.calls} >= {"invitation", "topic_turn", "ballot", "draft"}
    assert (listing.rehearsed, listing.by_rules, listing.stopped) == (False, 0, False)


def test_calls_are_listed_by_team_and_by_their_place_in_it(whole):
    calls = whole.calls
    teams = [call.row["team"] for call in calls]
    assert len(set(teams)) == 2
    assert teams == sorted(teams, key=list(dict.fromkeys(teams)).index)
    for team in set(teams):
        places = [call.row["sequence"] for call in calls if call.row["team"] == team]
        assert places == sorted(places)


def test_a_model_is_rehearsed_and_not_asked(live, whole):
    listing = rehearse_pages(live)
    assert listing.rehearsed
    assert listing.about == "the language model any, through the OpenAI API"
    assert [call.messages for call in listing.calls] == [call.messages for call in whole.calls]


def test_calls_of_a_hybrid_that_rules_answer_are_counted_only(small, whole):
    hybrid = small.set("backend", {"use": "hybrid", "live": MODEL, "stages": ["topic"]})
    listing = rehearse_pages(hybrid)
    assert {call.row["stage"] for call in listing.calls} == {"topic"}
    assert len(listing.calls) + listing.by_rules == len(whole.calls)
    assert listing.by_rules > 0


def test_the_first_teams_are_those_that_ask_first(small, whole):
    first, second = dict.fromkeys(call.row["team"] for call in whole.calls)
    for choice, teams in (
        (TeamChoice(first=1), {first}),
        (TeamChoice(first=5), {first, second}),
        (TeamChoice(team=second), {second}),
    ):
        calls = [call for call in whole.calls if call.row["team"] in teams]
        assert list(rehearse_pages(small, choice).calls) == calls


def test_a_team_that_is_not_there_is_named_with_some_that_are(small):
    with pytest.raises(InputError, match=r"no team Nobody/1 asks anything; there are Scientist\d"):
        rehearse_pages(small, TeamChoice(team="Nobody/1"))


def test_a_scenario_that_asks_nothing_says_so(small):
    with pytest.raises(InputError, match="nothing is asked in this scenario"):
        rehearse_pages(small.set("protocol", {"use": "wordless", "team_size": 2}))


def test_a_rehearsal_has_a_bound(small, whole, monkeypatch):
    monkeypatch.setattr(prompt_recording, "MOST", 5)
    listing = rehearse_pages(small)
    assert listing.stopped
    assert 5 <= len(listing.calls) < len(whole.calls)


def test_a_finished_run_is_listed_as_it_was(whole, small_run):
    listing = replay_pages(small_run)
    assert listing.calls == whole.calls
    assert not listing.rehearsed


@pytest.mark.parametrize("missing", [JOURNAL, "scenario.yaml", "manifest.json"])
def test_a_run_that_is_not_whole_is_refused(small_run, tmp_path, missing):
    for path in (JOURNAL, "scenario.yaml", "manifest.json"):
        if path != missing:
            (tmp_path / path).write_bytes((small_run / path).read_bytes())
    with pytest.raises(InputError, match="not finished" if "manifest" in missing else "no run"):
        replay_pages(tmp_path)


def test_tokens_of_a_call_are_those_of_its_texts(whole):
    calls = whole.calls
    call = calls[0]
    system, user = call.messages
    assert call.tokens == TokenCounts(
        calls=1,
        system=count_tokens(system.content),
        prompt=count_tokens(system.content) + count_tokens(user.content),
        schema=count_tokens(json.dumps(as_sent(call.form.json_schema()))),
        reply=count_tokens(call.text),
    )

    def stage(one):
        return str(one.row["stage"])

    sums = totals_by(calls, stage)
    assert list(sums) == ["selection", "topic", "ideas", "novelty", "abstract"]
    assert sum(one.calls for one in sums.values()) == len(calls)
    assert sum(one.prompt for one in sums.values()) == sum(one.tokens.prompt for one in calls)
