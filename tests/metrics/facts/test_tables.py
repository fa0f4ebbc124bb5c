"""Tables of facts that are made from those of a run, worked by hand."""

from tests.hand_run import full
from virsci_society.metrics.facts.tables import team_places
from virsci_society.society.results.run import Run

HOME = {"A": "Rome", "B": "Oslo", "C": "Rome"}


def test_teams_at_one_place_and_at_several():
    """A moves from Rome to Oslo on day 20, D comes to Quito on day 15; of E nothing is known."""
    rows = full(
        {
            "scientists": [
                *((who, "t", 1, 1, 2000, None, HOME[who]) for who in "ABC"),
                ("D", "t", 0, 0, None, 15.0, "Quito"),
                ("E", "t", 0, 0, None, None, None),
            ],
            "careers": [("A", 20.0, "moved", "Oslo"), ("D", 15.0, "arrived", "Quito")],
            "papers": [
                *(("p1", "x", "t", "a", 10.0), ("p2", "x", "t", "a", 20.0)),
                *(("p3", "x", "t", "a", 20.5), ("p4", "x", "t", "a", 30.0)),
                ("p5", "x", "t", "a", 31.0),
            ],
            "authorships": [
                *(("p1", "A", 0), ("p1", "B", 1), ("p1", "C", 2)),
                # A move of the day itself holds after it.
                *(("p2", "A", 0), ("p2", "B", 1)),
                *(("p3", "A", 0), ("p3", "B", 1), ("p3", "E", 2)),
                *(("p4", "B", 0), ("p4", "D", 1)),
                *(("p5", "A", 0), ("p5", "E", 1)),
            ],
        }
    )
    run = Run.from_rows(rows, {"seed": 1, "days": 100.0}, {})
    remote = team_places(run).set_index("paper")["remote"]
    assert remote.to_dict() == {"p1": True, "p2": True, "p3": False, "p4": True}
