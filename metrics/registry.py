"""The registry of measures (numbers of a run), metrics (tables computed from it) and known facts.

A decorator beside each function names its family, unit, definition and source. ``MEASURES`` and
``METRICS`` import the functions when they are first read: a scenario is checked without pandas.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from inspect import cleandoc, getdoc
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.society.results.tables import TABLES

if TYPE_CHECKING:
    import pandas as pd

    from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
    from virsci_society.society.literature.embedding.base import Progress
    from virsci_society.society.results.run import Run

    Metric = Callable[[Run], pd.DataFrame]
    RunFunction = Callable[[Run], float]
    Rows = Callable[[Run, pd.DataFrame], pd.DataFrame]
    MetricT = TypeVar("MetricT", bound=Metric)

T = TypeVar("T")
INFINITE = float("inf")
NAN = float("nan")

FAMILIES = (
    *("novelty", "leaks", "teams", "structure", "impact", "concurrency", "cost"),
    *("copies", "worth", "classics", "chance"),
)
"""Families of metrics, which a scenario can name under ``metrics``."""
UNASKED = ("copies", "worth", "classics", "chance")
"""Families that are computed only where a scenario names them."""
COMPARING = ("novelty", "leaks")
"""Families whose metrics are made from the papers of the past."""
MODULES = (
    *("novelty.novelty", "novelty.training_leaks", "novelty.near_duplicates"),
    *("teams.teams", "networks.team_patterns"),
    *("teams.peer_review", "population", "validation.dated_papers", "networks.structure"),
    *("networks.degree_tails", "networks.communities", "networks.removals", "impact"),
    *("teams.concurrency", "cost", "idea_quality", "validation.comparison"),
)
"""Modules below ``virsci_society.metrics`` with registered functions."""
FACT_CLASSES: Mapping[str, str] = {
    "structure": (
        "Densification ShrinkingDiameter GiantComponentAuthors Transitivity Assortativity "
        "Attachment MutualPartner MoreMutualPartners TiesAgain TieDecay RichClub"
    ),
    "careers": (
        "Lotka OnePaperAuthors TopPercent StableOutput AuthorGrowth LaterLeads SeniorsLast "
        "StrongestPartner SuperTies"
    ),
    "citations": (
        "BestPaperAnywhere HotStreak CitationSpread TeamAdvantage SuperTiePremium Reputation "
        "SmallTeamsDisrupt AtypicalHits TeamsCombine NewPairsPay"
    ),
    "teams": "TeamGrowth SoloPapers ExtendedTeams PanelsDisagree PanelsChange",
}
"""Classes of known facts by module; a fact has the name of its class in snake case."""
_FACTS = "virsci_society.metrics.facts"
FACTS: Mapping[str, str] = {
    re.sub("(?<!^)(?=[A-Z])", "_", name).lower(): f"{_FACTS}.{module}:{name}"
    for module, names in FACT_CLASSES.items()
    for name in names.split()
} | {"repeated_teams": f"{_FACTS}.teams:TeamsAgain"}
"""Known facts of science by name -> ``module:Class``."""

_RANGES: Mapping[str, tuple[float, float]] = {
    "share": (0.0, 1.0),
    "index": (0.0, 1.0),
    "correlation": (-1.0, 1.0),
    "slope": (-INFINITE, INFINITE),
}
"""Ranges by unit; other units start at zero."""
_PURE = ("index", "correlation", "slope", "number")
"""Pure numbers, which have no unit."""


@dataclass(frozen=True)
class Measure:
    """One number of a run, or of the papers of a real community."""

    family: str
    unit: str
    low: float
    high: float
    definition: str
    """A noun phrase; the text after its colon defines the denominator."""
    source: str
    module: str
    compute: RunFunction | None
    """None: only a comparison with real papers has it."""

    @property
    def label(self) -> str:
        """The definition up to its colon."""
        return self.definition.partition(": ")[0]

    @property
    def details(self) -> str:
        """What follows the label, and the source; the label where nothing follows."""
        return self.meaning.removeprefix(f"{self.label}: ")

    @property
    def meaning(self) -> str:
        """Definition and source in one line."""
        return f"{self.definition} ({self.source})" if self.source else self.definition


class _Registered(MutableMapping[str, T]):
    """Registered functions by name; reading it imports their modules."""

    def __init__(self) -> None:
        self._known: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        _import_modules()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        _import_modules()
        return iter(self._known)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __setitem__(self, name: str, value: T) -> None:
        self._known[name] = value

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def sort(self, key: Callable[[str, T], tuple[int, int]]) -> None:
        """Sort by a key; functions with equal keys keep the order of registration."""
        self._known = dict(sorted(self._known.items(), key=lambda item: key(*item)))


@cache
def _import_modules() -> None:
    """Import all modules and sort by family and module, whatever imported them first."""
    paths = [f"virsci_society.metrics.{module}" for module in MODULES]
    for path in paths:
        import_module(path)
    families = [*FAMILIES, "comparison"]
    METRICS.sort(lambda name, one: (families.index(_FAMILY_OF[name]), paths.index(one.__module__)))
    MEASURES.sort(lambda _, one: (families.index(one.family), paths.index(one.module)))


METRICS: _Registered[Metric] = _Registered()
"""Every metric by name: a function from a run to a table."""
MEASURES: _Registered[Measure] = _Registered()
"""Every measure by name."""
_FAMILY_OF: dict[str, str] = {}
_SOURCE = re.compile(r"(.*?)(?: \(([^()]*\d{4}|VirSci[^()]*)\))?\.?")
"""A definition and the source that follows it in brackets."""


def metric(family: str, name: str = "") -> Callable[[MetricT], MetricT]:
    """Register a metric, whose docstring begins with its definition and source."""

    def register(function: MetricT) -> MetricT:
        METRICS[name or function.__name__] = function
        _FAMILY_OF[name or function.__name__] = family
        return function

    return register


def measure(family: str, unit: str, name: str = "") -> Callable[[RunFunction], RunFunction]:
    """Register a function of a run as a measure; its docstring is definition and source."""

    def register(function: RunFunction) -> RunFunction:
        text = " ".join((getdoc(function) or "").partition("\n\n")[0].split())
        text, own = text[:1].lower() + text[1:], name or function.__name__
        _add_measure(family, own, unit, text, function.__module__, function)
        return function

    return register


def measures(family: str, text: str, rows: Rows | None = None) -> Callable[[MetricT], MetricT]:
    """Register means of columns of a metric, above its decorator.

    Args:
        text: lines ``name unit definition (source)``, or ``name=column ...`` where the column has
            another name; an indented line continues the one before.
        rows: chooses the rows that are averaged; by default all.

    Example:
        >>> @measures("cost", "turns  turns  mean number of turns: of the longest stage")
        ... @metric("cost")
        ... def inference_cost(run): ...
    """

    def register(function: MetricT) -> MetricT:
        (table,) = (name for name, known in METRICS._known.items() if known is function)
        for name, column, unit, definition in _lines(text):
            compute = partial(_column_mean, table=table, column=column, rows=rows)
            _add_measure(family, name, unit, definition, function.__module__, compute)
        return function

    return register


def compared_measures(module: str, text: str) -> None:
    """Register measures that only a comparison with real papers computes; see ``measures``."""
    for name, _, unit, definition in _lines(text):
        _add_measure("comparison", name, unit, definition, module, None)


def _lines(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Name, column, unit and definition of each measure of a text."""
    whole = re.sub(r"\n +", " ", cleandoc(text))
    for line in whole.splitlines():
        name, unit, definition = line.split(None, 2)
        name, _, column = name.partition("=")
        yield name, column or name, unit, definition


def _add_measure(
    family: str, name: str, unit: str, text: str, module: str, compute: RunFunction | None
) -> None:
    found, known = _SOURCE.fullmatch(text), MEASURES._known.get(name)
    if not found or not found[1] or (known and known.definition != found[1]):
        raise ValueError(f"measure {name}: registered twice, or without a definition")
    low, high = _RANGES.get(unit, (0.0, INFINITE))
    unit = "" if unit in _PURE else unit.replace("_", " ")
    MEASURES[name] = Measure(family, unit, low, high, found[1], found[2] or "", module, compute)


def _column_mean(run: Run, table: str, column: str, rows: Rows | None) -> float:
    from virsci_society.society.results.dataframes import known_numbers

    found = compute_metric(run, table)
    return mean(known_numbers((rows(run, found) if rows else found)[column]))


def metrics_named(name: str) -> tuple[str, ...]:
    """The metrics that a name under ``metrics`` selects; none for an unknown name."""
    if name in FAMILIES:
        return tuple(one for one in METRICS if _FAMILY_OF[one] == name)
    return (name,) if name in METRICS else ()


def explain_name(name: str) -> str:
    """What an unknown name may have meant: the nearest metrics, or a rank of scientists."""
    near = [one for one in METRICS if name and (name in one or one in name)]
    near += difflib.get_close_matches(name, METRICS, n=3)
    said = " or ".join(map(repr, dict.fromkeys(near[:3])))
    lines = [f"did you mean {said}?"] if said else []
    if name == "degree":
        lines.append(
            "'degree' is a column of 'degrees', and a rank of scientists (--remove degree:10)"
        )
    return "; ".join(lines)


def compares_papers(names: Iterable[str]) -> bool:
    """Is any of these made from the papers of the past? A function from outside may be."""
    return any(
        not (named := metrics_named(one)) or any(_FAMILY_OF[each] in COMPARING for each in named)
        for one in names
    )


def measure_extent(name: str) -> tuple[float, float]:
    """Lower and upper bound of a measure; infinite if unknown."""
    if name in MEASURES:
        return MEASURES[name].low, MEASURES[name].high
    statistic = name.rpartition(".")[2]
    return {"count": (0.0, INFINITE), "share": (0.0, 1.0), "gini": (0.0, 1.0)}.get(
        statistic, (-INFINITE, INFINITE)
    )


def measure_label(name: str) -> str:
    """The name of a measure in a sentence; of ``a.b.mean`` it is ``mean b (a)``."""
    if name in MEASURES:
        return MEASURES[name].label
    table, *parts = name.split(".")
    if len(parts) != 2 or table == "review":
        return name
    return f"{parts[1]} {parts[0]} ({table})".replace("_", " ")


def compute_metric(
    run: Run,
    name: str,
    *,
    past: Path | str | None = None,
    contemporary: Path | str | None = None,
    embedding: str | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """A metric of a run, as written with it, or computed once and cached.

    Args:
        past: folder of an ecosystem whose past papers are used to measure ``novelty`` again,
            without calls and without writing.
        contemporary: folder of an ecosystem with the contemporary papers to use; that of
            ``past`` by default.
        embedding: name of another embedding, as in ``society ecosystem build --embedding``.
        progress: called while texts are embedded, such as ``vs.make_progress().texts``.

    Raises:
        InputError: neither written nor in ``METRICS``; or the ecosystems cannot be used.

    Example:
        >>> weekly = vs.compute_metric(run, "weekly")
        >>> len(weekly)  # day 0, and the end of each of 26 weeks
        27
    """
    if past is not None:
        if name != "novelty":
            raise InputError(f"only the metric 'novelty' accepts other papers, not {name!r}")
        from virsci_society.metrics.novelty.other_papers import novelty_against

        return novelty_against(run, past, contemporary, embedding, progress)
    # Written metrics are read without importing the modules that compute them.
    if name not in run.metric_names() and name in METRICS:
        return run.add_metric(name, METRICS[name](run))
    try:
        return run.metric(name)
    except InputError as error:
        if name not in METRICS and (meant := explain_name(name)):
            raise InputError(f"no metric is called {name!r}; {meant}") from error
        raise


@cache
def empty_metric(name: str) -> pd.DataFrame:
    """A metric of a run without a row: its columns and their dtypes."""
    return METRICS[name](empty_run())


@cache
def empty_run() -> Run:
    """An empty run, cached because building its tables is slow."""
    from virsci_society.society.results.run import Run

    return Run.from_rows({}, {"seed": 0, "days": 0.0}, {})


def measure_run(run: Run, names: Iterable[str]) -> dict[str, float]:
    """Compute measures, which are numbers of a run.

    Args:
        names: of measures (``society list measures``), or ``table.column.statistic``.

    Returns:
        Name -> number, NaN where the tables lack the data.

    Raises:
        InputError: a name is neither a measure nor ``table.column.statistic``.

    Example:
        >>> vs.measure_run(run, ["teams.size.mean"])
        {'teams.size.mean': ...}
    """
    own = dict.fromkeys(run.metric_names())
    return {name: _function(name, own)(run) for name in names}


def name_error(name: str, own: Mapping[str, Metric] | None = None) -> str | None:
    """The error message for a measure's name; None if it is valid."""
    try:
        _function(name, own)
    except InputError as error:
        return str(error)
    return None


def _function(name: str, own: Mapping[str, Metric | None] | None = None) -> RunFunction:
    if name in MEASURES:
        if compute := MEASURES[name].compute:
            return compute
        raise InputError(
            f"{name} compares papers with real ones, and no run has it alone; 'society "
            "compare' and 'society calibrate' compute it"
        )
    if name.count(".") == 2:
        return parse_dotted_name(name, own)
    unknown = unknown_name("measure", name, (one for one in MEASURES if MEASURES[one].compute))
    raise InputError(f"{unknown} (or write table.column.statistic)")


def mean(values: FloatArray | IntArray | BoolArray) -> float:
    """Arithmetic mean; NaN for no values."""
    return float(values.mean()) if len(values) else NAN


def _median(values: FloatArray) -> float:
    import numpy as np

    return float(np.median(values)) if len(values) else NAN


def _gini(values: FloatArray) -> float:
    from virsci_society.agents.arrays import gini

    return gini(values)


STATISTICS: Mapping[str, Callable[[FloatArray], float]] = {
    "mean": mean,
    "median": _median,
    "sum": lambda values: float(values.sum()),
    "share": mean,
    "gini": _gini,
    "last": lambda values: float(values[-1]) if len(values) else NAN,
}
"""What can stand last in ``table.column.statistic``, beside ``count``: how many values are known.

``share`` is for columns of yes and no."""


def parse_dotted_name(name: str, own: Mapping[str, Metric | None] | None = None) -> RunFunction:
    """The function of a run that ``table.column.statistic`` names."""
    table, column, statistic = name.split(".")
    own = own or {}
    columns = _columns(table)
    if not columns and (metric := own.get(table)):
        with suppress(Exception):  # a user's function may fail on an empty run
            columns = {str(key): str(kind) for key, kind in metric(empty_run()).dtypes.items()}
    if not columns and table not in own:
        raise InputError(f"{name}: {unknown_name('table', table, [*own, *METRICS, *TABLES])}")
    if column not in columns and columns:
        raise InputError(f"{name}: {unknown_name(f'column of {table}', column, columns)}")
    if statistic not in (*STATISTICS, "count"):
        raise InputError(f"{name}: {unknown_name('statistic', statistic, (*STATISTICS, 'count'))}")
    dtype = columns.get(column, "")
    if dtype and statistic == "share" and dtype != "boolean":
        raise InputError(f"{name}: share needs a column of yes and no, {column} is {dtype}")
    if statistic not in ("count", "share") and dtype in ("string", "object", "boolean"):
        raise InputError(f"{name}: {statistic} needs a column of numbers, {column} is {dtype}")
    return column_statistic(table, column, statistic)


def column_statistic(table: str, column: str, statistic: str = "mean") -> RunFunction:
    """The function of a run that gives a statistic of a column."""
    from virsci_society.society.results.dataframes import known_numbers

    def statistic_of(run: Run) -> float:
        values = column_of(run, table, column)
        # A metric without a row may not have been computed: novelty without vectors has none.
        if table in METRICS and not len(values):
            return NAN
        kept = values.dropna()
        if statistic == "count":
            return float(len(kept))
        # There are rows, and none of their values is known.
        return NAN if len(values) and not len(kept) else STATISTICS[statistic](known_numbers(kept))

    return statistic_of


def unknown_name(what: str, name: str, expected: Iterable[str]) -> str:
    """One line for an error: the nearest spelling, or some of the names that are known."""
    names = list(dict.fromkeys(expected))
    if near := did_you_mean(name, names, 0.5):
        return f"no {what} is called {name!r}{near}"
    some = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return f"no {what} is called {name!r}; there are {some}"


@cache
def _columns(table: str) -> dict[str, str]:
    """Columns that a table name reaches and their dtypes: a metric's first, then a table's."""
    found = {column.name: column.dtype for column in TABLES.get(table, ())}
    if table in METRICS:
        dtypes = empty_metric(table).dtypes.items()
        found.update({str(name): str(dtype) for name, dtype in dtypes})
    return found


def column_of(run: Run, table: str, column: str) -> pd.Series:
    """A column of a metric, or else of a table of that name."""
    if table in METRICS:
        values = compute_metric(run, table)
        if column in values:
            return values[column]
    if table in TABLES:
        return run.table(table)[column]
    values = run.metric(table)
    if column not in values:
        raise InputError(unknown_name(f"column of {table}", column, map(str, values)))
    return values[column]
