"""From a scenario file to a run: load, check, build, execute, and the command ``society``.

::

    from scenarios import load_scenario, run_scenario
    from society.run import Run

    scenario = load_scenario("quickstart", **{"protocol.turns": 3})
    folder = run_scenario(scenario, "runs/three-turns")
    papers = Run.open(folder).table("papers")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scenarios.build import ScenarioSociety, build_society
    from scenarios.execute import run as run_scenario
    from scenarios.schema import Scenario, load_scenario

__all__ = ["Scenario", "ScenarioSociety", "build_society", "load_scenario", "run_scenario"]

_HOMES = {
    "Scenario": ("scenarios.schema", "Scenario"),
    "load_scenario": ("scenarios.schema", "load_scenario"),
    "run_scenario": ("scenarios.execute", "run"),
    "build_society": ("scenarios.build", "build_society"),
    "ScenarioSociety": ("scenarios.build", "ScenarioSociety"),
}


def __getattr__(name: str) -> Any:
    # Imported on use: the command's own start-up passes through this file.
    if name not in _HOMES:
        raise AttributeError(f"module 'scenarios' has no attribute {name!r}")
    import importlib

    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(module), attribute)
