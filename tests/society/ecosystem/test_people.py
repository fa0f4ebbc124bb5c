"""People in columns: profiles by row, and rows by masked name."""

import pickle

import numpy as np
import pytest

from virsci_society.agents.profile import Profile
from virsci_society.society.ecosystem.knowledge_bank import People, numbered_names

THREE = (
    Profile("Scientist0", ("Here",), ("maps", "trees"), 3, 5, ("Scientist2",)),
    Profile("Scientist1", papers=1, citations=None),
    Profile("Scientist2", interests=("maps",), papers=2, citations=0),
)


def test_they_are_the_profiles_they_were_made_of():
    people = People.of(THREE)
    assert people == THREE
    assert tuple(people) == THREE
    assert people[-1] == THREE[-1]
    assert people[1:] == THREE[1:]
    assert people[::-1] == THREE[::-1]
    assert pickle.loads(pickle.dumps(people)) == THREE


def test_columns_by_hand():
    people = People.of(THREE)
    assert people.names == ("Scientist0", "Scientist1", "Scientist2")
    assert people.papers.tolist() == [3, 1, 2]
    assert people.topics == tuple(profile.topic for profile in THREE) == ("maps", "", "maps")
    assert people[1:].topics == ("", "maps")
    assert people.citations[[0, 2]].tolist() == [5.0, 0.0]
    assert np.isnan(people.citations[1])


@pytest.mark.parametrize(
    "name", ["Scientist3", "Scientist01", "Scientist-1", "Scientist", "Author0", "", "Scientist²"]
)
def test_nobody_is_called_so(name):
    assert People.of(THREE).row_of(name) is None
    assert People.of([Profile("Ada"), Profile("Ben")]).row_of(name) is None


def test_a_number_without_end_is_no_name():
    assert People.of(THREE).row_of("Scientist" + "9" * 5000) is None


def test_rows_by_name_whatever_the_names():
    assert [People.of(THREE).row_of(profile.id) for profile in THREE] == [0, 1, 2]
    turned = People.of(THREE[::-1])
    assert [turned.row_of(profile.id) for profile in THREE] == [2, 1, 0]
    assert turned.row_of("Scientist3") is None
    named = People.of([Profile("Ben"), Profile("Ada")])
    assert (named.row_of("Ada"), named.row_of("Ben"), named.row_of("Cai")) == (1, 0, None)


def test_no_people_are_people_too():
    nobody = People.of([])
    assert nobody == ()
    assert nobody.topics == nobody.names == ()
    assert nobody.row_of("Scientist0") is None


def test_numbers_make_names():
    assert numbered_names("Author", 11).to_pylist()[-2:] == ["Author9", "Author10"]
    assert len(numbered_names("Author", 0)) == 0
