"""Counted parameters of synthetic societies, whose truth is known, and windows by hand."""

import math

import pytest

from tests.scenarios.calibration.conftest import BASE, FIRST_YEAR, simulated_papers
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.counting import Counting, known_values
from virsci_society.scenarios.calibration.windows import Window, assembly_simulator, make_corpus
from virsci_society.scenarios.config.schema import load_scenario

TRUTH = {
    keys.PAPERS: 150,
    keys.PAPERS_TREND: 0.0,
    keys.LEAD_EXPONENT: 0.8,
    keys.LEAD_MEMORY: 1095.0,
    keys.PRODUCTIVITY: 50.0,
    keys.SIZE: 4.0,
    keys.SIZE_TREND: 0.0,
    keys.SIZE_DISPERSION: 3.0,
    keys.LEAD: 0.15,
    keys.SEAT: 0.4,
    keys.SPREAD: 4.0,
    keys.NEW_TREND: 0.0,
    keys.TRANSIENT_SHARE: 0.0,
    keys.REPEAT_TEAMS: 0.0,
    keys.STAY: 0.6,
    keys.Q: 0.6,
    keys.FRIENDS: 0.2,
    keys.JOINT: 1.0,
    keys.RECENCY: 1.5,
    keys.EXPONENT: 0.8,
    keys.MEMORY: 1095.0,
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What is counted of 14 years of a field, whose leaders are the last authors."""
    base = tmp_path_factory.mktemp("base") / "base.yaml"
    base.write_text(BASE, encoding="utf-8")
    papers = simulated_papers(assembly_simulator(load_scenario(base)), TRUTH, years=14, seed=2)
    end = FIRST_YEAR + 14
    return Counting(make_corpus(papers, end, "here"), end, end - 8, "last", 1).estimates()


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("key", "within"),
    [
        (keys.PAPERS, 15),
        (keys.PAPERS_TREND, 0.03),
        (keys.SIZE, 0.35),
        (keys.SIZE_DISPERSION, 1.0),
        (keys.LEAD, 0.04),
        (keys.SEAT, 0.04),
        (keys.NEW_TREND, 0.06),
        (keys.LEAD_EXPONENT, 0.25),
        (keys.JOINT, 0.4),
    ],
)
def test_known_parameters_are_recovered(found, key, within):
    assert found[key].value == pytest.approx(TRUTH[key], abs=within)
    assert found[key].error > 0


def test_what_is_mixed_up_with_other_mechanisms_is_near(found):
    """A partner may be met by chance, so that q is an upper bound; likewise one-offs."""
    assert TRUTH[keys.Q] - 0.05 < found[keys.Q].value < TRUTH[keys.Q] + 0.25
    assert 0.2 < found[keys.TRANSIENT_SHARE].value < 0.9
    assert 1.5 < found[keys.SPREAD].value < 8


def test_every_counted_key_has_an_estimate(found):
    assert list(found) == [key for key, one in keys.PARAMETERS.items() if one.counted]
    assert all(math.isfinite(one.value) for one in found.values())
    assert known_values(found)[keys.SIZE] == found[keys.SIZE].value


def test_a_window_by_hand():
    papers = [
        (2000, "a", ["x", "y"]),
        (2001, "b", ["x", "y"]),
        (2002, "c", ["n", "x"]),
        (2002, "d", ["m", "n", "o", "z"]),
    ]
    counting = Counting(make_corpus(papers, 2003, "here"), 2003, 2001, "last", 1)
    level = counting.in_window(Window(2002, 2002))
    assert level[keys.PAPERS] == 2
    # Leaders are x, who is known, and z, who is new; the seats are n (half), m, n (half) and o.
    assert level[keys.LEAD] == 0.5
    assert level[keys.SEAT] == 3 / 4
    assert level[keys.SIZE] == 3


def test_nothing_later_is_looked_at():
    papers = [(year, f"p{year}{n}", ["x", f"y{n}"]) for year in range(2000, 2012) for n in range(4)]
    counts = [
        Counting(make_corpus(some, 2012, "here"), 2008, 2004, "last", 1).estimates()
        for some in (papers, [one for one in papers if one[0] < 2008])
    ]
    assert str(counts[0]) == str(counts[1])
