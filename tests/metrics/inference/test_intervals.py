import math
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

from benchmarks.coverage import FAMILIES, MEANINGS, CoverageCell, simulate_coverage
from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference import intervals
from virsci_society.metrics.inference.intervals import (
    POOR_COVERAGE,
    REPLICATES,
    SKEWNESS_LADDER,
    bca_interval,
    expected_coverage,
    known_coverage,
    skewness,
    t_interval,
    wilson_interval,
)

KEPT = [CoverageCell(*row) for row in known_coverage().itertuples(index=False, name=None)]
SAMPLE = np.random.default_rng(3).lognormal(size=20)


@pytest.mark.parametrize("interval", [t_interval, bca_interval])
def test_too_few_values_have_no_bounds(interval):
    assert math.isnan(interval([]).value)
    one = interval([3.0])
    assert one.value == 3.0
    assert math.isnan(one.low)
    assert math.isnan(one.high)


def test_intervals_are_those_of_scipy_and_bear_their_names():
    band, scale = t_interval(SAMPLE), stats.sem(SAMPLE)
    wanted = stats.t.interval(0.95, len(SAMPLE) - 1, SAMPLE.mean(), scale)
    assert (band.method, band.low, band.high) == ("Student's t", *map(pytest.approx, wanted))
    exact = stats.binomtest(3, 11).proportion_ci(method="wilson")
    share = wilson_interval(3, 11)
    assert (share.method, share.low, share.high) == ("Wilson", *map(pytest.approx, exact))
    assert bca_interval(SAMPLE, resamples=99).method == "BCa bootstrap"
    assert t_interval([1.0]).method == bca_interval([]).method == ""
    with pytest.raises(InputError, match="finite numbers"):
        t_interval([1.0, math.nan])
    with pytest.raises(InputError, match="flat list"):
        bca_interval(np.ones((2, 2)))


def test_bca_by_its_definition():
    """Efron 1987, eq. 2.3, with the acceleration of the jackknife, on the draws of seed 5."""
    n, count = len(SAMPLE), 999
    drawn = SAMPLE[np.random.default_rng(5).integers(0, n, (count, n))].mean(axis=1)
    bias = special.ndtri((drawn < SAMPLE.mean()).mean() + (drawn == SAMPLE.mean()).mean() / 2)
    left_out = np.array([np.delete(SAMPLE, one).mean() for one in range(n)])
    gaps = left_out.mean() - left_out
    tilt = (gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5)
    edges = bias + special.ndtri([0.025, 0.975])
    low, high = np.quantile(drawn, special.ndtr(bias + edges / (1 - tilt * edges)))
    found = bca_interval(SAMPLE, resamples=count, seed=5)
    assert (found.value, found.n) == (SAMPLE.mean(), n)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-12)


def test_a_bootstrap_depends_on_its_seed_and_not_on_its_blocks(monkeypatch):
    whole = bca_interval(SAMPLE, resamples=200)
    assert whole != bca_interval(SAMPLE, resamples=200, seed=4)
    point = bca_interval([2.0, 2.0, 2.0])
    assert (point.value, point.low, point.high) == (2.0, 2.0, 2.0)
    monkeypatch.setattr(intervals, "BLOCK", len(SAMPLE) * 7)
    assert bca_interval(SAMPLE, resamples=200) == whole


def test_a_hand_worked_skewness():
    """0, 0, 3: mean 1, second moment 2, third 2; 2 / 2^1.5 x sqrt(6) / 1."""
    assert skewness([0.0, 0.0, 3.0]) == pytest.approx(2 / 2**1.5 * math.sqrt(6))
    assert skewness(SAMPLE) == pytest.approx(stats.skew(SAMPLE, bias=False))
    assert math.isnan(skewness([1.0, 2.0]))
    assert math.isnan(skewness([2.0, 2.0, 2.0]))
    assert math.isnan(skewness([]))


@pytest.mark.parametrize(
    ("family", "n"), [("normal", 5), ("normal", 20), ("student", 10), ("lognormal-1", 10)]
)
def test_the_kept_coverage_is_what_a_new_simulation_finds(family, n):
    """1500 other samples: four standard errors of both, at most."""
    (kept,) = (cell for cell in KEPT if (cell.family, cell.n) == (family, n))
    new = simulate_coverage(family, n, samples=1500, resamples=499, seed=99)
    for name in ("t", "bca", "log"):
        wanted, found = getattr(kept, name), getattr(new, name)
        if math.isnan(wanted):
            assert math.isnan(found)
            continue
        error = math.sqrt(wanted * (1 - wanted) * (1 / 1500 + 1 / 10_000))
        assert found == pytest.approx(wanted, abs=4 * error), name
    assert new.skewness == pytest.approx(kept.skewness, abs=0.1)


def test_t_on_normal_data_is_known_to_hold():
    cells = {(cell.family, cell.n): cell for cell in KEPT}
    assert set(cells) == {(family, n) for family in FAMILIES for n in REPLICATES}
    assert all(0.94 <= cells["normal", n].t <= 0.96 for n in REPLICATES)
    assert all(0.94 <= cells["lognormal-1", n].log <= 0.96 for n in REPLICATES)
    assert cells["lognormal-1", 10].t < 0.9


def test_data_are_judged_by_replicates_rounded_down_and_by_how_skewed_they_look():
    cells = {(cell.family, cell.n): {"t": cell.t, "bca": cell.bca} for cell in KEPT}
    assert expected_coverage(7, 0.0) == expected_coverage(3, 0.0) == cells["normal", 5]
    assert expected_coverage(49, 0.0) == cells["normal", 20]
    assert expected_coverage(10, math.nan) == cells["normal", 10]
    for cell in KEPT:
        if cell.family in SKEWNESS_LADDER:
            assert expected_coverage(cell.n, cell.skewness) == cells[cell.family, cell.n]
    assert expected_coverage(5, -1.0) == cells["lognormal-1", 5]
    assert expected_coverage(1000, 1.0) == cells["lognormal-0.5", 50]


def test_the_rows_on_the_page_of_statistics_are_those_that_are_kept():
    page = (Path(__file__).resolve().parents[3] / "docs" / "statistics.md").read_text("utf-8")
    table = page[page.index("| data | n |") :].split("\n\n")[0]
    kept = {
        f"| {MEANINGS[cell.family]} | {cell.n} | {cell.skewness:.2f} | "
        f"{' | '.join(map(_percent, (cell.t, cell.bca, cell.log)))} |"
        for cell in KEPT
    }
    rows = table.splitlines()[2:]
    assert len(rows) >= 6
    assert kept >= {*rows}


def _percent(share):
    if math.isnan(share):
        return "–"
    return f"**{100 * share:.1f}**" if share < POOR_COVERAGE else f"{100 * share:.1f}"


def test_an_interval_ends_where_the_measure_does():
    """Shares of 0, 0, 0.3: mean 0.1, half width 0.43 by t with two degrees of freedom."""
    free = t_interval([0.0, 0.0, 0.3])
    assert free.low < 0
    held = t_interval([0.0, 0.0, 0.3], extent=(0.0, 0.5))
    assert (held.low, held.high) == (0.0, 0.5)
    assert held.value == free.value
    assert t_interval([0.4, 0.5, 0.6], extent=(0.0, 1.0)) == t_interval([0.4, 0.5, 0.6])
    equal = t_interval([0.1] * 3, extent=(0.0, 0.1))
    assert equal.low <= equal.value <= equal.high
