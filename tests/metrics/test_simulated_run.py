"""The measures of a small simulated run: what must hold whatever happened in it."""

from pathlib import Path

import networkx as nx
import pytest

from virsci_society.metrics.novelty.novelty import COLUMNS
from virsci_society.metrics.registry import METRICS, measure
from virsci_society.metrics.summary import summarise_run
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import TABLES


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """The first scenario of the library, shortened; its folder opened again."""
    scenarios = pytest.importorskip("virsci_society")
    scenario = scenarios.load_scenario("quickstart", until="220d")
    return Run.open(scenarios.run_scenario(scenario, tmp_path_factory.mktemp("run") / "out"))


def test_every_table_is_there(simulated):
    assert set(simulated.tables()) == set(TABLES)
    assert len(simulated.table("calls")) > 0
    assert simulated.digest


def test_states_and_dates_agree(simulated):
    teams = simulated.table("teams")
    assert set(teams["state"]) <= {"running", "finished", "published", "dissolved"}
    published = teams[teams["state"] == "published"]
    assert published["published"].notna().all()
    assert (published["published"] >= published["finished"]).all()
    assert len(published) == len(simulated.table("papers"))
    assert teams[teams["state"] == "running"]["finished"].isna().all()
    assert teams[teams["state"] == "dissolved"]["reason"].notna().all()


def test_nobody_waits_a_negative_time(simulated):
    meetings, homework = simulated.table("meetings"), simulated.table("homework")
    assert (meetings["due"] >= meetings["called"]).all()
    assert (meetings["held"] >= meetings["due"]).all()
    started = homework.dropna(subset=["started"])
    assert (started["started"] >= started["assigned"]).all()


def test_authors_have_ties(simulated):
    by = simulated.table("authorships")
    ties = simulated.table("ties")
    since = ties[ties["date"] >= 0]
    pairs = set(zip(since["source"], since["target"], strict=True))
    assert pairs
    for _, writers in by.groupby("paper")["scientist"]:
        names = sorted(writers)
        assert {(a, b) for a in names for b in names if a < b} <= pairs


def test_measures_and_summary_agree_with_the_tables(simulated):
    told = summarise_run(simulated)
    assert told["calls"]["total"] == len(simulated.table("calls"))
    assert sum(told["calls"]["by_act"].values()) == told["calls"]["total"]
    assert told["teams"]["founded"] == len(simulated.table("teams"))
    assert told["papers"] == told["teams"]["published"]
    for name in COLUMNS:
        if told[name] is not None:
            assert len(told[name]["per_paper"]) == told["papers"]
            assert told[name]["mean"] > 0


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", [name for name in METRICS if name != "novelty"])
def test_written_measures_are_those_computed_now(name, simulated):
    written, now = measure(simulated, name), METRICS[name](simulated)
    assert written.astype(str).equals(now.astype(str))


def test_networks_and_report_are_written(simulated):
    folder: Path = simulated.folder
    graph = nx.read_graphml(folder / "network.graphml")
    timed = nx.read_gexf(folder / "network.gexf", version="1.3")
    assert set(graph) == set(timed) >= set(simulated.table("scientists")["scientist"])
    assert (folder / "report.html").stat().st_size < 5_000_000
    assert simulated.digest in (folder / "report.html").read_text(encoding="utf-8")
