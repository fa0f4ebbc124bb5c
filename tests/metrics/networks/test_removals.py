"""The network before and after a removal, counted by hand, and on the page."""

import networkx as nx
import numpy as np
import pytest

from virsci_society.metrics.networks.removals import removals, removed_by_date, snapshots

PAPERS = {
    "P1": (100.0, ("S1", "S3", "S4")),
    "P2": (200.0, ("S4", "S5")),
    "P3": (300.0, ("S1",)),
    "P4": (365.0, ("S6", "S7")),
    "P5": (500.0, ("S3", "S5")),
    "P6": (700.0, ("S2", "S6")),
}
"""S1 goes on day 365; the paper of that day appears after it has gone."""


def rows_of(papers=PAPERS, gone=(("S1", 365.0),), people=7):
    """Rows of a run in which these papers appear and these people are removed."""
    ties = [("S1", "S2", -1.0, 3), ("S5", "S6", -1.0, 2)]
    for date, authors in papers.values():
        pairs = [(a, b) for n, a in enumerate(authors) for b in authors[n + 1 :]]
        ties += [(*sorted(pair), date, 1) for pair in pairs]
    dates = sorted({date for _, date in gone})
    counts = [sum(date == when for _, when in gone) for date in dates]
    listed = [
        (n + 1, date, None, "degree", count)
        for n, (date, count) in enumerate(zip(dates, counts, strict=True))
    ]
    return {
        "scientists": [(f"S{n + 1}", "graphs", 1, 0, 2000, None) for n in range(people)],
        "papers": [(p, p, p, "Words.", date, "graphs", "a") for p, (date, _) in papers.items()],
        "authorships": [(p, who, n) for p, (_, by) in papers.items() for n, who in enumerate(by)],
        "interventions": listed,
        "careers": [(who, date, "removed") for who, date in gone],
        "ties": ties,
    }


@pytest.fixture
def removed(make_run):
    """One scientist of seven is removed after a year of 800 days."""
    return make_run(rows_of(), {"days": 800.0})


@pytest.fixture
def told(removed):
    """The measure, by moment and network."""
    return removals(removed).set_index(["moment", "network"]).sort_index()


def test_the_recent_network_before_and_without_by_hand(told):
    before, without = told.loc["before", "recent"], told.loc["without", "recent"]
    # S1, S3 and S4 wrote together, S4 with S5.
    assert (before["nodes"], before["edges"], before["removed"]) == (4, 4, 1)
    assert before["mean_degree"] == 2
    assert before["clustering"] == pytest.approx((1 + 1 + 1 / 3) / 4)
    assert before["path"] == pytest.approx((4 * 1 + 2 * 2) / 6)
    assert (without["nodes"], without["edges"]) == (3, 2)
    assert without["clustering"] == 0
    assert without["path"] == pytest.approx(4 / 3)
    assert (before["giant_share"], without["giant_share"]) == (1, 1)


def test_those_whose_coauthors_are_gone_stay_as_components_of_their_own(told):
    before, without = told.loc["before", "all"], told.loc["without", "all"]
    assert (before["nodes"], before["edges"], before["isolated"]) == (6, 6, 0)
    # S2 had written with S1 only; S3, S4, S5 and S6 hang together.
    assert (without["nodes"], without["edges"], without["isolated"]) == (5, 3, 1)
    assert (without["components"], without["giant_share"]) == (2, 4 / 5)
    assert without["communities"] <= 2


def test_work_is_that_of_those_who_are_there(told):
    table = told.xs("recent", level="network")
    assert table["people"].to_dict() == {"before": 7, "without": 6, "later": 6, "end": 6}
    # Before: P2 and P3; P3 is of S1 alone. Later: P4 and P5. At the end: P6.
    assert table["papers"].to_dict() == {"before": 2, "without": 1, "later": 2, "end": 1}
    half = 182.5 / 365
    assert table.loc["before", "papers_each"] == pytest.approx(3 / 7 / half)
    assert table.loc["without", "papers_each"] == pytest.approx(2 / 6 / half)
    assert table.loc["later", "papers_each"] == pytest.approx(4 / 6 / half)


def test_removals_of_one_day_are_one_and_later_ones_start_from_what_is_left(make_run):
    gone = [("S1", 365.0), ("S4", 365.0), ("S5", 700.0)]
    run = make_run(rows_of(gone=gone), {"days": 800.0})
    assert removed_by_date(run) == [(365.0, ["S1", "S4"]), (700.0, ["S5"])]
    table = removals(run)
    second = table[(table["removal"] == 700) & (table["network"] == "all")].set_index("moment")
    # Half a year after the second lies beyond the end.
    assert list(second.index) == ["before", "without", "end"]
    assert second["people"].tolist() == [5, 4, 4]
    # What appears on the very day comes after the removal: S2-S6 does.
    assert second["edges"].tolist() == [3, 1, 2]


def test_the_numbers_are_those_of_networkx_without_the_removed(make_run):
    rng = np.random.default_rng(5)
    papers = {
        f"P{n}": (float(n), tuple(f"S{1 + w}" for w in rng.choice(40, 3, replace=False)))
        for n in range(1, 90)
    }
    gone = [(f"S{n}", 60.0) for n in (1, 2, 3, 4)]
    run = make_run(rows_of(papers, gone, people=40), {"days": 90.0})
    table = removals(run).set_index(["moment", "network"])
    for moment in snapshots(run, *removed_by_date(run)[0]):
        row = table.loc[moment.name, "recent"]
        upto = moment.date if moment.inclusive else np.nextafter(moment.date, 0)
        graph = nx.Graph()
        for date, authors in papers.values():
            if date <= upto:
                graph.update(nx.complete_graph(authors))
        graph.remove_nodes_from(moment.gone)
        assert row["nodes"] == graph.number_of_nodes()
        assert row["edges"] == graph.number_of_edges()
        assert row["components"] == nx.number_connected_components(graph)
        assert row["clustering"] == pytest.approx(nx.average_clustering(graph))
        giant = graph.subgraph(max(nx.connected_components(graph), key=len))
        assert row["path"] == pytest.approx(nx.average_shortest_path_length(giant))


def test_those_who_came_are_there_and_those_who_retired_are_not(make_run):
    rows = rows_of()
    rows["careers"] += [
        *[("S8", 100.0, "arrived"), ("S9", 365.0, "arrived"), ("S2", 300.0, "retired")],
        ("S3", 600.0, "inactive"),
    ]
    table = removals(make_run(rows, {"days": 800.0})).set_index(["moment", "network"])
    people = table.xs("recent", level="network")["people"]
    # S1 to S7 and S8, without S2; S9 comes on the day and so after the removal; S3 goes.
    assert people.to_dict() == {"before": 7, "without": 6, "later": 7, "end": 6}
    # Of S1-S3-S4 and S4-S5; S1-S2 is gone with S2, S5-S6 is there.
    assert table.loc["before", "all"]["edges"] == 5
    assert table.loc["end", "recent"]["edges"] == 0
