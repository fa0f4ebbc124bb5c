"""Scenario files, runs, studies and the command ``society``, on top of the other packages.

::

    from scenarios import load_scenario, run_scenario
    from society.results.run import Run

    scenario = load_scenario("quickstart", **{"protocol.turns": 3})
    folder = run_scenario(scenario, "runs/three-turns")
    papers = Run.open(folder).table("papers")

Packages, each importing only from those before it: ``config`` (files), ``runs`` (run folders),
``planning`` (cost beforehand), ``study`` (many runs), ``analysis`` (after a run), ``cli``.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from scenarios.config.schema import Scenario as Scenario
    from scenarios.config.schema import load_scenario as load_scenario
    from scenarios.runs.build import ScenarioSociety as ScenarioSociety
    from scenarios.runs.build import build_society as build_society
    from scenarios.runs.execute import replay as replay
    from scenarios.runs.execute import run_scenario as run_scenario
    from scenarios.runs.progress import make_progress as make_progress

__all__ = [
    "Scenario",
    "ScenarioSociety",
    "build_society",
    "load_scenario",
    "make_progress",
    "replay",
    "run_scenario",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Scenario": "scenarios.config.schema",
        "ScenarioSociety": "scenarios.runs.build",
        "build_society": "scenarios.runs.build",
        "load_scenario": "scenarios.config.schema",
        "make_progress": "scenarios.runs.progress",
        "replay": "scenarios.runs.execute",
        "run_scenario": "scenarios.runs.execute",
    },
)
