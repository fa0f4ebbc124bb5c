"""A discrete-event simulator of a society of virtual scientists.

::

    import virsci_society as vs

    scenario = vs.load_scenario("quickstart", **{"protocol.turns": 3})
    run = vs.Run.open(vs.run_scenario(scenario, "runs/three-turns"))
    papers = run.table("papers")

The names below are the public interface; ``docs/python.md`` says what is promised of them. The
five packages beside this file (``agents``, ``society``, ``protocols``, ``metrics``, ``scenarios``)
are private. A name is imported when it is first used (PEP 562), so that ``society --help`` does not
wait for pandas.

Example:
    The examples of all names go on from here: ``scenario`` is loaded, ``run`` is its run and
    ``folder`` the run's folder; ``team`` and ``lab`` are what a protocol is given. Three names are
    neither classes nor functions: ``METRICS`` holds the metrics by name, ``Days`` is a field that
    reads durations, and ``Process`` is the type of the steps of a protocol.

    >>> len(vs.METRICS["weekly"](run))  # day 0, and the end of each of 26 weeks
    27
    >>> class Pause(vs.Part):
    ...     length: vs.Days = 1.0
    ...     def take(self, lab: vs.Lab) -> vs.Process[None]:
    ...         yield from lab.wait(self.length)
    >>> Pause(length="2w").length
    14.0
    >>> list(Pause(length="3d").take(lab))
    [<Timeout(3.0) ...>]
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from virsci_society.agents.config import Part as Part
    from virsci_society.agents.errors import Dissolved as Dissolved
    from virsci_society.agents.errors import InputError as InputError
    from virsci_society.agents.gateway.backend import Backend as Backend
    from virsci_society.agents.offline.backend import Acceptance as Acceptance
    from virsci_society.agents.offline.backend import Offline as Offline
    from virsci_society.agents.profile import Profile as Profile
    from virsci_society.agents.prompts.prompt import Prompt as Prompt
    from virsci_society.agents.prompts.request import Reply as Reply
    from virsci_society.agents.prompts.request import Request as Request
    from virsci_society.agents.prompts.request import Usage as Usage
    from virsci_society.agents.prompts.slots import Reference as Reference
    from virsci_society.agents.replies.form import Form as Form
    from virsci_society.metrics.facts.fact import Fact as Fact
    from virsci_society.metrics.registry import METRICS as METRICS
    from virsci_society.metrics.registry import compute_metric as compute_metric
    from virsci_society.metrics.registry import measure_run as measure_run
    from virsci_society.metrics.report.figures import run_figures as run_figures
    from virsci_society.protocols.discussion import Discussion as Discussion
    from virsci_society.protocols.discussion import DiscussionSettings as DiscussionSettings
    from virsci_society.protocols.engines.research_system import ResearchSystem as ResearchSystem
    from virsci_society.scenarios.config.schema import Scenario as Scenario
    from virsci_society.scenarios.config.schema import load_scenario as load_scenario
    from virsci_society.scenarios.runs.build import ScenarioSociety as ScenarioSociety
    from virsci_society.scenarios.runs.execute import replay as replay
    from virsci_society.scenarios.runs.execute import run_scenario as run_scenario
    from virsci_society.scenarios.runs.progress import make_progress as make_progress
    from virsci_society.scenarios.study.run_study import run_study as run_study
    from virsci_society.scenarios.study.study import Study as Study
    from virsci_society.society.careers import Careers as Careers
    from virsci_society.society.ecosystem.importers.json_papers import JsonSource as JsonSource
    from virsci_society.society.ecosystem.importers.records import RawAuthor as RawAuthor
    from virsci_society.society.ecosystem.importers.records import RawRecord as RawRecord
    from virsci_society.society.ecosystem.importers.source import Source as Source
    from virsci_society.society.formation.founding import Founding as Founding
    from virsci_society.society.formation.leaders import Leaders as Leaders
    from virsci_society.society.formation.selection import SelectionPolicy as SelectionPolicy
    from virsci_society.society.kernel.answer import Answer as Answer
    from virsci_society.society.kernel.durations import Days as Days
    from virsci_society.society.kernel.durations import Process as Process
    from virsci_society.society.kernel.durations import Times as Times
    from virsci_society.society.literature.embedding.registry import (
        make_embedding as make_embedding,
    )
    from virsci_society.society.model import Society as Society
    from virsci_society.society.results.run import Run as Run
    from virsci_society.society.teams.contracts import Manuscript as Manuscript
    from virsci_society.society.teams.contracts import Publication as Publication
    from virsci_society.society.teams.contracts import TeamProtocol as TeamProtocol
    from virsci_society.society.teams.lab import Lab as Lab
    from virsci_society.society.teams.team import Team as Team

# In a notebook without ipywidgets, tqdm, which Mesa imports, warns that its bars will be text.
warnings.filterwarnings("ignore", message="IProgress not found")

_HOMES = {
    "Acceptance": "agents.offline.backend",
    "Answer": "society.kernel.answer",
    "Backend": "agents.gateway.backend",
    "Careers": "society.careers",
    "Days": "society.kernel.durations",
    "Discussion": "protocols.discussion",
    "DiscussionSettings": "protocols.discussion",
    "Dissolved": "agents.errors",
    "Fact": "metrics.facts.fact",
    "Form": "agents.replies.form",
    "Founding": "society.formation.founding",
    "InputError": "agents.errors",
    "JsonSource": "society.ecosystem.importers.json_papers",
    "Lab": "society.teams.lab",
    "Leaders": "society.formation.leaders",
    "METRICS": "metrics.registry",
    "Manuscript": "society.teams.contracts",
    "Offline": "agents.offline.backend",
    "Part": "agents.config",
    "Process": "society.kernel.durations",
    "Profile": "agents.profile",
    "Prompt": "agents.prompts.prompt",
    "Publication": "society.teams.contracts",
    "RawAuthor": "society.ecosystem.importers.records",
    "RawRecord": "society.ecosystem.importers.records",
    "Reference": "agents.prompts.slots",
    "Reply": "agents.prompts.request",
    "Request": "agents.prompts.request",
    "ResearchSystem": "protocols.engines.research_system",
    "Run": "society.results.run",
    "Scenario": "scenarios.config.schema",
    "ScenarioSociety": "scenarios.runs.build",
    "SelectionPolicy": "society.formation.selection",
    "Society": "society.model",
    "Source": "society.ecosystem.importers.source",
    "Study": "scenarios.study.study",
    "Team": "society.teams.team",
    "TeamProtocol": "society.teams.contracts",
    "Times": "society.kernel.durations",
    "Usage": "agents.prompts.request",
    "load_scenario": "scenarios.config.schema",
    "make_embedding": "society.literature.embedding.registry",
    "make_progress": "scenarios.runs.progress",
    "compute_metric": "metrics.registry",
    "measure_run": "metrics.registry",
    "replay": "scenarios.runs.execute",
    "run_figures": "metrics.report.figures",
    "run_scenario": "scenarios.runs.execute",
    "run_study": "scenarios.study.run_study",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
