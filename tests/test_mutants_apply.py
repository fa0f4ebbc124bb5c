"""The table of mistakes names real places and real tests; how a mistake is planted.

That each pattern fits its place once is asked by ``make mutants``, which plants them.
"""

import ast

import pytest

from tests.mutant_table import MISTAKES, Edit, Mistake
from tests.mutants import ROOT, chosen, misfits, span

NAMES = [mistake.name for mistake in MISTAKES]
each = pytest.mark.parametrize("mistake", MISTAKES, ids=NAMES)


def test_there_are_enough_mistakes_and_no_two_of_one_name():
    assert len(set(NAMES)) == len(NAMES) >= 24
    assert all(mistake.breaks.endswith(".") for mistake in MISTAKES)
    assert all(chosen(name) == [mistake] for name, mistake in zip(NAMES, MISTAKES, strict=True))
    assert chosen() == list(MISTAKES)


@each
def test_the_places_of_the_edits_exist(mistake):
    for edit in mistake.edits:
        text = (ROOT / edit.file).read_text(encoding="utf-8")
        start, end = span(edit, text)
        assert text[start:end].strip()
        assert edit.old != edit.new


@each
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
