"""What one scientist is, what it is asked, and what answers.

Read ``profile``, ``memory`` and ``scientist`` for the person, ``config`` and ``errors`` for what
every package uses. Then follow one call: ``replies`` (forms), ``prompts`` (requests), ``journal``
(durable calls), ``gateway`` (slots, budget, retries), and the backends that answer: ``offline``
(rules) and ``backends`` (language models).
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from agents.config import Part as Part
    from agents.errors import Fault as Fault
    from agents.errors import InputError as InputError
    from agents.errors import Verdict as Verdict
    from agents.gateway.backend import Backend as Backend
    from agents.gateway.backend import Endpoint as Endpoint
    from agents.offline.acceptance import Acceptance as Acceptance
    from agents.offline.acceptance import InvitationFacts as InvitationFacts
    from agents.offline.backend import Offline as Offline
    from agents.profile import Profile as Profile
    from agents.prompts.prompt import Prompt as Prompt
    from agents.prompts.prompt import Prompts as Prompts
    from agents.prompts.request import Reply as Reply
    from agents.prompts.request import Request as Request
    from agents.reference import Reference as Reference
    from agents.replies.form import Form as Form
    from agents.scientist import Scientist as Scientist
    from agents.usage import Usage as Usage

__all__ = [
    "Acceptance",
    "Backend",
    "Endpoint",
    "Fault",
    "Form",
    "InputError",
    "InvitationFacts",
    "Offline",
    "Part",
    "Profile",
    "Prompt",
    "Prompts",
    "Reference",
    "Reply",
    "Request",
    "Scientist",
    "Usage",
    "Verdict",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Acceptance": "agents.offline.acceptance",
        "Backend": "agents.gateway.backend",
        "Endpoint": "agents.gateway.backend",
        "Fault": "agents.errors",
        "Form": "agents.replies.form",
        "InputError": "agents.errors",
        "InvitationFacts": "agents.offline.acceptance",
        "Offline": "agents.offline.backend",
        "Part": "agents.config",
        "Profile": "agents.profile",
        "Prompt": "agents.prompts.prompt",
        "Prompts": "agents.prompts.prompt",
        "Reference": "agents.reference",
        "Reply": "agents.prompts.request",
        "Request": "agents.prompts.request",
        "Scientist": "agents.scientist",
        "Usage": "agents.usage",
        "Verdict": "agents.errors",
    },
)
