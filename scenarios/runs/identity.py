"""The comparison of a run folder with a scenario, across releases that add keys.

A release may add a key. Where the key has its default, what happens is what happened before there
was such a key, so a folder that does not know the key holds the same run. A key whose default
another release has changed stands in the folder with its old value, and makes another run of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import hash_json
from virsci_society.scenarios.config.document import Document
from virsci_society.scenarios.config.schema import Scenario, read_scenario
from virsci_society.scenarios.config.yaml_io import KeyPath
from virsci_society.scenarios.runs.run_folder import identity_data, identity_hash


def is_same_scenario(held: object, known: object, scenario: Scenario) -> bool:
    """Does a folder hold this scenario, as far as its identity goes (rule 8)?

    Args:
        held: the identity that the folder bears, a sha256.
        known: the scenario in the folder as plain data, with every key of the release that wrote
            it.
        scenario: as it is now.
    """
    if held == identity_hash(scenario):
        return True
    if not isinstance(known, Mapping):
        return False
    added = added_keys(known, scenario.identity())
    if not added or not are_defaults(scenario, added):
        return False
    return held == hash_json(drop_paths(identity_data(scenario), added))


def added_keys(
    known: Mapping[str, Any], data: Mapping[str, Any], at: KeyPath = ()
) -> list[KeyPath]:
    """Paths that new data holds and known data does not; of a new section, its own path only.

    Args:
        known: nested data of an earlier release.
        data: the same of this release.
        at: path of both.
    """
    added: list[KeyPath] = []
    for key, value in data.items():
        here = (*at, key)
        if key not in known:
            added.append(here)
        elif isinstance(value, Mapping) and isinstance(known[key], Mapping):
            added += added_keys(known[key], value, here)
    return added


def are_defaults(scenario: Scenario, paths: list[KeyPath]) -> bool:
    """Does a scenario stay the same without the keys at these paths?"""
    try:
        # Whatever it imports has been trusted, and imported, when it was read itself.
        plainly = read_scenario(
            Document(drop_paths(scenario.to_explicit_data(), paths)), trust=True
        )
    except InputError:
        return False
    return plainly.to_data() == scenario.to_data()


def drop_paths(data: Mapping[Any, Any], paths: list[KeyPath]) -> dict[Any, Any]:
    """A copy of nested data without the values at some paths."""
    gone = {path[0] for path in paths if len(path) == 1}
    kept = {}
    for key, value in data.items():
        if key in gone:
            continue
        below = [path[1:] for path in paths if path[0] == key]
        kept[key] = drop_paths(value, below) if below and isinstance(value, Mapping) else value
    return kept
