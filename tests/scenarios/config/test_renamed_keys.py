"""A renamed key is answered with its new name, and a file is rewritten on request."""

import pytest
from typer.testing import CliRunner

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config import renamed_keys
from virsci_society.scenarios.config.renamed_keys import new_name, rename_keys
from virsci_society.scenarios.config.schema import Scenario, load_scenario

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
    assert new_name(path) == ("protocol", "of", 0, "protocol", "turns")
    assert new_name(("protocol", "turns")) is None


def test_a_file_is_rewritten_with_its_comments_and_order(old):
    changes = rename_keys(old, Scenario)
    assert [line.split(": ", 1)[1] for line in changes] == [
        "protocol.rounds -> protocol.turns",
        "founding.per_year -> founding.leaders.coauthored",
        "founding.names -> founding.leaders.memory",
    ]
    assert old.read_text(encoding="utf-8") == NEW
    assert rename_keys(old, Scenario) == []


def test_dotted_keys_of_interventions_and_arms_are_rewritten(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("interventions:\n  - at: 10d\n    set: {protocol.rounds: 1, seed: 4}\n")
    rename_keys(path, Scenario)
    assert "set: {protocol.turns: 1, seed: 4}" in path.read_text()


def test_keys_of_a_part_in_a_set_are_rewritten(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(
        "study: s\nbase: quickstart\nset:\n  protocol:\n    use: virsci\n    rounds: 2\n"
        "arms:\n  - name: a\n    set: {protocol: {use: virsci, rounds: 1}, seed: 4}\n"
    )
    assert len(rename_keys(path, Scenario)) == 2
    assert "rounds" not in path.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "protocol:\n  use: debate\n  rounds: 2\n",
        "protocol.use: debate\nprotocol.rounds: 2\n",
        "extends: base.yaml\nprotocol:\n  rounds: 2\n",
        "base: base.yaml\narms:\n  - set: {protocol.rounds: 2}\n",
        "protocol:\n  use: debate\ninterventions:\n  - set: {protocol.rounds: 2}\n",
        "set:\n  protocol: debate\narms:\n  - set: {protocol.rounds: 2}\n",
    ],
)
def test_a_section_that_uses_another_part_keeps_its_keys(tmp_path, text, monkeypatch):
    monkeypatch.setattr(renamed_keys, "RENAMED", {"protocol.rounds": "protocol.topic.rounds"})
    (tmp_path / "base.yaml").write_text("extends: quickstart\nprotocol: {use: debate}\n")
    path = tmp_path / "s.yaml"
    path.write_text(text)
    assert rename_keys(path, Scenario) == []
    assert path.read_text() == text


def test_a_key_of_a_class_of_ones_own_is_not_moved(tmp_path, monkeypatch):
    (tmp_path / "own_words.py").write_text(
        "from virsci_society.protocols.wordless import Wordless\n\n\n"
        "class Own(Wordless):\n    rounds: int = 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "s.yaml"
    path.write_text("protocol:\n  use: own_words:Own\n  rounds: 2\n")
    with pytest.raises(InputError, match=r"s\.yaml:3: protocol\.rounds: .*--trust"):
        rename_keys(path, Scenario)
    assert rename_keys(path, Scenario, trust=True) == []
    assert load_scenario(path, trust=True).to_data()["protocol"]["rounds"] == 2


def test_another_part_is_not_told_a_name_that_it_does_not_have(monkeypatch):
    monkeypatch.setattr(renamed_keys, "RENAMED", {"protocol.votes": "protocol.topic.votes"})
    with pytest.raises(InputError, match=r"protocol\.votes: unknown key"):
        load_scenario("quickstart", settings=["protocol.use=debate", "protocol.votes=3"])


@pytest.mark.parametrize(
    "text", ["founding: {per_year: 0.5}\n", "protocol:\n  waiting: 1h\n"], ids=["braces", "emptied"]
)
def test_lines_that_cannot_be_moved_are_named_and_left(tmp_path, text):
    path = tmp_path / "s.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match="write it by hand"):
        rename_keys(path, Scenario)
    assert path.read_text() == text


def test_the_command_says_what_it_changed_and_checks(old):
    refused = CliRunner().invoke(app, ["check", str(old)])
    assert refused.exit_code == 2
    done = CliRunner().invoke(app, ["check", str(old), "--rename"])
    assert "protocol.rounds -> protocol.turns" in done.output


def test_every_new_name_is_a_key_and_no_old_one_is(monkeypatch):
    monkeypatch.undo()
    assert not set(renamed_keys.RENAMED) & set(renamed_keys.RENAMED.values())


def test_a_word_that_stands_for_an_empty_section_makes_room_for_its_keys(tmp_path, monkeypatch):
    rows = {f"protocol.{key}": f"protocol.topic.{key}" for key in ("consensus", "restarts")}
    monkeypatch.setattr(renamed_keys, "RENAMED", rows)
    path = tmp_path / "free.yaml"
    for before, after in (
        (
            "  topic: free   # as they like\n  turns: 2\n  consensus: leader\n  restarts: 1\n",
            "  topic:   # as they like\n    consensus: leader\n    restarts: 1\n  turns: 2\n",
        ),
        (
            "  consensus: leader\n  restarts: 1\n  topic: free\n  turns: 2\n",
            "  topic:\n    consensus: leader\n    restarts: 1\n  turns: 2\n",
        ),
    ):
        path.write_text(f"extends: quickstart\nprotocol:\n{before}", encoding="utf-8")
        assert len(rename_keys(path, Scenario)) == 2
        assert path.read_text(encoding="utf-8").endswith(f"protocol:\n{after}")
        assert load_scenario(path).to_data()["protocol"]["topic"]["consensus"] == "leader"
