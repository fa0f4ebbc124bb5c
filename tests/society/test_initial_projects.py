"""Societies with projects that are under way on day 0."""

import json

import pytest

from tests.society import tiny_society
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.society.formation.founding import Yearly
from virsci_society.society.formation.leaders import Anybody


@pytest.mark.slow
def test_teams_of_before_are_under_way_and_what_they_publish_early_is_dropped():
    rule = Yearly(teams_per_year=73.0, leaders=Anybody(), max_teams=1000)
    cold, warm = (
        tiny_society.found(tiny_society.talk(30), founding=rule, until=100.0, initial_projects=days)
        for days in (0.0, 200.0)
    )
    for society in (cold, warm):
        society.run_to_end()
    dates = {
        name: [society.literature.paper(row[0]).date for row in society.log.rows["papers"]]
        for name, society in (("cold", cold), ("warm", warm))
    }
    assert min(dates["cold"]) > 35
    assert 0 <= min(dates["warm"]) < 15
    # As many as in every other stretch of time: 73 a year are 20 in a hundred days.
    assert len(dates["warm"]) == pytest.approx(20, abs=12)
    dropped = [row for row in warm.log.rows["teams"] if "before day 0" in row]
    assert len(dropped) > 10
    assert all(date >= 0 for date in dates["warm"])


def test_a_scenario_states_the_time_of_initial_projects(tmp_path):
    scenario = load_scenario("quickstart", initial_projects="6mo")
    assert scenario.initial_projects == pytest.approx(365 / 2, abs=3)
    file = tmp_path / "again.yaml"
    file.write_text(json.dumps(scenario.to_data()))
    assert load_scenario(file).initial_projects == scenario.initial_projects
    assert "initial_projects" not in load_scenario("quickstart").identity()
    assert "initial_projects" in scenario.identity()
    for wrong in ("-1y", "200y", "soon"):
        with pytest.raises(InputError, match="initial_projects"):
            load_scenario("quickstart", initial_projects=wrong)
