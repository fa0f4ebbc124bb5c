"""The design of a study, with its arms, their scenarios and their seeds resolved.

Settings are the scenario keys of an arm. They are written dotted or nested, and messages about them
name the line of the study file in which they stand. A study may match its arms at several budgets:
comparisons stay within one, and all budgets share seeds and crossed values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.document import Document, Origin, dotted
from virsci_society.scenarios.config.schema import Scenario, read_scenario
from virsci_society.scenarios.config.yaml_io import Key, KeyPath
from virsci_society.scenarios.runs.preflight import check_before_run
from virsci_society.scenarios.study.study_file import (
    Bounds,
    Comparison,
    Match,
    PairedOver,
    Sampled,
    StudyFile,
)
from virsci_society.society.kernel.streams import Streams

Settings = Mapping[str, Any]
SEED_BITS = 40
"""Short enough to be read aloud, and for every tool that counts in floating point."""


def flatten(data: Mapping[Any, Any], path: KeyPath = ()) -> dict[str, Any]:
    """Nested settings with dotted keys; lists, and mappings from numbers, are values."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        here = (*path, key)
        if isinstance(value, Mapping) and value and all(isinstance(one, str) for one in value):
            found |= flatten(value, here)
        else:
            found[dotted(here)] = value
    return found


def nest(settings: Settings) -> dict[Key, Any]:
    """Dotted settings as a scenario file nests them."""
    data: dict[Key, Any] = {}
    for key, value in settings.items():
        *above, last = parse_key(key)
        section = data
        for step in above:
            below = section.get(step)
            section[step] = section = dict(below) if isinstance(below, dict) else {}
        section[last] = value
    return data


def parse_key(key: str) -> KeyPath:
    """The key path of a dotted key."""
    return tuple(int(one) if one.isdecimal() else one for one in key.split("."))


def settings_document(
    study: Document, place: KeyPath, settings: Settings | None = None
) -> Document:
    """Settings of a study file as a document whose messages name the lines of that file."""
    written = _at(study.data, place) if settings is None else settings
    chosen = flatten(written) if isinstance(written, Mapping) else {}
    document = Document(nest(chosen))
    above = study.origin(place) or Origin("", Path.cwd())
    for key in chosen:
        path = parse_key(key)
        for length in range(1, len(path) + 1):
            origin = _origin(study, place, path[:length]) or above
            # Labels of --set name the key themselves.
            named = path if origin.names else ()
            document.origins[path[:length]] = Origin(origin.label, origin.folder, named)
    return document


def _origin(study: Document, place: KeyPath, path: KeyPath) -> Origin | None:
    """Where a setting was written, whichever of its dots are levels of the file."""
    found = [
        origin
        for at, origin in study.origins.items()
        if at[: len(place)] == place and parse_key_path(at[len(place) :]) == path
    ]
    if found:
        return found[-1]
    longer = [
        origin
        for at, origin in study.origins.items()
        if at[: len(place)] == place and parse_key_path(at[len(place) :])[: len(path)] == path
    ]
    return longer[0] if longer else None


def parse_key_path(written: KeyPath) -> KeyPath:
    """A key path in which single keys may be dotted, step by step."""
    return tuple(step for key in written for step in parse_key(str(key)))


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """The shortest ends of dotted keys that tell the keys apart."""
    names = {}
    for key in keys:
        parts = key.split(".")
        tails = [".".join(parts[-count:]) for count in range(1, len(parts) + 1)]
        others = [f".{other}" for other in keys if other != key]
        alone = [t for t in tails if not any(other.endswith(f".{t}") for other in others)]
        names[key] = (alone or tails[-1:])[0]
    return names


def arm_name(settings: Settings) -> str:
    """The name of an arm: short keys and their values, such as ``team_size=4,turns=2``."""
    names = short_names(list(settings))
    return ",".join(f"{names[key]}={format_value(value)}" for key, value in settings.items())


def sample_arms(sampled: Sampled, seed: int) -> list[dict[str, Any]]:
    """The settings of every arm of a Latin hypercube, drawn from the study's seed."""
    from scipy.stats import qmc

    rng = np.random.Generator(np.random.PCG64(Streams(seed, "study").key("arms")))
    points = qmc.LatinHypercube(d=len(sampled.over), seed=rng).random(sampled.samples)
    over = sampled.over.items()
    return [
        {key: scale_to_bounds(at, bounds) for (key, bounds), at in zip(over, row, strict=True)}
        for row in points.tolist()
    ]


def scale_to_bounds(at: float, bounds: Bounds) -> int | float:
    """The value of a key at a point in [0, 1]; whole bounds give whole numbers, equally often."""
    low, high = bounds
    if isinstance(low, int) and isinstance(high, int):
        # min: the point 1 itself belongs to the last whole number.
        return min(high, low + int(at * (high - low + 1)))
    return float(low + at * (high - low))


def format_value(value: Any) -> str:
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


@dataclass(frozen=True)
class Arm:
    """One arm."""

    name: str
    settings: Settings
    of: str = ""
    budget: float | None = None

    @property
    def listed(self) -> str:
        """Its name in the study's file."""
        return self.of or self.name


@dataclass(frozen=True)
class MatchedArm:
    """What was chosen for one arm of a matched study."""

    arm: str
    key: str | None
    value: int | None
    target: float | None
    planned: float


@dataclass(frozen=True)
class Design:
    """A study that has been checked.

    Attributes:
        matching: what was chosen for the arms of a study with the key ``match``; None until
            ``match_budgets`` has chosen it, and for a study without.
    """

    name: str
    path: Path
    file: StudyFile
    base: Scenario
    arms: tuple[Arm, ...]
    scenarios: tuple[Scenario, ...]
    matching: tuple[MatchedArm, ...] | None = None
    adapted_at: Mapping[str, str] = field(default_factory=dict)
    reviewed_at: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.arms) * self.file.replicates

    @property
    def keys(self) -> list[str]:
        """Every key that some arm has of its own, in the order of the file."""
        return list(dict.fromkeys(key for arm in self.arms for key in arm.settings))

    @property
    def comparisons(self) -> list[Comparison]:
        """The planned comparisons, in the order of the file; short forms as what they stand for."""
        return [
            placed
            for one in self.file.comparisons
            for written in (paired_over(one, self.arms) if isinstance(one, PairedOver) else (one,))
            for placed in at_each_budget(written, self.arms)
        ]

    def seeds(self, arm: str) -> list[int]:
        """The seed of every replicate of an arm, derived from that of the study by hashing.

        It is the same for all arms of a paired study.
        """
        streams = Streams(self.file.seed, "study", *(() if self.file.paired else (arm,)))
        bits = 64 - SEED_BITS
        return [streams.key("replicate", r) >> bits for r in range(self.file.replicates)]


def paired_over(short: PairedOver, arms: Sequence[Arm]) -> list[Comparison]:
    """The paired tests that a short form stands for, in the order of the arms.

    Arms are compared that have the key and are alike in all their other settings; the first of them
    is the reference. An arm without such a partner is in no test.
    """
    of, key = short.paired.of, short.paired.over
    alike: dict[str, list[str]] = {}
    for arm in arms:
        if key in arm.settings:
            others = {name: value for name, value in arm.settings.items() if name != key}
            alike.setdefault(json.dumps(others, sort_keys=True, default=str), []).append(arm.name)
    return [
        Comparison(test="paired", of=of, arms=tuple(names))
        for names in alike.values()
        if len(names) > 1
    ]


def at_each_budget(one: Comparison, arms: Sequence[Arm]) -> list[Comparison]:
    """A comparison at each budget of a study, of the arms that its names stand for there.

    One of arms by the names that they have at their budgets stays whole.
    """
    own = {arm.name for arm in arms if arm.of}
    if not own or own & {*(one.arms or ())}:
        return [one]
    found, listed = [], dict.fromkeys(arm.listed for arm in arms)
    for budget in dict.fromkeys(arm.budget for arm in arms if arm.of):
        here = {arm.listed: arm.name for arm in arms if arm.budget in (None, budget)}
        placed = one.model_copy(update={"arms": tuple(here[name] for name in one.arms or listed)})
        found += [] if placed in found else [placed]
    return found


def scenario_of(
    base: Scenario, settings: Settings, *, trust: bool = False, **more: Any
) -> Scenario:
    """The scenario of an arm: the base with keys of the arm."""
    own = Document(nest({**settings, **more}))
    return read_scenario(scenario_document(base).merged_with(own), trust=trust)


def scenario_document(scenario: Scenario) -> Document:
    """A checked scenario as a document again, without the keys that its profile implies."""
    return Document(scenario.to_explicit_data())


def check_arms(design: Design, *, keys: bool = True) -> None:
    """Check what the arms of a study need besides right scenarios, as ``check_before_run`` does."""
    found: dict[str, list[str]] = {}
    for arm, scenario in zip(design.arms, design.scenarios, strict=True):
        try:
            check_before_run(scenario, keys=keys)
        except InputError as error:
            for fault in str(error).splitlines():
                found.setdefault(fault, []).append(arm.name)
    if found:
        told = (
            f"{design.path}: arm {arms[0]}"
            + (f" and {len(arms) - 1} more" if arms[1:] else "")
            + f": {fault}"
            for fault, arms in found.items()
        )
        raise InputError("\n".join(told))


def at_budgets(
    wanted: Match | None, arms: list[tuple[Arm, Document]]
) -> list[tuple[Arm, Document]]:
    """Adapted arms at each of several budgets; the others are run once, beside the last of them."""
    if wanted is None or not isinstance(wanted.to, tuple):
        return arms
    found = []
    for budget in wanted.to:
        for arm, document in arms:
            if arm.name in wanted.adapt:
                name = f"{arm.name} ({budget:g} {wanted.by})"
                found.append((Arm(name, arm.settings, arm.name, budget), document))
            elif budget == wanted.to[-1]:
                found.append((arm, document))
    return found
