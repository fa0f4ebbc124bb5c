import re
from io import BytesIO

import networkx as nx
import pytest

from tests.metrics.data_dictionary import data_dictionary
from virsci_society.metrics.exports import graphml_text, write_network
from virsci_society.society.results.tables import TABLES


def coauthor_graph(run, **how):
    return nx.read_graphml(BytesIO(graphml_text(run, **how).encode()))


def test_the_coauthor_network(run):
    graph = coauthor_graph(run)
    assert sorted(graph) == ["S1", "S2", "S3", "S4", "S5", "S6", "S7"]
    assert graph.nodes["S1"] == {"topic": "graphs", "papers_in_run": 1}
    assert graph.edges["S1", "S2"] == {"weight": 4, "before": 3, "since": 1, "start": -1.0}
    assert graph.edges["S3", "S4"] == {"weight": 1, "before": 0, "since": 1, "start": 50.0}


def test_people_outside_the_population_are_nodes_too(rows, make_run):
    rows["ties"].append(("S1", "Visitor", 60.0, 1))
    assert coauthor_graph(make_run(rows)).nodes["Visitor"] == {"topic": "", "papers_in_run": 0}


def test_attributes_of_networks_are_in_the_data_dictionary_and_no_column_of_another_meaning(run):
    page = data_dictionary().partition("## Network files")[2]
    graph = coauthor_graph(run)
    names = {name for _, data in graph.nodes(data=True) for name in data}
    names |= {name for *_, data in graph.edges(data=True) for name in data}
    rows = [line for line in page.splitlines() if line.startswith("| `network` |")]
    assert names <= set(re.findall(r"`(\w+)`", " ".join(rows)))
    assert {"papers"} & {column.name for column in TABLES["scientists"]}
    assert "papers" not in coauthor_graph(run).nodes["S1"]


def test_the_digest_does_not_depend_on_the_speaker(run):
    text = graphml_text(run, digested=True)
    assert '<data key="node-papers">1</data>' in text
    assert "papers_in_run" not in text
    assert "speaker" not in text


def test_edges_begin_at_who_comes_first_in_the_table(rows, make_run):
    rows["ties"].append(("Ahead", "S1", 60.0, 1))
    assert '<edge source="S1" target="Ahead">' in graphml_text(make_run(rows))


def test_the_files_say_who_spoke(run, make_run):
    speaker = run.manifest["backend"]["about"]
    assert coauthor_graph(run).graph["speaker"] == speaker
    evil = make_run(manifest={"backend": {"about": "<model> & \x00 co"}})
    assert coauthor_graph(evil).graph["speaker"] == ("<model> & \ufffd co")
    silent = coauthor_graph(make_run(manifest={"backend": None}))
    assert silent.graph.get("speaker") is None


def test_the_same_run_gives_the_same_bytes(rows, make_run, run, tmp_path):
    other = {name: listed[::-1] for name, listed in rows.items()}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    write_network(run, tmp_path / "a")
    write_network(make_run(other), tmp_path / "b")
    first, second = (tmp_path / folder / "network.graphml" for folder in "ab")
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("evil", ["\x00", "\x08", "\x0b", "\x1b", "\ufffe", "\uffff", "\x1f"])
def test_control_characters_do_not_break_the_files(evil, rows, make_run):
    rows["scientists"][0] = ("S1", f'top{evil}ic <b>&amp; "more" ]]>', 1, 1, 2000)
    again = coauthor_graph(make_run(rows))
    assert again.nodes["S1"]["topic"] == 'top\ufffdic <b>&amp; "more" ]]>'


def test_an_empty_run_has_empty_networks(empty_run, tmp_path):
    write_network(empty_run, tmp_path)
    assert len(nx.read_graphml(tmp_path / "network.graphml")) == 0
