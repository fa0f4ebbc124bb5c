"""Interventions in scenario files: what may be set, and where it is said that something may not."""

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.schema import CHANGEABLE, REFUSED, Scenario, load_scenario
from virsci_society.scenarios.runs.build import changes_of
from virsci_society.scenarios.runs.run_folder import resolved_text
from virsci_society.scenarios.runs.run_journal import identity_hash

HEAD = "extends: quickstart\ninterventions:\n"


def test_each_intervention_builds_on_those_before_it(write):
    text = (
        "  - {at: 18mo, remove_scientists: {by: papers, count: 10}}\n"
        "  - {at: 1y, set: {founding.max_teams: 5, seed: 8}}\n"
        "  - {at: 2y, set: {founding: {teams_per_year: 2.0}, time.meeting_notice: 3d}}\n"
    )
    first, second, third = changes_of(load_scenario(write("s.yaml", HEAD + text)))
    assert (first.date, second.date, third.date) == (365.0, 547.5, 730.0)
    assert set(first.settings) == {"founding", "seed"}
    assert (first.settings["founding"].max_teams, first.settings["seed"]) == (5, 8)
    assert not second.settings
    assert second.removal is not None
    assert (second.removal.by, second.removal.count) == ("papers", 10)
    assert set(third.settings) == {"founding", "times"}
    founding = third.settings["founding"]
    assert (founding.max_teams, founding.teams_per_year) == (5, 2.0)
    assert third.settings["times"].meeting_notice == 3.0
    assert first.settings_json == '{"founding.max_teams": 5, "seed": 8}'


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (
            "{at: 1y, set: {population.ecosystem.papers: 4}}",
            "s.yaml:3:20: interventions.0.set.population.ecosystem.papers: population cannot "
            "change in mid-run: people and papers before day 0 cannot change",
        ),
        (
            "{at: 1y, set: {protocl.turns: 3}}",
            "s.yaml:3:20: interventions.0.set.protocl.turns: an intervention cannot set it; it can "
            "set founding, protocol, publication, careers, time, seed; did you mean 'protocol'?",
        ),
        (
            "{at: 1y}",
            "s.yaml:3:5: interventions.0: it changes nothing: give set or remove_scientists",
        ),
        (
            "{at: 1y, remove_scientists: {by: fame, count: 3}}",
            "s.yaml:3:34: interventions.0.remove_scientists.by: got 'fame', expected 'degree' or "
            "'papers' or 'citations' or 'random'",
        ),
    ],
)
def test_what_cannot_be_changed_is_named_with_its_line(write, faults, entry, line):
    write("s.yaml", f"{HEAD}  - {entry}\n")
    (told,) = faults(lambda: load_scenario("s.yaml"))
    assert told.startswith(line)


def test_every_key_of_a_scenario_can_be_set_or_is_refused_with_a_reason():
    assert {*CHANGEABLE} | {*REFUSED} == {*Scenario.model_fields}
    assert not {*CHANGEABLE} & {*REFUSED}


def test_the_resolved_scenario_holds_its_interventions(write):
    entry = "  - {at: 1y, set: {protocol.turns: 1}, remove_scientists: {by: random, count: 2}}\n"
    one = load_scenario(write("s.yaml", HEAD + entry))
    again = load_scenario(write("again.yaml", resolved_text(one)))
    assert again.interventions == one.interventions
    assert identity_hash(again) == identity_hash(one)
    assert identity_hash(one) != identity_hash(load_scenario("quickstart"))


def test_a_dotted_path_in_an_intervention_needs_trust(write):
    path = "virsci_society.society.formation.founding:Once"
    file = write("s.yaml", f"{HEAD}  - {{at: 1y, set: {{founding: {{use: '{path}'}}}}}}\n")
    with pytest.raises(InputError, match=r"s\.yaml:3:\d+: founding.*is outside code"):
        load_scenario(file)
    assert load_scenario(file, trust=True).interventions[0].at == 365.0
