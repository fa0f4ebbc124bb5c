"""The reader of calibration files, which returns a calibration or all faults at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.metrics.validation.assembly_quantities import SCALARS
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import (
    PRIORS,
    CalibrationFile,
    ParameterPrior,
    Window,
    Years,
)
from virsci_society.scenarios.calibration.corpus import Corpus, ecosystem_corpus, read_source
from virsci_society.scenarios.calibration.simulation import (
    PATTERNS,
    SIMULATED,
    PreparedCalibration,
    WindowSimulator,
    assembly_simulator,
    import_simulator,
)
from virsci_society.scenarios.config.diagnostics import describe_errors
from virsci_society.scenarios.config.document import (
    FittedOn,
    find_scenario,
    library,
    single_document,
)
from virsci_society.scenarios.config.ecosystem_folder import MANIFEST
from virsci_society.scenarios.config.reader import Reader
from virsci_society.scenarios.config.registry import class_of
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.config.yaml_io import KeyPath

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

SHORT = {
    "newcomer": "newcomers",
    "repeat": "repeat_rate",
    "NN": "newcomer_newcomer",
    "NI": "newcomer_incumbent",
    "degree": "coauthors",
    "size": "team_size",
    "giant": "giant_component",
}
"""Short names of quantities that a file may use."""
WINDOW_YEARS = 2
FIT_WINDOWS = 3
"""Years and number of the windows that are taken where only an ecosystem is given."""


DEFAULT_NOTE = (
    f"No file was given: the windows are the {FIT_WINDOWS + 1} times {WINDOW_YEARS} years before "
    "the boundary {boundary}, and the last of them, {last}, is held out for the check. After the "
    "check, what is counted is counted again over all papers before the boundary, those of the "
    "held-out window included; what was fitted stays as it was fitted."
)


def read_calibration(
    path: Path, *, base: str | None = None, settings: Sequence[str] = (), trust: bool = False
) -> PreparedCalibration:
    """Read and check a calibration.

    Args:
        path: a calibration file, or the folder of an ecosystem, for which one is made.
        base: the scenario that is extended, instead of that of the file.
        settings: ``a.b=c``; each changes what is simulated of the base, or is refused.
        trust: let another simulator be imported, which runs code.

    Raises:
        InputError: all faults at once, each with its place.
    """
    if path.is_dir():
        read = default_calibration(path, base, settings)
    else:
        read = _FileReading(path, trust).calibration(base, settings)
    _require_reached(read)
    return read


def _require_reached(calibration: PreparedCalibration) -> None:
    """Refuse by name every setting that would change nothing of what is simulated.

    Raises:
        InputError: names all of them, each with what to do.
    """
    faults = []
    fitted = dict.fromkeys(calibration.file.priors, "fits")
    found = dict.fromkeys(calibration.counted, "counts in the papers") | fitted
    for setting in calibration.settings:
        key = setting.partition("=")[0].strip()
        own = next((one for one in found if f"{one}.".startswith(f"{key}.")), None)
        if calibration.file.simulator is not None:
            faults.append(f"--set {key}: the file's own simulator reads nothing of the base")
        elif own is not None:
            faults.append(
                f"--set {key}: the calibration {found[own]} {own}; leave the setting out, or take "
                "the key out of priors and read_off in a calibration file"
            )
        elif key.partition(".")[0] not in SIMULATED:
            where = "the calibration file" if key in CalibrationFile.model_fields else "the runs"
            faults.append(
                f"--set {key}: of the base a calibration simulates {' and '.join(SIMULATED)} "
                f"alone; set it in {where}"
            )
    if faults:
        raise InputError("\n".join(faults))


def default_calibration(
    folder: Path, base: str | None = None, settings: Sequence[str] = ()
) -> PreparedCalibration:
    """The calibration of an ecosystem's past papers: three windows of two years and a fourth.

    Raises:
        InputError: it is no ecosystem, or its past is too short.
    """
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

    if not (folder / MANIFEST).is_file():
        raise InputError(f"{folder}: not an ecosystem folder (no {MANIFEST}), and no file")
    ecosystem = Ecosystem.load(folder)
    end = ecosystem.boundary
    windows = [
        Window(first=end - WINDOW_YEARS * n, last=end - WINDOW_YEARS * (n - 1) - 1)
        for n in range(FIT_WINDOWS + 1, 0, -1)
    ]
    corpus = ecosystem_corpus(ecosystem, end)
    if corpus.first_year >= windows[0].first:
        raise InputError(
            f"{folder}: its past papers begin in {corpus.first_year}; a calibration without a file "
            f"wants some before {windows[0].first}, the first of {FIT_WINDOWS} windows of "
            f"{WINDOW_YEARS} years and one that is held out; write a calibration file"
        )
    base = base or "community/assembly"
    scenario = load_scenario(find_scenario(base), settings=settings)
    file = CalibrationFile(
        calibrate=f"the past papers of an ecosystem, boundary {end}",
        ecosystem=folder,
        base=base,
        fit=tuple(windows[:-1]),
        held_out=(windows[-1],),
        boundary=end,
    )
    note = DEFAULT_NOTE.format(boundary=end, last=windows[-1].name)
    file = file.with_priors_of(keys.values_of(scenario))
    made = assembly_simulator(scenario, None)
    base_file = _file_of(base, Path.cwd())
    fitted_on = _papers_of(ecosystem, folder.resolve().name, end)
    return PreparedCalibration(
        file, corpus, made, scenario, fitted_on, base_file, (note,), settings=tuple(settings)
    )


class _FileReading:
    """One reading of one file; what is wrong is gathered before any of it is reported."""

    def __init__(self, path: Path, trust: bool) -> None:
        self.document = single_document(path)
        self.reader = Reader(self.document, trust=trust)
        self.diagnostics = self.reader.diagnostics
        self.folder, self.trust = path.parent.resolve(), trust

    def calibration(self, base: str | None, settings: Sequence[str]) -> PreparedCalibration:
        data = dict(self.document.data)
        for name in ("fit", "held_out"):
            if isinstance(data.get(name), list):
                data[name] = [
                    self._window((name, place), one) for place, one in enumerate(data[name])
                ]
                data[name] = [one for one in data[name] if one is not None]
        for name in ("targets", "checks"):
            if isinstance(data.get(name), list):
                data[name] = [SHORT.get(one, one) for one in data[name] if isinstance(one, str)]
        priors = self._priors(data.pop("priors", None))
        file = self.reader.read_part(CalibrationFile, data, ())
        if file is not None:
            changes: dict[str, Any] = {} if priors is None else {"priors": priors}
            if base is not None:
                changes["base"] = base
            file = file.model_copy(update=changes)
            self._check(file)
        self.diagnostics.raise_faults()
        if file is None:
            raise InputError("the calibration cannot be read")
        # Only now: the faults of the file itself are told without reading its base.
        scenario, simulator = self._mechanism(file, settings)
        self.diagnostics.raise_faults()
        if priors is None:
            file = file.with_priors_of(keys.values_of(scenario))
        corpus, fitted_on = self._corpus(file)
        self._check_against(file, corpus)
        self.diagnostics.raise_faults()
        remarks = tuple(_remarks(file))
        base_file = _file_of(file.base, self.folder)
        return PreparedCalibration(
            *(file, corpus, simulator, scenario, fitted_on, base_file, remarks, self.diagnostics),
            settings=tuple(settings),
        )

    def _mechanism(
        self, file: CalibrationFile, settings: Sequence[str]
    ) -> tuple[Scenario, WindowSimulator]:
        """The base and its mechanism; faults of the base, and of keys that it has not."""
        try:
            path = find_scenario(file.base, self.folder)
            scenario = load_scenario(path, trust=self.trust)
        except InputError as error:
            self.diagnostics.add(("base",), str(error))
            self.diagnostics.raise_faults()
            raise
        if settings:
            # Apart from the base itself: a fault of a setting stands in no line of the file.
            scenario = load_scenario(path, settings=settings, trust=self.trust)
        try:
            simulator = (
                assembly_simulator(scenario, file.recent)
                if file.simulator is None
                else import_simulator(file.simulator)
            )
        except InputError as error:
            self.diagnostics.add(("base" if file.simulator is None else "simulator",), str(error))
            self.diagnostics.raise_faults()
            raise
        known = keys.values_of(scenario)
        for key, prior in file.priors.items() if "priors" in self.document.data else ():
            place: KeyPath = ("priors", key)
            if key not in known:
                self.diagnostics.add(place, f"the base {file.base} has no key {key}")
                continue
            for value in prior.bounds:
                self._takes(scenario, key, value, place)
        if "read_off" in self.document.data:
            for number, one in enumerate(file.read_off):
                if not any(key == one or key.startswith(f"{one}.") for key in known):
                    self.diagnostics.add(
                        ("read_off", number), f"the base {file.base} has no key {one}"
                    )
        return scenario, simulator

    def _takes(self, scenario: Scenario, key: str, value: float, place: KeyPath) -> None:
        """A fault, if the base does not take a value for a key."""
        try:
            scenario.set(key, value, trust=self.trust)
        except InputError as error:
            self.diagnostics.add(place, f"{value:g} is not a value of the key: {error}")

    def _window(self, place: KeyPath, value: Any) -> Window | None:
        try:
            window: Window = TypeAdapter(Years).validate_python(value)
            return window
        except ValidationError as error:
            self.diagnostics.add(place, describe_errors(error.errors(include_url=False)))
            return None

    def _priors(self, given: Any) -> dict[str, ParameterPrior] | None:
        if given is None:
            return None
        if not isinstance(given, dict):
            self.diagnostics.add(("priors",), "expected keys of the scenario, each with its prior")
            return None
        found: dict[str, ParameterPrior] = {}
        table = {name: f"{cls.__module__}:{cls.__name__}" for name, cls in PRIORS.items()}
        for key, value in given.items():
            place: KeyPath = ("priors", key)
            if key not in keys.PARAMETERS:
                self.diagnostics.add(place, _unknown(str(key), "parameter", keys.PARAMETERS))
            if not isinstance(value, dict):
                self.diagnostics.add(
                    place, f"expected a prior such as {{use: {next(iter(PRIORS))}}}"
                )
                continue
            rest = {name: one for name, one in value.items() if name != "use"}
            try:
                cls = class_of(value.get("use"), table, ParameterPrior, trust=self.trust)
            except InputError as error:
                self.diagnostics.add(place, str(error))
                continue
            read = self.reader.read_part(cls, rest, place)
            if isinstance(read, ParameterPrior) and key in keys.PARAMETERS:
                found[str(key)] = read
        return found

    def _check(self, file: CalibrationFile) -> None:
        for problem in (self._windows, self._names, self._ranges, self._places):
            for place, text in problem(file):
                self.diagnostics.add(place, text)

    def _windows(self, file: CalibrationFile) -> Iterator[tuple[KeyPath, str]]:
        for place, one in enumerate(file.held_out):
            for fitted in file.fit:
                if one.overlaps(fitted):
                    yield (
                        ("held_out", place),
                        f"the held-out window {one.name} lies in the fit window {fitted.name}; "
                        "what was fitted cannot be held out",
                    )
                elif one.last < fitted.first:
                    yield (
                        ("held_out", place),
                        f"the held-out window {one.name} lies before the fit window "
                        f"{fitted.name}, whose papers follow from it; hold out the last years",
                    )
        for name in ("fit", "held_out"):
            windows = getattr(file, name)
            for place, one in enumerate(windows):
                if any(one.overlaps(other) for other in windows[:place]):
                    yield (name, place), f"the window {one.name} overlaps another one of {name}"
            lengths = {one.years for one in windows}
            if name == "fit" and len(lengths) > 1:
                yield (name,), "the windows have different lengths; moments of one length compare"
        early = file.boundary is not None and file.boundary <= max(one.last for one in file.fit)
        if early:
            yield (
                ("boundary",),
                f"the boundary {file.boundary_year} lies before the end of the fit",
            )

    def _names(self, file: CalibrationFile) -> Iterator[tuple[KeyPath, str]]:
        for name, measured in (("targets", SCALARS), ("checks", (*SCALARS, PATTERNS))):
            for place, one in enumerate(getattr(file, name)):
                if one not in measured:
                    yield (
                        (name, place),
                        f"{one!r} is never measured" + _expected(one, (*measured, *SHORT)),
                    )
        for place, one in enumerate(file.checks):
            if one in file.targets:
                yield (
                    ("checks", place),
                    f"{one} is a target as well; what is fitted checks nothing",
                )
        if not file.targets:
            yield ("targets",), "names no quantity; expected at least one"
        for place, one in enumerate(file.read_off):
            counted = [key for key, known in keys.PARAMETERS.items() if known.counted]
            if not any(key == one or key.startswith(f"{one}.") for key in counted):
                known = keys.PARAMETERS.get(one)
                reason = "cannot be counted; give it a prior" if known else None
                yield ("read_off", place), reason or _unknown(one, "counted key", counted)

    def _ranges(self, file: CalibrationFile) -> Iterator[tuple[KeyPath, str]]:
        for key, prior in file.priors.items():
            place: KeyPath = ("priors", key)
            known, (low, high) = keys.PARAMETERS[key], prior.bounds
            if low < known.low or high > known.high:
                yield (
                    place,
                    f"the prior reaches from {low:g} to {high:g}, but the key takes "
                    f"{known.low:g} to {known.high:g}",
                )
            if prior.centred and not known.counted:
                yield place, "the median is 'counted', but the key cannot be counted; give a number"
            link = {"LogitNormal": "logit", "LogNormal": "log"}.get(type(prior).__name__)
            if prior.centred and link != known.link:
                yield place, f"the key is counted on the {known.link} scale; use another prior"

    def _places(self, file: CalibrationFile) -> Iterator[tuple[KeyPath, str]]:
        if bool(file.source) == (file.ecosystem is not None):
            yield ("source",), "give either source: [KIND, FILE...] or ecosystem: FOLDER"
        elif file.source and len(file.source) < 2:
            yield ("source",), "expected a kind and its files, such as [jsonl, papers.jsonl.gz]"
        if file.simulator is not None and not self.trust:
            yield (
                ("simulator",),
                f"{file.simulator!r} is code from outside and would be run; read it, then give "
                "--trust",
            )

    def _corpus(self, file: CalibrationFile) -> tuple[Corpus, FittedOn]:
        """The papers, and how the calibrated scenario names them."""
        end = file.end
        if file.ecosystem is not None:
            from virsci_society.society.ecosystem.ecosystem import Ecosystem

            ecosystem = Ecosystem.load(self.folder / file.ecosystem)
            if end > ecosystem.boundary:
                self.diagnostics.add(
                    ("held_out",),
                    f"papers to {end - 1} are wanted, but the ecosystem's past ends before its "
                    f"boundary {ecosystem.boundary}; build it at a later one or name its source",
                )
                self.diagnostics.raise_faults()
            fitted_on = _papers_of(ecosystem, file.calibrate, file.boundary_year)
            return ecosystem_corpus(ecosystem, end), fitted_on
        kind, *names = file.source
        # Not their number: papers later than those that are used may leave no trace.
        files = ", ".join(Path(name).name for name in names)
        fitted_on = FittedOn(file.calibrate, file.boundary_year, source=files)
        try:
            return read_source(kind, [self.folder / name for name in names], end), fitted_on
        except InputError as error:
            self.diagnostics.add(("source",), str(error))
            self.diagnostics.raise_faults()
            raise

    def _check_against(self, file: CalibrationFile, corpus: Corpus) -> None:
        first = corpus.first_year
        for name in ("fit", "held_out"):
            for place, one in enumerate(getattr(file, name)):
                if one.first <= first:
                    self.diagnostics.add(
                        (name, place),
                        f"the window {one.name} begins before the papers do ({first}); each is "
                        "simulated from the papers before it",
                    )
                elif not len(corpus.inside(one)):
                    self.diagnostics.add((name, place), f"no paper is dated in {one.name}")


def _papers_of(ecosystem: Ecosystem, community: str, boundary: int) -> FittedOn:
    """The papers of an ecosystem, in the words of the calibrated scenario."""
    if boundary == ecosystem.boundary:
        return FittedOn(community, boundary, past=len(ecosystem.past))
    # At another boundary the same source has another past.
    source = ecosystem.manifest.get("source")
    return FittedOn(community, boundary, source=source if isinstance(source, str) else None)


def _file_of(base: str, folder: Path) -> Path | None:
    return None if base in library() else find_scenario(base, folder)


def _remarks(file: CalibrationFile) -> Iterator[str]:
    if len(file.fit) < 3:
        yield (
            f"Only {len(file.fit)} fit window{'s' * (len(file.fit) > 1)}: with fewer than three, "
            "the fit is partly to the chance of these years."
        )
    if file.boundary_year > min(one.first for one in file.held_out):
        yield (
            "The boundary lies after the held-out papers: what is counted is counted again over "
            "all papers before it, once the check is made; what was fitted stays as it was fitted."
        )


def _unknown(name: str, what: str, known: Any) -> str:
    return f"{name!r} is no {what}" + _expected(name, known)


def _expected(name: str, known: Any) -> str:
    return f", expected one of {', '.join(known)}{did_you_mean(name, known)}"
