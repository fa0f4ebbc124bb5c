"""People in columns: profiles by row, and rows by masked name."""

import pickle

import numpy as np

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


def test_no_people_are_people_too():
    nobody = People.of([])
    assert nobody == ()
    assert nobody.topics == nobody.names == ()
    assert nobody.row_of("Scientist0") is None


def test_numbers_make_names():
    assert numbered_names("Author", 11).to_pylist()[-2:] == ["Author9", "Author10"]
    assert len(numbered_names("Author", 0)) == 0
