"""``--set`` reaches every arm of a study, or is refused with the arm, the key and what to do."""

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.study.reader import read_study

STUDY = """\
study: Two systems
base: virsci/paper
arms:
  list:
    - {name: virsci, set: {protocol.team_size: 3}}
    - {name: other, set: {protocol: {use: idea2proposal, topic: {one_of: neutral}}}}
replicates: 1
measures: [ON]
"""


@pytest.fixture
def study(write):
    return write("two.yaml", STUDY)


def test_a_setting_reaches_an_arm_that_uses_another_part_and_its_lock(study):
    design = read_study(study, ["protocol.memory=own"])
    assert [one.to_data()["protocol"]["memory"] for one in design.scenarios] == ["own", "own"]
    assert design.arms[1].settings["protocol.memory"] == "own"
    assert "protocol.memory" not in design.arms[0].settings


def test_a_value_that_all_arms_share_is_replaced_in_all_of_them(write):
    text = STUDY.replace("protocol.team_size: 3", "protocol: {topic: {one_of: neutral}}")
    for name in (write("both.yaml", text), "arrangements", "interaction-scale"):
        design = read_study(name, ["protocol.topic.one_of=[maps, tides]"])
        given = {str(one.to_data()["protocol"]["topic"]["one_of"]) for one in design.scenarios}
        assert given == {"['maps', 'tides']"}


@pytest.mark.parametrize(
    ("setting", "fault"),
    [
        ("protocol.turns=3", r"--set protocol.turns: arm other: cannot take it \(unknown key"),
        ("protocol.turns=3", r"--set 'protocol.turns\?=VALUE' gives it to the others alone"),
        ("protocol.team_size=4", "arm virsci: the study itself sets protocol.team_size there"),
        ("protocol.trns=3", r"--set protocol.trns: unknown key.*did you mean 'turns'"),
        ("protocol.topic.one_of=[maps]", "arm other: the study itself sets protocol.topic.one_of"),
    ],
)
def test_what_an_arm_does_not_take_is_refused_by_name(study, setting, fault):
    with pytest.raises(InputError, match=fault):
        read_study(study, [setting])


def test_a_setting_may_be_for_those_arms_alone_that_take_it(study, write):
    design = read_study(study, ["protocol.turns?=3"])
    first, second = (one.to_data()["protocol"] for one in design.scenarios)
    assert first["turns"] == 3
    assert "turns" not in second
    others = write("others.yaml", STUDY.replace("protocol.team_size: 3", "protocol: {use: debate}"))
    with pytest.raises(InputError, match=r"--set protocol.turns\?: no arm of this study takes it"):
        read_study(others, ["protocol.turns?=3"])
