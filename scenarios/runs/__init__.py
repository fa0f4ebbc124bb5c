"""Runs of a scenario in folders, which can be resumed, replayed and forked.

Read ``build`` (scenario to society), ``execute`` (the run itself), ``run_folder`` (what is
written), ``run_journal`` and ``identity`` (may a folder be gone on with), then ``fork``,
``page_lengths`` (the context window that a server is asked for), ``progress`` with ``text_charts``,
``signals`` and ``shared_resources`` (several runs in one process).
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from scenarios.runs.build import ScenarioSociety as ScenarioSociety
    from scenarios.runs.build import build_ecosystem_of as build_ecosystem_of
    from scenarios.runs.build import build_society as build_society
    from scenarios.runs.execute import replay as replay
    from scenarios.runs.execute import run_scenario as run_scenario
    from scenarios.runs.fork import Fork as Fork

__all__ = [
    "Fork",
    "ScenarioSociety",
    "build_ecosystem_of",
    "build_society",
    "replay",
    "run_scenario",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Fork": "scenarios.runs.fork",
        "ScenarioSociety": "scenarios.runs.build",
        "build_ecosystem_of": "scenarios.runs.build",
        "build_society": "scenarios.runs.build",
        "replay": "scenarios.runs.execute",
        "run_scenario": "scenarios.runs.execute",
    },
)
