"""A renamed key is answered with its new name, and a file is rewritten on request."""

import pytest
from typer.testing import CliRunner

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config import renamed_keys
from virsci_society.scenarios.config.renamed_keys import new_name, rename_keys
from virsci_society.scenarios.config.schema import load_scenario

ROWS = {
    "protocol.rounds": "protocol.turns",
    "founding.per_year": "founding.leaders.coauthored",
    "founding.names": "founding.leaders.memory",
    "protocol.waiting": "time.homework",
}
OLD = """\
# A file of before.
extends: quickstart   # the short one
protocol:
  # how often each speaks
  rounds: 2  # twice
founding:
  per_year: 0.5  # of papers not led
  max_teams: 3
  # and this
  names: null

seed: 3
"""
NEW = """\
# A file of before.
extends: quickstart   # the short one
protocol:
  # how often each speaks
  turns: 2  # twice
founding:
  leaders:
    coauthored: 0.5  # of papers not led
    # and this
    memory: null
  max_teams: 3

seed: 3
"""


@pytest.fixture(autouse=True)
def rows(monkeypatch):
    """A table of fictitious rows."""
    monkeypatch.setattr(renamed_keys, "RENAMED", ROWS)


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.yaml"
    path.write_text(OLD, encoding="utf-8")
    return path


def test_an_old_name_is_answered_with_place_and_new_name(old):
    with pytest.raises(InputError) as told:
        load_scenario(old)
    lines = str(told.value).splitlines()
    assert ":5:3: protocol.rounds: is now protocol.turns; 'society check" in lines[0]
    assert ":7:3: founding.per_year: is now founding.leaders.coauthored" in lines[1]
    assert len(lines) == 3


def test_an_old_name_after_set_is_answered_with_the_new_one():
    with pytest.raises(InputError, match=r"--set protocol\.rounds: is now protocol\.turns"):
        load_scenario("quickstart", settings=["protocol.rounds=3"])


def test_keys_of_a_mixture_are_renamed_below_it():
    path = ("protocol", "of", 0, "protocol", "rounds")
    assert new_name(path) == "protocol.of.0.protocol.turns"
    assert new_name(("protocol", "turns")) is None


def test_a_file_is_rewritten_with_its_comments_and_order(old):
    changes = rename_keys(old)
    assert [line.split(": ", 1)[1] for line in changes] == [
        "protocol.rounds -> protocol.turns",
        "founding.per_year -> founding.leaders.coauthored",
        "founding.names -> founding.leaders.memory",
    ]
    assert old.read_text(encoding="utf-8") == NEW
    assert rename_keys(old) == []


def test_dotted_keys_of_interventions_and_arms_are_rewritten(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("interventions:\n  - at: 10d\n    set: {protocol.rounds: 1, seed: 4}\n")
    rename_keys(path)
    assert "set: {protocol.turns: 1, seed: 4}" in path.read_text()


@pytest.mark.parametrize(
    "text", ["founding: {per_year: 0.5}\n", "protocol:\n  waiting: 1h\n"], ids=["braces", "emptied"]
)
def test_lines_that_cannot_be_moved_are_named_and_left(tmp_path, text):
    path = tmp_path / "s.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match="write it by hand"):
        rename_keys(path)
    assert path.read_text() == text


def test_the_command_says_what_it_changed_and_checks(old):
    refused = CliRunner().invoke(app, ["check", str(old)])
    assert refused.exit_code == 2
    done = CliRunner().invoke(app, ["check", str(old), "--rename"])
    assert "protocol.rounds -> protocol.turns" in done.output


def test_every_new_name_is_a_key_and_no_old_one_is(monkeypatch):
    monkeypatch.undo()
    assert not set(renamed_keys.RENAMED) & set(renamed_keys.RENAMED.values())
