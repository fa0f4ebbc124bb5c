"""The keys of a study file, and the studies of the library."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.document import LIBRARY, STUDIES, SUFFIXES, library
from virsci_society.scenarios.config.yaml_io import read_yaml
from virsci_society.society.kernel.durations import parse_days

_SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z`])")

STUDY = "study.yaml"
STUDY_HEAD = "# As run; 'society study run' on this folder resumes it.\n"
"""By this comment the file in a study's folder is known as ours."""
FOLDERS = Path("runs") / "studies"
"""Where the folders of studies lie, unless another is given."""


def _in_days(value: Any) -> Any:
    return parse_days(value) if isinstance(value, str) else value


Bound = Annotated[int | float, BeforeValidator(_in_days, json_schema_input_type=int | float | str)]
"""A number, or a duration as people write it, which becomes a number of days."""
Bounds = tuple[Bound, Bound]
WholeNumber = Annotated[int, Field(strict=True, ge=0, le=1_000_000)]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")]
"""A name or a title, as tables and figures have it."""
Test = Literal["paired", "inverted_u", "rank_correlation", "correlation"]
Keep = Literal["folders", "tables", "measures"]
KINDS = ("grid", "named", "latin_hypercube")


class SampledDesign(Part):
    """Arms at points of a space of keys, drawn from the study's seed."""

    samples: int = Field(ge=2, le=10_000)
    """Points."""
    over: dict[str, Bounds] = Field(min_length=1)
    """Least and largest value of each key; between whole numbers only whole numbers are drawn, and
    durations may be given as ``10d``."""

    @model_validator(mode="after")
    def _in_order(self) -> SampledDesign:
        for key, (low, high) in self.over.items():
            if not low < high:
                raise ValueError(f"over has {key} from {low} to {high}; give the lower one first")
        return self


class Arms(Part):
    """What is varied: a ``grid``, a ``latin_hypercube``, or arms by their names."""

    grid: dict[str, tuple[Any, ...]] | None = None
    """Scenario keys and the values of each; every combination is one arm."""
    named: dict[Name, dict[str, Any]] | None = None
    """The keys of each arm, dotted or nested, by its name; a file has them without this key."""
    latin_hypercube: SampledDesign | None = None
    """Points that spread evenly over every key (McKay et al. 1979, doi:10.2307/1268522)."""

    @model_validator(mode="after")
    def _one(self) -> Arms:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            given_kinds = " and ".join(given) or "nothing"
            raise ValueError(
                f"got {given_kinds}, expected grid, latin_hypercube, or the keys of each arm by "
                "its name"
            )
        if self.grid is not None and not (self.grid and all(self.grid.values())):
            raise ValueError("grid has a key without values; give each key a list")
        return self

    @property
    def kind(self) -> str:
        """The key that is given, one of ``KINDS``."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)


class Comparison(Part):
    """One comparison, stated before anything is run; Holm's correction covers all of them."""

    test: Test
    """``paired``: arms against the first; ``inverted_u``: two lines; ``rank_correlation``;
    ``correlation``: of two measures over runs, Pearson's and Spearman's."""
    of: str
    """The measure, or ``review.KIND.SCORE``, which reviewers give when the runs are done."""
    arms: tuple[str, ...] | None = None
    """Names of the arms, the reference first; null: all of them."""
    over: str | None = None
    """The varied key on the x-axis; of ``paired``, that in which the arms of a test differ, a test
    for every setting of the other keys."""
    against: str | None = None
    """What a ``correlation`` sets it against: another measure, or ``review.KIND.SCORE``."""

    @model_validator(mode="after")
    def _says_over_what(self) -> Comparison:
        if self.test == "paired" and self.over is not None and self.arms is not None:
            raise ValueError("over and arms are given; a paired test needs one of them")
        if self.test == "correlation":
            if self.over is not None or self.against is None:
                raise ValueError("a correlation is of a measure against another: give against")
        elif self.against is not None:
            raise ValueError(f"against is given, but {self.test} does not use it")
        elif self.test != "paired" and self.over is None:
            raise ValueError(f"over is missing; {self.test} needs a varied key")
        if self.arms is not None and len(self.arms) < 2:
            raise ValueError("arms names fewer than two; the reference comes first")
        return self

    def describe(self) -> str:
        """The comparison in one line, as messages name it."""
        where = f" over {self.over}" if self.over else ""
        where += f" against {self.against}" if self.against else ""
        arms = f" ({', '.join(self.arms)})" if self.arms else ""
        return f"{self.test} of {self.of}{where}{arms}"


class Figure(Part):
    """One figure of outcomes against measures, with a point for each arm; it tests nothing."""

    title: Name
    """What stands above it."""
    of: tuple[str, ...] = Field(min_length=1, max_length=8)
    """Measures or scores of reviews on the y-axis, one row of panels for each."""
    against: tuple[str, ...] = Field(min_length=1, max_length=4)
    """Measures on the x-axis, such as calls and tokens, one panel for each."""
    mark: dict[str, Any] = Field(default_factory=dict)
    """Scenario keys and values; arms that set all of them have a colour of their own."""


Spent = Annotated[float, Field(gt=0, lt=1e15)]


class Match(Part):
    """What every arm shall spend alike; chosen values come from rehearsals before the first run."""

    by: Literal["calls", "tokens", "money"] = "calls"
    """What is counted of one run: calls, tokens of prompts and replies, or US dollars."""
    to: str | Spent | Annotated[tuple[Spent, ...], Field(min_length=2, max_length=20)]
    """How much: the name of the arm whose spending the others come near to, a number, or several
    numbers, at each of which every adapted arm is run."""
    within: float = Field(default=0.1, gt=0, le=1)
    """Largest deviation of an adapted arm, as a share; a study whose arm stays farther off is
    refused."""
    adapt: dict[str, dict[str, tuple[WholeNumber, WholeNumber]]] = Field(min_length=1)
    """For each arm that is adapted, the scenario key whose value is chosen, and the least and the
    largest whole number it may take."""

    @model_validator(mode="after")
    def _one_key_each(self) -> Match:
        for arm, keys in self.adapt.items():
            if len(keys) != 1:
                raise ValueError(f"adapt names {len(keys)} keys of {arm}; an arm has one of them")
            ((key, (low, high)),) = keys.items()
            if not low < high:
                raise ValueError(f"adapt has {key} from {low} to {high}; give the lower one first")
        if self.to in self.adapt:
            raise ValueError(
                f"adapt names {self.to}, which is the arm that the others are matched to"
            )
        return self


class StudyFile(Part):
    """One study: arms of a scenario, replicated, measured and compared as stated beforehand."""

    study: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")
    """Its title."""
    base: str
    """The scenario that every arm starts from: a name of the library or a path."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Scenario keys, dotted or nested, for every arm."""
    arms: Arms
    """What is varied."""
    replicates: int = Field(default=20, ge=1, le=100_000)
    """Runs of each arm."""
    seed: int = Field(default=1, ge=0, lt=2**63)
    """The seeds of the replicates and the drawn arms are derived from it."""
    crossed: dict[str, Annotated[tuple[Any, ...], Field(min_length=2, max_length=10_000)]] = Field(
        default_factory=dict
    )
    """Scenario keys and values that go round over the replicates of every arm: each value, or each
    combination of them, has the same number of replicates, in place of one drawn anew each time."""
    paired: bool = True
    """Replicate r has the same seed in every arm, so that arms are compared pair by pair."""
    measures: tuple[str, ...] = Field(min_length=1)
    """What is measured of each run: names of measures, or ``table.column.statistic``."""
    usable: dict[str, float] = Field(default_factory=dict)
    """Measures and their largest values, such as ``{echoed: 0.05, defaulted: 0.05}``: a replicate
    above one of them gives no outcomes. It is part of the lock."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels of arms and measures on the page, by name: of an arm such as
    ``when nobody left``, of a measure such as ``mean age of authors``. Tables keep the names."""
    comparisons: tuple[Comparison, ...] = ()
    """The planned comparisons."""
    figures: tuple[Figure, ...] = ()
    """Further figures: an outcome against a measure. Each measure has a figure of its own."""
    match: Match | None = None
    """The budget that arms have in common; null: arms are run as given."""
    budget: Budget | None = None
    """What all runs together may spend, each an equal part; null: each run has its scenario's own
    budget."""
    keep: Keep = "folders"
    """What is kept of a measured run: its folder, its folder without the journal (``tables``), or
    its ``measures`` alone."""

    @model_validator(mode="after")
    def _measures_what_makes_usable(self) -> StudyFile:
        for name in self.usable:
            if name not in self.measures:
                raise ValueError(f"usable names {name}; name it under measures as well")
        return self


def unusable_reason(usable: Mapping[str, float], measures: Mapping[str, float]) -> str:
    """Why a replicate gives no outcomes, as ``echoed 0.31``; empty: it does."""
    over = [name for name, most in usable.items() if measures.get(name, 0.0) > most]
    return ", ".join(f"{name} {measures[name]:.3g}" for name in over)


def crossed_settings(crossed: Mapping[str, Sequence[Any]], replicate: int) -> dict[str, Any]:
    """The settings of a replicate of every arm; the first key changes fastest."""
    settings, rest = {}, replicate
    for key, values in crossed.items():
        rest, place = divmod(rest, len(values))
        settings[key] = values[place]
    return settings


def studies() -> dict[str, Path]:
    """Every study of the library by its name, such as ``studies/team-size``."""
    files = sorted(STUDIES.rglob("*.yaml"))
    return {path.relative_to(LIBRARY).with_suffix("").as_posix(): path for path in files}


def find_study(name: str | Path) -> Path:
    """The file of a study: a name of the library, a path, a study folder, or the name of one."""
    names, text, path = studies(), str(name).rstrip("/"), Path(name)
    is_file = path.suffix in SUFFIXES and path.is_file()
    written = read_yaml(path).data if is_file else {}
    # A scenario has some keys of a study, such as seed, but none that makes one.
    if text in library() or (written and not {*written} & {"study", "base", "arms"}):
        raise InputError(
            f"{name}: is a scenario, and a study names it under base; 'society study new NAME "
            f"--base {name}' writes a study of two arms of it"
        )
    for known in (text, f"studies/{text}"):
        if known in names:
            return names[known]
    if path.is_dir() and (path / STUDY).is_file():
        return path / STUDY
    if path.is_file():
        return path
    if (FOLDERS / text / STUDY).is_file():
        return FOLDERS / text / STUDY
    if path.is_dir():
        raise InputError(f"{name}: a folder without {STUDY}; give the folder of a study")
    short = [known.removeprefix("studies/") for known in names]
    hint = did_you_mean(text, (*names, *short), alike=0.5)
    if path.suffix in SUFFIXES:
        raise InputError(f"{name}: no such file{hint}")
    hint = hint or "; 'society study list' lists the library"
    raise InputError(f"no study {text!r} in the library, in {FOLDERS} or as a file{hint}")


def is_kept(path: Path) -> bool:
    """Is it the file that a study's folder keeps, and not a user's own file of that name?"""
    return path.name == STUDY and STUDY_HEAD in path.read_text(encoding="utf-8", errors="replace")


def name_of_study(path: Path) -> str:
    """The default name of a study's folder: that of its file, or of the folder it is in."""
    return path.parent.name if is_kept(path) else path.stem


def default_study_folder(path: Path) -> Path:
    """The default folder of a study; a study that is read from its own folder stays there."""
    return path.parent if is_kept(path) else FOLDERS / path.stem


def about_of(path: Path) -> str:
    """The first sentence of the comment at the head of a study file."""
    if not path.is_file():
        return ""
    with path.open(encoding="utf-8") as lines:
        head = list(itertools.takewhile(lambda line: line.startswith("#"), lines))
    words = " ".join(line[1:].strip() for line in head)
    # Not behind "et al.", which a year follows.
    return _SENTENCE_END.split(words)[0].rstrip(".").strip()
