"""Parts: the names a scenario can use, and the classes behind them.

Names become classes here and nowhere else. Each table maps the name after ``use:`` to
``module:Class``; the module is imported when the name is used, so that start-up pays only for
what a scenario asks for. Everything that is not in a table is a dotted path
``package.module:Class``: somebody's code, which runs only with ``--trust``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from agents.errors import InputError
from scenarios.spelling import did_you_mean

Table = Mapping[str, str]

PROTOCOLS: Table = {
    "virsci": "protocols.virsci.protocol:VirSci",
    "wordless": "protocols.wordless:Wordless",
    "mixture": "protocols.mixture:Mixture",
}
FOUNDING: Table = {
    "poisson": "society.founding:Poisson",
    "once": "society.founding:Once",
    "bursts": "society.bursts:Bursts",
    "calls": "society.proposals:Calls",
}
LEADERS: Table = {
    "anybody": "society.leaders:Anybody",
    "productive": "society.leaders:Productive",
    "standing": "society.leaders:Standing",
    "selection": "society.leaders:Selected",
    "named": "society.leaders:Named",
}
SELECTION: Table = {
    "coauthorship": "protocols.policies.coauthorship:Coauthorship",
    "uniform": "protocols.policies.uniform:Uniform",
    "topics": "protocols.policies.topics:NearestTopics",
    "standing": "protocols.policies.standing:ByStanding",
    "two_step": "protocols.policies.neighbours:TwoStep",
    "guimera": "protocols.policies.guimera:Guimera",
    "fixed": "protocols.policies.fixed:Fixed",
}
CAREERS: Table = {
    "rates": "society.careers:Rates",
}
NEWCOMERS: Table = {
    "apprentices": "society.newcomers:Apprentices",
    "outsiders": "society.newcomers:Outsiders",
}
RETIREMENT: Table = {
    "hazard": "society.retirement:Hazard",
    "lengths": "society.retirement:Lengths",
}
MOBILITY: Table = {
    "any_place": "society.mobility:AnyPlace",
    "by_size": "society.mobility:BySize",
    "by_coauthors": "society.mobility:ByCoauthors",
}
DRIFT: Table = {
    "writing": "society.drift:Writing",
}
SIZES: Table = {
    "observed": "protocols.sizes:ObservedSize",
    "stated": "protocols.sizes:StatedSize",
}
PUBLICATION: Table = {
    "none": "society.publication:Unreviewed",
    "chance": "society.publication:ByChance",
    "peer_review": "protocols.peer_review.protocol:PeerReview",
}
DURATIONS: Table = {
    "fixed": "society.durations:Fixed",
    "gamma": "society.durations:Gamma",
    "lognormal": "society.durations:Lognormal",
}
EXPLORE: Table = {
    "half_normal": "protocols.policies.explore:HalfNormal",
    "share": "protocols.policies.explore:Share",
}
BACKENDS: Table = {
    "offline": "agents.offline.scientist:Offline",
    "litellm": "agents.litellm_backend:LiteLLM",
    "openai": "agents.openai_backend:OpenAI",
    "hybrid": "agents.hybrid:Hybrid",
}
ECOSYSTEMS: Table = {
    "synthetic": "society.ecosystem.synthetic:Synthetic",
    "strangers": "society.ecosystem.strangers:Strangers",
    "folder": "scenarios.ecosystems:Folder",
}

KINDS: Mapping[str, Table] = {
    "society.interfaces:TeamProtocol": PROTOCOLS,
    "society.founding:Founding": FOUNDING,
    "society.leaders:Leaders": LEADERS,
    "society.interfaces:SelectionPolicy": SELECTION,
    "protocols.sizes:TeamSize": SIZES,
    "society.careers:Careers": CAREERS,
    "society.newcomers:Newcomers": NEWCOMERS,
    "society.retirement:Retirement": RETIREMENT,
    "society.mobility:Mobility": MOBILITY,
    "society.drift:Drift": DRIFT,
    "society.publication:Publication": PUBLICATION,
    "society.durations:Duration": DURATIONS,
    "agents.backend:Backend": BACKENDS,
}
"""Which table serves a field whose annotation names this base class."""


class Among:
    """Annotation: this field takes parts of a stated table, whatever its base class."""

    def __init__(self, table: Table) -> None:
        self.table = table


class Section:
    """Annotation: this field is a section of the class of that path, imported on use."""

    def __init__(self, path: str) -> None:
        self.path = path


def import_path(cls: type) -> str:
    """``module:Class`` of a class."""
    return f"{cls.__module__}:{cls.__qualname__}"


def import_class(path: str) -> type[BaseModel]:
    """The class behind ``module:Class``.

    Raises:
        InputError: it cannot be imported, or is not a part.
    """
    module, _, name = path.partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{path!r} cannot be imported: {error}") from error
    if not (isinstance(found, type) and issubclass(found, BaseModel)):
        raise InputError(f"{path!r} is not a part; subclass agents.part.Part")
    return found


def class_of(use: Any, table: Table, base: type, *, trust: bool) -> type[BaseModel]:
    """The class a scenario names after ``use:``.

    Raises:
        InputError: unknown, not trusted, or of another kind than the field takes.
    """
    if isinstance(use, str) and use in table:
        return import_class(table[use])
    if not isinstance(use, str) or ":" not in use:
        known = " or ".join(repr(name) for name in table)
        hint = did_you_mean(str(use), table)
        raise InputError(f"got {use!r}, expected {known} or package.module:Class{hint}")
    if not trust:
        raise InputError(
            f"{use!r} is code from outside and would be run; read it, then give --trust"
        )
    found = import_class(use)
    if not issubclass(found, base):
        raise InputError(f"{use!r} is no {base.__name__}; this key takes a subclass of it")
    return found


def name_of(cls: type, table: Table) -> str:
    """The name under which a table lists a class, or its dotted path."""
    path = import_path(cls)
    return next((name for name, listed in table.items() if listed == path), path)


def classes_in(annotation: Any) -> list[type[BaseModel]]:
    """The part classes that an annotation names, alone or in a union."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return [annotation] if issubclass(annotation, BaseModel) else []
    if get_origin(annotation) is Annotated:
        return classes_in(get_args(annotation)[0])
    return [found for one in get_args(annotation) for found in classes_in(one)]


def table_for(cls: type) -> Table | None:
    """The table that serves fields of this class, if it is exchangeable."""
    path = import_path(cls)
    if path in KINDS:
        return KINDS[path]
    return EXPLORE if path in EXPLORE.values() else None
