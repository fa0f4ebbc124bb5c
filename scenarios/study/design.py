"""The design of a study, with its arms, their scenarios and seeds, read from a study file."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.document import (
    Document,
    Origin,
    dotted,
    find_scenario,
    from_settings,
    read_document,
    single_document,
)
from virsci_society.scenarios.config.reader import Reader
from virsci_society.scenarios.config.registry import outside_metric
from virsci_society.scenarios.config.schema import Scenario, read_scenario, title_of
from virsci_society.scenarios.config.yaml_io import Key, KeyPath
from virsci_society.scenarios.runs.preflight import check_before_run
from virsci_society.scenarios.study.study_file import (
    KINDS,
    Arms,
    Bounds,
    Comparison,
    Match,
    SampledDesign,
    StudyFile,
    about_of,
    find_study,
    name_of_study,
)
from virsci_society.society.kernel.streams import Streams

Settings = Mapping[str, Any]
SEED_BITS = 40
"""Short enough to be read aloud, and for every tool that counts in floating point."""
SHOWN = 12
"""Names that a message lists."""
RUNS_PER_PROCESS = 8
"""Runs in one process by default, where most of the time is waiting for a model."""


def flatten(data: Mapping[Any, Any], path: KeyPath = ()) -> dict[str, Any]:
    """Nested settings with dotted keys; lists, and mappings from numbers, are values."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, Mapping) and value and all(isinstance(one, str) for one in value):
            found |= flatten(value, (*path, key))
        else:
            found[dotted((*path, key))] = value
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


def settings_document(study: Document, place: KeyPath, settings: object) -> Document:
    """Settings at a place of a study file, as a document whose messages name its lines."""
    chosen = flatten(settings) if isinstance(settings, Mapping) else {}
    document = Document(nest(chosen))
    above = study.origin(place) or Origin("", Path.cwd())
    # A dot may be a level of the file or part of a dotted key.
    written = {
        tuple(step for key in at[len(place) :] for step in parse_key(str(key))): origin
        for at, origin in study.origins.items()
        if at[: len(place)] == place
    }
    for key in chosen:
        path = parse_key(key)
        for length in range(1, len(path) + 1):
            here = path[:length]
            below = (one for at, one in written.items() if at[:length] == here)
            origin = written.get(here) or next(below, above)
            # Labels of --set name the key themselves.
            document.origins[here] = Origin(
                origin.label, origin.folder, path if origin.names else ()
            )
    return document


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """The shortest distinct suffix of each dotted key."""
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


def format_value(value: Any) -> str:
    """A value as names of arms and columns of tables have it."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, separators=(",", ":"), sort_keys=True, default=str)
    return str(value)


def sample_arms(sampled: SampledDesign, seed: int) -> list[dict[str, Any]]:
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


@dataclass(frozen=True)
class Arm:
    """One arm; ``of`` is its name in the file, where it is run at several budgets."""

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

    ``matching`` is what ``match_budgets`` has chosen for the arms of a study with the key
    ``match``; ``places`` are the lines at which adapted arms and scores of reviews are named.
    """

    name: str
    path: Path
    about: str
    file: StudyFile
    base: Scenario
    arms: tuple[Arm, ...]
    scenarios: tuple[Scenario, ...]
    matching: tuple[MatchedArm, ...] | None = None
    places: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.arms) * self.file.replicates

    @property
    def keys(self) -> list[str]:
        """Every key that some arm sets, in the order of the file."""
        return list(dict.fromkeys(key for arm in self.arms for key in arm.settings))

    @property
    def comparisons(self) -> list[Comparison]:
        """The planned comparisons, in the order of the file, with short forms expanded."""
        return [
            placed
            for one in self.file.comparisons
            for written in written_out(one, self.arms)
            for placed in at_each_budget(written, self.arms)
        ]

    def sizes(
        self, runs: int, jobs: int | None = None, together: int | None = None
    ) -> tuple[int, int]:
        """Processes on this machine, and runs in each at a time, as given or as they are quick."""
        waits = not all(scenario.seeded_backend.inline for scenario in self.scenarios)
        jobs = jobs or (1 if waits else os.cpu_count() or 1)
        together = together or (RUNS_PER_PROCESS if waits else 1)
        return min(jobs, runs), min(together, runs)

    def seeds(self, arm: str) -> list[int]:
        """The seed of every replicate of an arm, the same for all arms of a paired study."""
        streams = Streams(self.file.seed, "study", *(() if self.file.paired else (arm,)))
        bits = 64 - SEED_BITS
        return [streams.key("replicate", r) >> bits for r in range(self.file.replicates)]


def written_out(one: Comparison, arms: Sequence[Arm]) -> list[Comparison]:
    """Expand a comparison over a key into its paired tests; others are returned unchanged.

    Compared are arms that set the key and agree in all other settings.
    """
    key = one.over
    if one.test != "paired" or key is None:
        return [one]
    alike: dict[str, list[str]] = {}
    for arm in arms:
        if key in arm.settings:
            others = {name: value for name, value in arm.settings.items() if name != key}
            alike.setdefault(json.dumps(others, sort_keys=True, default=str), []).append(arm.name)
    tests = (tuple(names) for names in alike.values() if len(names) > 1)
    return [one.model_copy(update={"arms": names, "over": None}) for names in tests]


def at_each_budget(one: Comparison, arms: Sequence[Arm]) -> list[Comparison]:
    """Expand a comparison to each budget of a study, with the arms of that budget."""
    own = {arm.name for arm in arms if arm.of}
    if not own or own & {*(one.arms or ())}:
        return [one]
    found, listed = [], dict.fromkeys(arm.listed for arm in arms)
    for budget in dict.fromkeys(arm.budget for arm in arms if arm.of):
        here = {arm.listed: arm.name for arm in arms if arm.budget in (None, budget)}
        placed = one.model_copy(update={"arms": tuple(here[name] for name in one.arms or listed)})
        found += [] if placed in found else [placed]
    return found


def scenario_of(base: Scenario, settings: Settings, *, trust: bool = False) -> Scenario:
    """The scenario of an arm: the base with keys of the arm."""
    own = Document(nest(settings))
    return read_scenario(Document(base.to_explicit_data()).merged_with(own), trust=trust)


def check_arms(design: Design, *, keys: bool = True) -> None:
    """Run ``check_before_run`` for every arm, and report each problem once."""
    found: dict[str, list[str]] = {}
    for arm, scenario in zip(design.arms, design.scenarios, strict=True):
        try:
            check_before_run(scenario, keys=keys)
        except InputError as error:
            for fault in str(error).splitlines():
                found.setdefault(fault, []).append(arm.name)
    if found:
        faults = (
            f"{design.path}: arm {arms[0]}"
            + (f" and {len(arms) - 1} more" if arms[1:] else "")
            + f": {fault}"
            for fault, arms in found.items()
        )
        raise InputError("\n".join(faults))


SET_BY_STUDY = ("seed", "out", "name")
"""Scenario keys that a study sets itself."""
ARM, MEASURE, KEY = "an arm", "a measure of this study", "a varied key"
SCORE = "a score of a review"
OUTCOME = "outcome"
"""A measure of the study, or a score of a review."""
NAMED = (
    ("labels.!", "an arm or measure"),
    ("comparisons.*.of", OUTCOME),
    ("comparisons.*.against", OUTCOME),
    ("comparisons.*.over", KEY),
    ("comparisons.*.arms.*", ARM),
    ("figures.*.of.*", OUTCOME),
    ("figures.*.against.*", MEASURE),
    ("figures.*.mark.!", KEY),
    ("match.to", ARM),
    ("match.adapt.!", ARM),
)
"""Where a study file names what: ``*`` is every item of a list or section, ``!`` its key."""
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_PLACE = re.compile(r"^(.*?):(\d+):(\d+): ")
Arms_ = list[tuple[Arm, Document]]


def read_study(
    name: str | Path,
    settings: Iterable[str] = (),
    *,
    trust: bool = False,
    measured: Iterable[str] = (),
) -> Design:
    """Read and check a study; ``measured`` are measures known to be valid, as in a lock."""
    path = find_study(name)
    own, over = _split_settings(settings)
    document = _with_named_arms(single_document(path)).merged_with(own)
    return _Reading(path, document, over, trust).design(frozenset(measured))


def study_of(
    data: Mapping[str, Any], base: str | Path | Scenario, *, trust: bool = False
) -> Design:
    """Check a study that is given as the keys of a file without ``base``."""
    name = str(base.name if isinstance(base, Scenario) else base)
    origins: dict[KeyPath, Origin] = {("base",): Origin("", Path.cwd())}
    keys: dict[Key, Any] = {**{str(key): value for key, value in data.items()}, "base": name}
    document = _with_named_arms(Document(keys, origins))
    reading = _Reading(
        Path(_NO_NAME.sub("-", name).strip("-.") or "study"), document, Document(), trust
    )
    if isinstance(base, Scenario):
        reading.start = Document(base.to_explicit_data())
    return reading.design(frozenset())


class _Reading:
    """Reads one study file and collects all problems before any is reported."""

    def __init__(self, path: Path, document: Document, over: Document, trust: bool) -> None:
        self.path, self.document, self.over, self.trust = path, document, over, trust
        self.reader = Reader(document, trust=trust)
        self.diagnostics = self.reader.diagnostics
        self.faults: list[str] = []
        self.start = Document()
        """The scenario that every arm's own keys are laid over; empty until it has been read."""

    def design(self, measured: frozenset[str]) -> Design:
        file = self.reader.read_part(StudyFile, self.document.data, ())
        arms = self._arms(file)
        base, scenarios = self._scenarios(arms)
        found = tuple(arm for arm, _ in arms)
        self._names(file, found, [one for one in (base, *scenarios) if one], measured)
        adapted = {} if file is None or file.match is None else file.match.adapt
        for name, ranges in adapted.items():
            for arm, document in [one for one in arms if one[0].listed == name][:1]:
                self._adapted(arm, document, ranges)
        lines = [*self.diagnostics.messages(), *self.faults]
        if lines or file is None or base is None:
            # Without duplicates: a problem of the base recurs in every arm.
            raise InputError("\n".join(_in_order(dict.fromkeys(lines))))
        places = {arm: self._place(("match", "adapt", arm)) for arm in adapted}
        for place, name in _found_at(self.document.data, ("comparisons", "*", "of")):
            if name.startswith("review."):
                places.setdefault(name, self._place(place))
        name, about = name_of_study(self.path), about_of(self.path)
        scenarios_ = tuple(scenarios)
        return Design(name, self.path, about, file, base, found, scenarios_, places=places)

    def _arms(self, file: StudyFile | None) -> Arms_:
        """Every arm, with its settings as a document that keeps their line numbers."""
        given = self.document.data.get("arms")
        if file is None and isinstance(given, dict):
            # With a new reader, whose problems are ignored: they are recorded already.
            arms = Reader(self.document, trust=self.trust).read_part(Arms, given, ("arms",))
        else:
            arms = None if file is None else file.arms
        if arms is None:
            return []
        found = list(self._made(arms, 1 if file is None else file.seed))
        if file is not None:
            found = at_budgets(file.match, found)
        names = [arm.name for arm, _ in found]
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                self.diagnostics.add(("arms", arms.kind), f"two arms are called {name!r}")
        return found

    def _made(self, arms: Arms, seed: int) -> Iterator[tuple[Arm, Document]]:
        place: KeyPath = ("arms", arms.kind)
        if arms.grid is not None:
            for chosen in itertools.product(*(enumerate(one) for one in arms.grid.values())):
                settings, document = {}, Document()
                for key, (number, value) in zip(arms.grid, chosen, strict=True):
                    settings[key] = value
                    one = settings_document(self.document, (*place, key, number), {key: value})
                    document = document.merged_with(one)
                yield Arm(arm_name(settings), settings), document
        elif arms.named is not None:
            for name, own in arms.named.items():
                document = settings_document(self.document, (*place, name), own)
                yield Arm(name, flatten(own)), document
        elif arms.latin_hypercube is not None:
            points = sample_arms(arms.latin_hypercube, seed)
            width = len(str(len(points) - 1))
            for number, settings in enumerate(points):
                document = settings_document(self.document, (*place, "over"), settings)
                yield Arm(f"point={number:0{width}d}", settings), document

    def _scenarios(self, arms: Arms_) -> tuple[Scenario | None, list[Scenario]]:
        """The base with ``--set`` applied, and the scenarios of the arms; problems are recorded."""
        name, origin = self.document.data.get("base"), self.document.origin(("base",))
        if not isinstance(name, str) or origin is None:
            return None, []
        start = self.start
        if not start.data:
            try:
                start = read_document(find_scenario(name, origin.folder))
            except InputError as error:
                self.diagnostics.add(("base",), str(error))
                return None, []
        start.data.setdefault("name", title_of(name))
        for_all = settings_document(self.document, ("set",), self.document.data.get("set"))
        self._refuse_decided("set", for_all)
        self._refuse_decided("--set", self.over)
        self.start = start.merged_with(for_all).merged_with(self.over)
        base, faults = self._try_read()
        self.faults += faults
        if base is not None:
            self.start = Document(base.to_explicit_data())
            self._refuse_hidden([arm for arm, _ in arms])
        scenarios = []
        for arm, document in arms:
            self._refuse_decided(f"arm {arm.name}", document)
            scenario, wrong = self._try_read(document, self._crossed(arm, document))
            self._note([line for line in wrong if line not in faults], f"arm {arm.name}")
            scenarios += [] if scenario is None else [scenario]
        return base, scenarios

    def _try_read(self, *documents: Document) -> tuple[Scenario | None, list[str]]:
        """The base scenario merged with some keys, or the lines of its error message."""
        whole = self.start
        for one in documents:
            whole = whole.merged_with(one)
        try:
            return read_scenario(whole, trust=self.trust), []
        except InputError as error:
            return None, str(error).splitlines()

    def _crossed(self, arm: Arm, document: Document) -> Document:
        """The first crossed value of each key; problems of all values are recorded."""
        given, first = self.document.data.get("crossed"), Document()
        for key, values in given.items() if isinstance(given, Mapping) else ():
            here: KeyPath = ("crossed", key)
            if any(_overlap(str(key), own) for own in arm.settings):
                self.diagnostics.add(here, f"arm {arm.name} sets it itself; leave it out there")
            self._refuse_settings(
                str(key),
                f"the study crosses {key} with its replicates; leave the setting out, or change "
                f"{self._place(here)}",
            )
            for number, value in enumerate(values if isinstance(values, list) else ()):
                one = settings_document(self.document, (*here, number), {str(key): value})
                first = first if number else first.merged_with(one)
                self._note(self._try_read(document, one)[1], self._place((*here, number)))
        return first

    def _adapted(self, arm: Arm, document: Document, ranges: Mapping[str, tuple[int, int]]) -> None:
        """Check that an arm is valid at both ends of the range of its adapted key."""
        here: KeyPath = ("match", "adapt", arm.listed)
        for key, ends in ranges.items():
            if key in arm.settings:
                fault = "the arm sets it itself; leave it out at one of the two places"
                self.diagnostics.add((*here, key), fault)
                continue
            self._refuse_settings(
                key,
                f"arm {arm.listed}: match adapts {key}; leave the setting out, or take another key "
                f"at {self._place((*here, key))}",
            )
            for end in ends:
                chosen = settings_document(self.document, here, {key: end})
                self._note(self._try_read(document, chosen)[1], self._place(here))

    def _refuse_decided(self, place: str, document: Document) -> None:
        for key in SET_BY_STUDY:
            if key in document.data:
                origin = document.origin((key,))
                where = origin.label if origin and origin.label else place
                self.faults.append(
                    f"{where}: {key}: the study decides it, run by run; the seed of all is the "
                    "key seed of the study, the folder is given with --out"
                )

    def _refuse_hidden(self, arms: list[Arm]) -> None:
        """Note a fault for each ``--set`` of the base that the keys of some arms would hide."""
        for key in flatten(self.over.data):
            hiding: dict[str, list[str]] = {}
            for arm in arms:
                for own in arm.settings:
                    # Another component replaces the whole section of the base.
                    section = own.removesuffix(".use")
                    if _overlap(key, own) or (section != own and _overlap(key, section)):
                        hiding.setdefault(own, []).append(arm.name)
            for own, names in hiding.items():
                who = f"{'arms' if names[1:] else 'arm'} {_listed(names)}"
                self.faults.append(
                    f"--set {key}: changes the base, but {who} {'set' if names[1:] else 'sets'} "
                    f"{own}; change it in the study's file"
                )

    def _refuse_settings(self, key: str, why: str) -> None:
        """Note a fault for each ``--set`` of a key whose value the study itself gives."""
        self.faults += [
            f"--set {given}: {why}" for given in flatten(self.over.data) if _overlap(key, given)
        ]

    def _note(self, faults: Iterable[str], where: str) -> None:
        """Note faults of a scenario; those without a line of a file get a place."""
        self.faults += [line if _PLACE.match(line) else f"{where}: {line}" for line in faults]

    def _place(self, path: KeyPath) -> str:
        """File, line and column of a key, as messages name them."""
        origin = self.document.origin(path)
        return f"{origin.label}: {dotted(path)}" if origin and origin.label else dotted(path)

    def _names(
        self,
        file: StudyFile | None,
        arms: Sequence[Arm],
        scenarios: list[Scenario],
        measured: frozenset[str],
    ) -> None:
        """Check the names of measures, arms, keys and scores in the file."""
        from virsci_society.scenarios.review.review_kinds import KINDS as REVIEWS

        data = self.document.data
        measures = [one for _, one in _found_at(data, ("measures", "*")) if isinstance(one, str)]
        if not measured.issuperset(measures):
            self._measures(measures, scenarios)
        names = list(dict.fromkeys([*(arm.listed for arm in arms), *(arm.name for arm in arms)]))
        keys = list(dict.fromkeys(key for arm in arms for key in arm.settings))
        scores = [f"review.{kind}.{one}" for kind in REVIEWS for one in REVIEWS[kind].scores]
        known = {ARM: names, KEY: keys, MEASURE: measures, SCORE: scores}
        known["an arm or measure"] = [*names, *measures]
        for pattern, what in NAMED:
            for place, name in _found_at(data, pattern.split(".")):
                if what == OUTCOME:
                    review = str(name).partition(".")[0] == "review"
                    kind = SCORE if review else MEASURE
                else:
                    kind = what
                if isinstance(name, str) and known[kind] and name not in known[kind]:
                    hint = did_you_mean(name, known[kind])
                    fault = f"{name!r} is not {kind}, expected one of {_listed(known[kind])}{hint}"
                    self.diagnostics.add(place, fault)
        for number, one in enumerate(() if file is None else file.comparisons):
            if one.over in keys and not written_out(one, arms):
                fault = f"no two arms differ in {one.over!r} alone; name the arms"
                self.diagnostics.add(("comparisons", number, "over"), fault)

    def _measures(self, measures: list[str], scenarios: list[Scenario]) -> None:
        from virsci_society.metrics.registry import name_error

        asked = dict.fromkeys(name for one in scenarios for name in one.metrics)
        own = dict(found for name in asked if (found := outside_metric(name)))
        for number, measure in enumerate(measures):
            if measure.startswith("review."):
                problem: str | None = (
                    f"{measure} is given by reviewers when the runs are done, and no run has it; "
                    "name it in a comparison (of: or against:), and leave it out here"
                )
            elif not scenarios and "." in measure:
                continue  # its table may be a metric of a scenario that cannot be read yet
            else:
                problem = name_error(measure, own)
            if problem is not None:
                self.diagnostics.add(("measures", number), problem)


def at_budgets(wanted: Match | None, arms: Arms_) -> Arms_:
    """Repeat adapted arms at each of several budgets; the others run once, with the last."""
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


def _with_named_arms(document: Document) -> Document:
    """Move arms that are given by name below the key ``named``."""
    arms = document.data.get("arms")
    if not isinstance(arms, dict) or not arms or {*arms} & {*KINDS}:
        return document
    if len(arms) == 1 and did_you_mean(str(next(iter(arms))), KINDS):
        return document  # a misspelt kind of arms
    named = {str(name): {} if own is None else own for name, own in arms.items()}
    origins: dict[KeyPath, Origin] = {}
    for path, origin in document.origins.items():
        inside = path[:1] == ("arms",) and len(path) > 1
        origins[("arms", "named", str(path[1]), *path[2:]) if inside else path] = origin
    return Document({**document.data, "arms": {"named": named}}, origins)


def _split_settings(settings: Iterable[str]) -> tuple[Document, Document]:
    """Split ``--set`` into settings of the study and settings of its base scenario."""
    given = from_settings(settings)
    own, base = Document(), Document()
    for part, content in given.data.items():
        document = own if part in StudyFile.model_fields else base
        document.data[part] = content
        document.origins.update({at: of for at, of in given.origins.items() if at[0] == part})
    return own, base


def _overlap(one: str, other: str) -> bool:
    """Is one dotted key equal to the other, or inside its section?"""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def _found_at(
    data: Any, pattern: Sequence[str], place: KeyPath = ()
) -> Iterator[tuple[KeyPath, Any]]:
    """The key path and value of every match of a pattern of ``NAMED``."""
    if not pattern:
        yield place, data
    elif pattern[0] in ("*", "!"):
        listed = dict(enumerate(data)) if isinstance(data, list) else data
        for key, value in listed.items() if isinstance(listed, dict) else ():
            found = key if pattern[0] == "!" else value
            yield from _found_at(found, pattern[1:], (*place, key))
    elif isinstance(data, dict) and pattern[0] in data:
        yield from _found_at(data[pattern[0]], pattern[1:], (*place, pattern[0]))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def _in_order(lines: Iterable[str]) -> list[str]:
    """Sort problems by line and column; problems without a line come last, in their order."""

    def place(line: str) -> tuple[int, str, int, int]:
        found = _PLACE.match(line)
        return (0, found[1], int(found[2]), int(found[3])) if found else (1, "", 0, 0)

    by_place: dict[tuple[object, ...], str] = {}
    for line in sorted(lines, key=place):
        by_place.setdefault((*place(line)[:3], _PLACE.sub("", line)), line)
    return list(by_place.values())
