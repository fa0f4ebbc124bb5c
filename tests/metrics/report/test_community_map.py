"""Communities of a large network as circles, with the ties between them."""

import numpy as np
import pandas as pd
import pytest

from tests.metrics.html_page import assert_inert
from virsci_society.metrics.report import figures
from virsci_society.metrics.report.network_figures import (
    community_map_figure,
    community_map_over_time,
)
from virsci_society.metrics.report.network_layout import (
    MAX_CIRCLES,
    SHARE_DRAWN,
    communities_of,
    map_communities,
    strongest_pairs,
)
from virsci_society.metrics.report.page import render_page


def mapped(sizes, bridges=(), order=1):
    """One clique for each size, ``A0`` to ..., with ties between first members."""
    topics, papers, ties = {}, {}, []
    for number, size in enumerate(sizes):
        members = [f"{number:03d}.{place}" for place in range(size)]
        topics |= dict.fromkeys(members, f"topic {number}")
        papers |= {who: size - place for place, who in enumerate(members)}
        ties += [(one, two, 1) for one in members for two in members if one < two]
    ties += [(f"{first:03d}.0", f"{second:03d}.0", 1) for first, second in bridges]
    table = pd.DataFrame(ties[::order], columns=["source", "target", "papers"])
    return map_communities(communities_of(table, topics), papers)


@pytest.fixture
def found():
    return mapped((9, 7, 6, 5, 4, 2, 2), [(0, 1), (1, 2), (2, 3), (0, 3)])


def test_the_largest_communities_are_drawn_and_the_others_are_one_remainder(found):
    assert list(found.people) == [9, 7, 6, 5, 4, 2]
    assert found.people.sum() >= SHARE_DRAWN * 35
    assert (found.rest, found.rest_communities) == (2, 1)
    assert len(found.names) == 35
    assert np.bincount(found.community).tolist() == [9, 7, 6, 5, 4, 2, 2]
    assert found.note.startswith("35 scientists with a co-author, in 7 communities. The 6 largest")


def test_each_has_its_pairs_topic_and_first_member(found):
    row = found.rows(30)[1]
    assert row == {
        "number": "2",
        "people": 7,
        "share": 0.2,
        "label": "topic 1",
        "papers": 28,
        "inside": 21,
        "across": 2,
        "first": "001.0",
    }
    assert found.lines.tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert found.pairs.tolist() == [1, 1, 1, 1]


def test_areas_are_those_of_the_people_and_circles_do_not_overlap(found):
    areas = found.radius**2
    np.testing.assert_allclose(areas / areas[0], found.people / found.people[0])
    gaps = np.linalg.norm(found.centres[:, None] - found.centres[None], axis=2)
    gaps -= found.radius[:, None] + found.radius[None]
    assert gaps[~np.eye(len(gaps), dtype=bool)].min() > 0


def test_it_does_not_depend_on_the_order_of_ties(found):
    again = mapped((9, 7, 6, 5, 4, 2, 2), [(0, 1), (1, 2), (2, 3), (0, 3)], order=-1)
    np.testing.assert_array_equal(again.centres, found.centres)
    assert community_map_figure(again) == community_map_figure(found)


@pytest.mark.slow
def test_of_very_many_communities_a_bounded_number_is_drawn():
    many = mapped([3] * (MAX_CIRCLES + 20))
    assert len(many.people) == MAX_CIRCLES
    assert (many.rest, many.rest_communities) == (60, 20)
    assert str(community_map_figure(many)).count("<circle") < 3 * MAX_CIRCLES


def test_each_community_has_lines_to_three_others_at_most():
    across = np.arange(36).reshape(6, 6)
    across += across.T
    lines = strongest_pairs(across)
    assert len(lines) <= 18
    assert {(3, 5), (4, 5), (2, 5)} <= set(map(tuple, lines.tolist()))
    assert strongest_pairs(np.zeros((4, 4), dtype=np.int64)).shape == (0, 2)
    assert strongest_pairs(np.ones((1, 1), dtype=np.int64)).shape == (0, 2)


def test_figures_name_the_remainder_and_grow_with_the_ties(found):
    figure = str(community_map_figure(found))
    assert "2 people in 1 smaller community" in figure
    assert "1: 9 people, topic 0" in figure
    ties = pd.DataFrame(
        [("000.0", "000.1", -5.0), ("000.0", "001.0", 40.0), ("x", "y", 1.0), ("alone", None, 1.0)],
        columns=["source", "target", "date"],
    )
    panels = str(community_map_over_time(found, ties, 90.0))
    assert panels.count("day ") == 4
    widths = [float(part.split('"')[0]) for part in panels.split('r="')[1:]]
    assert widths.count(0.0) >= 4 * 4, "communities without a tie by then are empty"


def test_the_page_of_a_large_network_shows_communities(run, monkeypatch):
    monkeypatch.setattr(figures, "MAX_DRAWN", 3)
    page = render_page(run)
    assert_inert(page)
    assert "The largest communities" in page
    assert "found by louvain" in page
    assert "Communities of the co-authorship network at the end" in page
