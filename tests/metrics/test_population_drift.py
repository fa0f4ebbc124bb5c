"""How far interests have moved, which topic somebody had when."""

import math

import numpy as np
import pytest

from virsci_society.metrics.population import drift, keyword_diversity
from virsci_society.metrics.teams.peer_review import unended
from virsci_society.metrics.teams.teams import by_protocol, share_with_paper, teams

DRIFTED = [
    # S1 came with a, b, c, d; it loses d to e, then e comes first and b leaves for f.
    ("S1", 10.0, "P1", "a", "a; b; c; e", "e", "d"),
    ("S1", 20.0, "P2", "e", "e; a; c; f", "f", "b"),
    # S2 came with x alone, and takes up three more.
    ("S2", 10.0, "P1", "x", "x; a; b; c", "a; b; c", None),
    # S3 had none; S4 is left with none.
    ("S3", 10.0, "P1", "a", "a", "a", None),
    ("S4", 15.0, "P3", None, None, None, "speech"),
]


@pytest.fixture
def drifted(rows, make_run):
    rows["interests"] = DRIFTED
    return make_run(rows)


def test_interests_at_first_and_now_are_compared_by_hand(drifted):
    """S1 shares a and c: 2 of 4, cosine 2/4. S2 shares x: 1 of 1, cosine 1/sqrt(1 x 4)."""
    table = drift(drifted).set_index("scientist")
    assert table.index.tolist() == ["S1", "S2", "S3", "S4"]
    assert table["changes"].tolist() == [2, 1, 1, 1]
    assert table["came_with"].tolist() == [4, 1, 0, 1]
    assert table["has"].tolist() == [4, 4, 1, 0]
    assert table["kept"].isna().tolist() == [False, False, True, False]
    assert table["kept"].dropna().tolist() == [0.5, 1.0, 0.0]
    assert table["change"].isna().tolist() == [False, False, True, True]
    assert table["change"].dropna().tolist() == pytest.approx([0.5, 0.5])
    # Their main topics on day 0 were graphs, graphs, vision and speech.
    assert table["topic_changed"].tolist() == [True, True, True, True]


def test_where_nothing_drifts_there_is_nothing_to_tell(make_run):
    assert not len(drift(make_run()))


@pytest.mark.parametrize(
    ("date", "diversity", "unique"), [(4.9, 0.5, 0.0), (5.0, 0.75, 0.5), (6.0, 0.75, 0.5)]
)
def test_diversity_is_that_of_the_date_on_which_the_team_was_complete(
    rows, make_run, date, diversity, unique
):
    """S1/1 was complete on day 5: graphs, graphs, vision, speech unless it was vision by then."""
    rows["interests"] = [("S4", date, "P", "vision", "vision; speech", "vision", None)]
    row = teams(make_run(rows)).set_index("team").loc["S1/1"]
    assert (row["diversity"], row["unique"]) == (diversity, unique)


@pytest.mark.parametrize(
    "rounds",
    [
        [],
        [("S6/1", 1, 1, 30.0, None, None, None, None)],
        [("S6/1", 1, 1, 30.0, 70.0, "accept", 3, 8.0)],
        [("S6/1", 1, 1, 30.0, 70.0, "reject", 3, 4.0)],
    ],
)
def test_a_manuscript_in_review_is_no_paper_yet(rows, make_run, rounds):
    """S1/1 has published, S5/1 has not; S6/1 was accepted, or nobody judges it, or is judged."""
    become(rows, "S6/1", "finished")
    become(rows, "S5/1", "dissolved")
    rows["submissions"] = rounds
    run = make_run(rows)
    accepted = not rounds or rounds[0][5] == "accept"
    # S5/1 stopped without a paper: of those that have ended 1 of 2, or 2 of 3.
    assert share_with_paper(run) == (2 / 3 if accepted else 1 / 2)
    assert by_protocol(run).loc[0, "ended"] == (3 if accepted else 2)
    assert unended(run).tolist() == [False, False, not accepted]


def become(rows, team, state):
    """Another state of one team."""
    place = [row[0] for row in rows["teams"]].index(team)
    rows["teams"][place] = (*rows["teams"][place][:9], state, *rows["teams"][place][10:])


def test_extent_of_topics_is_the_same_of_more_papers_of_the_same_subjects(make_run):
    def extent(keywords):
        papers = [
            (f"P{n}", None, "", "", 1.0, None, text, False) for n, text in enumerate(keywords)
        ]
        return keyword_diversity(make_run({"papers": papers}))

    # Of four keywords two are the same: one of six pairs.
    assert extent(["x; y", "x; z", None]) == pytest.approx(6.0)
    rng = np.random.default_rng(1)
    for count in (200, 2000):
        assert extent(rng.choice([*"abcdefgh"], count).tolist()) == pytest.approx(8.0, rel=0.1)
    assert math.isnan(extent([None]))
