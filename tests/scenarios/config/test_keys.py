"""Every key told from the classes: JSON Schema for editors, a page for people."""

import json

import pytest

from virsci_society.scenarios.config.document import library
from virsci_society.scenarios.config.keys import json_schema, key_sections
from virsci_society.scenarios.config.reader import import_class
from virsci_society.scenarios.config.registry import BACKENDS, TABLES
from virsci_society.scenarios.config.schema import (
    BACKEND_EXECUTION,
    EXECUTION,
    Scenario,
    load_scenario,
)
from virsci_society.scenarios.config.yaml_io import read_yaml

ROWS = {(title, row.key): row for title, _, rows in key_sections(Scenario) for row in rows}


def says_what_happens(key):
    """Is a key part of a scenario's identity?"""
    backends = (import_class(path) for path in BACKENDS.values())
    unsaid = BACKEND_EXECUTION.union(*(getattr(one, "execution", ()) for one in backends))
    first, second, *_ = *key.split("."), ""
    return first not in EXECUTION and not (first == "backend" and second in unsaid)


KNOWN = {name: row for name, row in ROWS.items() if says_what_happens(name[1])}
"""The keys of the identity, by section and name."""


def test_every_key_has_a_meaning_and_only_keys_that_change_results_have_a_source():
    assert len([row for row in KNOWN.values() if row.source != "-"]) > 100
    assert all(row.source == "-" for name, row in ROWS.items() if name not in KNOWN)
    assert all(row.meaning and row.unit for row in ROWS.values())
    assert not [row for row in ROWS.values() if "Unit:" in row.meaning or "Source:" in row.meaning]


@pytest.fixture(scope="module")
def schema():
    return json_schema(Scenario)


def valid(schema, data):
    jsonschema = pytest.importorskip("jsonschema")
    # As an editor reads the file: every key is text.
    plain = json.loads(json.dumps(data))
    found = jsonschema.Draft202012Validator(schema).is_valid(plain)
    return found


def test_the_schema_is_one(schema):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_top_level_key_is_there_with_its_meaning(schema):
    assert set(schema["properties"]) == {"extends", "fitted_on", *Scenario.model_fields}
    assert all(one.get("description") for one in schema["properties"].values())
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("kind", sorted({*TABLES} - {"facts", "importers"}))
def test_every_part_of_every_table_is_there(schema, kind):
    for name, path in TABLES[kind].items():
        # The class of a card bears the name of the card.
        definition = schema["$defs"][path.partition(":")[2] or name]
        assert definition["properties"]["use"] == {"const": name}
        assert definition["description"]


@pytest.mark.parametrize("name", library())
def test_the_library_is_valid_but_for_the_folder_left_open(schema, name):
    assert valid(schema, read_yaml(library()[name]).data) == (name != "community/vis")


@pytest.mark.parametrize("name", sorted(set(library()) - {"community/vis"}))
def test_resolved_scenarios_are_valid(schema, name):
    assert valid(schema, load_scenario(name).to_data())


@pytest.mark.parametrize(
    ("data", "taken"),
    [
        ({"sed": 1}, False),
        ({"seed": "x"}, False),
        ({"seed": -1}, False),
        ({"attention": "of"}, False),
        ({"protocol": {"use": "virsci", "turnz": 1}}, False),
        ({"protocol": {"use": "virsci", "turns": {"topics": 1}}}, False),
        ({"time": {"utterance": {"use": "gamma"}}}, False),
        ({"metrics": ["novelti"]}, False),
        ({"backend": {"use": "offline", "in_flight": 0}}, False),
        ({"founding": {"use": "often"}}, False),
        ({}, True),
        ({"extends": "quickstart", "until": "2y", "step": 7}, True),
        ({"protocol": {"use": "virsci", "team_size": {"use": "observed"}}}, True),
        ({"protocol": {"team_size": 3, "turns": {"topic": 1}, "topic": {"given": "x"}}}, True),
        ({"protocol": {"use": "mine.module:Protocol", "anything": 1}}, True),
        ({"time": {"utterance": "10m", "homework": None}}, True),
        ({"time": {"utterance": {"use": "gamma", "mean": "10m"}}}, True),
        ({"backend": {"use": "offline", "in_flight": 3, "latency": 1}}, True),
        ({"novelty": {"k": 3, "normalise": "none"}}, True),
    ],
)
def test_the_schema_takes_what_the_command_takes(schema, data, taken):
    assert valid(schema, data) is taken
