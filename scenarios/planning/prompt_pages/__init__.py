"""Every prompt of a rehearsal or of a finished run, written to files to be read by people.

Read ``recording`` first, which goes through a scenario or a run and keeps each request with its
reply. ``tokens`` counts and adds up, ``texts`` makes Markdown of it, and ``writing`` makes the
folder.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from scenarios.planning.prompt_pages.recording import Listing as Listing
    from scenarios.planning.prompt_pages.recording import TeamChoice as TeamChoice
    from scenarios.planning.prompt_pages.recording import rehearse_pages as rehearse_pages
    from scenarios.planning.prompt_pages.recording import replay_pages as replay_pages
    from scenarios.planning.prompt_pages.writing import write_pages as write_pages

__all__ = ["Listing", "TeamChoice", "rehearse_pages", "replay_pages", "write_pages"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Listing": "scenarios.planning.prompt_pages.recording",
        "TeamChoice": "scenarios.planning.prompt_pages.recording",
        "rehearse_pages": "scenarios.planning.prompt_pages.recording",
        "replay_pages": "scenarios.planning.prompt_pages.recording",
        "write_pages": "scenarios.planning.prompt_pages.writing",
    },
)
