"""The explorer of a run or of two, one HTML file with the network, the teams and all that was said.

Read ``page`` (what is written), then ``run_arrays`` (people, ties, teams, dates), ``conversations``
(words and prompts), ``community_layout`` (places), ``parting`` (where two runs part) and
``packing`` (how a run becomes bytes). The script is ``data.js``, ``views.js``, ``network.js`` and
``main.js``, in this order.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.explorer.conversations import AskedIdea as AskedIdea
    from metrics.explorer.conversations import ShownPrompt as ShownPrompt
    from metrics.explorer.page import write_explorer as write_explorer

__all__ = ["AskedIdea", "ShownPrompt", "write_explorer"]
__getattr__ = lazy_exports(
    __name__,
    {
        "AskedIdea": "metrics.explorer.conversations",
        "ShownPrompt": "metrics.explorer.conversations",
        "write_explorer": "metrics.explorer.page",
    },
)
