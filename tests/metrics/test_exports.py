import re
from io import BytesIO
from xml.etree import ElementTree

import networkx as nx
import pytest

from tests.metrics.data_dictionary import data_dictionary
from virsci_society.metrics import exports
from virsci_society.metrics.exports import bipartite_graph, coauthor_graph, write_networks
from virsci_society.society.results.tables import TABLES

NS = {"g": "http://gexf.net/1.3"}


def graphml(graph):
    return "".join(exports.graphml_text(graph)).encode()


def gexf(graph):
    return exports.gexf_text(graph).encode()


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
    for file, graph in (("network", coauthor_graph(run)), ("bipartite", bipartite_graph(run))):
        names = {name for _, data in graph.nodes(data=True) for name in data}
        names |= {name for *_, data in graph.edges(data=True) for name in data}
        rows = [line for line in page.splitlines() if line.startswith(f"| `{file}` |")]
        assert names <= set(re.findall(r"`(\w+)`", " ".join(rows)))
    assert {"papers"} & {column.name for column in TABLES["scientists"]}
    assert "papers" not in coauthor_graph(run).nodes["S1"]


def test_the_digest_does_not_depend_on_the_speaker(run):
    text = exports.digested_network(coauthor_graph(run)).decode()
    assert '<data key="node-papers">1</data>' in text
    assert "papers_in_run" not in text
    assert "speaker" not in text


def test_the_bipartite_network(run):
    graph = bipartite_graph(run)
    assert graph.nodes["paper:S1/1"]["kind"] == "paper"
    assert graph.nodes["paper:S1/1"]["title"] == "Graphs that speak"
    assert graph.edges["paper:S1/1", "S3"] == {"position": 2, "start": 50.0}
    assert nx.is_bipartite(graph)


def test_networkx_reads_graphml_back(run):
    for graph in (coauthor_graph(run), bipartite_graph(run)):
        again = nx.read_graphml(BytesIO(graphml(graph)))
        assert dict(again.nodes(data=True)) == dict(graph.nodes(data=True))
        for first, second, data in graph.edges(data=True):
            assert again.edges[first, second] == data


def test_the_files_say_who_spoke(run, make_run):
    speaker = run.manifest["backend"]["about"]
    for graph in (coauthor_graph(run), bipartite_graph(run)):
        again = nx.read_graphml(BytesIO(graphml(graph)))
        assert again.graph["speaker"] == graph.graph["speaker"] == speaker
    people = gexf(coauthor_graph(run))
    assert nx.read_gexf(BytesIO(people), version="1.3").number_of_nodes() == 7
    meta = ElementTree.fromstring(people).find("g:meta", NS)
    assert meta.find("g:description", NS).text == f"answers: {speaker}"
    evil = make_run(manifest={"backend": {"about": "<model> & \x00 co"}})
    assert nx.read_graphml(BytesIO(graphml(coauthor_graph(evil)))).graph["speaker"] == (
        "<model> & \ufffd co"
    )
    assert ElementTree.fromstring(gexf(coauthor_graph(evil))).find("g:meta", NS) is not None
    silent = coauthor_graph(make_run(manifest={"backend": None}))
    assert nx.read_graphml(BytesIO(graphml(silent))).graph.get("speaker") is None
    assert ElementTree.fromstring(gexf(silent)).find("g:meta/g:description", NS) is None


def test_gexf_is_version_1_3(run):
    root = ElementTree.fromstring(gexf(coauthor_graph(run)))
    assert root.tag == "{http://gexf.net/1.3}gexf"
    assert root.get("version") == "1.3"
    graph = root.find("g:graph", NS)
    assert graph.get("mode") == "dynamic"
    assert graph.get("timeformat") == "double"
    edges = graph.findall("g:edges/g:edge", NS)
    assert len(edges) == 8
    assert not root.find("g:meta", NS).attrib, "no date of writing"
    assert {float(edge.get("start")) for edge in edges} == {-1.0, 50.0}
    assert all(float(edge.get("weight")) > 0 for edge in edges)
    declared = {a.get("id") for a in graph.findall("g:attributes/g:attribute", NS)}
    used = {value.get("for") for value in root.iter("{http://gexf.net/1.3}attvalue")}
    assert used == declared


def test_the_same_run_gives_the_same_bytes(rows, make_run, run, tmp_path):
    other = {name: listed[::-1] for name, listed in rows.items()}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    write_networks(run, tmp_path / "a")
    write_networks(make_run(other), tmp_path / "b")
    names = ["bipartite.graphml", "network.gexf", "network.graphml"]
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize("evil", ["\x00", "\x08", "\x0b", "\x1b", "\ufffe", "\uffff", "\x1f"])
def test_control_characters_do_not_break_the_files(evil, rows, make_run):
    paper = list(rows["papers"][0])
    paper[2] = f'Title{evil} <b>&amp; "more" ]]>'
    rows["papers"] = [tuple(paper)]
    rows["scientists"][0] = ("S1", f"top{evil}ic", 1, 1, 2000)
    run = make_run(rows)
    again = nx.read_graphml(BytesIO(graphml(bipartite_graph(run))))
    assert again.nodes["paper:S1/1"]["title"] == 'Title\ufffd <b>&amp; "more" ]]>'
    assert (
        nx.read_gexf(BytesIO(gexf(coauthor_graph(run))), version="1.3").nodes["S1"]["topic"]
        == "top\ufffdic"
    )


def test_an_empty_run_has_empty_networks(empty_run, tmp_path):
    write_networks(empty_run, tmp_path)
    assert len(nx.read_graphml(tmp_path / "network.graphml")) == 0
    assert len(nx.read_gexf(tmp_path / "network.gexf", version="1.3")) == 0
