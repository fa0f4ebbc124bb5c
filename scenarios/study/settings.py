"""Settings: the scenario keys of an arm, dotted or nested, and where each of them was written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scenarios.document import Document, Origin, dotted
from scenarios.load import Key, KeyPath

Settings = Mapping[str, Any]


def flat(data: Mapping[Any, Any], path: KeyPath = ()) -> dict[str, Any]:
    """Nested settings with dotted keys; lists, and mappings from numbers, are values."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        here = (*path, key)
        if isinstance(value, Mapping) and value and all(isinstance(one, str) for one in value):
            found |= flat(value, here)
        else:
            found[dotted(here)] = value
    return found


def nested(settings: Settings) -> dict[Key, Any]:
    """Dotted settings as a scenario file has them."""
    data: dict[Key, Any] = {}
    for key, value in settings.items():
        *above, last = steps(key)
        section = data
        for step in above:
            below = section.get(step)
            section[step] = section = dict(below) if isinstance(below, dict) else {}
        section[last] = value
    return data


def steps(key: str) -> KeyPath:
    """The key path that a dotted key means."""
    return tuple(int(one) if one.isdecimal() else one for one in key.split("."))


def laid(study: Document, place: KeyPath, settings: Settings | None = None) -> Document:
    """Settings of a study file as a document whose complaints name the lines of that file.

    Args:
        study: the study file.
        place: where the settings stand in it.
        settings: dotted keys and values; None: the mapping that stands at the place.
    """
    written = _at(study.data, place) if settings is None else settings
    chosen = flat(written) if isinstance(written, Mapping) else {}
    document = Document(nested(chosen))
    above = study.origin(place) or Origin("", Path.cwd())
    for key in chosen:
        path = steps(key)
        for length in range(1, len(path) + 1):
            origin = _origin(study, place, path[:length]) or above
            document.origins[path[:length]] = Origin(origin.label, origin.folder, path)
    return document


def _origin(study: Document, place: KeyPath, path: KeyPath) -> Origin | None:
    """Where a setting was written, whichever of its dots are levels of the file."""
    found = [
        origin
        for at, origin in study.origins.items()
        if at[: len(place)] == place and steps_of(at[len(place) :]) == path
    ]
    if found:
        return found[-1]
    longer = [
        origin
        for at, origin in study.origins.items()
        if at[: len(place)] == place and steps_of(at[len(place) :])[: len(path)] == path
    ]
    return longer[0] if longer else None


def steps_of(written: KeyPath) -> KeyPath:
    """A key path in which single keys may be dotted, step by step."""
    return tuple(step for key in written for step in steps(str(key)))


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """The last parts of dotted keys, as few as tell them apart."""
    names = {}
    for key in keys:
        parts = key.split(".")
        tails = [".".join(parts[-count:]) for count in range(1, len(parts) + 1)]
        others = [f".{other}" for other in keys if other != key]
        alone = [t for t in tails if not any(other.endswith(f".{t}") for other in others)]
        names[key] = (alone or tails[-1:])[0]
    return names


def arm_name(settings: Settings) -> str:
    """Short keys and their values: ``team_size=4,turns=2``."""
    names = short_names(list(settings))
    return ",".join(f"{names[key]}={shown(value)}" for key, value in settings.items())


def shown(value: Any) -> str:
    """A value as names of arms and columns of tables have it."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, separators=(",", ":"), sort_keys=True, default=str)
    return str(value)


def _at(data: Any, place: KeyPath) -> Any:
    for key in place:
        data = data[key]
    return data
