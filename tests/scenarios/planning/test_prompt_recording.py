"""What is recorded of a rehearsal and of a finished run."""

import os

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.agents.journal.journal import Journal
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.planning import prompt_recording
from virsci_society.scenarios.planning.prompt_pages import totals
from virsci_society.scenarios.planning.prompt_recording import (
    count_tokens,
    rehearse_pages,
    replay_pages,
    tokenizer_name,
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
    with Journal(small_run / JOURNAL, frozen=True) as journal:
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
        ({"first": 1}, {first}),
        ({"first": 5}, {first, second}),
        ({"team": second}, {second}),
    ):
        calls = [call for call in whole.calls if call.row["team"] in teams]
        assert list(rehearse_pages(small, **choice).calls) == calls


def test_a_team_that_is_not_there_is_named_with_some_that_are(small):
    with pytest.raises(InputError, match=r"no team Nobody/1 asks anything; there are Scientist\d"):
        rehearse_pages(small, "Nobody/1")


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
    table, call = whole.table(), whole.calls[0]
    assert table.loc[0, "prompt"] == sum(count_tokens(one.content) for one in call.messages)
    assert table.loc[0, "schema"] == count_tokens(call.schema)
    assert table.loc[0, "reply"] == count_tokens(call.text)
    *stages, (last, *sums) = totals(table, "stage")
    assert [name for name, *_ in stages] == ["selection", "topic", "ideas", "novelty", "abstract"]
    assert last == "all"
    assert sums == [len(table), *table[["prompt", "schema", "reply"]].sum()]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        # The examples of OpenAI's cookbook, "How to count tokens with tiktoken".
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
        # A special token in a text is text.
        ("<|endoftext|>", 7),
    ],
)
def test_texts_are_counted_as_tiktoken_counts_them(text, tokens):
    assert tokenizer_name() == "cl100k_base"
    assert count_tokens(text) == tokens


def test_half_of_a_surrogate_pair_is_counted():
    assert count_tokens("a\ud800b") == count_tokens("a?b")


def test_the_environment_stays_as_it_was(monkeypatch):
    prompt_recording._encoding.cache_clear()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/somewhere")
    assert count_tokens("one") == 1
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "/somewhere"
    prompt_recording._encoding.cache_clear()
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    assert count_tokens("one") == 1
    assert "TIKTOKEN_CACHE_DIR" not in os.environ


def test_without_the_vocabulary_tokens_are_estimated(monkeypatch):
    monkeypatch.setattr(prompt_recording, "FOLDER", "nowhere")
    prompt_recording._encoding.cache_clear()
    try:
        assert tokenizer_name() == "estimated, one token per four characters"
        assert count_tokens("x" * 9) == 3
    finally:
        monkeypatch.undo()
        prompt_recording._encoding.cache_clear()
