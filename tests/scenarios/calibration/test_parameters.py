"""What ``check`` and ``run`` say of numbers that belong to the field of an ecosystem."""

import json

import pytest

from tests.command_line import society
from tests.society.ecosystem.raw_records import build_ecosystem
from virsci_society.scenarios.calibration.parameters import PARAMETERS, borrowed_values
from virsci_society.scenarios.config.document import library, read_document
from virsci_society.scenarios.config.schema import read_scenario, scenario_document
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord

WORDS = ("graph", "layout", "volume", "colour", "flow", "query", "index", "touch", "depth")
VIS = {"boundary": 2012, "records": 4303}


def paper(number):
    """One of 30 papers a year; two thirds of the years' papers are by the same six people."""
    mine = [WORDS[(number * step) % len(WORDS)] for step in (1, 2, 5)]
    regular = number % 3 < 2
    people = [f"a{number % 6}", f"a{(number + 1) % 6}"] if regular else [f"once{number}"]
    return RawRecord(
        id=f"p{number}",
        title=f"On {mine[0]} and {mine[1]}",
        abstract=f"We study {' '.join(mine)} and how {mine[2]} changes {mine[0]}.",
        year=2000 + number // 30,
        authors=tuple(RawAuthor(one, one) for one in people),
    )


@pytest.fixture
def eco(here):
    """Papers of 2000 to 2005, 20 a year by the people with two of them; boundary 2005."""
    build_ecosystem([paper(number) for number in range(180)], boundary=2005, min_papers=2).save(
        "eco"
    )
    return here / "eco"


def manifest_only(folder, **facts):
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(facts))
    return str(folder)


def warning(name, path, *settings):
    place = f"population.ecosystem={{use: folder, path: {path}}}"
    document = scenario_document(name, [place, *settings])
    return borrowed_values(document, read_scenario(document))


def test_check_tells_the_number_of_teams_and_from_which_years_it_was_counted(eco):
    done = society("check", "community/vis", "--set", f"population.ecosystem.path={eco}")
    assert done.exit_code == 0, done.output
    # 20 a year by the population, with the growth of VIS, 0.012 a year.
    assert "teams founded a year: 20, counted from 2001-2004 of the ecosystem\n" in done.stdout
    given = ["--set", "founding.teams_per_year=50"]
    done = society("check", "community/vis", "--set", f"population.ecosystem.path={eco}", *given)
    assert "teams founded a year" not in done.stdout


@pytest.mark.slow
def test_check_and_run_name_the_values_of_another_field_and_what_fits_them(eco):
    path = ["--set", "population.ecosystem.path=eco"]
    for command in (
        ["check"],
        ["run", "--out", "run", "--set", "until=7d", "--set", "initial_projects=0d"],
    ):
        done = society(*command, "community/vis", *path)
        assert done.exit_code == 0, done.output
        lines = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
        assert len(lines) == 1
        assert "another community, IEEE VIS (boundary 2012): founding.growth=0.012" in lines[0]
        assert "protocol.selection.q=0.66" in lines[0]
        assert "'society calibrate eco' fits them" in lines[0]
        # It is counted, so nobody needs to fit it.
        assert "teams_per_year" not in lines[0]


def test_a_check_of_a_folder_that_cannot_be_read_says_so_and_goes_on(here):
    path = manifest_only(here / "eco")
    done = society("check", "community/vis", "--set", f"population.ecosystem.path={path}")
    assert done.exit_code == 0
    assert "warning: teams founded a year cannot be counted: " in done.stderr


def test_nothing_is_borrowed_on_the_papers_of_the_fit(here):
    path = manifest_only(here / "eco", **VIS)
    assert warning("community/vis", path) is None
    later = manifest_only(here / "later", **{**VIS, "boundary": 2016})
    assert "IEEE VIS" in str(warning("community/vis", later))


def test_values_that_are_set_otherwise_are_not_borrowed(here):
    path = manifest_only(here / "eco", boundary=2012, records=100)
    assert "selection.q=" in str(warning("community/vis", path))
    assert "selection.q=" not in str(warning("community/vis", path, "protocol.selection.q=0.5"))


def test_a_stated_number_of_teams_of_the_library_is_named_apart(here):
    path = manifest_only(here / "eco", **VIS)
    told = str(warning("community/vis-assembly", path))
    assert "founding.teams_per_year=60 is not counted on it" in told
    assert "--set founding.teams_per_year=counted" in told
    assert "fitted" not in told
    assert warning("community/vis-assembly", path, "founding.teams_per_year=counted") is None


def test_an_invented_ecosystem_borrows_nothing():
    document = scenario_document("community/vis-assembly")
    assert borrowed_values(document, read_scenario(document)) is None


def test_every_scenario_with_seats_for_newcomers_says_on_which_papers_it_was_fitted(here):
    path = manifest_only(here / "eco", boundary=1999)
    for name in library():
        told = warning(name, path)
        fitted = "newcomers" in read_document(name).data["protocol"]
        assert (told is not None) == fitted, name
        if fitted:
            assert sum(f"{key}=" in str(told) for key in PARAMETERS) >= 19


@pytest.mark.parametrize("value", ["VIS", "{community: VIS}", "{community: VIS, boundary: soon}"])
def test_a_wrong_fact_is_named_with_its_line(here, value):
    (here / "s.yaml").write_text(f"extends: quickstart\nfitted_on: {value}\n")
    done = society("check", "s.yaml")
    assert done.exit_code == 2
    assert "s.yaml:2:1: fitted_on: expected a section such as" in done.stderr
    done = society("check", "quickstart", "--set", "fitted_on.boundary=2012")
    assert "--set fitted_on: names the source of a file" in done.stderr
