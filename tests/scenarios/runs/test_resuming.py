"""The same command resumes a run; what would change a known call is refused (rules 8, 22)."""

import json
import shutil
from pathlib import Path

import pytest

from tests.edited_folders import reseal
from tests.scenarios.runs.asked import Asked, digest, run_until
from virsci_society.agents.errors import Diverged, InputError
from virsci_society.agents.journal.journal import Journal
from virsci_society.scenarios.runs.execute import is_finished, replay
from virsci_society.scenarios.runs.execute import run_scenario as run_scenario
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.society.results.run import Run

pytestmark = pytest.mark.usefixtures("no_results")


def ledger(folder):
    return json.loads((folder / "manifest.json").read_text())["ledger"]


@pytest.fixture
def held(small_run, here):
    """A copy of a finished run, to be resumed."""
    return Path(shutil.copytree(small_run, here / "held"))


def test_a_run_that_lost_its_results_is_made_again_from_its_journal(
    small, held, small_run, monkeypatch
):
    (held / "manifest.json").unlink()
    asked = Asked(monkeypatch)
    run_scenario(small, held)
    assert asked.ids == []
    assert digest(held) == digest(small_run)
    assert [one["session"] for one in ledger(held)["sessions"]] == [1, 2]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("at", [0, 1, 9, 20])
def test_a_stopped_run_asks_for_the_rest_only(small, small_run, here, monkeypatch, at):
    before = run_until(monkeypatch, at, lambda: run_scenario(small, here / "run"))
    assert len(before.ids) == at
    assert not (here / "run" / "manifest.json").exists()
    after = Asked(monkeypatch)
    run_scenario(small, here / "run")
    assert not set(before.ids) & set(after.ids)
    assert digest(here / "run") == digest(small_run)


def test_the_partial_run_shows_the_completed_days_and_no_digest(
    small, small_run, here, monkeypatch
):
    run_until(monkeypatch, 20, lambda: run_scenario(small, here / "run"))
    part = here / "run" / "partial"
    told = json.loads((part / "manifest.json").read_text())
    assert told["partial"] == "pulled the plug"
    assert "digest" not in told
    events, whole = list(Run.open(part).events()), list(Run.open(small_run).events())
    assert events == whole[: len(events)]
    assert events
    assert all(event["date"] < told["days"] for event in events)
    assert whole[len(events)]["date"] >= told["days"]


def test_another_seed_is_refused_with_its_first_call(small, held):
    before = {path: path.read_bytes() for path in held.rglob("*") if path.is_file()}
    with pytest.raises(Diverged, match=r"the call \S+/invite/\S+ of day [\d.]+ was") as told:
        run_scenario(small.set("seed", 4), held)
    assert told.value.exit_code == 6
    after = {path: path.read_bytes() for path in held.rglob("*") if path.is_file()}
    for path, content in before.items():
        # The journal's own files come and go with the processes that have it open.
        assert path.name.startswith(JOURNAL) or after[path] == content, path


def test_another_prompt_is_noticed_in_a_finished_run(small, held, monkeypatch):
    from virsci_society.agents.prompts.prompt import Prompt

    render = Prompt.render

    def changed(self, slots):
        return render(self, slots) + "!" * (self.name == "topic_turn")

    monkeypatch.setattr(Prompt, "render", changed)
    monkeypatch.setattr(
        "virsci_society.scenarios.runs.execute.prompt_hashes",
        lambda scenario: {"topic_turn.txt": "x"},
    )
    assert not is_finished(small, held)
    with pytest.raises(Diverged, match=r"/topic/\S+/utter/\S+ of day .* made before with other"):
        run_scenario(small, held)


def test_a_call_that_is_not_asked_for_any_more_is_named(small, held, monkeypatch):
    (held / "manifest.json").unlink()
    with Journal(held / JOURNAL) as journal:
        journal._writer.enqueue(
            lambda: journal._db.execute(
                "INSERT INTO calls SELECT NULL, 'Nobody/1/topic/1/1/0/utter/Nobody', 3.0, hash, "
                "kind, text, model, prompt_tokens, completion_tokens, estimated, cut FROM calls "
                "LIMIT 1"
            )
        )
    reseal(held / JOURNAL)
    with pytest.raises(Diverged, match="call Nobody/1/topic/1/1/0/utter/Nobody was made before"):
        run_scenario(small, held)


def test_what_changes_no_call_goes_on_and_is_noted(small, held, small_run, monkeypatch):
    asked = Asked(monkeypatch)
    more = small.set("metrics", ["cost"]).set("backend.budget.calls", 10_000)
    run_scenario(more.set("backend.in_flight", 2), held)
    assert asked.ids == []
    assert digest(held) == digest(small_run)
    changed = ledger(held)["sessions"][-1]["changed"]
    assert "backend.in_flight: 64 -> 2" in changed
    assert any(line.startswith("metrics: ") for line in changed)
    assert len(changed) == 3


def test_a_longer_run_begins_with_the_shorter_one(small, here, monkeypatch):
    run_scenario(small.set("until", "3w"), here / "run")
    asked = Asked(monkeypatch)
    run_scenario(small, here / "run")
    resumed = list(asked.ids)
    run_scenario(small, here / "whole")
    assert 0 < len(resumed) < len(asked.ids) - len(resumed)
    assert digest(here / "run") == digest(here / "whole")


def test_a_replay_asks_nobody_and_finds_the_digest(small, held, small_run, here, monkeypatch):
    asked = Asked(monkeypatch)
    assert replay(held) == digest(small_run).strip()
    replay(held, here / "copy")
    assert asked.ids == []
    assert digest(here / "copy") == digest(small_run)
    with pytest.raises(InputError, match="not an empty folder"):
        replay(held, here / "copy")
