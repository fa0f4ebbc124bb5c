"""Forecasts of a synthetic field from its ecosystem to the scores, by the command."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.calibration.calibration_file import Window
from virsci_society.scenarios.calibration.corpus import make_corpus
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.forecasting.forecast import BASE, forecast_ecosystem, rows_of
from virsci_society.scenarios.forecasting.hindcasts import track_record, windows_before
from virsci_society.scenarios.forecasting.quantities import (
    NAMES,
    QUANTITIES,
    point_errors,
    to_level,
    to_value,
)
from virsci_society.scenarios.forecasting.scoring import papers_that_came, scores_of, summary_of
from virsci_society.scenarios.forecasting.sealed_file import read_sealed, sealed, write_sealed

DATE = "2026-01-31"


def society(*arguments):
    return CliRunner().invoke(app, ["forecast", *map(str, arguments)])


@pytest.fixture(scope="module")
def file(made, tmp_path_factory):
    """The registered forecast."""
    place = tmp_path_factory.mktemp("sealed") / "eco.json"
    write_sealed(place, sealed(made, DATE))
    return place


@pytest.mark.slow
def test_every_quantity_is_forecast_beside_its_rivals(made):
    assert set(made.predictions) == {"forecast", "society", "p, q", "persistence"}
    for name, (last, median, a, b, c, d) in rows_of(made):
        assert c <= a <= median <= b <= d, name
        assert np.isfinite(last)
    papers = dict(rows_of(made))["papers"]
    # The field was made with 35 teams a year.
    assert papers[4] < 35 < papers[5]


@pytest.mark.parametrize("name", [*QUANTITIES, "sizes<=3"])
def test_scales_have_no_bounds_and_lead_back(name):
    value = 0.3 if name not in ("papers", "authors") else 120.0
    assert to_value(name, to_level(name, value)) == pytest.approx(value)
    assert np.isfinite(to_level(name, 0.0))


@pytest.mark.slow
def test_a_forecast_of_what_came_has_no_error(made):
    values = dict.fromkeys(NAMES, 0.4)
    assert set(point_errors(values, values).values()) == {0.0}
    off = point_errors(values | {"newcomers": 0.44, "sizes<=2": 0.5}, values | {"sizes<=2": 0.4})
    assert off["newcomers"] == pytest.approx(1)
    # Shares never fall, so that those beyond two authors are 0.5 as well.
    assert off["sizes"] == pytest.approx(0.1 / 0.05)


@pytest.mark.slow
def test_later_papers_change_not_one_byte(made, build, papers):
    early = build([one for one in papers if one[0] < 2009], 2009)
    assert sealed(forecast_ecosystem(early, 2009), DATE) == sealed(made, DATE)


@pytest.mark.slow
def test_a_window_is_forecast_alike_whatever_stands_beside_it(papers):
    """So that a record of many windows holds the forecast of each as it would have been made."""
    base = load_scenario(BASE)
    late = make_corpus(papers, 2010, "field")
    early = make_corpus([one for one in papers if one[0] < 2007], 2007, "field")
    last = windows_before(early, Window(first=2007, last=2007))
    both = track_record(late, [last[-2], last[-1], Window(first=2008, last=2008)], base)
    alone = track_record(early, last[-2:], base, workers=2)
    assert (both.society[:2] == alone.society).all()
    assert (both.rival[:2] == alone.rival).all()
    assert (both.observed[0] == alone.observed[0]).all()
    assert both.before(last[-1]).windows == last[-2:]


@pytest.mark.slow
def test_registered_and_scored_by_the_command(file, build, papers, tmp_path):
    later = build(papers, 2010, "later")
    done = society("score", file, "--with", later)
    assert done.exit_code == 0, done.output
    assert f"as it was sealed on {DATE}" in done.output
    assert "warning" not in done.output
    found = json.loads(society("score", file, "--with", later, "--json").output)
    summary = {row["forecaster"]: row for row in found["summary"]}
    # The field has repeated teams and productive leaders, which p and q do not know.
    assert summary["forecast"]["score"] < summary["p, q"]["score"]
    assert summary["forecast"]["crps"] < summary["p, q"]["crps"]
    assert 0 <= summary["forecast"]["cover_80"] <= summary["forecast"]["cover_90"] <= 1
    assert found["past"]["papers"] == len([one for one in papers if one[0] < 2009])


def test_an_ecosystem_of_the_same_boundary_has_the_papers_that_came(file, eco):
    data = read_sealed(file)
    observed, warning = papers_that_came(data, eco)
    assert warning is None
    table = scores_of(data, observed)
    assert len(table) == 4 * len(QUANTITIES)
    assert table["pit"].between(0, 1).all()
    assert (table["crps"] >= 0).all()
    assert summary_of(data, table, observed)["quantities"].eq(len(QUANTITIES)).all()


def test_other_papers_of_the_past_are_told(file, build, papers):
    other = build([one for one in papers if one[1] != "p00003"], 2010, "other")
    told = society("score", file, "--with", other)
    assert told.exit_code == 0
    assert "are not the" in told.output


@pytest.mark.parametrize(
    ("old", "new"),
    [('"field": "eco"', '"field": "oce"'), ('"first_year": 2009', '"first_year": 2008')],
)
def test_a_file_that_was_changed_is_refused(file, eco, tmp_path, old, new):
    changed = tmp_path / "changed.json"
    text = file.read_text()
    assert old in text
    changed.write_text(text.replace(old, new))
    told = society("score", changed, "--with", eco)
    assert told.exit_code == 2
    assert "was changed after it was sealed" in told.output


def test_any_digit_that_was_changed_is_noticed(file, tmp_path):
    text, changed = file.read_text(), tmp_path / "changed.json"
    places = [place for place, sign in enumerate(text) if sign.isdigit()]
    for place in places[:: len(places) // 40]:
        other = str((int(text[place]) + 1) % 10)
        changed.write_text(text[:place] + other + text[place + 1 :])
        with pytest.raises(InputError):
            read_sealed(changed)


def test_what_cannot_be_scored_is_refused_in_words(file, build, papers, tmp_path):
    short = build([one for one in papers if one[0] < 2009], 2008, "short")
    told = society("score", file, "--with", short)
    assert told.exit_code == 2
    assert "its papers end in 2008, and the forecast is of 2009" in told.output
    (tmp_path / "letter.json").write_text("Dear")
    assert (
        "not a registered forecast"
        in society("score", tmp_path / "letter.json", "--with", short).output
    )
    assert "no such file" in society("score", tmp_path / "no.json", "--with", short).output


def test_what_cannot_be_forecast_is_refused_in_words(eco, build, papers, tmp_path):
    def told(*arguments):
        done = society(*arguments)
        assert done.exit_code == 2, done.output
        return " ".join(done.output.split())

    assert "give a year from 2009 to 2018" in told(eco, "--until", 2008)
    assert "forecast fewer years" in told(eco, "--until", 2012)
    assert "give --register as well" in told(eco, "--until", 2009, "--out", tmp_path / "a.json")
    (tmp_path / "b.json").write_text("mine")
    given = (eco, "--until", 2009, "--register", "--out", tmp_path / "b.json")
    assert "is not written over" in told(*given)
    late = build([one for one in papers if one[0] < 2005], 2009, "late")
    assert "its papers end in 2004, and its boundary 2009 lies after them" in told(
        late, "--until", 2009
    )


@pytest.mark.slow
def test_the_command_registers_what_the_function_forecasts(eco, file, tmp_path):
    place = tmp_path / "out" / "again.json"
    done = society(eco, "--until", 2009, "--register", "--out", place)
    assert done.exit_code == 0, done.output
    assert "forecast of eco, 2009" in done.output
    again, first = read_sealed(place), read_sealed(file)
    assert again["registered"] != DATE
    for data in (again, first):
        del data["registered"], data["hash"]
    assert again == first
