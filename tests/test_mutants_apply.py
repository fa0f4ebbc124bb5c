"""The table of mistakes fits the sources and names real tests."""

import ast

import pytest

from tests.mutant_table import MISTAKES, Edit, Mistake
from tests.mutants import ROOT, misfits


def test_every_mistake_can_be_planted_and_no_two_have_one_name():
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES) >= 24
    assert all(mistake.breaks.endswith(".") for mistake in MISTAKES)
    assert misfits(MISTAKES) == []


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_tests_that_must_notice_exist(mistake):
    assert mistake.tests
    for test in mistake.tests:
        file, _, name = test.partition("::")
        body = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
        assert not name or name in {node.name for node in body if hasattr(node, "name")}


def test_a_table_that_no_longer_fits_is_told(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\nx = 1\n")
    (tmp_path / "c.py").write_text("x = 1\n")
    edits = (
        Edit("a.py", "x = 1", "x = 2"),
        Edit("a.py", "y", "z"),
        Edit("a.py::f", "x", "z"),
        Edit("b.py", "x", "y"),
        Edit("c.py", "1", "("),
    )
    assert misfits([Mistake("m", "Breaks.", edits, ())], tmp_path) == [
        "m: a.py holds 'x = 1' 2 times",
        "m: a.py holds 'y' 0 times",
        "m: a.py has no f",
        "m: there is no b.py",
        "m: c.py is no Python any more",
    ]
