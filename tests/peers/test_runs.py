"""Every run against a server of others ends, and what was read in it is counted."""

import pytest

from tests.peers.runs import RUNS, society
from virsci_society.metrics.cost import RUNGS
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import REPEATED_ACTS

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("name", RUNS)
def test_a_run_ends_with_every_team_published_or_dissolved(played, name):
    outcome = played(name)
    assert outcome.code == 0, outcome.printed
    assert "Traceback" not in outcome.printed
    summary = outcome.summary
    assert summary["partial"] is None
    teams = Run.open(outcome.folder).table("teams")
    assert len(teams) == 3
    assert set(teams["state"]) <= {"published", "dissolved"}
    reasons = teams.loc[teams["state"] == "dissolved", "reason"]
    assert (reasons.fillna("").str.len() > 0).all()


@pytest.mark.parametrize("name", RUNS)
def test_rungs_and_defaults_are_counted(played, name):
    """The counts by rung are those of the journal's own replies and of the table of calls."""
    outcome = played(name)
    reading, ledger = outcome.summary["reading"], outcome.summary["ledger"]
    calls = Run.open(outcome.folder).table("calls")
    questions = calls[~calls["act"].isin(REPEATED_ACTS)]
    # A question is without a rung when its team had ended before it could be sent.
    asked = questions[questions["rung"].notna() | questions["verdict"].notna()]
    assert reading["asked"] == len(asked) == sum(reading["rungs"][rung] for rung in RUNGS)
    assert reading["rungs"]["default"] == int(asked["defaulted"].sum())
    requests = outcome.requests()
    assert requests == ledger["attempts"] == sum(ledger["outcomes"].values())
    repeated = int(calls["act"].isin(REPEATED_ACTS).sum())
    # All else that was sent are attempts whose answer held no text.
    assert requests >= reading["asked"] + repeated
    assert requests - ledger["outcomes"].get("empty", 0) <= reading["asked"] + repeated


def test_a_run_replays_without_its_server(played):
    outcome = played("json")
    again = society(["replay", str(outcome.folder)], outcome.folder.parent)
    assert again.returncode == 0, again.stdout + again.stderr
