"""Of a large network the communities are drawn, with lines for the ties between them."""

import numpy as np
import pandas as pd
import pytest

from tests.metrics.html_page import Page, assert_inert
from virsci_society.metrics.report import network_figures, sections
from virsci_society.metrics.report.network_layout import (
    MAX_CIRCLES,
    communities_of,
    strongest_pairs,
)
from virsci_society.metrics.report.page import render_page


def cliques(sizes, bridges=(), order=1):
    """Communities of one clique for each size, with ties between first members."""
    ties = [
        (f"{number:03d}.{one}", f"{number:03d}.{two}")
        for number, size in enumerate(sizes)
        for two in range(size)
        for one in range(two)
    ]
    ties += [(f"{first:03d}.0", f"{second:03d}.0") for first, second in bridges]
    table = pd.DataFrame(ties[::order], columns=["source", "target"]).assign(papers=1)
    topics = {f"{n:03d}.{place}": f"topic {n}" for n, s in enumerate(sizes) for place in range(s)}
    return communities_of(table, topics)


def test_each_community_is_a_circle_whose_area_is_that_of_its_people():
    found = cliques((9, 7, 6, 5, 4), [(0, 1), (1, 2), (2, 3), (0, 3)])
    centres, radius, lines = found.circles
    np.testing.assert_allclose(radius**2 / radius[0] ** 2, found.sizes / found.sizes[0])
    gaps = np.linalg.norm(centres[:, None] - centres[None], axis=2) - radius - radius[:, None]
    assert gaps[~np.eye(len(gaps), dtype=bool)].min() > 0
    assert lines.tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    row = {"label": "topic 1", "people": 7, "inside": 21, "across": 2}
    assert found.rows(30)[1] == row
    again = cliques((9, 7, 6, 5, 4), [(0, 1), (1, 2), (2, 3), (0, 3)], order=-1)
    np.testing.assert_array_equal(again.circles[0], centres)


@pytest.mark.slow
def test_of_very_many_communities_a_bounded_number_is_drawn():
    centres, radius, lines = cliques([3] * (MAX_CIRCLES + 20)).circles
    assert len(centres) == len(radius) == MAX_CIRCLES
    assert not len(lines)


def test_each_community_has_lines_to_three_others_at_most():
    across = np.arange(36).reshape(6, 6)
    across += across.T
    lines = strongest_pairs(across)
    assert len(lines) <= 18
    assert {(3, 5), (4, 5), (2, 5)} <= set(map(tuple, lines.tolist()))
    assert strongest_pairs(np.zeros((4, 4), dtype=np.int64)).shape == (0, 2)
    assert strongest_pairs(np.ones((1, 1), dtype=np.int64)).shape == (0, 2)


def test_the_page_of_a_large_network_shows_communities(run, monkeypatch):
    monkeypatch.setattr(network_figures, "MAX_DRAWN", 3)
    monkeypatch.setattr(sections, "MAX_DRAWN", 3)
    page = render_page(run)
    assert_inert(page)
    assert "Each symbol is a community (Louvain)" in page
    assert "The largest communities." in Page(page).text()
    assert page.count(">day ") >= 4
