"""The names that a scenario can give after ``use:``, and their classes."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from traceback import walk_tb
from types import FrameType
from typing import Any, NamedTuple

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.metrics.registry import FACTS, FAMILIES, METRICS, metrics_named
from virsci_society.society.ecosystem.importers.records import IMPORTERS

_imported: dict[str, None] = {}
"""Paths of the classes from outside that this process has imported; like ``sys.modules``."""

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
    "calls": "virsci_society.society.formation.founding:CallsForProposals",
    "yearly": "virsci_society.society.formation.founding:Yearly",
}
LEADERS: Table = {
    "anybody": "virsci_society.society.formation.leaders:Anybody",
    "productive": "virsci_society.society.formation.leaders:Productive",
    "fading_papers": "virsci_society.society.formation.leaders:ByFadingPapers",
    "preferential_attachment": "virsci_society.society.formation.leaders:ByPreferentialAttachment",
    "selection": "virsci_society.society.formation.leaders:Selected",
    "named": "virsci_society.society.formation.leaders:Named",
}
SELECTION: Table = {
    "coauthorship": "virsci_society.protocols.policies.coauthorship:Coauthorship",
    "uniform": "virsci_society.protocols.policies.uniform:Uniform",
    "topics": "virsci_society.protocols.policies.nearest_topics:NearestTopics",
    "preferential_attachment": (
        "virsci_society.protocols.policies.preferential_attachment:PreferentialAttachment"
    ),
    "two_step": "virsci_society.protocols.policies.two_step:TwoStep",
    "guimera": "virsci_society.protocols.policies.guimera:Guimera",
    "relational": "virsci_society.protocols.policies.relational:Relational",
    "fixed": "virsci_society.protocols.policies.fixed:FixedTeam",
}
CAREERS: Table = {"rates": "virsci_society.society.careers:Rates"}
NEWCOMERS: Table = {"apprentices": "virsci_society.society.careers:Apprentices"}
RETIREMENT: Table = {"lengths": "virsci_society.society.careers:Lengths"}
DRIFT: Table = {"writing": "virsci_society.society.population.interest_drift:Writing"}
EXTERNAL_AUTHORS: Table = {
    "counted": "virsci_society.society.population.external_authors:CountedExternalAuthors"
}
SIZES: Table = {
    "observed": "virsci_society.protocols.team_sizes:ObservedSize",
    "stated": "virsci_society.protocols.team_sizes:StatedSize",
    "negative_binomial": "virsci_society.protocols.team_sizes:NegativeBinomialSize",
}
PUBLICATION: Table = {
    "none": "virsci_society.society.teams.publication:Unreviewed",
    "chance": "virsci_society.society.teams.publication:ByChance",
    "panel": "virsci_society.society.teams.execution:ByPanel",
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
    "logistic": "virsci_society.agents.offline.backend:LogisticAcceptance",
    "always": "virsci_society.agents.offline.backend:AlwaysAccept",
    "constant": "virsci_society.agents.offline.backend:ConstantAcceptance",
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
    ("retirement", "virsci_society.society.careers:Retirement", RETIREMENT),
    ("drift", "virsci_society.society.population.interest_drift:Drift", DRIFT),
    (
        "external_authors",
        "virsci_society.society.population.external_authors:ExternalAuthors",
        EXTERNAL_AUTHORS,
    ),
    ("publication", "virsci_society.society.teams.contracts:Publication", PUBLICATION),
    ("worth", "virsci_society.society.literature.landscape:Worth", WORTH),
    ("execution", "virsci_society.society.teams.team:Execution", EXECUTION),
    ("durations", "virsci_society.society.kernel.durations:Duration", DURATIONS),
    ("backends", "virsci_society.agents.gateway.backend:Backend", BACKENDS),
    ("acceptance", "virsci_society.agents.offline.backend:Acceptance", ACCEPTANCE),
    ("ecosystems", None, ECOSYSTEMS),
    ("importers", None, IMPORTERS),
    ("facts", None, FACTS),
)
"""Kinds of parts: name, base class (None where no annotation names it), and ours of that kind."""
KINDS = {base: table for _, base, table in _PARTS if base is not None}
"""Which table serves a field whose annotation names this base class."""
TABLES = {kind: table for kind, _, table in _PARTS}
"""Kinds of components, and the table of the built-in ones."""
KIND_NAMES = (*TABLES, "metrics", "measures")
"""Everything that ``society list`` knows by kind."""


class FromTable(NamedTuple):
    """Annotation of a field that takes parts of a stated table, whatever its base class."""

    table: Table


class Section(NamedTuple):
    """Annotation of a field that is a section of one class, which is imported when it is used."""

    path: str


def import_path(cls: type) -> str:
    """The dotted path ``module:Class`` of a class, or the path of its card."""
    return getattr(cls, "card_path", "") or f"{cls.__module__}:{cls.__qualname__}"


def import_member(path: str) -> Any:
    """The object behind ``module:Name``."""
    module, _, name = path.partition(":")
    outside = module.split(".")[0] != "virsci_society"
    if outside:
        _imported[path] = None
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{path!r} cannot be imported: {error}") from error
    except Exception as error:
        if not outside:
            raise
        what = f"{type(error).__name__}: {error}"
        if isinstance(error, SyntaxError):
            place, what = f"{error.filename}:{error.lineno}", f"SyntaxError: {error.msg}"
        else:
            frame, line = next(_frames(error))
            place = f"{frame.f_code.co_filename}:{line}"
        raise InputError(f"{path!r} cannot be imported: {place}: {what}") from error


def require_trust(path: str, *, trust: bool) -> None:
    """Refuse external code that is not trusted."""
    if not trust:
        raise InputError(
            f"{path!r} is outside code, which would be executed; review it, then add --trust"
        )


def name_of(cls: type, table: Table) -> str:
    """The name under which a table lists a class, or its dotted path."""
    path = import_path(cls)
    return {listed: name for name, listed in table.items()}.get(path, path)


def require_metric(name: str, *, trust: bool) -> None:
    """Raise InputError unless a name is of a metric or family, or of a function from outside."""
    if name in FAMILIES or (":" not in name and name in METRICS):
        return
    if ":" in name:
        require_trust(name, trust=trust)
        if not callable(import_member(name)):
            raise InputError(f"{name!r} is not a function; a metric is a function of a Run")
        return
    families = " or ".join(map(repr, FAMILIES))
    raise InputError(
        f"got {name!r}, expected {families} (families), one of their metrics ('society list "
        f"metrics') or package.module:function{did_you_mean(name, [*FAMILIES, *METRICS])}"
    )


def outside_metric(name: str) -> tuple[str, Any] | None:
    """Name and function of a checked metric from outside; None for one of ours."""
    if metrics_named(name):
        return None
    short = name.partition(":")[2]
    if not short.isidentifier():
        raise InputError(f"metrics: {name!r}: {short!r} cannot be the name of a table")
    return short, import_member(name)


def find_code_here(trust: bool) -> None:
    """Let a trusted dotted path name a module of the current folder, after all installed ones."""
    if trust:
        # Pydantic, which the help does without, comes with it.
        from virsci_society.agents.backends.endpoint_settings import EVERY_VARIABLE, allow_key

        allow_key(EVERY_VARIABLE)
        sys.path.append(str(Path.cwd()))


def fault_in_outside_code(error: BaseException) -> str | None:
    """The message for an error of a run with external classes; None without them."""
    if not _imported:
        return None
    what = ": ".join(filter(None, (type(error).__name__, str(error))))
    end = "correct your class; the same command resumes the run"
    for frame, line in _frames(error):
        place = _place_outside(frame, line)
        if place is not None:
            return f"{place}: your class: {frame.f_code.co_name} failed with {what}\n{end}"
    if isinstance(error, OSError):
        return None  # no value that a class returns
    frame, line = next(_frames(error))
    return (
        f"{', '.join(_imported)}: your class may not return what its base class declares: "
        f"{what}, in {frame.f_code.co_name} ({frame.f_code.co_filename}:{line})\n{end}"
    )


def _place_outside(frame: FrameType, line: int) -> str | None:
    """File and line of a frame of code from outside, or of the class whose method it runs."""
    packages = {path.partition(":")[0].split(".")[0] for path in _imported}
    if str(frame.f_globals.get("__name__")).split(".")[0] in packages:
        return f"{frame.f_code.co_filename}:{line}"
    cls = type(frame.f_locals.get("self"))
    if cls.__module__.split(".")[0] not in packages:
        return None
    try:
        return f"{inspect.getsourcefile(cls)}:{inspect.getsourcelines(cls)[1]}"
    except (OSError, TypeError):
        return f"{cls.__module__}:{cls.__qualname__}"


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """Frames and line numbers of an error and its causes, the innermost first."""
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__cause__) is not None and cause not in causes:
        causes.append(cause)
    for one in reversed(causes):
        yield from reversed(list(walk_tb(one.__traceback__)))
