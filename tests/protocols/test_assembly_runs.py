"""Societies of wordless teams in memory: the same teams as in a society on the clock."""

import json

import numpy as np
import pytest

from virsci_society.protocols.assembly_runs import AssemblyRun
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.build import build_ecosystem_of, build_society
from virsci_society.society.literature.authorships import Authorships, authorships_of
from virsci_society.society.model import observed_sizes

KEYS = {
    "founding": {
        "use": "yearly",
        "teams_per_year": 90,
        "growth": 0.2,
        "leaders": {
            "use": "fading_papers",
            "exponent": 0.8,
            "coauthored": 0.4,
            "limit": 5,
            "shape": 2,
        },
        "max_teams": 1000,
    },
    "protocol": {
        "use": "wordless",
        "team_size": {"use": "observed", "smallest": 1, "largest": None, "growth": 0.1},
        "meetings": 0,
        "author_order": "leader_last",
        "newcomers": {
            "lead": 0.2,
            "seat": 0.4,
            "spread": 4,
            "transient_share": 0.3,
            "trend": -0.1,
            "lead_trend": 0.2,
        },
        "repeat_teams": {"share": 0.3, "stay": 0.6},
        "selection": {"use": "relational", "papers": 0.5, "silence": -0.2},
    },
    "population": {"ecosystem": {"use": "synthetic", "scientists": 60, "papers": 300}},
    "time": {"publication_delay": "0d"},
    "attention": "unlimited",
    "until": "1.5y",
}


def scenario_of(tmp_path, **keys):
    file = tmp_path / "assembly.yaml"
    file.write_text(json.dumps({"name": "assembly", **KEYS, **keys}))
    return load_scenario(file)


def both(scenario):
    """The papers of a society on the clock and of the same society in memory."""
    ecosystem = build_ecosystem_of(scenario)
    society = build_society(scenario, ecosystem)
    society.run_to_end()
    rows = society.population.rows
    written = sorted(
        (paper.date, [rows[author] for author in paper.authors])
        for paper in map(society.literature.paper, [r[0] for r in society.log.rows["papers"]])
    )
    names = {name: row for row, name in enumerate(ecosystem.profiles.names)}
    run = AssemblyRun(
        scenario.founding,
        scenario.protocol,
        authorships_of(ecosystem.past, names, len(names)),
        scenario.seed,
        observed_sizes(ecosystem, inside=scenario.population.external_authors is not None),
    )
    in_memory = run.papers(scenario.until)
    return Authorships.of(written, len(rows)), in_memory


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "seats"),
    [(None, None), ({"share": 0.7, "stay": "6mo"}, {"use": "counted", "since": None})],
    ids=["plain", "groups, external authors"],
)
def test_the_teams_are_those_of_a_society_on_the_clock(tmp_path, groups, seats):
    scenario = scenario_of(
        tmp_path,
        protocol={**KEYS["protocol"], "groups": groups},
        population={**KEYS["population"], "external_authors": seats},
    )
    on_the_clock, in_memory = both(scenario)
    assert len(in_memory) > 50
    assert in_memory.people > 60
    np.testing.assert_array_equal(on_the_clock.dates, in_memory.dates)
    np.testing.assert_array_equal(on_the_clock.starts, in_memory.starts)
    np.testing.assert_array_equal(on_the_clock.authors, in_memory.authors)
