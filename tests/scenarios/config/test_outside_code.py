"""Faults of classes from outside: the file and line of the class are named, and nothing else."""

import sys

import pytest

from virsci_society.scenarios.config import registry
from virsci_society.scenarios.config.registry import fault_in_outside_code, import_member

MODULE = """\
from virsci_society.society.formation.founding import Founding
class Faulty(Founding):
    'Fails by itself.'
    def foundings(self, scientists, streams):
        return 1 / scientists
class Empty(Founding):
    'Has no method of its own.'
class Misuse(Founding):
    'Fails in code that it calls.'
    def foundings(self, scientists, streams):
        return streams.stream()[scientists]
"""


@pytest.fixture(autouse=True)
def module(here, write, monkeypatch):
    monkeypatch.setattr(registry, "_imported", {})
    monkeypatch.syspath_prepend(str(here))
    yield write("their_founding.py", MODULE)
    sys.modules.pop("their_founding", None)


def fault_of(name):
    made = import_member(f"their_founding:{name}")()
    with pytest.raises(Exception) as caught:
        made.foundings(0, None)
    return caught.value, fault_in_outside_code(caught.value)


@pytest.mark.parametrize(
    ("name", "line", "what"),
    [
        ("Faulty", 5, "ZeroDivisionError: division by zero\n"),
        ("Empty", 6, "NotImplementedError\n"),  # the class, which lacks the method
        ("Misuse", 11, "AttributeError: "),  # the line that called other code
    ],
)
def test_the_line_of_the_class_is_named(module, name, line, what):
    error, told = fault_of(name)
    assert told.startswith(f"{module}:{line}: your class: foundings failed with {what}")
    copy = ZeroDivisionError("division by zero")  # as SimPy raises it
    copy.__cause__ = error
    assert fault_in_outside_code(copy).startswith(f"{module}:{line}: your class")


def test_an_error_that_arose_later_names_the_classes_it_may_come_from():
    assert fault_in_outside_code(ValueError("ours")) is None
    import_member("their_founding:Faulty")
    with pytest.raises(TypeError) as caught:
        len(None)
    told = fault_in_outside_code(caught.value)
    assert told.startswith("their_founding:Faulty: your class may not return what its base")
    assert f"({__file__}:" in told
