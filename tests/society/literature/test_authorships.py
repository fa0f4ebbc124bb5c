"""Arrays of who wrote what when."""

import numpy as np

from virsci_society.society.literature.authorships import FIRST, LAST, Authorships, authorships_of
from virsci_society.society.literature.papers import Paper, Papers

PAPERS = Papers.of(
    [
        Paper("p0", "A", "", -730.0, 2008, ("x", "y")),
        Paper("p1", "B", "", -365.0, 2009, ("z",)),
        Paper("p2", "C", "", -365.0, 2009, ("y", "x", "y")),
    ]
)


def lists(papers):
    return [authors for _, authors in papers.dated()]


def test_people_without_a_row_are_left_out_with_papers_of_theirs_alone():
    papers = authorships_of(PAPERS, {"y": 0, "x": 1}, 2)
    assert lists(papers) == [[1, 0], [0, 1]]
    assert papers.dates.tolist() == [-730.0, -365.0]
    assert papers.people == 2


def test_a_period_ends_before_its_last_day():
    papers = Authorships.of([(0.0, (0,)), (1.0, (1, 2)), (2.0, (0, 2))])
    assert lists(papers.between(0.0, 2.0)) == [[0], [1, 2]]
    assert lists(papers.between(1.0, 9.0)) == [[1, 2], [0, 2]]
    assert lists(papers.between(3.0, 9.0)) == []
    assert papers.between(1.0, 9.0).people == 3


def test_some_people_get_numbers_of_their_own():
    papers = Authorships.of([(0.0, (0,)), (1.0, (1, 2)), (2.0, (4, 2))])
    some = papers.of_people(np.array([2, 4]))
    assert some.dated() == [(1.0, [0]), (2.0, [1, 0])]
    assert some.people == 2


def test_who_led_a_paper_stays_known_where_its_first_or_last_author_is_left_out():
    whole = Authorships.of([(0.0, (0,)), (1.0, (1, 2, 3)), (2.0, (4, 2))])
    assert whole.led(FIRST).tolist() == [True, True, False, False, True, False]
    assert whole.led(LAST).tolist() == [True, False, False, True, False, True]
    some = whole.of_people(np.array([2, 4])).between(1.0, 3.0)
    assert lists(some) == [[0], [1, 0]]
    assert some.led(FIRST).tolist() == [False, True, False]
    assert some.led(LAST).tolist() == [False, False, True]
    named = authorships_of(PAPERS, {"y": 0}, 1)
    # The last author of p0 alone, and of p2 the first, who is named again at its end.
    assert (named.led(FIRST).tolist(), named.led(LAST).tolist()) == ([False, True], [True, False])
