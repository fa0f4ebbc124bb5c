"""The table of mistakes fits the sources: each can be planted, compiles, and names real tests."""

import ast
from pathlib import Path

import pytest

from tests.mutant_table import MISTAKES, Edit, Mistake
from tests.mutants import ROOT, chosen, misfits, plant

NAMES = [mistake.name for mistake in MISTAKES]
each = pytest.mark.parametrize("mistake", MISTAKES, ids=NAMES)


def test_there_are_enough_mistakes_and_no_two_of_one_name():
    assert len(set(NAMES)) == len(NAMES) >= 24
    assert all(mistake.breaks.endswith(".") for mistake in MISTAKES)
    assert all(chosen(name) == [mistake] for name, mistake in zip(NAMES, MISTAKES, strict=True))
    assert chosen(None) == list(MISTAKES)


def test_every_old_text_stands_in_its_file_exactly_once():
    assert not misfits(MISTAKES)


@each
def test_the_planted_file_is_another_and_compiles(mistake):
    for file in {edit.file for edit in mistake.edits}:
        right = wrong = (ROOT / file).read_text(encoding="utf-8")
        for edit in mistake.edits:
            wrong = wrong.replace(edit.old, edit.new) if edit.file == file else wrong
        assert wrong != right
        if file.endswith(".py"):
            compile(wrong, file, "exec")


@each
def test_the_tests_that_must_notice_exist(mistake):
    assert mistake.tests
    for test in mistake.tests:
        file, _, name = test.partition("::")
        body = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
        assert not name or name in {node.name for node in body if hasattr(node, "name")}


def test_a_table_that_no_longer_fits_is_told(tmp_path: Path):
    (tmp_path / "a.py").write_text("x = 1\nx = 1\n")
    edits = (Edit("a.py", "x = 1", "x = 2"), Edit("a.py", "y", "z"), Edit("b.py", "x", "y"))
    assert misfits([Mistake("m", "Breaks.", edits, ())], tmp_path) == [
        "m: a.py holds 'x = 1' 2 times",
        "m: a.py holds 'y' 0 times",
        "m: b.py holds 'x' 0 times",
    ]


def test_planting_forgets_what_was_compiled(tmp_path: Path):
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "a.py").write_text("x = 1\n")
    for name in ("a.cpython-311.pyc", "ab.cpython-311.pyc"):
        (tmp_path / "__pycache__" / name).touch()
    plant(Mistake("m", "Breaks.", (Edit("a.py", "1", "2"),), ()), tmp_path)
    assert (tmp_path / "a.py").read_text() == "x = 2\n"
    assert [path.name for path in (tmp_path / "__pycache__").iterdir()] == ["ab.cpython-311.pyc"]
