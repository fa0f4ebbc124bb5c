"""Parts that several research systems share, each with a test of its own.

Read ``research_system`` first (what all systems have in common), then ``team_work`` (rounds,
questions, searches) and ``forms``. Each further module is one step that two systems share:
``retrieval_rounds``, ``reflection``, ``tournament``, ``deduplication``, ``citations``,
``seniority``.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protocols.parts.research_system import ResearchSystem as ResearchSystem
    from protocols.parts.research_system import TeamSystem as TeamSystem
    from protocols.parts.team_work import TeamWork as TeamWork

__all__ = ["ResearchSystem", "TeamSystem", "TeamWork"]

__getattr__ = lazy_exports(
    __name__,
    {
        "ResearchSystem": "protocols.parts.research_system",
        "TeamSystem": "protocols.parts.research_system",
        "TeamWork": "protocols.parts.team_work",
    },
)
