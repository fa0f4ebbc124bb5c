"""``society ecosystem build``: every kind of source, presets and names."""

import json
from pathlib import Path

import pytest

from tests.command_line import society
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.importers.source import IMPORTERS

FORMATS = Path(__file__).parents[4] / "shared" / "data" / "formats"


def build(kind, *more, out="eco"):
    return society("ecosystem", "build", kind, *more, "--out", out)


def manifest(folder="eco"):
    told = json.loads(Path(folder, "manifest.json").read_text(encoding="utf-8"))
    return told


def record(number):
    return {
        "id": f"p{number:03}",
        "title": f"On subject {number % 7}",
        "abstract": f"We study subject {number % 7} by method {number % 5}.",
        "year": 2005 + number % 10,
        "authors": [{"id": f"a{(number + s) % 6}", "name": f"Ann {s}"} for s in range(2)],
    }


@pytest.fixture
def corpus(write):
    return write("papers.jsonl", "".join(json.dumps(record(n)) + "\n" for n in range(60)))


def test_the_help_names_every_importer():
    shown = " ".join(society("ecosystem", "build", "--help").output.split())
    assert f"{', '.join(list(IMPORTERS)[:-1])} or {list(IMPORTERS)[-1]}" in shown


SAMPLES = [
    ("aminer", "aminer", 2012),
    ("oag", "oag_v3", 2022),
    ("openalex", "openalex", 2015),
    ("dblp", "dblp_v10", 2014),
]


@pytest.mark.parametrize(("kind", "folder", "boundary"), SAMPLES)
def test_samples_of_other_formats_are_built_with_or_without_later_papers(
    here, kind, folder, boundary
):
    if not FORMATS.is_dir():
        pytest.skip("the folder with samples of other formats is not beside the repository")
    options = ["--boundary", str(boundary), "--no-abstract-required", "--malformed-share", "1"]
    done = build(kind, str(FORMATS / folder), *options)
    assert done.exit_code == 0, done.output
    made = Ecosystem.load("eco")
    for side, word in (("past", "past papers"), ("contemporary", "contemporary papers")):
        assert (f"note: EMPTY: no {word}" in done.stdout) == (made.counts[side] == 0)
    reading = manifest()["reading"]
    passed = sum(reading["passed"].values())
    assert reading["read"] == reading["kept"] + passed + reading["malformed"]
    assert made.counts["past"] + made.counts["contemporary"] <= reading["kept"]
    assert manifest()["kind"] == kind
    assert not list(here.glob("*.partial"))


def test_a_preset_and_what_is_given_beside_it(corpus, here):
    done = build(
        "jsonl",
        *(str(corpus), "--preset", "virsci-cs", "--min-papers", "2", "--min-coauthors", "1"),
        *("--min-citations-past", "0", "--min-citations-contemporary", "0", "--licence", "free"),
    )
    assert done.exit_code == 0, done.output
    told = manifest()
    assert (told["boundary"], told["preset"], told["licence"]) == (2011, "virsci-cs", "free")
    assert told["instead_of_preset"]["min_papers"] == {"preset": 50, "given": 2}
    assert "min_papers: 2 instead of the preset's 50" in done.stdout
    assert "scientists: 6 counted on all papers before the boundary, 6 on the kept ones" in (
        done.stdout
    )
    assert told["heads"] == {"all": 6, "kept": 6}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "no boundary year is given; give --boundary YEAR or --preset NAME"),
        (["--preset", "virsci"], "preset 'virsci' is not known"),
        (["--boundary", "2010", "--embedding", "word2vec"], "embedding 'word2vec'"),
    ],
)
def test_a_wrong_option_is_told_before_anything_is_read(corpus, here, options, message):
    done = build("jsonl", str(corpus), *options)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "reading" not in done.stderr
    assert not list(here.glob("eco*"))


def test_unknown_things_are_said(corpus, here):
    done = build("jsonl", str(corpus), "--boundary", "2010")
    assert "citations of past papers are unknown" in done.stdout
    assert "CI and ON are not available" in done.stdout
    assert "no references: no record has any" in done.stdout
    assert manifest()["unknown"]


@pytest.mark.slow
def test_unknown_citations_make_ci_and_on_not_available_never_zero(corpus, here):
    assert build("jsonl", str(corpus), "--boundary", "2010").exit_code == 0
    Path("s.yaml").write_text(
        "extends: quickstart\n"
        "until: 20w\n"
        "population: {ecosystem: {use: folder, path: eco}}\n"
        "founding: {use: once}\n"
        "protocol: {team_size: 2, turns: 1}\n"
    )
    assert society("run", "s.yaml", "--out", "run").exit_code == 0
    told = json.loads(society("show", "run", "--json").stdout)
    assert told["HD"] is not None
    assert told["CD"] is not None
    assert told["CI"] is None
    assert told["ON"] is None
    report = Path("run", "report.html").read_text(encoding="utf-8")
    assert "not available: no citation count is known" in report
    assert "CI and ON are not available" in report


def test_real_names_are_written_on_request_only(corpus, here):
    assert build("jsonl", str(corpus), "--boundary", "2010").exit_code == 0
    assert not Path("eco", "key.parquet").exists()
    done = build("jsonl", str(corpus), "--boundary", "2010", "--keep-names")
    assert done.exit_code == 0
    assert Path("eco", "key.parquet").is_file()


def test_authors_without_an_id_can_be_left_out(write, here):
    rows = [record(n) | {"authors": [{"name": "Ann"}, {"id": "b", "name": "B"}]} for n in range(9)]
    source = str(write("papers.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    for rule, people in (("name", 2), ("drop", 1)):
        assert build("jsonl", source, "--boundary", "2010", "--nameless", rule).exit_code == 0
        assert Ecosystem.load("eco").counts["scientists"] == people


def test_nothing_is_left_of_a_source_that_cannot_be_built(write, here):
    done = build("jsonl", str(write("papers.jsonl", "no json\n")), "--boundary", "2010")
    assert done.exit_code == 2
    assert "no readable record" in done.stderr
    assert not list(here.glob("eco*"))


def test_a_synthetic_ecosystem_is_built_and_the_same_again(here):
    size = ["--scientists", "12", "--papers", "90", "--seed", "4"]
    for out in ("one", "two"):
        done = build("synthetic", *size, out=out)
        assert done.exit_code == 0, done.output
        assert "12 scientists" in done.stdout
    assert Ecosystem.load("one").digest() == Ecosystem.load("two").digest()
    done = build("synthetic", "--scientists", "500", "--papers", "20")
    assert done.exit_code == 2
    assert "500 scientists cannot all have written" in done.stderr
