"""The forms that models are asked to fill, all of them."""

import importlib

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


def _below(form):
    for one in form.__subclasses__():
        yield one
        yield from _below(one)
