"""The keys of workload in a scenario: read, refused, resolved, and off by default."""

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.document import Document
from virsci_society.scenarios.config.schema import load_scenario, read_scenario
from virsci_society.scenarios.config.yaml_io import parse_yaml
from virsci_society.scenarios.runs.run_folder import resolved_text
from virsci_society.scenarios.runs.run_journal import identity_hash

FILE = """\
extends: quickstart
time:
  member_effort: 0.8
  stage_effort: {topic: 2, abstract: {leader: 3, member: 0.5}}
  switching: 2h
interventions:
  - {at: 90d, set: {time.switching: 1h, time.stage_effort.abstract.leader: 1}}
"""


@pytest.fixture
def loaded(tmp_path):
    """A function that loads a scenario from its text."""

    def load(text):
        (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
        return load_scenario(tmp_path / "s.yaml")

    return load


def test_effort_and_switching_are_read_and_resolved(loaded):
    scenario = loaded(FILE)
    assert scenario.time.effort(2.0, "leader", "abstract") == 2.0 * 1.5 * 3
    assert scenario.time.effort(2.0, "member", "topic") == pytest.approx(2.0 * 0.8 * 2, abs=1e-6)
    assert scenario.time.switching == pytest.approx(2 / 24, abs=1e-6)
    again = read_scenario(Document(parse_yaml(resolved_text(scenario), "s").data))
    assert again == scenario


def test_an_intervention_changes_them(loaded):
    ((_, changed),) = loaded(FILE).after_interventions()
    assert changed.time.switching == pytest.approx(1 / 24, abs=1e-6)
    assert changed.time.stage_effort == {"topic": 2, "abstract": {"leader": 1, "member": 0.5}}


@pytest.mark.parametrize(
    ("old", "new"),
    [("0.8", "0"), ("topic: 2", "topic: -1"), ("leader: 3", "guest: 3"), ("2h", "2q")],
)
def test_what_is_no_factor_no_role_and_no_duration_is_refused(loaded, old, new):
    with pytest.raises(InputError, match=r"s\.yaml:[345]:\d+: time\."):
        loaded(FILE.replace(old, new))


def test_an_effort_in_a_stage_that_no_team_is_ever_in_is_refused(loaded):
    with pytest.raises(InputError, match=r"s\.yaml:4:\d+.*no stage.*did you mean 'topic'"):
        loaded(FILE.replace("topic: 2", "topics: 2"))
    silent = "extends: quickstart\nprotocol: {use: wordless}\ntime: {stage_effort: {%s: 2}}\n"
    assert loaded(silent % "meetings").time.stage_effort == {"meetings": 2}
    assert loaded(silent % "publication").time.stage_effort == {"publication": 2}
    with pytest.raises(InputError, match="expected one of meetings, publication"):
        loaded(silent % "topic")


def test_where_they_are_off_the_scenario_is_the_one_it_was(loaded):
    plain = load_scenario("quickstart")
    assert "time" not in plain.identity()
    off = loaded("extends: quickstart\ntime: {member_effort: 1, stage_effort: {}, switching: 0}\n")
    assert identity_hash(off) == identity_hash(plain)
    on = loaded("extends: quickstart\ntime: {switching: 1h}\n")
    assert identity_hash(on) != identity_hash(plain)
    assert on.identity()["time"]["switching"] == "1h"
