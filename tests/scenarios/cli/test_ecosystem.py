"""``society ecosystem``: building from JSON lines, bad sources, and describing."""

import json
from pathlib import Path

import pytest

from tests.command_line import society
from virsci_society.society.ecosystem.ecosystem import Ecosystem

WORDS = ("graph", "layout", "volume", "colour", "flow", "query", "index", "touch", "depth", "text")


def record(number, **changed):
    mine = [WORDS[(number * step) % len(WORDS)] for step in (1, 3, 7)]
    plain = {
        "id": f"p{number}",
        "title": f"On {mine[0]} and {mine[1]}",
        "abstract": f"We study {' '.join(mine)} and how {mine[2]} changes {mine[0]} over time.",
        "year": 2005 + number % 12,
        "authors": [{"id": f"a{(number + seat) % 5}", "name": f"A{seat}"} for seat in range(2)],
        "references": [f"p{number - 1}"] if number else [],
    }
    return plain | changed


def lines(records):
    return "".join(json.dumps(one) + "\n" for one in records)


@pytest.fixture
def corpus(write):
    return write("papers.jsonl", lines([record(number) for number in range(48)]))


def build(source, *more, boundary=2012, out="eco"):
    fixed = ["ecosystem", "build", "jsonl", str(source), "--boundary", str(boundary)]
    return society(*fixed, "--out", out, *more)


def test_a_corpus_is_built_described_and_run(corpus, here):
    done = build(corpus, "--min-papers", "2")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1].startswith("ecosystem: eco (28 past, 20 contemporary, 5 s")
    assert "people: at least 2 papers: 0 of 5 left out" in done.stdout
    assert Ecosystem.load("eco").boundary == 2012
    told = society("ecosystem", "info", "eco")
    assert told.exit_code == 0
    assert "team size" in told.stdout
    assert "vis" in told.stdout

    (here / "s.yaml").write_text(
        "extends: quickstart\n"
        "until: 8w\n"
        "population: {ecosystem: {use: folder, path: eco}}\n"
        "founding: {use: once}\n"
        "protocol: {team_size: 2, turns: 1}\n"
    )
    done = society("run", "s.yaml", "--out", "run")
    assert done.exit_code == 0, done.output
    told_manifest = json.loads((here / "run" / "manifest.json").read_text())
    assert told_manifest["boundary"] == 2012
    assert told_manifest["notes"]


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--first-year", "2006", "2006"),
        ("--last-year", "2014", "2014"),
        ("--min-coauthors", "1", "at least 1 co-author"),
        ("--min-citations-past", "1", "at least 1 citations"),
        ("--min-citations-contemporary", "0", "at least 0 citations"),
    ],
)
def test_every_filter_is_an_option(corpus, option, value, told, here):
    done = build(corpus, option, value)
    assert told in done.output


def test_a_boundary_after_the_data_builds_and_says_which_side_is_empty(corpus, here):
    done = build(corpus, boundary=2100)
    assert done.exit_code == 0, done.output
    assert "note: EMPTY: no contemporary papers" in done.stdout
    assert "the source's years are 2005 to 2016" in done.stdout
    assert Ecosystem.load("eco").counts["contemporary"] == 0


@pytest.mark.parametrize(
    ("options", "boundary", "why"),
    [
        ((), 1900, "no past papers before 1900: the source's years are 2005 to 2016"),
        (("--min-citations-past", "1000"), 2012, "no past papers before 2012: the filters leave"),
    ],
)
def test_nothing_is_built_without_past_papers(corpus, here, options, boundary, why):
    done = build(corpus, *options, boundary=boundary)
    assert done.exit_code == 2
    assert why in done.stderr
    assert "choose" in done.stderr
    assert "Traceback" not in done.output
    assert not list(Path().glob("eco*"))


def test_malformed_lines_are_shown(write):
    good = lines([record(number) for number in range(240)])
    done = build(write("papers.jsonl", good + "{broken\n"))
    assert done.exit_code == 0, done.output
    assert "1 malformed records left out:\n  papers.jsonl:line 241: " in done.stderr


def test_synthetic_beside_the_real_community():
    size = ["--scientists", "20", "--papers", "200"]
    done = society("ecosystem", "info", "synthetic", *size)
    assert done.exit_code == 0
    assert "papers per scientist" in done.stdout


def test_a_damaged_ecosystem_is_refused_before_anything_is_simulated(corpus, here):
    assert build(corpus).exit_code == 0
    papers = here / "eco" / "papers.parquet"
    papers.write_bytes(papers.read_bytes()[:-1] + b"\x00")
    done = society("run", "community/vis", "--set", "population.ecosystem.path=eco", "--out", "run")
    assert done.exit_code == 2
    assert "its hash is not the one in manifest.json" in done.stderr
    assert "simulating" not in done.stderr
