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
def half(nursery, server, scenario, tmp_path):
    """The folder of a run that a budget of twelve calls has stopped, and how it was asked for."""
    reset(server)
    run = tmp_path / "run"
    path = scenario(**{"backend.budget": {"calls": 12}})
    assert nursery.run(tmp_path / "log", "run", path, "--out", run)[0] == 4
    return run


def test_a_longer_run_by_another_release_goes_on_and_says_so(
    nursery, server, scenario, tmp_path, half, promise
):
    asked = ("run", scenario(until="20w"), "--out")
    done = nursery.society(*asked, half, cwd=tmp_path, before=NEXT)
    assert done.returncode == 0, done.stderr
    resumed = server.counts()["requests"]
    assert nursery.run(tmp_path / "log", *asked, tmp_path / "fresh")[0] == 0
    assert digest_of(half) == digest_of(tmp_path / "fresh")
    assert server.counts()["requests"] == 2 * resumed
    first, last = json.loads((half / "manifest.json").read_text())["ledger"]["sessions"]
    assert first["release"] != "9.9"
    assert last["release"] == "9.9"
    assert any(change.startswith("until: ") for change in last["changed"])
    promise("R13", "half-run folders that went on with another length and release", 1)


def test_what_changes_a_known_call_is_refused_and_loses_nothing(
    nursery, server, scenario, tmp_path, half, promise
):
    path = scenario(**{"backend.temperature": 0.1})
    done = nursery.society("run", path, "--out", half, cwd=tmp_path)
    assert done.returncode == 6, done.stderr
    assert "the call Scientist0/1/" in done.stderr
    assert server.counts()["requests"] == 12
    assert "Traceback" not in done.stderr
    assert nursery.run(tmp_path / "log", "run", scenario(), "--out", half)[0] == 0
    assert server.counts()["repeated_answers"] == 0
    promise("R13", "half-run folders whose calls would have changed, refused", 1)
