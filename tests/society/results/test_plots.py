"""Plots of a run: axes in and out, and what is drawn on them."""

import pytest

from virsci_society.society.results.plots import RunPlots
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import TABLES


def rows(table, *given):
    return [tuple(one.get(column.name) for column in TABLES[table]) for one in given]


@pytest.fixture(scope="module")
def run():
    teams = rows(
        "teams",
        {"team": "A/1", "founded": 10.0, "finished": 50.0, "published": 70.0, "state": "published"},
        {"team": "B/1", "founded": 20.0, "state": "running"},
        {"team": "C/1", "founded": 30.0, "finished": 40.0, "state": "dissolved"},
    )
    return Run.from_rows(
        {
            "teams": teams,
            "ties": rows(
                "ties",
                {"source": "A", "target": "B", "date": -1.0, "papers": 2},
                {"source": "B", "target": "C", "date": 70.0, "papers": 1},
            ),
        },
        {"name": "drawn", "seed": 1, "days": 100.0},
        {},
    )


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure().subplots()


def test_the_timeline_has_a_bar_for_every_team(run, axes):
    assert run.plot.timeline(axes) is axes
    bars = {(bar.get_x(), bar.get_width()) for bar in axes.patches}
    assert bars == {(10.0, 40.0), (20.0, 80.0), (30.0, 10.0)}
    (dots,) = axes.lines
    assert dots.get_xdata()[0] == 70.0
    assert axes.get_xlim() == (0.0, 100.0)
    assert all(tick.is_integer() for tick in axes.get_yticks())


def test_the_network_is_that_of_a_day(run):
    def ties(day):
        from matplotlib.figure import Figure

        axes = Figure().subplots()
        run.plot.network(axes, day=day)
        lines = [one for one in axes.collections if hasattr(one, "get_segments")]
        return [len(one.get_segments()) for one in lines]

    assert ties(None) == [1, 1]
    assert ties(69.0) == [1]
    assert ties(-2.0) == []


@pytest.mark.parametrize("name", ["timeline", "network"])
def test_a_run_in_which_nothing_happened_can_be_drawn(name):
    empty = Run.from_rows({}, {"seed": 0, "days": 10.0}, {})
    made = getattr(RunPlots(empty), name)()
    assert made.figure is not None
    from matplotlib import pyplot

    pyplot.close(made.figure)
    assert name in repr(empty.plot)


def test_the_network_has_an_edge_per_pair_up_to_a_day(run):
    assert dict(run.network().edges) == {("A", "B"): {"papers": 2}, ("B", "C"): {"papers": 1}}
    assert set(run.network(69).edges) == {("A", "B")}
    assert set(run.network(70, since=0).edges) == {("B", "C")}
    assert not run.network(69, since=0).edges
