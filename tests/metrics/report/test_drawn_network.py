import numpy as np
import pandas as pd

from virsci_society.metrics.report.network_layout import communities_of, run_communities


def network(edges):
    """A network of pairs with a number of joint papers."""
    return communities_of(pd.DataFrame(edges, columns=["source", "target", "papers"]), {})


def test_everybody_with_a_tie_is_drawn(run):
    part = run_communities([run])
    assert part.names == ["S1", "S2", "S3", "S4", "S5", "S6"]
    named = {(part.names[a], part.names[b]) for a, b in part.edges}
    assert {("S1", "S2"), ("S1", "S5"), ("S5", "S6")} <= named
    ties = run.table("ties")
    pairs = {frozenset(pair) for pair in zip(ties["source"], ties["target"], strict=True)}
    assert len(part.edges) == len(pairs)


def test_places_are_in_the_unit_square_and_apart(run):
    places = run_communities([run]).positions
    assert places.min() == 0
    assert abs(places.max() - 1) < 1e-9
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(len(places))
    assert gaps.min() > 0.05


def test_places_do_not_depend_on_the_order_of_edges():
    edges = [(f"S{n}", f"S{(n * 7 + 1) % 30}", 1) for n in range(30) if n != (n * 7 + 1) % 30]
    first, second = network(edges), network(edges[::-1])
    assert first.names == second.names
    np.testing.assert_array_equal(first.positions, second.positions)


def test_communities_of_one_topic_have_names_that_differ():
    clique = [(f"A{a}", f"A{b}", 1) for a in range(5) for b in range(a)]
    other = [(f"B{a}", f"B{b}", 1) for a in range(4) for b in range(a)]
    third = [("C0", "C1", 1), ("D0", "D1", 1)]
    topics = {f"{letter}{n}": "graphs" for letter in "AB" for n in range(5)} | {"C0": "vision"}
    edges = [*clique, *other, *third, ("A0", "B0", 1)]
    whole = communities_of(pd.DataFrame(edges, columns=["source", "target", "papers"]), topics)
    assert whole.labels == ["graphs around A0", "graphs around B0", "vision", "around D0"]
    assert whole.outside[whole.names.index("A0")].tolist() == [1, 1]
    assert whole.outside.sum() == 4


def test_tied_people_stand_closer_than_strangers():
    clique = [(f"A{a}", f"A{b}", 1) for a in range(6) for b in range(a)]
    other = [(f"B{a}", f"B{b}", 1) for a in range(6) for b in range(a)]
    part = network([*clique, *other, ("A0", "B0", 1)])
    group = np.array([name[0] == "A" for name in part.names])
    centres = [part.positions[group].mean(axis=0), part.positions[~group].mean(axis=0)]
    spread = max(part.positions[side].std() for side in (group, ~group))
    assert np.linalg.norm(centres[0] - centres[1]) > spread
