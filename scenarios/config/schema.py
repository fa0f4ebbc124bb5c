"""The schema of a scenario file, key by key.

Only the identity keys, which say what happens, are hashed (rule 8).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.gateway.gateway import Unreadable
from virsci_society.agents.gateway.retry import Retry
from virsci_society.agents.spelling import did_you_mean
from virsci_society.metrics.registry import FAMILIES, UNASKED
from virsci_society.scenarios.config.diagnostics import Diagnostics
from virsci_society.scenarios.config.document import (
    Document,
    from_arguments,
    from_settings,
    key_path,
    library,
    read_document,
    single_key,
)
from virsci_society.scenarios.config.reader import Reader, differing_keys, import_class, write_part
from virsci_society.scenarios.config.registry import (
    BACKENDS,
    ECOSYSTEMS,
    PROTOCOLS,
    FromTable,
    Section,
    require_metric,
)
from virsci_society.scenarios.config.yaml_io import Key
from virsci_society.society.careers import Careers
from virsci_society.society.formation.founding import Founding, Poisson
from virsci_society.society.interventions import Intervention
from virsci_society.society.kernel.durations import Days, Times
from virsci_society.society.literature.landscape import Worth
from virsci_society.society.population.assistance import Assistance
from virsci_society.society.population.external_authors import ExternalAuthors
from virsci_society.society.population.interest_drift import Drift
from virsci_society.society.teams.contracts import Publication, TeamProtocol
from virsci_society.society.teams.publication import Unreviewed
from virsci_society.society.teams.team import Execution

CHANGEABLE = {
    "founding": "founding",
    "protocol": "protocol",
    "publication": "publication",
    "careers": "careers",
    "time": "times",
    "seed": "seed",
}
"""Keys that an intervention may set, with the names under which the society knows them."""
REFUSED = {
    "name": "it names the whole run",
    "until": "it is the end of the whole run; set it when you start or resume the run",
    "initial_projects": "they are founded before day 0",
    "step": "periods are counted from day 0",
    "out": "a run has one folder",
    "population": "people and papers before day 0 cannot change",
    "attention": "meetings in progress have or have not reserved rooms and desks",
    "assistance": "adopters are drawn once for the whole run; give start and spread",
    "worth": "the worth of ideas is the same for the whole run",
    "execution": "ideas are carried out in one way for the whole run",
    "backend": "which backend answers is fixed by seed and call id for the whole run (rule 6)",
    "metrics": "metrics are computed from the whole run",
    "novelty": "metrics are computed from the whole run",
    "interventions": "an intervention cannot set another; give each its own entry",
}
"""Other keys of a scenario, each with the reason why no intervention may set it."""


def documents_after(
    start: Document, interventions: Sequence[Intervention]
) -> Iterator[tuple[Intervention, Document]]:
    """The document after each intervention, in order of date."""
    now = Document(dict(start.data), dict(start.origins))
    now.data.pop("interventions", None)
    # A stable sort: equal dates keep the listed order.
    for place, intervention in sorted(enumerate(interventions), key=lambda one: one[1].at):
        for key, value in intervention.set.items():
            at = start.origin(("interventions", place, "set", key))
            now = now.merged_with(single_key(key_path(key) or (), value, at))
        yield intervention, now


EXECUTION = frozenset({"name", "until", "step", "out", "metrics", "novelty"})
BACKEND_EXECUTION = frozenset({"in_flight", "budget", "retry", "cutoff", "unreadable"})
DEFAULT_METRICS = tuple(family for family in FAMILIES if family not in UNASKED)


def _known_metric(name: str, info: ValidationInfo) -> str:
    try:
        require_metric(name, trust=bool(info.context and info.context["trust"]))
    except InputError as error:
        raise ValueError(str(error)) from None
    return name


class _MetricSchema:
    """The names of all metrics for editors, imported when a schema is made."""

    def __get_pydantic_json_schema__(self, *_: Any) -> dict[str, Any]:
        from virsci_society.metrics.registry import METRICS

        names = [*dict.fromkeys([*FAMILIES, *METRICS])]
        return {"type": "string", "anyOf": [{"enum": names}, {"pattern": ":"}]}


MetricName = Annotated[str, AfterValidator(_known_metric), _MetricSchema()]
"""A family of metrics, a single metric, or ``package.module:function``."""


def _month(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Cutoff = Annotated[
    Annotated[str, Field(pattern=r"^(19|20)\d\d(-(0[1-9]|1[0-2]))?$")] | None,
    BeforeValidator(_month, json_schema_input_type=str | int | None),
]
"""A year, or a month of a year."""


def _default(path: str) -> Any:
    return import_class(path)()


class PopulationSettings(Part):
    """Who lives in the society, and what has been published before it begins."""

    ecosystem: Annotated[Part, FromTable(ECOSYSTEMS)] = Field(
        default_factory=lambda: _default(ECOSYSTEMS["synthetic"])
    )
    """Scientists, papers and citations on day 0. Source: VirSci: AMiner and OAG."""
    drift: Drift | None = None
    """How interests follow a scientist's papers; null: they never change."""
    external_authors: ExternalAuthors | None = None
    """Authors from outside the population on papers; null: none."""


class BackendSettings(Part):
    """Who answers for the scientists, and limits on calls."""

    inlined: ClassVar[str] = "backend"
    execution: ClassVar[frozenset[str]] = BACKEND_EXECUTION

    in_flight: int = Field(default=64, ge=1, le=10_000)
    """Concurrent calls; changes the duration of a run, never its results."""
    budget: Budget = Field(default_factory=Budget)
    """Spending limits, over all sessions of a run."""
    retry: Retry = Field(default_factory=Retry)
    """When a failed call is repeated."""
    unreadable: Unreadable | None = None
    """When unusable replies stop the run; null: the defaults for models, never for rules."""
    cutoff: Cutoff = None
    """Training cut-off of the model, such as ``2023-12``; shown in reports only."""
    backend: Backend = Field(default_factory=lambda: _default(BACKENDS["offline"]))
    """Who speaks."""

    @property
    def at_once(self) -> int:
        """Calls at the same time, which are no more than the backend takes."""
        return min(self.in_flight, self.backend.paid.slots or self.in_flight)


class Scenario(Part):
    """A valid scenario with a value for every key and an object for every component.

    Example:
        >>> scenario.seed, scenario.until
        (1, 182.0)
        >>> longer: vs.Scenario = scenario.model_copy(update={"until": 365.0})
        >>> longer.to_data()["until"]
        '1y'
    """

    execution_keys: ClassVar[frozenset[str]] = EXECUTION

    name: str | None = Field(default=None, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")
    """Title in tables and reports."""
    seed: int = Field(default=0, ge=0, lt=2**63)
    """Seed of everything random."""
    until: Days = Field(default=365.0, gt=0)
    """Length of the run from day 0, 1 January of the boundary year."""
    initial_projects: Days = Field(default=0.0, ge=0, le=36_500)
    """Time before day 0 in which teams are founded, so that some are at work on day 0; their papers
    before day 0 are dropped."""
    step: Days = Field(default=7.0, gt=0)
    """How often Mesa samples the population; no effect on results."""
    out: str | None = None
    """Run folder; null: ``runs/<scenario>-<seed>``."""
    population: PopulationSettings = Field(default_factory=PopulationSettings)
    """Who lives in the society."""
    careers: Careers | None = None
    """Newcomers and retirement; null: none."""
    founding: Founding = Field(default_factory=Poisson)
    """When teams start, and who leads them."""
    protocol: TeamProtocol = Field(default_factory=lambda: _default(PROTOCOLS["virsci"]))
    """How a team works and what it publishes. Source: VirSci."""
    attention: Literal["on", "unlimited"] = "on"
    """``on``: one meeting and one task per person at a time, with queues; ``unlimited``: nobody
    waits."""
    assistance: Assistance | None = None
    """Use of an assisting machine by scientists; null: none."""
    worth: Worth | None = None
    """Hidden worth of ideas, which nobody can observe; null: none."""
    execution: Execution | None = None
    """Carrying out ideas before publication; needs ``worth``; null: none."""
    time: Times = Field(default_factory=Times)
    """Durations and delays in simulated time."""
    publication: Publication = Field(default_factory=Unreviewed)
    """From manuscript to paper: directly, by lottery (``chance``), by a rating panel or by peer
    review."""
    backend: BackendSettings = Field(default_factory=BackendSettings)
    """Who answers for the scientists: rules or a model."""
    metrics: tuple[MetricName, ...] = DEFAULT_METRICS
    """Families (``society list metrics``), single metrics or your own functions. Not by default:
    ``worth``, ``classics``, ``chance`` and the slow ``copies``."""
    novelty: Annotated[Part | None, Section("virsci_society.metrics.novelty.novelty:Novelty")] = (
        None
    )
    """Settings of the novelty metric; null: VirSci's."""
    interventions: tuple[Intervention, ...] = ()
    """Changes on given dates, such as ``{at: 1y, set: {protocol.turns: 3}}``."""

    @model_validator(mode="after")
    def _fits_together(self) -> Scenario:
        if self.step > self.until:
            raise ValueError("step is longer than until; make it shorter, or until longer")
        if len(set(self.metrics)) < len(self.metrics):
            raise ValueError("metrics names one twice")
        if self.execution is not None and self.worth is None:
            raise ValueError(
                "execution draws outcomes from the worth of ideas; set worth: {use: landscape}"
            )
        if getattr(self.publication, "signal", 0) and self.worth is None:
            raise ValueError(
                "publication.signal is a correlation with the worth of ideas; give worth: {use: "
                "landscape}, or leave signal out"
            )
        needed = (one.needs_execution for one in self.protocol.components)
        if self.execution is None and (key := next(filter(None, needed), None)):
            raise ValueError(
                f"protocol has {key!r}, but no idea is carried out, so none has an outcome or "
                "looks good; give execution: {use: attempt} and worth: {use: landscape}"
            )
        named = [one.label for one in getattr(self.protocol, "of", ())] or [self.protocol.name]
        for name in getattr(self.execution, "overrated", ()):
            if name not in named:
                raise ValueError(
                    f"execution.overrated: {name!r} is not a protocol here; choose one of "
                    f"{', '.join(map(repr, named))}{did_you_mean(name, named)}"
                )
        # Values of a file must survive being written to the run folder.
        try:
            json.dumps([one.set for one in self.interventions], allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"interventions: set takes plain values only: {error}") from error
        return self

    @property
    def seeded_backend(self) -> Backend:
        """The backend of a run with this seed."""
        return self.backend.backend.of_run(self.seed)

    def to_data(self) -> dict[str, Any]:
        """All keys as plain data, which can be written as a scenario file."""
        return write_part(self)

    def to_explicit_data(self) -> dict[Key, Any]:
        """All keys except those implied by a profile, so that another profile can be merged."""
        data: dict[Key, Any] = dict(self.to_data().items())
        for key in self.protocol.implied:
            *above, name = key.split(".")
            del reduce(dict.__getitem__, above, data["protocol"])[name]
        return data

    def identity(self) -> dict[str, Any]:
        """The keys that determine results, without length and execution."""
        return differing_keys(self)

    def after_interventions(self) -> list[tuple[Intervention, Scenario]]:
        """Each intervention in order of date, with the scenario that applies from then on."""
        start = Document(self.to_explicit_data())
        return [
            (one, _read(document, trust=True))
            for one, document in documents_after(start, self.interventions)
        ]

    def set(self, key: str, value: Any, *, trust: bool = False) -> Scenario:
        """A copy of the scenario with another value for one dotted key."""
        known = Document(self.to_explicit_data())
        return read_scenario(known.merged_with(from_arguments({key: value})), trust=trust)


def read_scenario(document: Document, *, trust: bool = False) -> Scenario:
    """Check a document and build its scenario, interventions included."""
    scenario = _read(document, trust=trust)
    diagnostics = Diagnostics(document)
    for place, intervention in enumerate(scenario.interventions):
        for key in intervention.set:
            first = str((key_path(key) or ("",))[0])
            if first in REFUSED:
                problem = f"{first} cannot change in mid-run: {REFUSED[first]}"
            elif first not in CHANGEABLE:
                problem = f"an intervention cannot set it; it can set {', '.join(CHANGEABLE)}"
                problem += did_you_mean(first, CHANGEABLE)
            else:
                continue
            diagnostics.add(("interventions", place, "set", key), problem)
    diagnostics.raise_faults()
    for _, changed in documents_after(document, scenario.interventions):
        _read(changed, trust=trust)
    return scenario


def _read(document: Document, *, trust: bool) -> Scenario:
    reader = Reader(document, trust=trust)
    scenario = reader.read(Scenario)
    if scenario.protocol.stages is not None:
        # Authors revise at their desks as well.
        known = sorted(scenario.protocol.stages | {"publication"})
        for name in scenario.time.stage_effort:
            if name not in known:
                problem = f"not a stage of the protocol; expected one of {', '.join(known)}"
                hint = did_you_mean(name, known)
                reader.diagnostics.add(("time", "stage_effort", name), problem + hint)
        reader.diagnostics.raise_faults()
    return scenario


def load_scenario(
    scenario: str | Path, /, *, settings: Iterable[str] = (), trust: bool = False, **keys: Any
) -> Scenario:
    """Load a scenario of the library by name, or from a file.

    Args:
        scenario: such as ``quickstart``, ``virsci/paper`` or ``my/scenario.yaml``.
        settings: ``a.b=c`` as given to ``--set``.
        trust: let dotted paths in it be imported, which runs code.
        **keys: dotted keys and their values, such as ``**{"protocol.turns": 3}``.

    Raises:
        InputError: all errors at once, each with its position.

    Example:
        >>> scenario = vs.load_scenario("quickstart", **{"protocol.turns": 3, "until": "26w"})
        >>> scenario.name, scenario.until, scenario.to_data()["protocol"]["turns"]
        ('quickstart', 182.0, 3)
        >>> vs.load_scenario("quickstart", settings=["seed=8"]).seed
        8
    """
    return read_scenario(scenario_document(scenario, settings, **keys), trust=trust)


def scenario_document(
    scenario: str | Path, settings: Iterable[str] = (), /, **keys: Any
) -> Document:
    """The data of a scenario with the origin of every key; arguments as of ``load_scenario``."""
    document = read_document(scenario)
    for changes in (from_settings(settings), from_arguments(keys)):
        document = document.merged_with(changes)
    document.data.setdefault("name", title_of(scenario))
    return document


def title_of(name: str | Path) -> str:
    """The default name of a scenario: its library name, or its file name."""
    return str(name) if str(name) in library() else Path(name).stem
