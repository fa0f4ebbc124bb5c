"""A run that is running can be shown and explored, and ends as if nobody had looked."""

import pytest
from typer.testing import CliRunner

from virsci_society.agents.journal.journal import Journal
from virsci_society.scenarios.cli import overview
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.runs import run_folder
from virsci_society.scenarios.runs.execute import run_scenario
from virsci_society.scenarios.runs.progress import Progress
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.scenarios.runs.run_state import open_run, read_state
from virsci_society.society.results.run import Run

pytestmark = pytest.mark.usefixtures("no_results")


@pytest.fixture
def often(monkeypatch):
    """A note and a part after every period."""
    for name in ("NOTE_SECONDS", "PART_SECONDS", "PART_PAUSE"):
        monkeypatch.setattr(run_folder, name, 0)


class Look(Progress):
    """Shows and explores the run in a folder once it has come to a day, from within."""

    def __init__(self, folder, day):
        self.folder, self.day = folder, day
        self.said = []

    def step(self, society):
        if society.day < self.day or self.said:
            return
        self.at, self.state = society.day, read_state(self.folder)
        self.run, _ = open_run(self.folder)
        for command in ("show", "explore", "transcript"):
            done = CliRunner().invoke(app, [command, str(self.folder)])
            assert done.exit_code == 0, done.output
            self.said.append(done.output)


@pytest.mark.usefixtures("often")
def test_a_running_run_is_shown_up_to_a_moment_ago(small, small_run, here):
    look = Look(here / "run", 35.0)
    run_scenario(small, here / "run", look)
    assert look.state.state == "running"
    assert "(day 28 of 182, 15% of simulated time); teams: " in look.state.stood
    assert (look.at, look.run.days) == (35.0, 28.0)
    events, whole = list(look.run.events()), list(Run.open(small_run).events())
    assert events == whole[: len(events)]
    assert whole[len(events)]["date"] >= look.run.days > events[-1]["date"]
    shown, explored, _ = look.said
    assert "is running; results cover it up to day 28" in shown
    assert f"run/partial: not finished; its world up to day {look.run.days:g} (running" in shown
    assert "explorer.html" in explored
    assert (here / "run" / "digest").read_text() == (small_run / "digest").read_text()
    assert not list((here / "run").glob("partial*"))


@pytest.mark.usefixtures("often")
def test_a_killed_run_leaves_its_last_part(small, here):
    class Kill(Progress):
        def step(self, society):
            if society.day > 60:
                raise SystemExit  # no stop is noted, and no part is written after it

    with pytest.raises(SystemExit):
        run_scenario(small, here / "run", Kill())
    with Journal(here / "run" / JOURNAL):
        pass  # a session that ends without a word
    run, state = open_run(here / "run")
    assert (state.state, run.days) == ("killed", 56.0)


def test_a_run_is_followed_until_it_ends(here, monkeypatch):
    journal = Journal(here / JOURNAL)
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 2:
            journal.close()

    monkeypatch.setattr(overview.time, "sleep", sleep)
    done = CliRunner().invoke(app, ["show", str(here), "--follow"])
    assert done.exit_code == 0, done.output
    states = [line.split()[1] for line in done.output.splitlines() if "  state " in line]
    assert states == ["running", "running", "killed:"]
