"""Exits of stars with a planted effect on their collaborators, and with none."""

import numpy as np
import pandas as pd
import pytest

from virsci_society.metrics.validation.star_exits import (
    CONTROLS,
    differences,
    effect_table,
    star_exits,
)

GROUP, PARTNERS = 12, 6
YEARS = range(1990, 2010)


def field(seed, lost):
    """A star, its partners and their students in each of forty groups; ten stars stop in 2002.

    The partners then write less by a share ``lost`` of their papers without the star.
    """
    rng, papers = np.random.default_rng(seed), []
    for group in range(40):
        star, *others = range(group * GROUP, (group + 1) * GROUP)
        partners, students = others[:PARTNERS], others[PARTNERS:]
        for year in YEARS:
            gone = group < 10 and year > 2002
            if not gone:
                papers += [(year, [star])] * 9
                papers += [(year, [star, one]) for one in partners if rng.random() < 0.2]
            for one, student in zip(partners, students, strict=False):
                papers += [(year, [one])] * rng.poisson(3 * (1 - lost if gone else 1))
                papers += [(year, [one, student])] * rng.poisson(0.5)
                papers += [(year, [student])] * rng.poisson(1)
    # People of one paper, so that stars are one in a hundred.
    people = 40 * GROUP
    return papers + [(1990, [people + n]) for n in range(40 * 100 - people)]


def test_exits_have_controls_who_stay():
    exits = star_exits(field(1, 0.0))
    assert [(one.star, one.year) for one in exits] == [(n * GROUP, 2002) for n in range(10)]
    staying = {n * GROUP for n in range(10, 40)}
    for one in exits:
        assert len(one.controls) == CONTROLS
        assert set(one.controls) <= staying


@pytest.mark.slow
def test_a_planted_effect_on_collaborators_is_found_and_none_where_there_is_none():
    found = {}
    for lost in (0.5, 0.0):
        made = [field(seed, lost) for seed in range(8)]
        tables = [effect_table({"": differences(one, star_exits(one))}) for one in made]
        found[lost] = pd.concat(tables).groupby("group")
        assert (pd.concat(tables)["exits"] >= 8).all()
    planted = found[0.5].get_group("collaborators")
    # Half of three papers of 3.7 a year, and the joint papers with the star.
    assert planted["effect"].mean() == pytest.approx(-(1.5 + 0.2) / 3.7, abs=0.1)
    assert (planted["high"] < 0).sum() >= 6
    assert (planted["detectable"] < 0.4).all()
    for lost in (0.5, 0.0):
        outsiders = found[lost].get_group("outsiders")
        assert ((outsiders["low"] < 0) & (outsiders["high"] > 0)).sum() >= 6
        assert outsiders["effect"].mean() == pytest.approx(0, abs=0.1)
    joint = found[0.0].get_group("collaborators")
    assert joint["effect"].mean() == pytest.approx(-0.2 / 3.7, abs=0.1)
    # The detectable effect is that of the spread that is really there.
    assert joint["detectable"].mean() == pytest.approx(3.15 * joint["effect"].std(), rel=0.6)
