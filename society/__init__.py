"""The shared world of the scientists and its simulated time; it knows nothing of what a team says.

``model`` makes a society of its parts and runs it; ``interventions`` change it on stated dates. The
rooms, in the order in which they build on one another: ``kernel`` (calls and durations) and
``literature``; ``ecosystem`` (people and papers before day 0); ``population``, ``formation`` (who
founds, who is drawn) and ``results`` (tables); ``teams``; ``demographics`` (who comes and goes).
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.demographics.careers import Careers as Careers
    from society.ecosystem.ecosystem import Ecosystem as Ecosystem
    from society.formation.founding import Founding as Founding
    from society.formation.leaders import Leaders as Leaders
    from society.formation.selection import SelectionPolicy as SelectionPolicy
    from society.formation.world_view import WorldView as WorldView
    from society.interventions import Intervention as Intervention
    from society.interventions import Removal as Removal
    from society.kernel.answer import Answer as Answer
    from society.kernel.durations import Days as Days
    from society.kernel.durations import Duration as Duration
    from society.kernel.durations import Times as Times
    from society.kernel.process import Process as Process
    from society.kernel.streams import Streams as Streams
    from society.model import Society as Society
    from society.results.run import Run as Run
    from society.teams.contracts import Manuscript as Manuscript
    from society.teams.contracts import Publication as Publication
    from society.teams.contracts import TeamProtocol as TeamProtocol
    from society.teams.lab import Lab as Lab
    from society.teams.team import Team as Team
    from society.teams.world import World as World

__all__ = [
    "Answer",
    "Careers",
    "Days",
    "Duration",
    "Ecosystem",
    "Founding",
    "Intervention",
    "Lab",
    "Leaders",
    "Manuscript",
    "Process",
    "Publication",
    "Removal",
    "Run",
    "SelectionPolicy",
    "Society",
    "Streams",
    "Team",
    "TeamProtocol",
    "Times",
    "World",
    "WorldView",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Answer": "society.kernel.answer",
        "Careers": "society.demographics.careers",
        "Days": "society.kernel.durations",
        "Duration": "society.kernel.durations",
        "Ecosystem": "society.ecosystem.ecosystem",
        "Founding": "society.formation.founding",
        "Intervention": "society.interventions",
        "Lab": "society.teams.lab",
        "Leaders": "society.formation.leaders",
        "Manuscript": "society.teams.contracts",
        "Process": "society.kernel.process",
        "Publication": "society.teams.contracts",
        "Removal": "society.interventions",
        "Run": "society.results.run",
        "SelectionPolicy": "society.formation.selection",
        "Society": "society.model",
        "Streams": "society.kernel.streams",
        "Team": "society.teams.team",
        "TeamProtocol": "society.teams.contracts",
        "Times": "society.kernel.durations",
        "World": "society.teams.world",
        "WorldView": "society.formation.world_view",
    },
)
