"""The number arrays of a run say what its tables say."""

import numpy as np
import pytest

from virsci_society.metrics.network_layout import run_communities
from virsci_society.scenarios.explorer.explorer_data import (
    NOBODY,
    PLACES,
    arrays_of,
    names_of,
    one_text,
    place_everybody,
    waits_of,
)


@pytest.fixture
def made(run):
    names = names_of(run)
    return arrays_of(run, names, run_communities(run))


def test_everybody_has_a_number(made):
    assert made.values["names"].split("\n") == ["S1", "S2", "S3", "S4", "S5", "S6", "S7"]
    assert made.people["S3"] == 2
    topics = [made.values["topics"][code] for code in made.arrays["topic"]]
    assert topics == ["graphs", "graphs", "vision", "speech", "vision", "speech", "speech"]
    assert np.isnan(made.arrays["left"]).all()


def test_communities_places_and_names_are_those_of_the_page_of_the_run(run):
    names = [*names_of(run), "nobody"]
    whole = run_communities(run)
    positions, community = place_everybody(whole, names)
    rows = [names.index(name) for name in whole.names]
    assert community[rows].tolist() == whole.community.tolist()
    assert community[names.index("nobody")] == PLACES
    places = whole.positions, positions[rows] * [1, -1]
    first, second = ((xy - xy.min(axis=0)) / np.ptp(xy, axis=0).max() for xy in places)
    np.testing.assert_allclose(first, second, atol=1e-9)
    alone = np.delete(positions, rows, axis=0)
    assert alone[:, 0].min() > positions[rows][:, 0].max()


def test_ties_before_day_0_come_first_and_are_all_there(made, run):
    first = np.cumsum(made.arrays["tieA"], dtype=np.uint32)
    ends = list(zip(first.tolist(), made.arrays["tieB"].tolist(), strict=True))
    days = made.arrays["tieDay"]
    assert (days[:3] < 0).all()
    assert (days[3:] == 50).all()
    ties = run.table("ties")
    wanted = {
        (made.people[a], made.people[b])
        for a, b in zip(ties["source"], ties["target"], strict=True)
    }
    assert set(ends) == wanted
    assert len(ends) == len(ties)


def test_teams_and_their_rows(made):
    assert made.values["teams"].split("\n") == ["S1/1", "S5/1", "S6/1"]
    states = [made.values["states"][code] for code in made.arrays["team_state"]]
    assert states == ["published", "running", "dissolved"]
    assert np.isnan(made.arrays["team_published"][1])
    assert np.bincount(made.arrays["member_team"]).tolist() == [4, 2, 1]
    assert made.arrays["invited_outcome"].tolist().count(NOBODY) == 1


def test_waits_are_for_the_last_to_finish_and_the_last_to_come(made, run):
    waits = waits_of(run)
    found = list(waits.itertuples(index=False, name=None))
    assert found == [
        ("S1/1", "S2", 10.5, 1.5),
        ("S5/1", "S1", 15.0, 1.0),
        ("S1/1", "S1", 16.0, 3.0),
    ]
    assert made.arrays["wait_who"].tolist() == [made.people[who] for _, who, _, _ in found]
    assert NOBODY not in made.arrays["wait_team"]


def test_papers_and_what_they_cite(made):
    assert made.values["titles"] == "Graphs that speak"
    assert made.values["past"] == "P1"
    assert made.arrays["past_from"].tolist() == [0]
    assert made.arrays["author_who"].tolist() == [0, 1, 2, 3]


def test_growth_is_that_of_the_ties(made):
    assert made.arrays["growth_all"][0] == 4
    assert made.arrays["growth_grown"][0] == 0
    assert made.arrays["growth_grown"][-1] == 4
    assert made.arrays["growth_grown_tied"][-1] == 4


def test_no_text_ends_its_line():
    assert one_text(["a\nb", "c\u2028d", "e\r\nf"]).split("\n") == ["a b", "c d", "e f"]


def test_an_empty_run_has_empty_arrays(empty_run):
    made = arrays_of(empty_run, [], run_communities(empty_run))
    assert all(not len(array) or name.startswith("growth") for name, array in made.arrays.items())
