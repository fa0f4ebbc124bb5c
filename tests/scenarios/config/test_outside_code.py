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
    try:
        made.foundings(0, None)
    except Exception as error:
        return fault_in_outside_code(error) or ""
    raise AssertionError("nothing was raised")


def test_the_line_that_raised_is_named(module):
    first = fault_of("Faulty").splitlines()[0]
    assert first == (
        f"{module}:5: your class: foundings failed with ZeroDivisionError: division by zero"
    )


def test_the_class_is_named_where_it_lacks_a_method(module):
    first = fault_of("Empty").splitlines()[0]
    assert first == f"{module}:6: your class: foundings failed with NotImplementedError"


def test_the_line_that_called_other_code_is_named(module):
    assert fault_of("Misuse").startswith(f"{module}:11: your class: foundings failed with Attrib")


def test_an_error_with_a_class_from_outside_as_its_cause(module):
    made = import_member("their_founding:Faulty")()
    copy = ZeroDivisionError("division by zero")  # as SimPy raises it
    try:
        made.foundings(0, None)
    except ZeroDivisionError as error:
        copy.__cause__ = error
    assert (fault_in_outside_code(copy) or "").startswith(f"{module}:5: your class")


def test_an_error_that_arose_later_names_the_classes_it_may_come_from():
    import_member("their_founding:Faulty")
    try:
        len(None)
    except TypeError as error:
        told = fault_in_outside_code(error) or ""
    assert told.startswith("their_founding:Faulty: your class may return something else")
    assert f"({__file__}:" in told


def test_without_such_a_class_it_is_the_programs_own_fault():
    assert fault_in_outside_code(ValueError("ours")) is None
