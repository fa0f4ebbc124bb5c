"""R13: a half-run folder goes on with what changes no known call, and refuses what changes one."""

import json

import pytest

from tests.promises.conftest import digest_of, reset

NEXT = (
    "import virsci_society.scenarios.runs.run_journal as "
    "kept\nkept.metadata.version = lambda _: '9.9'\n"
)
"""Lets a process be another release."""


@pytest.fixture
def half(run_of, server, scenario, tmp_path):
    """The folder of a run that a budget of twelve calls has stopped."""
    reset(server)
    run_of(4, scenario(**{"backend.budget": {"calls": 12}}))
    return tmp_path / "run"


def test_a_longer_run_by_another_release_goes_on_and_says_so(
    run_of, server, scenario, tmp_path, half, promise
):
    longer = scenario(until="20w")
    run_of(0, longer, before=NEXT)
    resumed = server.counts()["requests"]
    run_of(0, longer, "fresh")
    assert digest_of(half) == digest_of(tmp_path / "fresh")
    assert server.counts()["requests"] == 2 * resumed
    first, last = json.loads((half / "manifest.json").read_text())["ledger"]["sessions"]
    assert first["release"] != "9.9"
    assert last["release"] == "9.9"
    assert any(change.startswith("until: ") for change in last["changed"])
    promise("R13", "half-run folders that went on with another length and release", 1)


@pytest.mark.usefixtures("half")
def test_what_changes_a_known_call_is_refused_and_loses_nothing(run_of, server, scenario, promise):
    told = run_of(6, scenario(**{"backend.temperature": 0.1}))
    assert "the call Scientist0/1/" in told
    assert server.counts()["requests"] == 12
    run_of(0, scenario())
    assert server.counts()["repeated_answers"] == 0
    promise("R13", "half-run folders whose calls would have changed, refused", 1)
