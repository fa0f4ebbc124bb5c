"""Schema: what stands in a scenario file, key by key.

The identity part says what happens: seed, population, founding, protocol, attention, time and
who speaks. The execution part says how far and how it is run, and what is measured at its end:
until, step, calls in flight, endpoints, deadlines, budget, folders, metrics. Only the first is
hashed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, model_validator

from agents.backend import Backend
from agents.budget import Budget
from agents.errors import InputError
from agents.part import Part
from agents.retry import Retry
from scenarios.document import Document, from_arguments, from_settings, library, read_document
from scenarios.load import Key
from scenarios.parts import BACKENDS, ECOSYSTEMS, PROTOCOLS, Among, Section, import_class
from scenarios.sections import Reader, write_part
from society.durations import Days, Times
from society.founding import Founding, Poisson
from society.interfaces import TeamProtocol

EXECUTION = frozenset({"name", "until", "step", "out", "metrics", "novelty"})
SPEAKING_EXECUTION = frozenset({"in_flight", "budget", "retry"})
Family = Literal["novelty", "teams", "structure", "concurrency", "cost"]
METRICS: tuple[Family, ...] = get_args(Family)


def _default(path: str) -> Any:
    return import_class(path)()


class Population(Part):
    """Who lives in the society, and what has been published before it begins."""

    ecosystem: Annotated[Part, Among(ECOSYSTEMS)] = Field(
        default_factory=lambda: _default(ECOSYSTEMS["synthetic"])
    )
    """What the society starts from: ``{use: synthetic, ...}`` or ``{use: folder, path: ...}``."""


class Speaking(Part):
    """Who speaks for the scientists, and how many calls are made at a time.

    The keys of the backend stand beside ``in_flight`` in the same section.
    """

    inlined: ClassVar[str] = "backend"

    in_flight: int = Field(default=64, ge=1, le=10_000)
    """Calls to the backend at the same time; changes how long a run takes, never its outcome."""
    budget: Budget = Field(default_factory=Budget)
    """What the run may cost, over all times it is resumed."""
    retry: Retry = Field(default_factory=Retry)
    """When a call that failed is made again."""
    backend: Backend = Field(default_factory=lambda: _default(BACKENDS["offline"]))
    """Who speaks."""


class Scenario(Part):
    """One scenario, checked and complete: every key has its value, every part its object."""

    name: str | None = Field(default=None, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")
    """A title for tables and reports."""
    seed: int = Field(default=0, ge=0, lt=2**63)
    """Everything random is derived from it."""
    until: Days = Field(default=365.0, gt=0)
    """Simulated time from 1 January of the boundary year to the end of the run."""
    step: Days = Field(default=7.0, gt=0)
    """One period: how often the population is sampled; it changes nothing that happens."""
    out: str | None = None
    """The run folder; by default ``runs/<scenario>-<seed>``."""
    population: Population = Field(default_factory=Population)
    """Who lives in the society."""
    founding: Founding = Field(default_factory=Poisson)
    """When teams start, and who leads them."""
    protocol: TeamProtocol = Field(default_factory=lambda: _default(PROTOCOLS["virsci"]))
    """How a team turns people into a paper."""
    attention: Literal["on", "unlimited"] = "on"
    """``on``: one room and one desk per person, with queues; ``unlimited``: nobody ever waits."""
    time: Times = Field(default_factory=Times)
    """The simulated time of every act, and the windows within which effects are due."""
    backend: Speaking = Field(default_factory=Speaking)
    """Who speaks for the scientists."""
    metrics: tuple[Family, ...] = METRICS
    """What is measured when the run has ended."""
    novelty: Annotated[Part | None, Section("metrics.novelty:Novelty")] = None
    """Settings of the novelty metric; null: those of the paper."""

    @model_validator(mode="after")
    def _fits_together(self) -> Scenario:
        if self.step > self.until:
            raise ValueError("step is longer than until")
        if len(set(self.metrics)) < len(self.metrics):
            raise ValueError("metrics names one twice")
        return self

    def to_data(self) -> dict[str, Any]:
        """All keys as plain data; a file of it is the same scenario."""
        return write_part(self)

    def identity(self) -> dict[str, Any]:
        """The keys that say what happens, without those that say how far and how it is run."""
        data = self.to_data()
        how = SPEAKING_EXECUTION | type(self.backend.backend).execution
        data["backend"] = {k: v for k, v in data["backend"].items() if k not in how}
        return {key: value for key, value in data.items() if key not in EXECUTION}

    def set(self, key: str, value: Any, *, trust: bool = False) -> Scenario:
        """A scenario in which one dotted key has another value; this one stays as it is.

        Raises:
            InputError: no such key, or not a value for it.
        """
        data: dict[Key, Any] = dict(self.to_data().items())
        known = Document(data)
        return read_scenario(known.lay_over(from_arguments({key: value})), trust=trust)


def read_scenario(document: Document, *, trust: bool = False) -> Scenario:
    """Check a document and build its scenario.

    Raises:
        InputError: all faults at once, each with its place.
    """
    reader = Reader(document, trust=trust)
    scenario = reader.part(Scenario, document.data, ())
    reader.complaints.settle()
    if scenario is None:
        raise InputError("the scenario cannot be read")
    return scenario


def load_scenario(
    scenario: str | Path,
    /,
    *,
    settings: Iterable[str] = (),
    trust: bool = False,
    **keys: Any,
) -> Scenario:
    """Load a scenario of the library by name, or from a file.

    Args:
        scenario: such as ``quickstart``, ``virsci/paper`` or ``my/scenario.yaml``.
        settings: ``a.b=c`` as given to ``--set``.
        trust: let dotted paths in it be imported, which runs code.
        **keys: dotted keys and their values, such as ``**{"protocol.turns": 3}``.

    Raises:
        InputError: all faults at once, each with its place.
    """
    document = read_document(scenario)
    for changes in (from_settings(settings), from_arguments(keys)):
        document = document.lay_over(changes)
    document.data.setdefault("name", title_of(scenario))
    return read_scenario(document, trust=trust)


def title_of(name: str | Path) -> str:
    """The name of a scenario that gives itself none: as in the library, or of its file."""
    return str(name) if str(name) in library() else Path(name).stem
