import networkx as nx
import numpy as np

from virsci_society.metrics.exports import coauthor_graph
from virsci_society.metrics.report.network_layout import MAX_DRAWN, draw_network


def graph_of(edges):
    graph = nx.Graph()
    for first, second, before, since in edges:
        graph.add_edge(first, second, before=before, since=since, weight=before + since)
    return graph


def test_everybody_with_a_tie_is_drawn(run):
    part = draw_network(coauthor_graph(run))
    assert part.names == ["S1", "S2", "S3", "S4", "S5", "S6"]
    assert "All 6 scientists" in part.note
    named = {(part.names[a], part.names[b]) for a, b in part.edges}
    assert {("S1", "S2"), ("S1", "S5"), ("S5", "S6")} <= named
    assert len(part.edges) == coauthor_graph(run).number_of_edges()


def test_places_are_in_the_unit_square_and_apart(run):
    places = draw_network(coauthor_graph(run)).positions
    assert places.min() == 0
    assert places.max() == 1
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(len(places))
    assert gaps.min() > 0.05


def test_places_do_not_depend_on_the_order_of_edges():
    edges = [
        (f"S{n}", f"S{(n * 7 + 1) % 30}", n % 2, 1) for n in range(30) if n != (n * 7 + 1) % 30
    ]
    first, second = draw_network(graph_of(edges)), draw_network(graph_of(edges[::-1]))
    assert first.names == second.names
    np.testing.assert_array_equal(first.positions, second.positions)


def test_nobody_with_a_tie_is_nothing_to_draw():
    graph = nx.Graph()
    graph.add_node("S1")
    assert draw_network(graph) is None


def test_a_crowd_is_cut_to_the_busiest_of_its_largest_component():
    chain = [(f"A{n:04d}", f"A{n + 1:04d}", 1, 0) for n in range(500)]
    apart = [(f"B{n:04d}", f"B{n + 1:04d}", 9, 9) for n in range(50)]
    busy = [("A0490", "A0491", 1, 5)]
    part = draw_network(graph_of(chain + apart + busy))
    assert len(part.names) == MAX_DRAWN
    assert all(name.startswith("A") for name in part.names)
    assert {"A0490", "A0491"} <= set(part.names)
    assert "Of 552 scientists" in part.note
    assert "501 are in the largest" in part.note


def test_tied_people_stand_closer_than_strangers():
    clique = [(f"A{a}", f"A{b}", 1, 0) for a in range(6) for b in range(a)]
    other = [(f"B{a}", f"B{b}", 1, 0) for a in range(6) for b in range(a)]
    part = draw_network(graph_of([*clique, *other, ("A0", "B0", 1, 0)]))
    group = np.array([name[0] == "A" for name in part.names])
    centres = [part.positions[group].mean(axis=0), part.positions[~group].mean(axis=0)]
    spread = max(part.positions[side].std() for side in (group, ~group))
    assert np.linalg.norm(centres[0] - centres[1]) > spread
