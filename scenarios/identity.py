"""Identity: is this the scenario that a folder was made by, whichever release has made it?

A release may add a key. Where the key has its default, what happens is what happened before there
was such a key, so a folder that does not know it holds the same run. A key whose default another
release has changed stands in the folder with its old value, and makes another run of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.errors import InputError
from scenarios.document import Document
from scenarios.load import KeyPath
from scenarios.runfolder import hash_json, identified, identity_hash
from scenarios.schema import Scenario, read_scenario


def is_identity(held: object, known: object, scenario: Scenario) -> bool:
    """Is it the scenario with this identity?

    Args:
        held: the identity that a folder bears.
        known: the scenario in the folder as plain data, every key of the release that wrote it.
        scenario: as it is now.
    """
    if held == identity_hash(scenario):
        return True
    if not isinstance(known, Mapping):
        return False
    added = added_since(known, scenario.identity())
    if not added or not have_defaults(scenario, added):
        return False
    return held == hash_json(without(identified(scenario), added))


def added_since(
    known: Mapping[str, Any], data: Mapping[str, Any], at: KeyPath = ()
) -> list[KeyPath]:
    """Paths of what data holds and what is known does not; of a section that is new, its own."""
    added: list[KeyPath] = []
    for key, value in data.items():
        here = (*at, key)
        if key not in known:
            added.append(here)
        elif isinstance(value, Mapping) and isinstance(known[key], Mapping):
            added += added_since(known[key], value, here)
    return added


def have_defaults(scenario: Scenario, paths: list[KeyPath]) -> bool:
    """Is it the same scenario without the keys at these paths?"""
    try:
        # Whatever it imports has been trusted, and imported, when it was read itself.
        plainly = read_scenario(Document(without(scenario.to_change(), paths)), trust=True)
    except InputError:
        return False
    return plainly.to_data() == scenario.to_data()


def without(data: Mapping[Any, Any], paths: list[KeyPath]) -> dict[Any, Any]:
    """Nested data less what stands at some paths."""
    gone = {path[0] for path in paths if len(path) == 1}
    kept = {}
    for key, value in data.items():
        if key in gone:
            continue
        below = [path[1:] for path in paths if path[0] == key]
        kept[key] = without(value, below) if below and isinstance(value, Mapping) else value
    return kept
