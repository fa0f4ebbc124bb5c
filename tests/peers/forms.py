"""The forms that models are asked to fill, all of them, and the order of their fields."""

import importlib
import json

from virsci_society.agents.offline.backend import rule_of
from virsci_society.agents.replies.form import Form

MODULES = (
    "virsci_society.protocols.forms",
    "virsci_society.protocols.ideas",
    "virsci_society.protocols.virsci.forms",
    "virsci_society.protocols.peer_review.forms",
)


def reply_forms():
    """Every form of the protocols that is asked for by itself, in the order of their names."""
    for module in MODULES:
        importlib.import_module(module)
    found = {form for form in _below(Form) if rule_of(form) and form.__module__ in MODULES}
    return sorted(found, key=lambda form: (form.__module__, form.__name__))


def declared_fields(form):
    """Names of a form's fields in a reply, in the order in which the class declares them."""
    return [field.alias or name for name, field in form.model_fields.items()]


def written_fields(form, text):
    """The fields of a form in a reply that is JSON, in the order in which they were written."""
    reply = json.loads(text)
    if not isinstance(reply, dict):
        raise ValueError("the reply is no JSON object")
    known = set(declared_fields(form))
    # A schema that does not forbid further members lets a decoder write them.
    return [name for name in reply if name in known]


def _below(form):
    for one in form.__subclasses__():
        yield one
        yield from _below(one)
