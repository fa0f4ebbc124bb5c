"""The reader of study files, which returns a design or all faults at once."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.document import (
    Document,
    dotted,
    find_scenario,
    from_settings,
    read_document,
    single_document,
)
from virsci_society.scenarios.config.reader import Reader
from virsci_society.scenarios.config.registry import outside_metric
from virsci_society.scenarios.config.schema import Scenario, read_scenario, title_of
from virsci_society.scenarios.config.yaml_io import KeyPath
from virsci_society.scenarios.study.design import (
    Arm,
    Design,
    arm_name,
    at_budgets,
    flatten,
    paired_over,
    sample_arms,
    scenario_document,
    settings_document,
)
from virsci_society.scenarios.study.study_file import (
    Arms,
    Comparison,
    Figure,
    Listed,
    PairedKey,
    PairedOver,
    Scatter,
    StudyFile,
    find_study,
    name_of_study,
)

DECIDED = ("seed", "out", "name")
"""Scenario keys that a study sets itself."""
_PLACE = re.compile(r"^(.*?):(\d+):(\d+): ")


def read_study(
    name: str | Path,
    settings: Iterable[str] = (),
    *,
    trust: bool = False,
    measured: Iterable[str] = (),
) -> Design:
    """Read and check a study."""
    path = find_study(name)
    return _Reading(path, settings, trust, frozenset(measured)).design()


class _Reading:
    """One reading of one file; what is wrong is gathered before any of it is reported."""

    def __init__(
        self, path: Path, settings: Iterable[str], trust: bool, measured: frozenset[str]
    ) -> None:
        own, self.over = split_settings(settings)
        self.path, self.trust, self.measured = path, trust, measured
        self.document = single_document(path).merged_with(own)
        self.reader = Reader(self.document, trust=trust)
        self.diagnostics = self.reader.diagnostics
        self.faults: list[str] = []
        self.start = Document()
        """The scenario that every arm's own keys are laid over."""

    def design(self) -> Design:
        file = self.reader.read_part(StudyFile, self.document.data, ())
        self._parts()
        arms = self._arms(file)
        base, scenarios = self._scenarios(arms)
        self._names([arm for arm, _ in arms], [one for one in (base, *scenarios) if one])
        self._match(file, arms)
        lines = [*self.diagnostics.messages(), *self.faults]
        if lines or file is None or base is None:
            # Each once: a fault of the base comes again with every arm.
            raise InputError("\n".join(_in_order(dict.fromkeys(lines))))
        found = tuple(arm for arm, _ in arms)
        places = {arm: self._place(("match", "adapt", arm)) for arm in _adapted(file)}
        return Design(
            name_of_study(self.path),
            self.path,
            file,
            base,
            found,
            tuple(scenarios),
            adapted_at=places,
            reviewed_at=self._places_of_reviews(),
        )

    def _places_of_reviews(self) -> dict[str, str]:
        places: dict[str, str] = {}
        for number, one in enumerate(_items(self.document.data.get("comparisons"))):
            here: KeyPath = ("comparisons", number)
            if "paired" in one:
                one, here = one["paired"], (*here, "paired")
            places.setdefault(one["of"], self._place((*here, "of")))
        return {name: place for name, place in places.items() if name.startswith("review.")}

    def _parts(self) -> None:
        """Unknown keys inside lists, which pydantic alone would name without a near spelling."""
        arms = self.document.data.get("arms")
        listed = arms.get("list") if isinstance(arms, dict) else None
        lists: tuple[tuple[KeyPath, Any, type[Part]], ...] = (
            (("arms", "list"), listed, Listed),
            (("comparisons",), self.document.data.get("comparisons"), Comparison),
            (("figures",), self.document.data.get("figures"), Figure),
        )
        for place, items, part in lists:
            if not isinstance(items, list):
                continue
            earlier = [one for one in self.diagnostics.faults if one[0][: len(place)] == place]
            for one in earlier:
                self.diagnostics.faults.remove(one)
            for number, item in enumerate(items):
                short = part is Comparison and isinstance(item, dict) and "paired" in item
                scatter = part is Figure and isinstance(item, dict) and "against" in item
                kind = PairedOver if short else Scatter if scatter else part
                self.reader.read_part(kind, item, (*place, number))
            # What only the whole list shows, such as its length, must not be lost.
            if len(self.diagnostics.faults) == 0 and earlier:
                self.diagnostics.faults += earlier

    def _arms(self, file: StudyFile | None) -> list[tuple[Arm, Document]]:
        """Every arm with its settings as a document that knows the lines they stand in."""
        silent = Reader(self.document, trust=self.trust)
        read = file.arms if file is not None else None
        if read is None and isinstance(self.document.data.get("arms"), dict):
            read = silent.read_part(Arms, self.document.data["arms"], ("arms",))
        if read is None:
            return []
        seed = file.seed if file is not None else 1
        found = list(self._made(read, seed))
        if file is not None:
            found = at_budgets(file.match, found)
        names = [arm.name for arm, _ in found]
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                self.diagnostics.add(("arms", read.kind), f"two arms are called {name!r}")
        return found

    def _made(self, arms: Arms, seed: int) -> Iterator[tuple[Arm, Document]]:
        place: KeyPath = ("arms", arms.kind)
        if arms.grid is not None:
            for chosen in itertools.product(*(range(len(one)) for one in arms.grid.values())):
                at = dict(zip(arms.grid, chosen, strict=True))
                settings = {key: arms.grid[key][number] for key, number in at.items()}
                document = Document()
                for key, number in at.items():
                    one = settings_document(
                        self.document, (*place, key, number), {key: settings[key]}
                    )
                    document = document.merged_with(one)
                yield Arm(arm_name(settings), settings), document
        elif arms.list is not None:
            for number, listed in enumerate(arms.list):
                document = settings_document(self.document, (*place, number, "set"), listed.set)
                yield Arm(listed.name, flatten(listed.set)), document
        elif arms.latin_hypercube is not None:
            points = sample_arms(arms.latin_hypercube, seed)
            width = len(str(len(points) - 1))
            for number, settings in enumerate(points):
                document = settings_document(self.document, (*place, "over"), settings)
                yield Arm(f"point={number:0{width}d}", settings), document

    def _scenarios(
        self, arms: list[tuple[Arm, Document]]
    ) -> tuple[Scenario | None, list[Scenario]]:
        """The base with what ``--set`` says, and the scenarios of the arms; faults are noted."""
        start = self._base()
        if start is None:
            return None, []
        given = isinstance(self.document.data.get("set"), Mapping)
        for_all = settings_document(self.document, ("set",)) if given else Document()
        self._refuse_decided("set", for_all)
        self._refuse_decided("--set", self.over)
        self.start = start.merged_with(for_all).merged_with(self.over)
        base, faults = try_read(self.start, self.trust)
        self.faults += faults
        if base is not None:
            self.start = scenario_document(base)
            self._refuse_set_in_arms([arm for arm, _ in arms])
        scenarios = []
        for arm, document in arms:
            self._refuse_decided(f"arm {arm.name}", document)
            crossed = self._crossed(arm, document)
            scenario, wrong = try_read(
                self.start.merged_with(document).merged_with(crossed), self.trust
            )
            self._note([line for line in wrong if line not in faults], f"arm {arm.name}")
            if scenario is not None:
                scenarios.append(scenario)
        return base, scenarios

    def _refuse_set_in_arms(self, arms: list[Arm]) -> None:
        """Note a fault for each ``--set`` of the base that the keys of some arms would hide."""
        for key in flatten(self.over.data):
            hiding: dict[str, list[str]] = {}
            for arm in arms:
                for own in arm.settings:
                    # Another part replaces the whole section of the base.
                    section = own.removesuffix(".use")
                    if overlap(key, own) or (section != own and overlap(key, section)):
                        hiding.setdefault(own, []).append(arm.name)
            for own, names in hiding.items():
                some = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
                self.faults.append(
                    f"--set {key}: changes the base, but {'arms' if names[1:] else 'arm'} {some} "
                    f"{'set' if names[1:] else 'sets'} {own}; change it in the study's file"
                )

    def _crossed(self, arm: Arm, document: Document) -> Document:
        """The first of the values that are crossed with the replicates; faults of all are noted."""
        given = self.document.data.get("crossed")
        if not isinstance(given, Mapping) or not all(
            isinstance(one, list) for one in given.values()
        ):
            return Document()
        first = Document()
        for key, values in given.items():
            here: KeyPath = ("crossed", key)
            if any(overlap(str(key), own) for own in arm.settings):
                self.diagnostics.add(here, f"arm {arm.name} sets it itself; leave it out there")
            self._refuse_settings(
                str(key),
                f"the study crosses {key} with its replicates; leave the setting out, or change "
                f"{self._place(here)}",
            )
            for place, value in enumerate(values):
                one = settings_document(self.document, (*here, place), {str(key): value})
                first = first if place else first.merged_with(one)
                _, wrong = try_read(self.start.merged_with(document).merged_with(one), self.trust)
                self._note(wrong, self._place((*here, place)))
        return first

    def _base(self) -> Document | None:
        name = self.document.data.get("base")
        origin = self.document.origin(("base",))
        if not isinstance(name, str) or origin is None:
            return None
        try:
            document = read_document(find_scenario(name, origin.folder))
        except InputError as error:
            self.diagnostics.add(("base",), str(error))
            return None
        document.data.setdefault("name", title_of(name))
        return document

    def _refuse_decided(self, place: str, document: Document) -> None:
        for key in DECIDED:
            if key in document.data:
                origin = document.origin((key,))
                where = origin.label if origin and origin.label else place
                self.faults.append(
                    f"{where}: {key}: the study decides it, run by run; the seed of all is the "
                    "key seed of the study, the folder is given with --out"
                )

    def _names(self, arms: list[Arm], scenarios: list[Scenario]) -> None:
        """What is measured, and what comparisons name, must be there; other faults aside."""
        data = self.document.data
        measures = [one for one in _items(data.get("measures")) if isinstance(one, str)]
        if not self.measured.issuperset(measures):
            self._measures(scenarios)
        names = list(dict.fromkeys([*(arm.listed for arm in arms), *(arm.name for arm in arms)]))
        keys = list(dict.fromkeys(key for arm in arms for key in arm.settings))
        labels = data.get("labels")
        for name in labels if isinstance(labels, dict) else ():
            self._named(("labels", name), "arm or measure", name, [*names, *measures])
        for number, one in enumerate(_items(data.get("comparisons"))):
            if not isinstance(one, dict):
                continue
            here: KeyPath = ("comparisons", number)
            if isinstance(short := one.get("paired"), dict):
                one, here = short, (*here, "paired")
                self._partners((*here, "over"), short, arms)
            self._outcome((*here, "of"), one.get("of"), measures)
            self._named((*here, "over"), "key that is varied", one.get("over"), keys)
            self._outcome((*here, "against"), one.get("against"), measures)
            for position, arm in enumerate(_items(one.get("arms"))):
                self._named((*here, "arms", position), "arm", arm, names)
        for number, one in enumerate(_items(data.get("figures"))):
            if isinstance(one, dict):
                self._figure(("figures", number), one, measures, keys)

    def _partners(self, place: KeyPath, short: Mapping[str, Any], arms: list[Arm]) -> None:
        """A fault where a key is varied, but no two arms differ in it alone."""
        of, over = short.get("of"), short.get("over")
        if not isinstance(of, str) or not any(over in arm.settings for arm in arms):
            return
        if not paired_over(PairedOver(paired=PairedKey(of=of, over=str(over))), arms):
            self.diagnostics.add(place, f"no two arms differ in {over!r} alone; name the arms")

    def _match(self, file: StudyFile | None, arms: list[tuple[Arm, Document]]) -> None:
        """Arms that are matched must be there, and both ends of what is adapted must be right."""
        names = list(dict.fromkeys(arm.listed for arm, _ in arms))
        wanted = file.match.to if file is not None and file.match is not None else None
        self._named(("match", "to"), "arm", wanted, names)
        for name, ranges in _adapted(file).items():
            here: KeyPath = ("match", "adapt", name)
            self._named(here, "arm", name, names)
            arm, document = next((one for one in arms if one[0].listed == name), (None, Document()))
            for key, ends in ranges.items():
                if arm is None:
                    continue
                if key in arm.settings:
                    self.diagnostics.add(
                        (*here, key),
                        "the arm sets it itself; leave it out at one of the two places",
                    )
                    continue
                self._refuse_settings(
                    key,
                    f"arm {name}: match adapts {key}; leave the setting out, or take another key "
                    f"at {self._place((*here, key))}",
                )
                for end in ends:
                    chosen = settings_document(self.document, here, {key: end})
                    _, wrong = try_read(
                        self.start.merged_with(document).merged_with(chosen), self.trust
                    )
                    self._note(wrong, self._place(here))

    def _note(self, faults: Iterable[str], where: str) -> None:
        """Note faults of a scenario; those without a line of a file get a place."""
        self.faults += [line if _PLACE.match(line) else f"{where}: {line}" for line in faults]

    def _refuse_settings(self, key: str, why: str) -> None:
        """Note a fault for each ``--set`` of a key whose value the study itself gives."""
        self.faults += [
            f"--set {given}: {why}" for given in flatten(self.over.data) if overlap(key, given)
        ]

    def _place(self, path: KeyPath) -> str:
        """File, line and column of a key, as messages name them."""
        origin = self.document.origin(path)
        return f"{origin.label}: {dotted(path)}" if origin and origin.label else dotted(path)

    def _figure(
        self, here: KeyPath, given: Mapping[Any, Any], measures: list[str], keys: list[str]
    ) -> None:
        parts = given.get("parts")
        for label, measure in (parts if isinstance(parts, dict) else {}).items():
            self._named((*here, "parts", label), "measure of this study", measure, measures)
        for position, name in enumerate(_items(given.get("of"))):
            self._outcome((*here, "of", position), name, measures)
        for position, name in enumerate(_items(given.get("against"))):
            self._named((*here, "against", position), "measure of this study", name, measures)
        for key in given["mark"] if isinstance(given.get("mark"), dict) else ():
            self._named((*here, "mark", key), "key that is varied", key, keys)
        for position, key in enumerate(_items(given.get("over"))):
            self._named((*here, "over", position), "key that is varied", key, keys)
        self._named((*here, "beside"), "key that is varied", given.get("beside"), keys)

    def _outcome(self, place: KeyPath, name: object, measures: list[str]) -> None:
        """A measure, or a score of a review."""
        if isinstance(name, str) and name.partition(".")[0] == "review":
            from virsci_society.scenarios.review.review_kinds import KINDS

            scores = [f"review.{kind}.{one}" for kind in KINDS for one in KINDS[kind].scores]
            self._named(place, "score of a review", name, scores)
        else:
            self._named(place, "measure of this study", name, measures)

    def _measures(self, scenarios: list[Scenario]) -> None:
        from virsci_society.metrics.registry import name_error

        asked = dict.fromkeys(name for one in scenarios for name in one.metrics)
        own = dict(found for name in asked if (found := outside_metric(name)))
        for number, measure in enumerate(_items(self.document.data.get("measures"))):
            if isinstance(measure, str) and measure.startswith("review."):
                self.diagnostics.add(
                    ("measures", number),
                    f"{measure} is given by reviewers when the runs are done, and no run has it; "
                    "name it in a comparison (of: or against:), and leave it out here",
                )
            elif not scenarios and "." in str(measure):
                continue  # its table may be a metric of a scenario that cannot be read yet
            elif isinstance(measure, str) and (problem := name_error(measure, own)) is not None:
                self.diagnostics.add(("measures", number), problem)

    def _named(self, place: KeyPath, what: str, name: object, known: list[str]) -> None:
        """A fault, if a name was given, could be checked, and is not among the known ones."""
        if not isinstance(name, str) or not known or name in known:
            return
        some = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
        hint = did_you_mean(name, known)
        self.diagnostics.add(place, f"{name!r} is no {what}, expected one of {some}{hint}")


def split_settings(settings: Iterable[str]) -> tuple[Document, Document]:
    """What ``--set`` says of the study itself, and of the base of its arms."""
    given = from_settings(settings)
    own, base = Document(), Document()
    for part, content in given.data.items():
        document = own if part in StudyFile.model_fields else base
        document.data[part] = content
        document.origins.update({at: of for at, of in given.origins.items() if at[0] == part})
    return own, base


def overlap(one: str, other: str) -> bool:
    """Are two dotted keys the same, or is one a part of the other?"""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def try_read(document: Document, trust: bool) -> tuple[Scenario | None, list[str]]:
    """The scenario of a document, or the lines that say what is wrong with it."""
    try:
        return read_scenario(document, trust=trust), []
    except InputError as error:
        return None, str(error).splitlines()


def _adapted(file: StudyFile | None) -> Mapping[str, Mapping[str, tuple[int, int]]]:
    return {} if file is None or file.match is None else file.match.adapt


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _in_order(lines: Iterable[str]) -> list[str]:
    """Faults of a file by line and column; others after them, as they came."""

    def place(line: str) -> tuple[int, str, int, int]:
        found = _PLACE.match(line)
        return (0, found[1], int(found[2]), int(found[3])) if found else (1, "", 0, 0)

    told: dict[tuple[object, ...], str] = {}
    for line in sorted(lines, key=place):
        told.setdefault((*place(line)[:3], _PLACE.sub("", line)), line)
    return list(told.values())
