"""The names that a scenario can give after ``use:``, and the classes that they stand for.

Names become classes here and nowhere else. Each table maps a name to ``module:Class``; the module
is imported when the name is used, so that start-up pays only for what a scenario asks for. A name
that is in no table is a dotted path ``package.module:Class``: a user's own code, which runs only
with ``--trust``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from virsci_society.agents.backends.hosts import EVERY, allow_key
from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.metrics.measures import FACTS, FAMILY_METRICS, metrics_named
from virsci_society.scenarios.config.outside_code import import_member, installed_of
from virsci_society.society.ecosystem.importers.source import IMPORTERS

if TYPE_CHECKING:
    # Imported where it is used: the start of the command passes through this file.
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

Table = Mapping[str, str]
SUFFIXES = (".yaml", ".yml")
"""How the path of a card ends."""

PROTOCOLS: Table = {
    "virsci": "virsci_society.protocols.virsci.protocol:VirSci",
    "wordless": "virsci_society.protocols.wordless:Wordless",
    "ai_scientist": "protocols/systems/ai_scientist.yaml",
    "ai_scientist_v2": "protocols/systems/ai_scientist_v2.yaml",
    "hypogen": "protocols/systems/hypogen.yaml",
    "ai_researcher": "protocols/systems/ai_researcher.yaml",
    "research_town": "protocols/systems/research_town.yaml",
    "research_agent": "protocols/systems/research_agent.yaml",
    "cycle_researcher": "protocols/systems/cycle_researcher.yaml",
    "idea2proposal": "virsci_society.protocols.systems.idea2proposal:Idea2Proposal",
    "virtual_lab": "protocols/systems/virtual_lab.yaml",
    "co_scientist": "protocols/systems/co_scientist.yaml",
    "solo_virsci": "virsci_society.protocols.virsci.protocol:SoloVirSci",
    "debate": "protocols/systems/debate.yaml",
    "bandit": "virsci_society.protocols.classics.network_bandit:Bandit",
    "epistemic_landscape": (
        "virsci_society.protocols.classics.epistemic_landscape:EpistemicLandscape"
    ),
    "mixture": "virsci_society.protocols.mixture:Mixture",
}
FOUNDING: Table = {
    "poisson": "virsci_society.society.formation.founding:Poisson",
    "once": "virsci_society.society.formation.founding:Once",
    "bursts": "virsci_society.society.formation.founding:Bursts",
    "calls": "virsci_society.society.formation.founding:CallsForProposals",
    "yearly": "virsci_society.society.formation.founding:Yearly",
}
LEADERS: Table = {
    "anybody": "virsci_society.society.formation.leaders:Anybody",
    "productive": "virsci_society.society.formation.leaders:Productive",
    "fading_papers": "virsci_society.society.formation.leaders:ByFadingPapers",
    "standing": "virsci_society.society.formation.leaders:ByProminence",
    "selection": "virsci_society.society.formation.leaders:Selected",
    "named": "virsci_society.society.formation.leaders:Named",
}
SELECTION: Table = {
    "coauthorship": "virsci_society.protocols.policies.coauthorship:Coauthorship",
    "uniform": "virsci_society.protocols.policies.uniform:Uniform",
    "topics": "virsci_society.protocols.policies.nearest_topics:NearestTopics",
    "standing": "virsci_society.protocols.policies.preferential_attachment:PreferentialAttachment",
    "two_step": "virsci_society.protocols.policies.two_step:TwoStep",
    "guimera": "virsci_society.protocols.policies.guimera:Guimera",
    "relational": "virsci_society.protocols.policies.relational:Relational",
    "same_institution": "virsci_society.protocols.policies.same_institution:SameInstitution",
    "fixed": "virsci_society.protocols.policies.fixed:FixedTeam",
}
CAREERS: Table = {"rates": "virsci_society.society.careers:Rates"}
NEWCOMERS: Table = {
    "apprentices": "virsci_society.society.careers:Apprentices",
    "outsiders": "virsci_society.society.careers:Outsiders",
}
RETIREMENT: Table = {
    "hazard": "virsci_society.society.departures:Hazard",
    "lengths": "virsci_society.society.departures:Lengths",
}
MOBILITY: Table = {
    "any_place": "virsci_society.society.departures:AnyPlace",
    "by_size": "virsci_society.society.departures:BySize",
    "by_coauthors": "virsci_society.society.departures:ByCoauthors",
}
DRIFT: Table = {"writing": "virsci_society.society.population.interest_drift:Writing"}
OUTSIDE_SEATS: Table = {
    "counted": "virsci_society.society.population.outside_authors:CountedSeats",
    "poisson": "virsci_society.society.population.outside_authors:PoissonSeats",
}
SIZES: Table = {
    "observed": "virsci_society.protocols.team_sizes:ObservedSize",
    "stated": "virsci_society.protocols.team_sizes:StatedSize",
    "negative_binomial": "virsci_society.protocols.team_sizes:NegativeBinomialSize",
}
PUBLICATION: Table = {
    "none": "virsci_society.society.teams.publication:Unreviewed",
    "chance": "virsci_society.society.teams.publication:ByChance",
    "panel": "virsci_society.society.teams.publication:ByPanel",
    "peer_review": "virsci_society.protocols.peer_review.protocol:PeerReview",
}
WORTH: Table = {"landscape": "virsci_society.society.literature.landscape:Landscape"}
EXECUTION: Table = {"attempt": "virsci_society.society.teams.execution:ExecutionAttempt"}
DURATIONS: Table = {
    "fixed": "virsci_society.society.kernel.durations:FixedDuration",
    "gamma": "virsci_society.society.kernel.durations:Gamma",
    "lognormal": "virsci_society.society.kernel.durations:Lognormal",
}
EXPLORE: Table = {
    "half_normal": "virsci_society.protocols.policies.coauthorship:HalfNormal",
    "share": "virsci_society.protocols.policies.coauthorship:Share",
}
BACKENDS: Table = {
    "offline": "virsci_society.agents.offline.backend:Offline",
    "litellm": "virsci_society.agents.backends.litellm:LiteLLM",
    "openai": "virsci_society.agents.backends.openai:OpenAI",
    "local": "virsci_society.agents.backends.local:Local",
    "hybrid": "virsci_society.agents.backends.hybrid:Hybrid",
}
ACCEPTANCE: Table = {
    "logistic": "virsci_society.agents.offline.acceptance:LogisticAcceptance",
    "always": "virsci_society.agents.offline.acceptance:AlwaysAccept",
    "constant": "virsci_society.agents.offline.acceptance:ConstantAcceptance",
}
ECOSYSTEMS: Table = {
    "synthetic": "virsci_society.society.ecosystem.synthetic.synthetic:Synthetic",
    "strangers": "virsci_society.society.ecosystem.synthetic.synthetic:Strangers",
    "folder": "virsci_society.scenarios.config.ecosystem_folder:Folder",
}

_PARTS: tuple[tuple[str, str | None, Table], ...] = (
    ("protocols", "virsci_society.society.teams.contracts:TeamProtocol", PROTOCOLS),
    ("founding", "virsci_society.society.formation.founding:Founding", FOUNDING),
    ("leaders", "virsci_society.society.formation.leaders:Leaders", LEADERS),
    ("selection", "virsci_society.society.formation.selection:SelectionPolicy", SELECTION),
    ("sizes", "virsci_society.protocols.team_sizes:TeamSize", SIZES),
    ("careers", "virsci_society.society.careers:Careers", CAREERS),
    ("newcomers", "virsci_society.society.careers:Newcomers", NEWCOMERS),
    ("retirement", "virsci_society.society.departures:Retirement", RETIREMENT),
    ("mobility", "virsci_society.society.departures:Mobility", MOBILITY),
    ("drift", "virsci_society.society.population.interest_drift:Drift", DRIFT),
    (
        "outside_seats",
        "virsci_society.society.population.outside_authors:OutsideSeats",
        OUTSIDE_SEATS,
    ),
    ("publication", "virsci_society.society.teams.contracts:Publication", PUBLICATION),
    ("worth", "virsci_society.society.literature.landscape:Worth", WORTH),
    ("execution", "virsci_society.society.teams.team:Execution", EXECUTION),
    ("durations", "virsci_society.society.kernel.durations:Duration", DURATIONS),
    ("backends", "virsci_society.agents.gateway.backend:Backend", BACKENDS),
    ("acceptance", "virsci_society.agents.offline.acceptance:Acceptance", ACCEPTANCE),
    ("ecosystems", None, ECOSYSTEMS),
    ("importers", None, IMPORTERS),
    ("facts", None, FACTS),
)
"""Kinds of parts: name, base class (None where no annotation names it), and ours of that kind."""
KINDS = {base: table for _, base, table in _PARTS if base is not None}
"""Which table serves a field whose annotation names this base class."""
TABLES = {kind: table for kind, _, table in _PARTS}
"""Kinds of parts, and the table in which ours of each kind stand."""
KIND_NAMES = (*TABLES, "metrics", "measures")
"""Everything that ``society list`` knows by kind."""


def parts_of_kind(kind: str) -> dict[str, str]:
    """Names and paths of all parts of a kind, ours and those of installed packages."""
    # Ours last: no installed package may take a name of ours.
    return {**installed_of(kind), **TABLES[kind]}


class FromTable:
    """Annotation of a field that takes parts of a stated table, whatever its base class."""

    def __init__(self, table: Table) -> None:
        self.table = table


class Section:
    """Annotation of a field that is a section of one class, which is imported when it is used."""

    def __init__(self, path: str) -> None:
        self.path = path


class MetricNames:
    """Annotation of a field that lists metrics, ours by name and others by dotted path."""


def import_path(cls: type) -> str:
    """The dotted path ``module:Class`` of a class."""
    return getattr(cls, "card_path", "") or f"{cls.__module__}:{cls.__qualname__}"


def import_class(path: str) -> type[BaseModel]:
    """The class behind ``module:Class``, or behind the path of a card."""
    if path.endswith(SUFFIXES):
        from virsci_society.scenarios.config.cards import read_card

        return read_card(path)
    from pydantic import BaseModel

    target = import_member(path)
    if not (isinstance(target, type) and issubclass(target, BaseModel)):
        raise InputError(f"{path!r} is not a part; subclass virsci_society.agents.config.Part")
    return target


def require_trust(path: str, *, trust: bool) -> None:
    """Refuse code from outside that nobody has vouched for."""
    if not trust:
        raise InputError(
            f"{path!r} is code from outside and would be run; read it, then give --trust"
        )


def class_of(use: Any, table: Table, base: type, *, trust: bool) -> type[BaseModel]:
    """The class that a scenario names after ``use:``."""
    if isinstance(use, str) and use in table:
        return import_class(table[use])
    if isinstance(use, str) and ":" not in use and use in (outside := _installed(table)):
        return _subclass(outside[use], base)
    if isinstance(use, str) and use.endswith(SUFFIXES) and table is PROTOCOLS:
        return _subclass(use, base)
    if not isinstance(use, str) or ":" not in use:
        names = (*table, *_installed(table))
        known = " or ".join(repr(name) for name in names)
        hint = did_you_mean(str(use), names)
        raise InputError(f"got {use!r}, expected {known} or package.module:Class{hint}")
    require_trust(use, trust=trust)
    return _subclass(use, base)


def _subclass(path: str, base: type) -> type[BaseModel]:
    target = import_class(path)
    if not issubclass(target, base):
        raise InputError(f"{path!r} is no {base.__name__}; this key takes a subclass of it")
    return target


def _installed(table: Table) -> Mapping[str, str]:
    """Names and paths of what installed packages add to a table."""
    kind = next((kind for kind, one in TABLES.items() if one is table), None)
    return {} if kind is None else installed_of(kind)


def name_of(cls: type, table: Table) -> str:
    """The name under which a table or an installed package lists a class, or its dotted path."""
    path = import_path(cls)
    named = next((name for name, listed in table.items() if listed == path), None)
    if named is not None:
        return named
    return next((name for name, listed in _installed(table).items() if listed == path), path)


def classes_in(annotation: Any) -> list[type[BaseModel]]:
    """The part classes that an annotation names, alone or in a union."""
    from pydantic import BaseModel

    if isinstance(annotation, type) and get_origin(annotation) is None:
        return [annotation] if issubclass(annotation, BaseModel) else []
    if get_origin(annotation) is Annotated:
        return classes_in(get_args(annotation)[0])
    return [found for one in get_args(annotation) for found in classes_in(one)]


def table_for(cls: type) -> Table | None:
    """The table that serves fields of this class; None where it is not exchangeable."""
    path = import_path(cls)
    if path in KINDS:
        return KINDS[path]
    return EXPLORE if path in EXPLORE.values() else None


def field_parts(field: FieldInfo) -> tuple[tuple[type[BaseModel], ...], Table | None]:
    """The classes of parts that a field takes, and the table that names them, if there is one."""
    from virsci_society.agents.config import Part

    for note in field.metadata:
        if isinstance(note, FromTable):
            return (Part,), note.table
        if isinstance(note, Section):
            return (import_class(note.path),), None
    classes = classes_in(field.annotation)
    tabled = [cls for cls in classes if table_for(cls) is not None]
    if tabled:
        return tuple(tabled), table_for(tabled[0])
    return tuple(classes), None


def inlined_class(cls: type[BaseModel]) -> type[BaseModel] | None:
    """The class of the part whose keys stand beside a section's own; None where ``use`` names it.

    Such a section lists these keys as if they were fields of its own.
    """
    name: str | None = getattr(cls, "inlined", None)
    if name is None:
        return None
    bases, table = field_parts(cls.model_fields[name])
    return bases[0] if table is None else None


def is_list(field: FieldInfo) -> bool:
    """Does a field take a list of sections, all of the same class?"""
    return get_origin(field.annotation) is tuple and bool(classes_in(field.annotation))


def check_metric_name(name: Any, *, trust: bool) -> None:
    """See that a name under ``metrics`` is a family, a metric or a function from outside."""
    if isinstance(name, str) and (metrics_named(name) or name in installed_of("metrics")):
        return
    if isinstance(name, str) and ":" in name:
        require_trust(name, trust=trust)
        if not callable(import_member(name)):
            raise InputError(f"{name!r} is no function; a metric is a function of a Run")
        return
    metrics = [metric for family in FAMILY_METRICS.values() for metric in family]
    known = dict.fromkeys((*FAMILY_METRICS, *metrics, *installed_of("metrics")))
    listed = " or ".join(repr(one) for one in FAMILY_METRICS)
    raise InputError(
        f"got {name!r}, expected {listed} (families), one of their metrics ('society list "
        f"metrics') or package.module:function{did_you_mean(str(name), known)}"
    )


def outside_metric(name: str) -> tuple[str, Any] | None:
    """Name and function of a checked metric from outside; None for one of ours."""
    if metrics_named(name):
        return None
    path = installed_of("metrics").get(name, name)
    short = path.partition(":")[2] if path == name else name
    if not short.isidentifier():
        raise InputError(f"metrics: {name!r}: {short!r} cannot be the name of a table")
    return short, import_member(path)


def find_code_here(trust: bool) -> None:
    """Let a trusted dotted path name a module of the current folder, after all installed ones."""
    if trust:
        allow_key(EVERY)
        sys.path.append(str(Path.cwd()))
