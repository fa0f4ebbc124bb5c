"""The result of a run: what is read is what was written, and which deaths count against it."""

import math

import pytest

from virsci_society.agents.errors import InputError, Stopped
from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import CallOutcome, nano_bound
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Request
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.study.lock import (
    FURTHER,
    QUARANTINE,
    RunResult,
    exit_code,
    read_result,
    write_result,
)
from virsci_society.scenarios.study.run_one import _answered, narrower_budget, share_of

ME = Profile("Scientist0", (), ("graphs",), papers=1, citations=0)


class Words(Form):
    text: str


def died(*places):
    return RunResult(0, "a", 0, 1, "running", died_at=places).deaths


def test_a_result_is_read_as_it_was_written(tmp_path):
    measures = {"papers": 2.0, "ON": math.nan}
    result = RunResult(7, "a", 1, 5, "failed", "because", 2, "all of it", (0, 3), measures=measures)
    write_result(tmp_path, result)
    found = read_result(tmp_path, 7)
    assert math.isnan(found.measures["ON"])
    assert found.to_data() == result.to_data()
    assert read_result(tmp_path, 8) is None


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"index": 8, "arm": "a", "replicate": 0, "seed": 1, "state": "well"}',
        '{"index": 8, "arm": "a", "replicate": 0, "seed": 1, "measures": {"papers": "many"}}',
        '{"index": 8, "arm": "a", "replicate": 0, "seed": 1, "died_at": 3}',
    ],
)
def test_a_damaged_result_says_what_to_do(tmp_path, text):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/0008.result.json").write_text(text)
    with pytest.raises(InputError, match="delete it"):
        read_result(tmp_path, 8)


def test_a_result_that_cannot_be_written_is_a_stop(tmp_path):
    (tmp_path / "runs").touch()
    with pytest.raises(Stopped, match="cannot be written"):
        write_result(tmp_path, RunResult(0, "a", 0, 1))


def test_deaths_at_one_place_are_counted_whatever_was_under_way():
    assert died() == 0
    assert died(0) == 1
    assert died(0, 0, 0) == QUARANTINE == 3
    assert died(200, 200 + FURTHER // 2, 200 + FURTHER) == 3


def test_a_run_that_came_further_each_time_is_unlucky_and_no_poison():
    assert died(*(life * (FURTHER + 1) for life in range(1, 6))) == 1
    assert died(0, 0, FURTHER + 1) == 1
    assert died(0, 0, FURTHER + 1, FURTHER + 1) == 2


def test_how_far_a_run_has_come_is_told_by_its_journal(tmp_path):
    assert _answered(tmp_path) == 0
    with Journal(tmp_path / "journal.sqlite") as journal:
        for number in range(3):
            asked = Request(f"call-{number}", ME, (), Words)
            journal.store_outcome(asked, CallOutcome("answer", "{}"))
    assert _answered(tmp_path) == 3
    (tmp_path / "journal.sqlite").write_bytes(b"no journal" * 100)
    assert _answered(tmp_path) == 0


@pytest.mark.parametrize(
    ("ends", "code"),
    [
        ([("done", 0)], 0),
        ([("done", 0), ("failed", 2)], 3),
        ([("done", 0), ("quarantined", 3)], 3),
        ([("failed", 2), ("stopped", 5)], 5),
        ([("failed", 2), ("stopped", 4)], 4),
        ([("stopped", 5), ("stopped", 4)], 5),
        ([("waiting", 0), ("done", 0)], 5),
    ],
)
def test_exit_codes_say_whether_the_same_command_goes_on(ends, code):
    found = [RunResult(i, "a", i, 0, state, code=of) for i, (state, of) in enumerate(ends)]
    assert exit_code(found) == code


@pytest.mark.parametrize("runs", [1, 3, 7, 24])
def test_the_parts_of_a_budget_are_equal_and_together_within_it(runs):
    whole = Budget(usd=0.1, tokens=1000, calls=40)
    part = share_of(whole, runs)
    assert 1000 - runs < runs * part.tokens <= 1000
    assert 40 - runs < runs * part.calls <= 40
    assert nano_bound(0.1) - runs < runs * nano_bound(part.usd) <= nano_bound(0.1)
    assert share_of(Budget(calls=7), runs) == Budget(calls=7 // runs)


def test_of_the_budget_of_a_scenario_and_its_part_the_narrower_bound_counts():
    own, part = Budget(calls=5, usd=1.0), Budget(calls=9, tokens=100)
    assert narrower_budget(own, part) == Budget(calls=5, tokens=100, usd=1.0)
