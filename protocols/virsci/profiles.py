"""Profiles: named sets of values for the switches of VirSci.

``paper`` is what the paper describes: the defaults. ``released-code`` is what the published
implementation is known to do where it departs from the paper. Every departure is a key of its
own, so that its effect can be measured alone; what a scenario gives beside the profile wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from agents.part import Part

Profile = Literal["paper", "released-code"]

RELEASED_CODE: Mapping[str, Any] = {
    "consensus": "leader",
    "forced_after": 2,
    "replacement": "off",
    "leaving": "off",
    "confidence": {"clarity": 3.0, "feasibility": 0.0, "novelty": 0.0, "first_idea": "unscored"},
    "guests": "join",
    "votes": "all_turns",
    "cites": "retrieved",
}
"""The departures of https://github.com/open-sciencelab/Virtual-Scientists from the paper."""

PROFILES: Mapping[Profile, Mapping[str, Any]] = {"paper": {}, "released-code": RELEASED_CODE}
GOVERNED = tuple(dict.fromkeys(key for profile in PROFILES.values() for key in profile))
"""Keys that some profile sets."""


def filled(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a protocol with those of its profile put where nothing is given.

    A section that is given in part takes its other keys from the profile.
    """
    # Of an unknown profile pydantic complains, by name.
    name = given.get("profile", "paper")
    profile = PROFILES.get(name, {}) if isinstance(name, str) else {}  # type: ignore[call-overload]
    return {**given, **{key: _beside(given, key, value) for key, value in profile.items()}}


def _beside(given: Mapping[str, Any], key: str, value: Any) -> Any:
    if key not in given:
        return value
    own = given[key]
    if isinstance(value, Mapping) and isinstance(own, Part):
        return {**value, **own.model_dump(include=own.model_fields_set)}
    return {**value, **own} if isinstance(value, Mapping) and isinstance(own, Mapping) else own
