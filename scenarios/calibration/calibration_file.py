"""The keys and faults of a calibration file, which is made where only an ecosystem is given."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainSerializer, PlainValidator, model_validator
from scipy import special

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.metrics.validation.assembly_measures import ASSEMBLY_MEASURES
from virsci_society.protocols.assembly_runs import AssemblySimulator
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.seats import Leader
from virsci_society.scenarios.calibration.windows import (
    Corpus,
    Window,
    assembly_simulator,
    ecosystem_corpus,
    read_source,
)
from virsci_society.scenarios.config.diagnostics import Diagnostics
from virsci_society.scenarios.config.document import (
    Document,
    FittedOn,
    find_scenario,
    library,
    single_document,
)
from virsci_society.scenarios.config.ecosystem_folder import Folder
from virsci_society.scenarios.config.reader import Reader
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.config.yaml_io import KeyPath

WINDOW_YEARS, FIT_WINDOWS = 2, 3
"""Years and number of the fit windows that are taken where only an ecosystem is given."""
DEFAULT_NOTE = (
    f"No file was given: the windows are the {FIT_WINDOWS + 1} times {WINDOW_YEARS} years before "
    "the boundary, and the last one is held out for the check."
)
Years = Annotated[Window, PlainValidator(Window.parse), PlainSerializer(lambda one: one.name)]
"""A window, written as ``2008-2009``."""


class Prior(Part):
    """What is believed of a parameter before the simulations.

    It is normal on the scale of the key (log odds of a share, logarithm of a positive number), or
    uniform: on the logarithm, where that is the scale of the key.
    """

    median: float | Literal["counted"] | None = None
    """Its median, or ``counted``: around the counted value of each window."""
    sd: float | None = Field(default=None, gt=0, le=5)
    """Standard deviation on the scale of the key."""
    low: float | None = None
    """Least value of a uniform prior."""
    high: float | None = None
    """Its largest value."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = {name for name in Prior.model_fields if getattr(self, name) is not None}
        if given not in ({"median", "sd"}, {"low", "high"}):
            raise ValueError("expected median and sd, or low and high")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(
                f"low is {self.low:g} and high {self.high:g}; give the lower one first"
            )
        return self

    @property
    def stated(self) -> list[float]:
        """The numbers of it that are values of the key."""
        return [x for x in (self.median, self.low, self.high) if isinstance(x, int | float)]

    def value(self, key: str, score: float, counted: float | None) -> float:
        """The parameter at a standard normal score."""
        known = keys.PARAMETERS[key]
        if self.low is not None and self.high is not None:
            share = float(special.ndtr(score))
            if known.link == "log":
                return known.clip(self.low * math.exp(share * math.log(self.high / self.low)))
            return known.clip(self.low + (self.high - self.low) * share)
        middle = self.median if isinstance(self.median, int | float) else counted
        level = 0.0 if middle is None else known.level(middle)
        return known.value(level + (self.sd or 0.0) * score)


class Effort(Part):
    """How many simulations are made."""

    points: int = Field(default=600, ge=20, le=100_000)
    """Points of the scrambled Sobol sequence, drawn from the priors."""
    noise: int = Field(default=30, ge=5, le=10_000)
    """Further seeds at the centre, for the covariance between seeds."""
    seeds: int = Field(default=20, ge=5, le=10_000)
    """Runs of the held-out window at the calibrated values."""
    draws: int = Field(default=20, ge=5, le=10_000)
    """Draws from the posterior for the intervals of the held-out window."""


class CalibrationFile(Part):
    """One calibration: the fitted parameters and the evaluation."""

    calibrate: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")
    """Its title."""
    papers: str | tuple[str, ...]
    """The folder of an ecosystem, whose past papers are used, or the kind of a source and its
    files: ``[jsonl, papers.jsonl.gz]``."""
    base: str = "community/assembly"
    """The scenario that the calibrated one extends: a name of the library or a path. All its keys
    that can be counted are counted."""
    fit: tuple[Years, ...] = Field(min_length=1)
    """Windows that are fitted, each simulated from the papers before it; three or more, or the fit
    is to the chance of one window."""
    held_out: Years
    """The window that is opened once, after the fit."""
    boundary: int | None = Field(default=None, ge=1)
    """The year on whose 1 January the calibrated values hold; by default the first held-out year,
    so that no held-out paper has a part in them."""
    priors: dict[str, Prior] = Field(
        default_factory=lambda: {
            keys.SEAT: Prior(median="counted", sd=0.4),
            keys.SIZE: Prior(median="counted", sd=0.15),
            keys.REPEAT_TEAMS: Prior(median="counted", sd=0.7),
            keys.Q: Prior(median="counted", sd=0.7),
            keys.SPREAD: Prior(low=1, high=30),
            keys.TRANSIENT_SHARE: Prior(low=0, high=0.9),
        }
    )
    """Keys that are fitted by simulation: ``{median: 0.4, sd: 0.5}`` or ``{low: 0, high: 1}``."""
    targets: tuple[str, ...] = (
        *("newcomer_rate", "q", "repeat_rate", "newcomer_newcomer", "newcomer_incumbent"),
        *("papers_per_author", "gini_papers", "coauthors_per_author", "authors_per_paper"),
    )
    """Measures by which they are fitted; all others are only looked at."""
    effort: Effort = Field(default_factory=Effort)
    """How many simulations are made."""
    seed: int = Field(default=1, ge=0, lt=2**31)
    """Everything random is derived from it."""

    @property
    def boundary_year(self) -> int:
        """The year on whose 1 January the calibrated values apply."""
        return self.boundary or self.held_out.first

    @property
    def end(self) -> int:
        """The first year of which no paper is used."""
        return max(self.boundary_year, self.held_out.last + 1)

    def to_data(self) -> dict[str, Any]:
        """All keys but where the papers are."""
        return self.model_dump(mode="json", exclude={"papers"}, exclude_none=True)


@dataclass(frozen=True, eq=False)
class PreparedCalibration:
    """A calibration file that was checked, with the papers it may use."""

    file: CalibrationFile
    corpus: Corpus
    simulator: AssemblySimulator
    base: Scenario
    fitted_on: FittedOn
    base_file: Path | None = None
    notes: tuple[str, ...] = ()
    diagnostics: Diagnostics = field(default_factory=lambda: Diagnostics(Document()))

    @cached_property
    def base_values(self) -> dict[str, float | None]:
        """Values of the base for those keys that it has; None where it switches one off."""
        return keys.values_of(self.base)

    @property
    def leader(self) -> Leader:
        """Which author of a real paper is taken for the leader: as the base orders authors."""
        order = getattr(self.base.protocol, "author_order", "leader_last")
        return "first" if order == "leader_first" else "last"


def read_calibration(
    path: Path, *, base: str | None = None, trust: bool = False
) -> PreparedCalibration:
    """Read and check a calibration."""
    if path.is_dir():
        diagnostics, folder, notes = Diagnostics(Document()), Path.cwd(), [DEFAULT_NOTE]
        file = _file_for(path)
    else:
        reader = Reader(single_document(path), trust=trust)
        diagnostics, folder, notes = reader.diagnostics, path.parent.resolve(), []
        file = _read_file(reader)
    if base is not None:
        file = file.model_copy(update={"base": base})
    try:
        place = find_scenario(file.base, folder)
        scenario = load_scenario(place, trust=trust)
        simulator = assembly_simulator(scenario)
    except InputError as error:
        diagnostics.add(("base",), str(error))
        diagnostics.raise_faults()
        raise
    known = keys.values_of(scenario)
    for key, prior in file.priors.items() if "priors" in diagnostics.document.data else ():
        if key not in known:
            diagnostics.add(("priors", key), f"the base {file.base} has no key {key}")
            continue
        for number in prior.stated:
            try:
                scenario.set(key, number, trust=trust)
            except InputError as error:
                diagnostics.add(("priors", key), f"{number:g} is not a value of the key: {error}")
    diagnostics.raise_faults()
    # Of the default priors those are taken whose keys the base has.
    priors = {key: prior for key, prior in file.priors.items() if key in known}
    file = file.model_copy(update={"priors": priors})
    corpus, fitted_on = _corpus_of(file, folder, diagnostics)
    windows: dict[KeyPath, Window] = {("fit", number): one for number, one in enumerate(file.fit)}
    for where, one in (windows | {("held_out",): file.held_out}).items():
        if one.first <= corpus.first_year:
            diagnostics.add(
                where,
                f"the window {one.name} begins before the papers do ({corpus.first_year}); "
                "each is simulated from the papers before it",
            )
        elif not len(corpus.inside(one)):
            diagnostics.add(where, f"no paper is dated in {one.name}")
    diagnostics.raise_faults()
    base_file = None if file.base in library() else place
    parts = file, corpus, simulator, scenario, fitted_on, base_file, (*notes, *_remarks(file))
    return PreparedCalibration(*parts, diagnostics)


def _file_for(folder: Path) -> CalibrationFile:
    """The calibration of an ecosystem's past papers: three windows of two years and a fourth."""
    ecosystem = Folder(path=folder)
    ecosystem.require()
    end = ecosystem.source_facts["boundary"]
    if not isinstance(end, int):
        raise InputError(f"{folder}: its manifest has no boundary")
    last = Window(end - WINDOW_YEARS, end - 1)
    return CalibrationFile(
        calibrate=folder.resolve().name,
        papers=str(folder),
        fit=tuple(last.earlier(step) for step in range(FIT_WINDOWS, 0, -1)),
        held_out=last,
        boundary=end,
    )


def _read_file(reader: Reader) -> CalibrationFile:
    """The file without its base; errors of the base are reported only if the file is valid."""
    diagnostics, data = reader.diagnostics, dict(reader.document.data)
    priors = data.pop("priors", None)
    file = reader.read_part(CalibrationFile, data, ())
    if isinstance(priors, dict):
        read = {}
        for key, value in priors.items():
            if key not in keys.PARAMETERS:
                diagnostics.add(("priors", key), _unknown(key, "not a parameter", keys.PARAMETERS))
            prior = reader.read_part(Prior, value, ("priors", key))
            if prior is not None and key in keys.PARAMETERS:
                read[key] = prior
        file = None if file is None else file.model_copy(update={"priors": read})
    elif priors is not None:
        diagnostics.add(("priors",), "expected keys of the scenario, each with its prior")
    if file is not None:
        diagnostics.faults += _faults(file)
    diagnostics.raise_faults()
    if file is None:
        raise InputError("the calibration cannot be read")
    return file


def _faults(file: CalibrationFile) -> Iterator[tuple[KeyPath, str]]:
    """Errors of the file itself, with their key paths."""
    held = file.held_out
    for fitted in file.fit:
        if held.overlaps(fitted):
            yield (
                ("held_out",),
                f"the held-out window {held.name} lies in the fit window {fitted.name}; "
                "fitted years cannot be held out",
            )
        elif held.last < fitted.first:
            yield (
                ("held_out",),
                f"the held-out window {held.name} lies before the fit window {fitted.name}; "
                "hold out the last years",
            )
    for place, one in enumerate(file.fit):
        if any(one.overlaps(other) for other in file.fit[:place]):
            yield ("fit", place), f"the window {one.name} overlaps another one of fit"
    if len({one.years for one in file.fit}) > 1:
        yield ("fit",), "the windows have different lengths; moments of one length compare"
    if file.boundary is not None and file.boundary <= max(one.last for one in file.fit):
        yield ("boundary",), f"the boundary {file.boundary} is before the end of the fit"
    if not file.targets:
        yield ("targets",), "names no measure; expected at least one"
    for place, name in enumerate(file.targets):
        if name not in ASSEMBLY_MEASURES:
            yield ("targets", place), _unknown(name, "never measured", ASSEMBLY_MEASURES)
    for key, prior in file.priors.items():
        known = keys.PARAMETERS[key]
        where: KeyPath = ("priors", key)
        for number in prior.stated:
            if not known.low <= number <= known.high:
                yield where, f"{number:g}, but the key takes {known.low:g} to {known.high:g}"
        if prior.median == "counted" and not known.counted:
            yield where, "the median is 'counted', but the key cannot be counted; give a number"
    if not isinstance(file.papers, str) and len(file.papers) < 2:
        yield (
            ("papers",),
            "expected an ecosystem folder, or a kind and its files, such as "
            "[jsonl, papers.jsonl.gz]",
        )


def _corpus_of(
    file: CalibrationFile, folder: Path, diagnostics: Diagnostics
) -> tuple[Corpus, FittedOn]:
    """The papers of a file, and how the calibrated scenario names them."""
    title, boundary, end = file.calibrate, file.boundary_year, file.end
    try:
        if not isinstance(file.papers, str):
            kind, *names = file.papers
            # Not their number: papers later than those that are used may leave no trace.
            source = ", ".join(Path(name).name for name in names)
            fitted_on = FittedOn(title, boundary, source=source)
            return read_source(kind, [folder / name for name in names], end), fitted_on
        ecosystem = Folder(path=folder / file.papers).generate(0)
        if end > ecosystem.boundary:
            raise InputError(
                f"papers to {end - 1} are needed, but the ecosystem's past ends before its "
                f"boundary {ecosystem.boundary}; use a later boundary or name its source"
            )
        if boundary == ecosystem.boundary:
            fitted_on = FittedOn(title, boundary, past=len(ecosystem.past))
        else:
            # At another boundary the same source has another past.
            files = ecosystem.manifest.get("source")
            named = files if isinstance(files, str) else None
            fitted_on = FittedOn(title, boundary, source=named)
        return ecosystem_corpus(ecosystem, end), fitted_on
    except InputError as error:
        diagnostics.add(("papers",), str(error))
        diagnostics.raise_faults()
        raise


def _remarks(file: CalibrationFile) -> Iterator[str]:
    if len(file.fit) < 3:
        yield (
            f"Fewer than three fit windows ({len(file.fit)}): the fit partly reflects chance in "
            "these years."
        )
    if file.boundary_year > file.held_out.first:
        yield (
            "The boundary is later than the held-out papers: after the check, counted values are "
            "counted again over all papers before it; fitted values stay the same."
        )


def _unknown(name: Any, what: str, known: Any) -> str:
    return f"{name!r} is {what}, expected one of {', '.join(known)}{did_you_mean(str(name), known)}"
