"""What is found before a run: team sizes, variables of keys, the run folder, the server."""

import socket

import pytest
import yaml

from virsci_society.agents.errors import InputError
from virsci_society.agents.journal.journal import Journal
from virsci_society.scenarios.runs.preflight import check_before_run, silent_servers
from virsci_society.scenarios.runs.run_journal import sign_journal
from virsci_society.scenarios.study.design import check_arms, read_study

MODEL = {"use": "openai", "model": "m"}


def faults(scenario, folder=None):
    with pytest.raises(InputError) as caught:
        check_before_run(scenario, folder)
    return str(caught.value).splitlines()


def signed(folder, scenario):
    """A run folder as it is as soon as a run of the scenario has begun."""
    folder.mkdir()
    with Journal(folder / "journal.sqlite") as journal:
        sign_journal(journal, scenario)
    return folder


def test_a_right_scenario_passes(small, here):
    check_before_run(small, here / "run")
    check_before_run(small, signed(here / "begun", small))


def test_all_faults_come_at_once(small, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    changed = small.set("protocol.team_size", 13).set("backend", {**MODEL, "key": "NO_SUCH_KEY"})
    size, variable = faults(changed)
    assert size.startswith("protocol.team_size: a team of 13 is impossible with 12 scientists")
    assert "--set protocol.team_size=4" in size
    assert variable.endswith("NO_SUCH_KEY is not set; type: export NO_SUCH_KEY=...")
    monkeypatch.setenv("NO_SUCH_KEY", "k" * 12)
    assert len(faults(changed)) == 1


def test_a_variable_that_is_not_named_is_not_missed(small, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    local = {**MODEL, "api_base": "http://127.0.0.1:9/v1"}
    check_before_run(small.set("backend", local))
    (told,) = faults(small.set("backend", MODEL))
    assert "OPENAI_API_KEY is not set" in told


def test_sizes_of_every_component_and_of_a_distribution_are_looked_at(small):
    sizes = {"use": "observed", "smallest": 40, "largest": 50}
    (told,) = faults(small.set("protocol.team_size", sizes))
    assert "a team of 40 is impossible with 12 scientists" in told


def test_a_changed_key_is_left_to_the_journal(small, here):
    """It says exactly which call would differ, and which keys have changed."""
    check_before_run(small.set("protocol.turns", 2), signed(here / "run", small))


def test_a_server_on_this_machine_that_is_silent_is_named(small):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        live = small.set("backend", {**MODEL, "api_base": address})
        assert not list(silent_servers(live))
    (told,) = silent_servers(live)
    assert told.startswith(f"backend.api_base: no server answers at {address} (")
    assert "start the server" in told
    elsewhere = live.set("backend.api_base", "http://nowhere.invalid/v1")
    assert not list(silent_servers(elsewhere))


def test_arms_of_a_study_are_checked_and_the_file_is_named(small, here):
    path = here / "sizes.yaml"
    (here / "base.yaml").write_text(yaml.safe_dump(small.to_data()), encoding="utf-8")
    path.write_text(
        "study: sizes\nbase: base.yaml\narms: {grid: {protocol.team_size: [2, 13]}}\n"
        "replicates: 2\nmeasures: [papers]\n"
    )
    with pytest.raises(InputError) as caught:
        check_arms(read_study(path))
    (told,) = str(caught.value).splitlines()
    assert told.startswith(f"{path}: arm ")
    assert "a team of 13 is impossible with 12 scientists" in told
    path.write_text(path.read_text().replace(", 13", ", 3"))
    check_arms(read_study(path))


def test_what_asks_no_model_needs_no_key(small, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    check_before_run(small.set("backend", MODEL), keys=False)
