"""A backend whose questions are files, and whose answers somebody else writes.

Read ``backend`` first: settings, and the watch over the answers that come. ``question`` makes the
text of a question, ``folder`` writes questions and reads answers, whoever put them there, and
``page`` shows them all on one local page.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from agents.backends.inbox.backend import Inbox as Inbox

__all__ = ["Inbox"]

__getattr__ = lazy_exports(__name__, {"Inbox": "agents.backends.inbox.backend"})
