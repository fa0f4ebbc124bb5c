"""The slots of a request, which a process that has imported ``tests.faultserver`` sends along.

They go to a model called ``test`` on a loopback address, which answers as the offline scientist
would: so the whole live path can be tried without a model. They travel as a pickle, of which
nothing is made but values and the data classes, forms, named tuples and enums of this repository.
"""

import base64
import dataclasses
import io
import pickle
from enum import Enum
from functools import wraps

from pydantic import BaseModel

from virsci_society.agents.backends.http import ChatCompletionsBackend
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Request
from virsci_society.agents.replies.form import Form


class Unheard(ValueError):
    """What was told cannot be understood; the message says why."""


def install():
    """Let this process send the slots along to the model ``test`` on this machine."""
    plain = ChatCompletionsBackend.request_fields
    if hasattr(plain, "__wrapped__"):
        return

    @wraps(plain)
    def request_fields(self, request):
        fields = plain(self, request)
        if self.model.rsplit("/", 1)[-1] != "test" or not self.endpoint_settings.is_local:
            return fields
        slots = {"slots": to_wire(request)}
        # litellm has parameters of its own, and sends what is no such parameter in ``extra_body``.
        return fields | ({"extra_body": slots} if self.client == "litellm" else slots)

    ChatCompletionsBackend.request_fields = request_fields


def to_wire(request):
    """All of a request but its messages, as text."""
    told = (request.id, request.who, request.form, dict(request.slots))
    return base64.b64encode(pickle.dumps((*told, request.seed, request.attempt))).decode()


class _Reader(pickle.Unpickler):
    def find_class(self, module, name):
        found = None
        if module.split(".")[0] in ("virsci_society", "tests"):
            found = super().find_class(module, name)
        ours = isinstance(found, type) and found.__module__ == module
        named = ours and issubclass(found, tuple) and hasattr(found, "_fields")
        if named or (ours and issubclass(found, (BaseModel, Enum))):
            return found
        if ours and dataclasses.is_dataclass(found):
            return found
        raise Unheard(f"{module}:{name} is no form or data class of this repository")


def heard(told, messages=()):
    """The request that was told, equal to the client's in all that a rule looks at."""
    try:
        id_, who, form, slots, seed, attempt = _Reader(io.BytesIO(base64.b64decode(told))).load()
        if not issubclass(form, Form) or not isinstance(who, Profile):
            raise Unheard(f"{form} is no Form, or {id_} is asked of nobody")
        return Request(id_, who, messages, form, slots, seed, attempt=attempt)
    except Unheard:
        raise
    except Exception as error:  # a pickle can fail in any way
        raise Unheard(f"the slots cannot be understood: {error!r}") from None
