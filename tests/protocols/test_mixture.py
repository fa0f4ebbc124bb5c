"""Mixed societies: which protocol a team works under, and how tables tell."""

from collections import Counter
from types import SimpleNamespace

import pytest

from virsci_society.agents.errors import InputError, ProtocolError
from virsci_society.protocols.mixture import Component, Mixture
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.protocols.wordless import Wordless
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.build import build_society
from virsci_society.scenarios.runs.execute import run_scenario
from virsci_society.society.formation.seats import NewcomerSeats
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run

TWO = Mixture(
    of=(
        Component(share=1, protocol=VirSci(turns=1)),
        Component(share=3, protocol=Wordless(), name="silent"),
    )
)
FILE = """
extends: quickstart
name: mixed
until: 120d
founding: {use: poisson, teams_per_year: 1.0}
protocol:
  use: mixture
  of:
    - share: 0.5
      name: short
      protocol: {use: virsci, turns: 1, team_size: 2}
    - share: 0.5
      protocol: {use: wordless, team_size: 3, selection: {use: two_step, explore: 0.5}}
"""


def test_shares_are_shares_of_the_teams():
    ways = Counter(TWO.of_team(f"Scientist{n}/1", Streams(4)).name for n in range(4000))
    assert set(ways) == {"virsci", "silent"}
    assert ways["virsci"] == pytest.approx(1000, abs=4 * (4000 * 0.25 * 0.75) ** 0.5)


def test_the_protocol_of_a_team_hangs_on_seed_and_id_alone():
    ids = [f"Scientist{n}/{k}" for n in range(50) for k in (1, 2)]

    def drawn(ids, seed):
        return {one: TWO.of_team(one, Streams(seed)).name for one in ids}

    assert drawn(ids, 1) == drawn(reversed(ids), 1)
    assert drawn(ids, 1) != drawn(ids, 2)


@pytest.fixture
def mixed(tmp_path):
    path = tmp_path / "mixed.yaml"
    path.write_text(FILE)
    return path


@pytest.mark.slow
def test_teams_work_as_their_component_says_and_tables_name_it(mixed):
    society = build_society(load_scenario(mixed, seed=5))
    society.run_to_end()
    teams = Run.from_rows(society.log.rows, {"seed": 5, "days": 120.0}, {}).table("teams")
    assert set(teams["protocol"]) == {"short", "wordless"}
    assert set(teams.loc[teams["protocol"] == "short", "target_size"]) == {2}
    assert set(teams.loc[teams["protocol"] == "wordless", "target_size"]) == {3}
    spoken = {row[1] for row in society.log.rows["calls"]}
    assert spoken <= set(teams.loc[teams["protocol"] == "short", "team"])


def test_a_written_mixture_is_read_again_as_it_was(mixed):
    scenario = load_scenario(mixed)
    again = scenario.set("seed", scenario.seed)
    assert again == scenario
    assert again.protocol.of[1].protocol == Wordless(
        team_size=3, selection=scenario.protocol.of[1].protocol.selection
    )


@pytest.mark.parametrize(
    ("wrong", "right", "told"),
    [
        ("share: 0.5\n      name", "share: -1\n      name", "9:7: protocol.of.0.share"),
        ("team_size: 3", "team_sise: 3", "13:33: protocol.of.1.protocol.team_sise"),
        ("use: wordless", "use: wordles", "13:18: protocol.of.1.protocol.use"),
        ("name: short", "name: wordless", "8:3: protocol.of: of has two components of one name"),
        ("share: 0.5\n      name: short\n      ", "", "9:7: protocol.of.0.share: required"),
    ],
)
def test_faults_in_a_list_have_their_place(tmp_path, wrong, right, told):
    path = tmp_path / "mixed.yaml"
    assert wrong in FILE
    path.write_text(FILE.replace(wrong, right, 1))
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    assert told in str(caught.value)


def test_a_mixture_of_mixtures_is_refused_and_has_no_run_of_its_own():
    inner = Component(share=1, protocol=TWO, name="both")
    with pytest.raises(ValueError, match="of contains a mixture"):
        Mixture(of=(inner, Component(share=1, protocol=Wordless())))
    with pytest.raises(ProtocolError, match="Scientist1/1: a mixture does not run"):
        TWO.run(SimpleNamespace(id="Scientist1/1"), None)


@pytest.mark.slow
def test_protocols_are_told_apart_in_a_metric(mixed, tmp_path):
    folder = run_scenario(load_scenario(mixed, seed=5), tmp_path / "run")
    table = Run.open(folder).metric("by_protocol").set_index("protocol")
    assert list(table.index) == ["short", "wordless"]
    assert table.at["wordless", "inference_cost"] == 0


def test_newcomers_who_lead_are_refused():
    seats = {"lead": 0.2, "seat": 0.3}
    parts = [
        {"share": 1, "name": "one", "protocol": Wordless(newcomers=NewcomerSeats(**seats))},
        {"share": 1, "name": "other", "protocol": Wordless()},
    ]
    with pytest.raises(ValueError, match=r"newcomers\.lead above 0"):
        Mixture(of=parts)
    parts[0]["protocol"] = Wordless(newcomers=NewcomerSeats(**seats | {"lead": 0}))
    assert len(Mixture(of=parts).components) == 2
