"""Arrays of who wrote what when."""

import numpy as np
import pytest

from society.literature.authorships import Authorships, all_authorships, authorships_of
from society.literature.papers import Paper, Papers

PAPERS = Papers.of(
    [
        Paper("p0", "A", "", -730.0, 2008, ("x", "y")),
        Paper("p1", "B", "", -365.0, 2009, ("z",)),
        Paper("p2", "C", "", -365.0, 2009, ("y", "x", "y")),
    ]
)


def lists(papers):
    return [papers.authors_of(number).tolist() for number in range(len(papers))]


def test_people_without_a_row_are_left_out_with_papers_of_theirs_alone():
    papers = authorships_of(PAPERS, {"y": 0, "x": 1}, 2)
    assert lists(papers) == [[1, 0], [0, 1]]
    assert papers.dates.tolist() == [-730.0, -365.0]
    assert papers.people == 2


def test_everybody_has_a_number_in_alphabetical_order():
    papers, names = all_authorships(PAPERS)
    assert names == ("x", "y", "z")
    assert lists(papers) == [[0, 1], [2], [1, 0]]


def test_a_period_ends_before_its_last_day():
    papers = Authorships.of([(0.0, (0,)), (1.0, (1, 2)), (2.0, (0, 2))])
    assert lists(papers.between(0.0, 2.0)) == [[0], [1, 2]]
    assert lists(papers.between(1.0, 9.0)) == [[1, 2], [0, 2]]
    assert lists(papers.between(3.0, 9.0)) == []
    assert papers.between(1.0, 9.0).people == 3


def test_some_people_get_numbers_of_their_own():
    papers = Authorships.of([(0.0, (0,)), (1.0, (1, 2)), (2.0, (4, 2))])
    some, known = papers.of_people(np.array([2, 4]))
    assert lists(some) == [[0], [1, 0]]
    assert (some.dates.tolist(), known.tolist()) == ([1.0, 2.0], [2, 4])


@pytest.mark.parametrize("people", [None, 9])
def test_no_papers_are_arrays_too(people):
    none = Authorships.of([], people)
    assert (len(none), none.people, none.sizes.tolist()) == (0, people or 0, [])
