"""Backend: whatever answers a request, behind one asynchronous method."""

from __future__ import annotations

from agents.part import Part
from agents.request import Reply, Request


class Backend(Part):
    """Subclass it and write ``complete``; name it in a scenario under ``backend.use``.

    ``inline`` says that ``complete`` never suspends, so that its answers can be computed on
    the clock's own thread; ``about`` is the sentence that every output repeats.
    """

    @property
    def inline(self) -> bool:
        """True if ``complete`` returns without ever suspending."""
        return False

    @property
    def about(self) -> str:
        """One sentence for reports: who speaks."""
        return type(self).__name__

    async def complete(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            Verdict: the words themselves are a refusal.
            Stopped: the backend cannot answer now; the run stops.
        """
        raise NotImplementedError
