"""Seats by hand: who is new, whose partner was there, which team wrote again."""

import numpy as np
import pytest

from virsci_society.scenarios.calibration.estimation.choice_models import (
    NO_LIMIT,
    ChoiceSets,
    fit_conditional_logit,
    fit_memory,
    partner_choices,
    past_papers,
)
from virsci_society.scenarios.calibration.estimation.seats import CareerHistory, Seats
from virsci_society.society.literature.authorships import Authorships

YEAR = 365.0


def works(*dated):
    """Papers as (year, authors)."""
    return Authorships.of([(year * YEAR, authors) for year, authors in dated])


def seats_of(*dated, first, last, leader="last"):
    return Seats.of(CareerHistory(works(*dated), leader), first, last)


def test_newcomers_enter_once():
    found = seats_of((0, [0]), (1, [1, 0]), (1, [1, 2]), (2, [1, 2]), first=1, last=3)
    assert found.person.tolist() == [1, 0, 1, 2, 1, 2]
    # Person 1 has two papers in its first year: half an entry each.
    assert found.entries.tolist() == [0.5, 0, 0.5, 1, 0, 0]
    assert found.place.tolist() == [0, 2, 0, 2, 0, 2]
    assert found.leads.tolist() == [False, True] * 3


def test_the_leader_may_stand_first():
    found = seats_of((0, [0, 1]), (1, [0, 1, 2]), first=1, last=2, leader="first")
    assert found.leads.tolist() == [True, False, False]
    assert found.relation.tolist() == [0, 1, 0]


def test_partners_friends_and_strangers():
    early = [(0, [0, 1]), (0, [1, 2]), (0, [3])]
    # The leader is 2: 1 is its partner, 0 a partner's partner, 3 a stranger.
    for one, relation in ((1, 1), (0, 2), (3, 3)):
        found = seats_of(*early, (1, [one, 2]), first=1, last=2)
        assert found.relation.tolist() == [relation, 0]
    # A newcomer has no relation, and beside newcomers alone there is none to have.
    assert seats_of(*early, (1, [9, 2]), first=1, last=2).relation.tolist() == [0, 0]
    assert seats_of(*early, (1, [1, 9]), first=1, last=2).relation.tolist() == [0, 0]


def test_teams_that_write_again():
    again = seats_of((0, [0, 1, 2]), (1, [0, 9, 2]), first=1, last=2)
    assert again.repeated.all()
    assert again.stayed.tolist() == [True, False, True]
    assert again.others.tolist() == [2, 2, 2]
    one_of_three = seats_of((0, [0, 1, 2]), (1, [0, 8, 9]), first=1, last=2)
    assert not one_of_three.repeated.any()
    too_long_ago = seats_of((0, [0, 1]), (4, [0, 1]), first=4, last=5)
    assert not too_long_ago.repeated.any()
    assert seats_of((0, [0, 1]), (3, [0, 1]), first=3, last=4).repeated.all()
    same_year = seats_of((0, [0]), (1, [0, 1]), (1, [0, 1]), first=1, last=2)
    assert not same_year.repeated.any()


def test_papers_drawn_twice_count_twice():
    found = seats_of((0, [0]), (1, [0, 1]), (1, [2]), first=1, last=2)
    again = found.of_papers(np.array([2, 1, 1]))
    assert again.person.tolist() == [2, 0, 1, 0, 1]


def test_a_conditional_logit_is_recovered():
    rng = np.random.default_rng(0)
    truth, rows, starts = np.array([1.2, -0.7]), [], [0]
    for _ in range(3000):
        candidates = rng.normal(size=(6, 2))
        chances = np.exp(candidates @ truth)
        chosen = rng.choice(6, p=chances / chances.sum())
        rows += [candidates[chosen], *np.delete(candidates, chosen, axis=0)]
        starts.append(len(rows))
    sets = ChoiceSets(np.array(rows), np.array(starts), np.zeros(len(rows)))
    found = fit_conditional_logit(sets)
    for one, value in zip(found, truth, strict=True):
        assert one.value == pytest.approx(value, abs=4 * one.error)
        assert 0 < one.error < 0.1


def test_offsets_undo_unequal_sampling():
    """Of 100 non-cases of one kind a tenth is sampled: with offsets the coefficient is right."""
    rng = np.random.default_rng(5)
    truth, rows, offsets, starts = 1.0, [], [], [0]
    for _ in range(4000):
        kinds = np.repeat([0.0, 1.0], [100, 5])
        chances = np.exp(truth * kinds)
        chosen = kinds[rng.choice(105, p=chances / chances.sum())]
        left = [100 - (chosen == 0), 5 - (chosen == 1)]
        sampled = [rng.binomial(left[0], 0.1), left[1]]
        rows += [chosen, *([0.0] * sampled[0]), *([1.0] * sampled[1])]
        chance = {0.0: np.log(0.1), 1.0: 0.0}
        offsets += [chance[kind] for kind in rows[len(offsets) :]]
        starts.append(len(rows))
    table = np.array(rows)[:, None]
    (found,) = fit_conditional_logit(ChoiceSets(table, np.array(starts), np.array(offsets)))
    assert found.value == pytest.approx(truth, abs=4 * found.error)


def test_candidates_are_the_partners_of_the_others():
    history = CareerHistory(works((0, [0, 1]), (0, [0, 2]), (1, [0, 2]), (2, [1, 0])))
    sets = partner_choices(history, Seats.of(history, 2, 3), np.random.default_rng(0), 10)
    assert sets.starts.tolist() == [0, 2]
    # Chosen is 1 (one joint paper two years ago) beside 2 (two, the last a year ago).
    assert sets.covariates[:, 0] == pytest.approx(np.log([1, 2]))
    assert sets.covariates[:, 1] == pytest.approx(np.exp([-2 / 3, -1 / 3]))


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
