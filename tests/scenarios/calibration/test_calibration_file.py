"""Calibration files: what is read from them, and every way in which one can be wrong."""

import json
import math
import textwrap
from pathlib import Path

import pytest

from tests.scenarios.calibration.conftest import FILE, write_jsonl
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import Prior, read_calibration
from virsci_society.scenarios.calibration.windows import Window
from virsci_society.scenarios.config.document import FittedOn

YEARS = range(2000, 2014)


def faults(read, text, **options):
    with pytest.raises(InputError) as caught:
        read(text, **options)
    assert caught.value.exit_code == 2
    return str(caught.value).splitlines()


def test_a_file_is_read(read):
    made = read()
    assert [one.name for one in made.file.fit] == ["2006", "2007", "2008"]
    assert made.file.priors["protocol.selection.q"] == Prior(low=0, high=1)
    assert made.file.boundary_year == made.file.held_out.first == 2009
    assert made.leader == "last"
    # Nothing later than the held-out window is held.
    assert made.corpus.works.dates.max() < 0 == made.corpus.day(2010)


def test_defaults(read):
    made = read("\n".join(FILE.splitlines()[:5]))
    assert made.file.priors["protocol.selection.q"] == Prior(median="counted", sd=0.7)
    assert made.file.effort.seeds == 20
    assert "gini_papers" in made.file.targets


def test_priors_at_their_medians_and_bounds():
    for key, prior, counted, middle in (
        (keys.SEAT, Prior(median="counted", sd=1), 0.2, 0.2),
        (keys.SIZE, Prior(median="counted", sd=0.5), 4.0, 4.0),
        (keys.SEAT, Prior(median=0.3, sd=1), 0.2, 0.3),
        (keys.Q, Prior(low=0.2, high=0.6), None, 0.4),
        (keys.SPREAD, Prior(low=1, high=16), None, 4.0),
    ):
        assert prior.value(key, 0.0, counted) == pytest.approx(middle)
    assert Prior(low=0.2, high=0.6).value(keys.Q, 8.0, None) == pytest.approx(0.6)
    assert Prior(low=1, high=16).value(keys.SPREAD, 8.0, None) == pytest.approx(16)
    # The excess over the smallest team is what is log-normal.
    size = Prior(median="counted", sd=0.5).value(keys.SIZE, 1.0, 4.0)
    assert size == pytest.approx(1 + 3 * math.exp(0.5))


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("held_out: 2009", "held_out: 2008", 5, "lies in the fit window 2008"),
        ("held_out: 2009", "held_out: 2008-2009", 5, "lies in the fit window 2008"),
        ("held_out: 2009", "held_out: 2005", 5, "lies before the fit window 2006"),
        ("held_out: 2009", "held_out: 2009-2008", 5, "run backwards"),
        ("held_out: 2009", "held_out: next", 5, "expected years such as 2008-2009"),
        ("held_out: 2009", "held_out: 2030", 5, "no paper is dated in 2030"),
        ("[2006, 2007, 2008]", "[2006, 2006, 2008]", 4, "overlaps another one of fit"),
        ("[2006, 2007, 2008]", "[2005-2006, 2007, 2008]", 4, "different lengths"),
        ("[2006, 2007, 2008]", "[1990, 2007, 2008]", 4, "begins before the papers do (1995)"),
        ("q, repeat_rate]", "q, repeat_rat]", 9, "'repeat_rat' is never measured"),
        ("q, repeat_rate]", "q, repeat_rat]", 9, "did you mean 'repeat_rate'"),
        ("low: 0, high: 1}", "low: 0, high: 1.5}", 8, "1.5, but the key takes 0 to 1"),
        ("low: 0, high: 1}", "low: 1, high: 0}", 8, "give the lower one first"),
        ("low: 0, high: 1}", "low: 0}", 8, "expected median and sd, or low and high"),
        ("low: 0, high: 1}", "low: 0, hihg: 1}", 8, "did you mean 'high'"),
        ("median: 0.5", "median: 1.5", 7, "the key takes 0 to 1"),
        ("protocol.selection.q:", "protocol.selection.qq:", 8, "is not a parameter"),
        (
            "protocol.newcomers.seat: {median: 0.5, sd: 0.7}",
            "founding.leaders.shape: {median: counted, sd: 0.5}",
            7,
            "the key cannot be counted",
        ),
        ("base: base.yaml", "base: bases.yaml", 3, "no such file"),
        ("base: base.yaml", "base: quickstart", 3, "not wordless"),
        ("[jsonl, papers.jsonl]", "[jsonl]", 2, "expected an ecosystem folder"),
        ("[jsonl, papers.jsonl]", "[jsonl, paper.jsonl]", 2, "paper.jsonl"),
        ("effort: {points: 40", "effort: {points: 3", 10, "at least 20"),
        ("effort:", "efort:", 10, "did you mean 'effort'"),
    ],
)
def test_every_fault_is_told_with_its_line(read, old, new, line, told):
    assert old in FILE
    found = faults(read, FILE.replace(old, new))
    assert any(f"field.yaml:{line}:" in one and told in one for one in found), found


def test_all_faults_come_at_once(read):
    text = FILE.replace("2009", "2008").replace("rate]", "rat]").replace("high: 1}", "high: 2}")
    assert len(faults(read, text)) == 3


def test_a_key_that_the_base_does_not_have(read, place):
    base = (place / "base.yaml").read_text()
    without = base.replace("team_size: {use: negative_binomial, mean: 3.5, dispersion: 4}", "")
    (place / "base.yaml").write_text(without.replace("repeat_teams: {share: 0.3, stay: 0.6}", ""))
    size = "protocol.team_size.mean: {median: counted, sd: 0.5}\ntargets"
    (found,) = faults(read, FILE.replace("targets", f"  {size}"))
    assert "field.yaml:9:" in found
    assert "has no key protocol.team_size" in found
    # By default it is what the base has that is fitted.
    made = read("\n".join(FILE.splitlines()[:5]))
    assert "protocol.repeat_teams.share" not in made.file.priors
    assert not any(key.startswith("protocol.team_size") for key in made.base_values)


def test_a_base_with_external_authors_is_refused(read, place):
    base = place / "base.yaml"
    base.write_text(f"population: {{external_authors: {{use: counted}}}}\n{base.read_text()}")
    (found,) = faults(read, FILE)
    assert "field.yaml:3:" in found
    assert "population.external_authors: a calibration simulates every author" in found


def test_the_file_of_the_documentation_is_read(read, place):
    """Every key of the example is read, with papers of the years that it names."""
    page = Path("docs/calibration.md").read_text(encoding="utf-8")
    example = textwrap.dedent(page.partition("```yaml\n")[2].partition("```")[0])
    teams = [(year, f"p{year}-{n}", [f"a{n}", f"a{n + 1}"]) for year in YEARS for n in range(3)]
    write_jsonl(place / "papers.jsonl", teams)
    assert "papers.jsonl.gz" in example
    made = read(example.replace("papers.jsonl.gz", "papers.jsonl"))
    assert made.file.held_out.name == "2012-2013"
    assert len(made.file.priors) == 3


def test_fewer_than_three_windows_are_remarked_on(read):
    (note,) = read(FILE.replace("[2006, 2007, 2008]", "[2007, 2008]")).notes
    assert "Fewer than three" in note


def test_an_ecosystem_is_given_windows_before_its_boundary(place, read, tmp_path):
    from typer.testing import CliRunner

    from virsci_society.scenarios.cli.app import app

    folder = tmp_path / "eco"
    built = CliRunner().invoke(
        app,
        [
            *("ecosystem", "build", "jsonl", str(place / "papers.jsonl"), "--boundary", "2010"),
            *("--no-abstract-required", "--out", str(folder)),
        ],
    )
    assert built.exit_code == 0, built.output
    made = read_calibration(folder, base=str(place / "base.yaml"))
    assert made.file.held_out == Window(2008, 2009)
    assert [one.name for one in made.file.fit] == ["2002-2003", "2004-2005", "2006-2007"]
    assert made.file.boundary_year == 2010
    past = json.loads((folder / "manifest.json").read_text())["counts"]["past"]
    assert made.fitted_on == FittedOn("eco", 2010, past=past)
    assert "held out" in made.notes[0]
    # The same papers as from the source, whatever comes after them.
    source = read(FILE.replace("held_out: 2009", "held_out: 2009\nboundary: 2010"))
    assert made.corpus.digest(None, 2010) == source.corpus.digest(None, 2010)
    later = read(FILE.replace("[jsonl, papers.jsonl]", "eco"))
    assert later.fitted_on == FittedOn("a synthetic field", 2009, source="papers.jsonl")
    assert later.fitted_on == read().fitted_on
    assert later.corpus.digest(None, 2009) != made.corpus.digest(None, 2010)
    found = faults(
        read,
        FILE.replace("[jsonl, papers.jsonl]", "eco").replace("held_out: 2009", "held_out: 2010"),
    )
    assert any("ends before its boundary 2010" in one for one in found)


def test_a_past_that_is_too_short_for_an_ecosystem(place, tmp_path):
    with pytest.raises(InputError, match="not an ecosystem folder"):
        read_calibration(tmp_path)
