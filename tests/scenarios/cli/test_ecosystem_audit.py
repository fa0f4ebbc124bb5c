"""``society ecosystem audit``: a clean folder, a leak, and a source to compare with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from typer.testing import CliRunner

from virsci_society.scenarios.cli.app import app
from virsci_society.society.ecosystem import storage as files

Write = Callable[[str, str], Path]


def society(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))


def record(number: int) -> dict[str, Any]:
    return {
        "id": f"p{number:03}",
        "title": f"On subject {number % 7}",
        "abstract": f"We study subject {number % 7} by method {number % 5}.",
        "year": 2005 + number % 10,
        "authors": [{"name": f"Ann {(number + seat) % 6}"} for seat in range(2)],
        "references": [f"p{number - 10:03}"],
    }


@pytest.fixture
def corpus(write: Write) -> Path:
    return write("papers.jsonl", "".join(json.dumps(record(n)) + "\n" for n in range(60)))


@pytest.fixture
def eco(corpus: Path, here: Path) -> Path:
    fixed = ["ecosystem", "build", "jsonl", str(corpus), "--boundary", "2010", "--out", "eco"]
    assert society(*fixed).exit_code == 0
    return here / "eco"


def plant(eco: Path) -> None:
    path = eco / files.SCIENTISTS
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[0]["papers"] += 1
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    files.write_manifest(eco, json.loads((eco / files.MANIFEST).read_text(encoding="utf-8")))


def test_a_clean_folder_passes_and_says_what_cannot_be_told(eco: Path) -> None:
    done = society("ecosystem", "audit", "eco")
    assert done.exit_code == 0, done.output
    assert "co-author counts" in done.stdout
    assert "only the source tells when they were given" in done.stdout
    assert done.stdout.splitlines()[-1] == "eco: no leak found in 12 checks; 1 cannot be told"


def test_a_folder_is_compared_with_its_source(eco: Path, corpus: Path) -> None:
    done = society("ecosystem", "audit", "eco", "--source", "jsonl", str(corpus))
    assert done.exit_code == 0, done.output
    assert "past papers (source)" in done.stdout
    assert "affiliations (source)" in done.stdout


def test_a_leak_is_exit_2_with_its_first_examples(eco: Path) -> None:
    plant(eco)
    done = society("ecosystem", "audit", "eco")
    assert done.exit_code == 2
    assert "papers of scientists: Scientist0: " in done.stdout
    assert "eco: 1 of 13 checks found what papers before the boundary do not give" in done.stderr
    assert "Traceback" not in done.output


def test_a_leak_that_only_the_source_tells(eco: Path, corpus: Path) -> None:
    rows = [json.loads(line) for line in corpus.read_text().splitlines()]
    rows[0]["title"] = "On another subject"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = society("ecosystem", "audit", "eco", "--source", "jsonl", str(corpus))
    assert done.exit_code == 2
    assert "p000: its title differ from the source's" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: no such folder"),
        (["eco", "papers.jsonl"], "a source is given as --source KIND PATH..."),
        (["eco", "--source", "jsonl"], "a source is given as --source KIND PATH..."),
        (["eco", "--source", "json", "papers.jsonl"], "'json' is no source"),
        (["eco", "--source", "jsonl", "gone.jsonl"], "gone.jsonl: no such file"),
    ],
)
def test_bad_input_is_a_message(eco: Path, arguments: list[str], message: str) -> None:
    done = society("ecosystem", "audit", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    "enemy", ["\x1b[2J", "\x1b]52;c;AAAA\x07", "\x1b]8;;http://x\x1b\\", "\x9b1A", "\u202e"]
)
def test_words_of_a_corpus_do_not_steer_the_terminal(capsys, enemy):
    from types import SimpleNamespace

    from virsci_society.agents.errors import InputError
    from virsci_society.scenarios.cli.ecosystem import _judge

    check = SimpleNamespace(name="titles", state="leaked", examples=[f"A {enemy} title"])
    with pytest.raises(InputError):
        _judge(Path("e"), [check])
    shown = capsys.readouterr().out.rstrip("\n")
    assert shown.isprintable()
    assert "title" in shown
