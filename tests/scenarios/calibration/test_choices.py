"""Who is chosen: known truths, and candidates by hand."""

import numpy as np
import pytest

from tests.scenarios.calibration.test_seats import works
from virsci_society.scenarios.calibration.seats import (
    NO_LIMIT,
    CareerHistory,
    Seats,
    fit_conditional_logit,
    fit_memory,
    partner_choices,
    past_papers,
)


def test_a_conditional_logit_is_recovered():
    rng = np.random.default_rng(0)
    truth, rows, starts = np.array([1.2, -0.7]), [], [0]
    for _ in range(3000):
        candidates = rng.normal(size=(6, 2))
        chances = np.exp(candidates @ truth)
        chosen = rng.choice(6, p=chances / chances.sum())
        rows += [candidates[chosen], *np.delete(candidates, chosen, axis=0)]
        starts.append(len(rows))
    found = fit_conditional_logit(np.array(rows), np.array(starts))
    for one, value in zip(found, truth, strict=True):
        assert one.value == pytest.approx(value, abs=4 * one.error)
        assert 0 < one.error < 0.1


def test_candidates_are_the_partners_of_the_others():
    history = CareerHistory(works((0, [0, 1]), (0, [0, 2]), (1, [0, 2]), (2, [1, 0])))
    seats, rng = Seats.of(history, 2, 3), np.random.default_rng(0)
    covariates, starts = partner_choices(history, seats, rng, 10)
    assert starts.tolist() == [0, 2]
    # Chosen is 1 (one joint paper two years ago) beside 2 (two, the last a year ago).
    assert covariates[:, 0] == pytest.approx(np.log([1, 2]))
    assert covariates[:, 1] == pytest.approx(np.exp([-2 / 3, -1 / 3]))


def test_memory_and_exponent_are_recovered():
    rng = np.random.default_rng(4)
    people, dated = 400, []
    sums = np.ones(people)
    for year in range(16):
        chances = sums**0.8 / (sums**0.8).sum()
        drawn = rng.choice(people, size=300, p=chances)
        dated += [(year, [int(one)]) for one in drawn]
        sums = (sums + np.bincount(drawn, minlength=people)) * np.exp(-1 / 4)
    dated = [(-1, [one]) for one in range(people)] + dated
    history = CareerHistory(works(*dated))
    periods = history.periods[people:]
    persons = np.array([authors[0] for _, authors in dated[people:]])
    memory, exponent = fit_memory(past_papers(history, persons, periods, 6, 16))
    assert memory.value == pytest.approx(4, abs=4 * memory.error)
    assert exponent.value == pytest.approx(0.8, abs=4 * exponent.error)
    assert memory.error < 1.5


@pytest.mark.parametrize(("exponent", "limit"), [(1.0, None), (1.6, 6.0)])
def test_share_and_limit_of_what_leaders_have_written_are_recovered(exponent, limit):
    rng = np.random.default_rng(5)
    people, dated = 400, [(-1, [one]) for one in range(400)]
    sums = np.ones(people)
    for year in range(30):
        chances = (sums if limit is None else sums / (1 + sums / limit)) ** exponent
        leaders = rng.choice(people, size=300, p=chances / chances.sum())
        others = rng.integers(people, size=300)
        apart = leaders != others
        pairs = np.column_stack([others, leaders])[apart]
        dated += [(year, pair) for pair in pairs.tolist()]
        sums = sums + np.bincount(pairs[:, 1], minlength=people)
        sums = (sums + 0.3 * np.bincount(pairs[:, 0], minlength=people)) * np.exp(-1 / 4)
    history = CareerHistory(works(*dated))
    persons = np.array([authors[-1] for _, authors in dated[people:]])
    past = past_papers(history, persons, history.periods[people:], 6, 30)
    memory, power, share, found = fit_memory(past, leaders=True)
    assert memory.value == pytest.approx(4, abs=4 * memory.error)
    assert power.value == pytest.approx(exponent, abs=4 * power.error)
    assert share.value == pytest.approx(0.3, abs=4 * share.error)
    assert share.error < 0.15
    if limit is None:
        assert found.value == NO_LIMIT
    else:
        assert found.value == pytest.approx(limit, abs=4 * found.error)
        assert found.error < limit / 2
