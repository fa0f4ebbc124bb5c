"""The spool: parts that stay, readings that go on, and strangers that are refused."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.society.ecosystem.importers.foreign_files import FILES, balanced, kind, lines, put
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers import json_papers
from virsci_society.society.ecosystem.importers.source import open_source
from virsci_society.society.ecosystem.importers.spool import Spool

ROOT = Path(__file__).parents[4]


@pytest.fixture
def papers(tmp_path):
    """A folder of 2,500 papers in two files, some lines of which are malformed or twice there."""
    rows = [
        {"id": f"p{n}", "title": f"T {n}", "year": 2000, "authors": [{"id": "a", "name": "A"}]}
        for n in range(2500)
    ]
    broken = "{\n" * 3 + lines(rows[:5])
    files = {"a.jsonl": lines(rows[:1500]) + broken, "b.jsonl": broken + lines(rows[1500:])}
    return put(tmp_path / "papers", files)


def opened(papers, **options):
    """The source of the papers."""
    return open_source("jsonl", papers, **options)


@pytest.mark.parametrize("format_", sorted(FILES))
def test_the_records_of_a_spool_are_those_of_the_source(format_, tmp_path):
    put(tmp_path / "in", FILES[format_])
    source = open_source(kind(format_), tmp_path / "in")
    expected, counts = list(source), source.report
    for part in (1, 2, 100):
        spool = Spool(open_source(kind(format_), tmp_path / "in"), tmp_path / str(part), part=part)
        for _ in range(3):
            assert list(spool) == expected
            assert spool.report == counts
            assert spool.finished


def test_a_finished_spool_is_read_without_the_source(papers, tmp_path, monkeypatch):
    expected = list(Spool(opened(papers), tmp_path / "s", part=1000))
    monkeypatch.setattr(json_papers, "parse_json", None)
    spool = Spool(opened(papers), tmp_path / "s")
    assert list(spool) == expected
    assert len(expected) == 2500
    assert spool.report.passed == {"duplicate id": 10}
    assert spool.report.malformed == 6


@pytest.mark.sweep(4)
@pytest.mark.parametrize("stop", [1, 999, 1000, 1001, 1500, 1501, 2400])
@pytest.mark.parametrize("packed", [False, True])
def test_an_abandoned_import_goes_on_behind_its_last_part(stop, packed, papers, tmp_path):
    if packed:
        for name in ("a.jsonl", "b.jsonl"):
            put(papers, {f"{name}.gz": (papers / name).read_text()})
            (papers / name).unlink()
    expected = list(source := opened(papers))
    begun = iter(Spool(opened(papers), tmp_path / "s", part=500))
    assert [next(begun) for _ in range(stop)] == expected[:stop]
    begun.close()
    told = []
    again = Spool(opened(papers, progress=told.append), tmp_path / "s", part=500)
    assert list(again) == expected
    assert again.report == source.report
    assert balanced(again.report)
    assert all(count > stop // 500 * 500 for count in told)


def test_only_what_lies_behind_the_place_is_parsed_again(papers, tmp_path, monkeypatch):
    begun = iter(Spool(opened(papers), tmp_path / "s", part=1000))
    for _ in range(2000):
        next(begun)
    begun.close()
    parsed, parse = [], json_papers.parse_json
    monkeypatch.setattr(json_papers, "parse_json", lambda data: parsed.append(1) or parse(data))
    assert sum(1 for _ in Spool(opened(papers), tmp_path / "s", part=1000)) == 2500
    assert len(parsed) == 500


KILLED = """
import sys
from virsci_society.society.ecosystem.importers.spool import Spool
from virsci_society.society.ecosystem.importers.source import open_source

for number, _ in enumerate(Spool(open_source("jsonl", sys.argv[1]), sys.argv[2], part=500)):
    if number == 1700:
        print("here", flush=True)
        sys.stdin.read()
"""


@pytest.mark.slow
def test_a_killed_import_goes_on_and_nothing_is_lost_or_twice_there(papers, tmp_path):
    folder = tmp_path / "s"
    command = [sys.executable, "-c", KILLED, str(papers), str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout.readline() == "here\n"
        with pytest.raises(InputError, match="another import is writing it"):
            list(Spool(opened(papers), folder, part=500))
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait(120) == -signal.SIGKILL
    assert len(list(folder.glob("part-*.parquet"))) == 3
    spool = Spool(opened(papers), folder, part=500)
    assert not spool.finished
    expected = list(source := opened(papers))
    assert list(spool) == expected
    assert spool.report == source.report


def test_a_part_without_its_place_is_written_again(papers, tmp_path):
    expected = list(Spool(opened(papers), tmp_path / "s", part=500))
    state = json.loads((tmp_path / "s" / "spool.json").read_text())
    begun = iter(Spool(opened(papers), tmp_path / "t", part=500))
    for _ in range(1100):
        next(begun)
    begun.close()
    # As if the process had died between the third part and the place behind it.
    (tmp_path / "t" / "part-00002.parquet").write_bytes(b"an older part")
    assert list(Spool(opened(papers), tmp_path / "t", part=500)) == expected
    assert json.loads((tmp_path / "t" / "spool.json").read_text()) == state


def test_the_spool_of_another_source_is_refused(papers, tmp_path):
    list(Spool(opened(papers), tmp_path / "s"))
    for other in (opened(papers, authors="name"), open_source("dblp", papers)):
        with pytest.raises(InputError, match="the spool of another source"):
            list(Spool(other, tmp_path / "s"))
    time.sleep(0.01)
    with (papers / "b.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(InputError, match=r"other bytes, listing.*delete the folder"):
        list(Spool(opened(papers), tmp_path / "s"))


def test_a_folder_with_other_files_is_refused_and_a_new_one_is_made(papers, tmp_path):
    put(tmp_path, {"other/thesis.txt": "mine"})
    with pytest.raises(InputError, match="holds other files and no spool"):
        list(Spool(opened(papers), tmp_path / "other"))
    assert len(list(Spool(opened(papers), tmp_path / "new" / "deep"))) == 2500


def test_a_damaged_spool_is_an_input_error_that_says_what_to_do(papers, tmp_path):
    list(Spool(opened(papers), tmp_path / "s"))
    (tmp_path / "s" / "part-00000.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"part-00000\.parquet: cannot be read.*import again"):
        list(Spool(opened(papers), tmp_path / "s"))
    (tmp_path / "s" / "spool.json").write_text("{")
    with pytest.raises(InputError, match=r"spool\.json: cannot be read"):
        list(Spool(opened(papers), tmp_path / "s"))


def test_the_share_of_malformed_records_is_judged_on_every_reading(papers, tmp_path):
    with pytest.raises(InputError, match="6 malformed"):
        list(Spool(opened(papers, malformed_share=0.001), tmp_path / "s", part=500))
    assert len(list(Spool(opened(papers), tmp_path / "s", part=500))) == 2500
    with pytest.raises(InputError, match="6 malformed"):
        list(Spool(opened(papers, malformed_share=0.001), tmp_path / "s"))
