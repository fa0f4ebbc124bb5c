"""The table of all marks: each has a script, and its line says what the figure is worth."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from benchmarks import all as bench
from benchmarks import start_up
from benchmarks.marks import MARKS, Mark
from benchmarks.page import DOCS, marks
from virsci_society.scenarios.cli.app import app

FASTER = Mark("H0", "events a second", "kernel", lambda row: row.get("ratio"), 0.5, True, "1")
IDLE = {"busy": 1.0, "loop": 1.0, "exit": 0}
SMALLER = Mark("H0", "kB", "kernel", lambda row: row.get("ratio"), 0.5)


def test_every_mark_is_of_a_script_that_is_there_and_runs():
    assert {mark.script for mark in MARKS} <= set(bench.SCRIPTS)
    assert set(bench.LONG) <= set(bench.SCRIPTS)
    for name in bench.SCRIPTS:
        text = (Path(bench.HERE) / f"{name}.py").read_text(encoding="utf-8")
        assert '"--json"' in text, name
        assert ('"--full"' in text) == (name in bench.LONG), name


def test_the_commands_of_the_first_contact_are_commands_of_the_program():
    for name, _, _, tries in start_up.commands(["runs/one"], ["runs/small"]):
        found = get_command(app)
        for word in tries[0]:
            if not hasattr(found, "commands") or word.startswith("-"):
                break
            assert word in found.commands, name
            found = found.commands[word]


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A folder of results in which a script has found 0.6."""
    monkeypatch.setattr(bench, "RESULTS", tmp_path)
    monkeypatch.setattr(bench, "BENCH", tmp_path / "bench.json")
    (tmp_path / "kernel.json").write_text('{"ratio": 0.6}')
    return tmp_path


@pytest.mark.parametrize(
    ("mark", "ran", "verdict"),
    [
        (FASTER, IDLE, "met"),
        (SMALLER, IDLE, "short"),
        (FASTER._replace(in_loops=1), {**IDLE, "loop": 2.0}, "short"),
        (SMALLER._replace(in_loops=1), {**IDLE, "loop": 2.0}, "met"),
        (FASTER._replace(mark=1.0, in_loops=-1), {**IDLE, "loop": 2.0}, "met"),
        (SMALLER, {**IDLE, "busy": 1.9}, "short, machine busy"),
        (FASTER, {**IDLE, "exit": 1}, "failed"),
        (FASTER._replace(find=lambda row: row.get("other")), IDLE, "with --full"),
    ],
)
def test_a_line_says_what_its_figure_is_worth(results, mark, ran, verdict):
    assert bench.row(mark, {"kernel": ran})["verdict"] == verdict


def test_the_table_takes_the_place_of_the_last_one(results, tmp_path, monkeypatch):
    page, (begin, end) = tmp_path / "performance.md", marks(bench.NAME)
    page.write_text("old\n".join(("before\n" + begin, end + "after\n")), encoding="utf-8")
    monkeypatch.setattr(bench, "PAGE", page)
    runs = {"kernel": {**IDLE, "seconds": 60.0}}
    rows = [bench.row(FASTER, runs)]
    bench.write_table(rows, runs)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| H0 | events a second | 0.6 | ≥ 0.5 | 1 | met |" in text
    assert "1 met, 0 short, in 1 minutes" in text


def test_every_text_that_a_benchmark_writes_has_its_place():
    from benchmarks import growth
    from benchmarks.peers import __main__ as peers

    writers = (bench, growth, peers)
    places = {(page.PAGE, page.NAME) for page in writers}
    assert len(places) == len(writers)
    for page, name in places:
        begin, end = marks(name)
        before, _, rest = page.read_text(encoding="utf-8").partition(begin)
        assert page.parent == DOCS / "contributing"
        assert end in rest
        assert end not in before


def test_every_number_of_a_promise_is_defined():
    page = (DOCS / "contributing" / "performance.md").read_text(encoding="utf-8")
    table = page.partition("# Promises\n")[2].partition("\n#")[0]
    defined = set(re.findall(r"^\| (R\d+) \|", table, re.MULTILINE))
    assert defined == {f"R{number}" for number in range(1, 19)}
    for path in Path(__file__).parent.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r'promise\(\s*"(R\d+)', text)) <= defined, path
