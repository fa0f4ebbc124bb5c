"""``society ecosystem``: kinds of sources, presets, names, bad sources, and describing."""

import json
from pathlib import Path

import pytest

from tests.command_line import society
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.importers.records import IMPORTERS

FORMATS = Path(__file__).parents[4] / "shared" / "data" / "formats"
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


def build(source, *more, kind="jsonl", boundary=2012, out="eco"):
    fixed = ["ecosystem", "build", kind, source, "--out", out]
    return society(*fixed, *(() if boundary is None else ("--boundary", boundary)), *more)


def manifest():
    return json.loads(Path("eco", "manifest.json").read_text(encoding="utf-8"))


def run_in(folder, until):
    """Run a small society that starts from the ecosystem that was built."""
    (folder / "s.yaml").write_text(
        f"extends: quickstart\nuntil: {until}\n"
        "population: {ecosystem: {use: folder, path: eco}}\n"
        "founding: {use: once}\n"
        "protocol: {team_size: 2, turns: 1}\n"
    )
    return society("run", "s.yaml", "--out", "run")


def test_the_help_names_every_importer():
    shown = " ".join(society("ecosystem", "build", "--help").output.split())
    *first, last = IMPORTERS
    assert f"{', '.join(first)} or {last}" in shown


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
    done = run_in(here, "8w")
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
    assert told in build(corpus, option, value).output


def test_a_boundary_after_the_data_builds_and_says_which_side_is_empty(corpus, here):
    done = build(corpus, boundary=2100)
    assert done.exit_code == 0, done.output
    assert "note: EMPTY: no contemporary papers" in done.stdout
    assert "the source has only papers of 2005 to 2016" in done.stdout
    assert Ecosystem.load("eco").counts["contemporary"] == 0


@pytest.mark.parametrize(
    ("options", "boundary", "why"),
    [
        ((), 1900, "no past papers before 1900: the source has only papers of 2005 to 2016"),
        (("--min-citations-past", "1000"), 2012, "no past papers before 2012: the filters leave"),
        ((), None, "no boundary year is given; give --boundary YEAR or --preset NAME"),
        (("--preset", "virsci"), None, "preset 'virsci' is not known"),
        (("--embedding", "word2vec"), 2010, "embedding 'word2vec'"),
    ],
)
def test_what_cannot_be_built_leaves_nothing(corpus, here, options, boundary, why):
    done = build(corpus, *options, boundary=boundary)
    assert done.exit_code == 2
    assert why in done.stderr
    assert "Traceback" not in done.output
    assert not list(here.glob("eco*"))


def test_malformed_lines_are_shown(write, here):
    good = lines([record(number) for number in range(240)])
    done = build(write("papers.jsonl", good + "{broken\n"))
    assert done.exit_code == 0, done.output
    assert "1 malformed records left out:\n  papers.jsonl:line 241: " in done.stderr
    done = build(write("papers.jsonl", "no json\n"), out="eco2")
    assert done.exit_code == 2
    assert "no readable record" in done.stderr
    assert not list(here.glob("eco2*"))


def test_a_damaged_ecosystem_is_refused_before_anything_is_simulated(corpus, here):
    assert build(corpus).exit_code == 0
    papers = here / "eco" / "papers.parquet"
    papers.write_bytes(papers.read_bytes()[:-1] + b"\x00")
    done = society("run", "community/vis", "--set", "population.ecosystem.path=eco", "--out", "run")
    assert done.exit_code == 2
    assert "its hash is not the one in manifest.json" in done.stderr
    assert "simulating" not in done.stderr


@pytest.mark.skipif(not FORMATS.is_dir(), reason="no samples of other formats are here")
@pytest.mark.parametrize(
    ("kind", "folder", "boundary"),
    [
        ("aminer", "aminer", 2012),
        ("oag", "oag_v3", 2022),
        ("openalex", "openalex", 2015),
        ("dblp", "dblp_v10", 2014),
    ],
)
def test_samples_of_other_formats_are_built_with_or_without_later_papers(
    here, kind, folder, boundary
):
    options = ["--no-abstract-required", "--malformed-share", "1"]
    done = build(FORMATS / folder, *options, kind=kind, boundary=boundary)
    assert done.exit_code == 0, done.output
    made = Ecosystem.load("eco")
    for side in ("past", "contemporary"):
        assert (f"note: EMPTY: no {side} papers" in done.stdout) == (made.counts[side] == 0)
    reading = manifest()["reading"]
    passed = sum(reading["passed"].values())
    assert reading["read"] == reading["kept"] + passed + reading["malformed"]
    assert made.counts["past"] + made.counts["contemporary"] <= reading["kept"]
    assert manifest()["kind"] == kind
    assert not list(here.glob("*.partial"))


def test_a_preset_and_what_is_given_beside_it(corpus, here):
    done = build(
        corpus,
        *("--preset", "virsci-cs", "--min-papers", "2", "--min-coauthors", "1"),
        *("--min-citations-past", "0", "--min-citations-contemporary", "0", "--licence", "free"),
        boundary=None,
    )
    assert done.exit_code == 0, done.output
    told = manifest()
    assert (told["boundary"], told["preset"], told["licence"]) == (2011, "virsci-cs", "free")
    assert (told["filters"]["min_papers"], told["filters"]["last_year"]) == (2, 2014)


@pytest.mark.slow
def test_unknown_citations_make_ci_and_on_not_available_never_zero(write, here):
    papers = [record(number) for number in range(60)]
    for one in papers:
        del one["references"]
    done = build(write("papers.jsonl", lines(papers)))
    assert "citations of past papers are unknown" in done.stdout
    assert "no references: no record has any" in done.stdout
    assert manifest()["unknown"]
    assert run_in(here, "20w").exit_code == 0
    told = json.loads(society("show", "run", "--json").stdout)
    assert [told[name] is None for name in ("HD", "CD", "CI", "ON")] == [False, False, True, True]
    report = Path("run", "report.html").read_text(encoding="utf-8")
    assert "not available: citation counts are unknown" in report
    assert "CI and ON are not available" in report


def test_real_names_are_written_on_request_only(corpus, here):
    for options in ((), ("--keep-names",)):
        assert build(corpus, *options).exit_code == 0
        assert Path("eco", "key.parquet").exists() == bool(options)


def test_a_synthetic_ecosystem_is_described_and_built_the_same_again(here):
    size = ["--scientists", "12", "--papers", "90", "--seed", "4"]
    assert "papers per scientist" in society("ecosystem", "info", "synthetic", *size).stdout
    for out in ("one", "two"):
        done = society("ecosystem", "build", "synthetic", *size, "--out", out)
        assert done.exit_code == 0, done.output
        assert "12 scientists" in done.stdout
    assert Ecosystem.load("one").digest() == Ecosystem.load("two").digest()
    size = ["--scientists", "500", "--papers", "20"]
    done = society("ecosystem", "build", "synthetic", *size, "--out", "eco")
    assert done.exit_code == 2
    assert "500 scientists cannot all have written" in done.stderr
    pathless = society("ecosystem", "build", "jsonl", "--boundary", 2012, "--out", "eco")
    assert (pathless.exit_code, pathless.stderr) == (
        2,
        "give PATH, the files or folders of jsonl\n",
    )


READERS = "kinds that read files, such as jsonl"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (
            "synthetic --boundary 2015",
            [f"--boundary has no effect for synthetic; it is for {READERS}"],
        ),
        (
            "synthetic --embedding lsa --columns a=b",
            [
                f"--embedding has no effect for synthetic; it is for {READERS}",
                "--columns has no effect for synthetic; it is for csv",
            ],
        ),
        (
            "jsonl papers.jsonl --boundary 2012 --scientists 5",
            ["--scientists has no effect for jsonl; it is for synthetic"],
        ),
        (
            "data/works.jsonl.gz --boundary 2010",
            [
                "'data/works.jsonl.gz' is not a kind; type: society ecosystem build jsonl "
                "data/works.jsonl.gz ..."
            ],
        ),
    ],
)
def test_what_a_kind_does_not_use_is_refused(corpus, here, typed, told):
    done = society("ecosystem", "build", *typed.split(), "--out", "eco")
    assert (done.exit_code, done.stderr.splitlines()) == (2, told)
    assert not Path("eco").exists()


def test_a_folder_is_not_described_with_sizes_of_a_synthetic_one(corpus, here):
    assert build(corpus).exit_code == 0
    done = society("ecosystem", "info", "eco", "--papers", "50", "--seed", "3")
    told = ["--papers has no effect for eco; it is for synthetic"]
    told.append("--seed has no effect for eco; it is for synthetic")
    assert (done.exit_code, done.stderr.splitlines()) == (2, told)


@pytest.mark.parametrize("option", ["--boundary", "--first-year", "--last-year"])
def test_a_year_is_a_number(corpus, here, option):
    done = build(corpus, option, "2012-01-01")
    assert done.exit_code == 2
    assert "'2012-01-01': expected a year, such as 2012" in " ".join(
        done.stderr.replace("│", " ").split()
    )


def test_a_kind_spelt_wrong_may_be_synthetic(here):
    done = society("ecosystem", "build", "sythetic", "--out", "eco")
    assert done.exit_code == 2
    assert "'sythetic' is not a kind" in done.stderr
    assert "did you mean 'synthetic'?" in done.stderr


def test_a_folder_with_a_run_is_never_written_to(corpus, here):
    kept = '{"digest": "9c06", "boundary": 2012}'
    Path("run").mkdir()
    Path("run", "manifest.json").write_text(kept)
    for done in (
        build(corpus, out="run"),
        society("ecosystem", "build", "synthetic", "--out", "run"),
    ):
        assert (done.exit_code, done.stderr) == (
            2,
            "run: contains files that are not an ecosystem's; give another folder, or delete this "
            "one first\n",
        )
    assert [path.name for path in Path("run").iterdir()] == ["manifest.json"]
    assert Path("run", "manifest.json").read_text() == kept


def test_another_ecosystem_is_never_replaced(corpus, write, here):
    assert build(corpus).exit_code == 0
    kept = Ecosystem.load("eco").digest()
    fewer = lines([record(number) for number in range(40)])
    small = ["--scientists", "12", "--papers", "90"]
    others = {
        "source 'papers.jsonl' instead of 'more.jsonl'": build(write("more.jsonl", fewer)),
        "records 48 instead of 40": build(write("other/papers.jsonl", fewer)),
        "boundary 2012 instead of 2013": build(corpus, boundary=2013),
        "min_papers 1 instead of 2": build(corpus, "--min-papers", "2"),
        "max_authors 100 instead of 9": build(corpus, "--max-authors", "9"),
        "seed 0 instead of 4": build(corpus, "--seed", "4"),
        "source 'papers.jsonl' instead of 'synthetic'": society(
            "ecosystem", "build", "synthetic", *small, "--out", "eco"
        ),
    }
    for why, done in others.items():
        assert done.exit_code == 2, done.output
        assert done.stderr.endswith(
            f"eco: contains another ecosystem ({why}); give another folder, or delete this one "
            "first\n"
        )
    assert Ecosystem.load("eco").digest() == kept
    Path("eco", "papers.parquet").unlink()
    assert build(corpus).exit_code == 0
    assert Ecosystem.load("eco").digest() == kept
    for seed, code in ((1, 0), (1, 0), (2, 2)):
        made = society("ecosystem", "build", "synthetic", *small, "--seed", seed, "--out", "new")
        assert made.exit_code == code, made.output


def test_the_commands_that_a_missing_folder_is_answered_with_work(corpus, here):
    setting = ("population.ecosystem.use=folder", "population.ecosystem.path=gone")
    done = society("check", "quickstart", *(f"--set={one}" for one in setting))
    assert done.exit_code == 2
    making, using = (line.split()[1:] for line in done.stderr.splitlines()[-2:])
    made = society(*(corpus if word == "FILE" else word for word in making))
    assert made.exit_code == 0, made.output
    for scenario in ("quickstart", "community/vis"):
        words = [scenario if word == "SCENARIO" else word for word in using]
        done = society("check", *words[1:])
        assert done.exit_code == 0, done.output
