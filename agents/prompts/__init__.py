"""What a backend is asked.

Read ``prompt`` for templates, slots, messages and trimming, then ``request`` for the complete
question with its id, hash and seed. The two text files hold what every scientist is told first,
and the definition of the scientist asked.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from agents.prompts.prompt import Prompt as Prompt
    from agents.prompts.prompt import Prompts as Prompts
    from agents.prompts.request import Message as Message
    from agents.prompts.request import Reply as Reply
    from agents.prompts.request import Request as Request

__all__ = ["Message", "Prompt", "Prompts", "Reply", "Request"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Message": "agents.prompts.request",
        "Prompt": "agents.prompts.prompt",
        "Prompts": "agents.prompts.prompt",
        "Reply": "agents.prompts.request",
        "Request": "agents.prompts.request",
    },
)
