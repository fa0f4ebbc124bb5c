"""Invented names: one for each person, the same everywhere, and back."""

import json

import pytest

from virsci_society.agents.invented_names import COUNT, masked_name, with_invented_names

NUMBERS = [*range(3000), 999_999, COUNT - 1]


def test_every_person_has_a_name_of_its_own_that_leads_back():
    names = [with_invented_names(f"Scientist{number}") for number in NUMBERS]
    assert len(set(names)) == len(NUMBERS)
    assert [masked_name(name) for name in names] == [f"Scientist{number}" for number in NUMBERS]
    assert all(name.isalpha() and name.istitle() and 6 <= len(name) <= 10 for name in names)
    first = {name[:2] for name in names[:28]}
    assert len(first) > 15, "neighbours in number look different"


@pytest.mark.parametrize(
    "text", ["Author3", "Scientist", "Scientist007", "Scientist12x", f"Scientist{COUNT}", "degree"]
)
def test_what_is_no_masked_name_stays(text):
    assert masked_name(text) == with_invented_names(text) == text


def test_teams_and_texts_in_json_are_named():
    told = with_invented_names(json.dumps({"Scientist1/2": "a\nScientist0\nScientist1"}))
    assert json.loads(told) == {"Brezabes/2": "a\nLindutun\nBrezabes"}
    assert masked_name("Brezabes/2") == "Scientist1/2"


def test_the_environment_keeps_masked_names(monkeypatch):
    monkeypatch.setenv("SOCIETY_NAMES", "masked")
    assert with_invented_names("Scientist0") == "Scientist0"
