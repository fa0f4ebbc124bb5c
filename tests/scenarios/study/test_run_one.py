"""The budget of one run of a study."""

import pytest

from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.journal.records import nano_bound
from virsci_society.scenarios.study.run_one import narrower_budget, share_of


@pytest.mark.parametrize("runs", [1, 3, 7, 24])
def test_the_parts_of_a_budget_are_equal_and_together_within_it(runs):
    whole = Budget(usd=0.1, tokens=1000, calls=40)
    part = share_of(whole, runs)
    assert 1000 - runs < runs * part.tokens <= 1000
    assert 40 - runs < runs * part.calls <= 40
    assert nano_bound(0.1) - runs < runs * nano_bound(part.usd) <= nano_bound(0.1)
    assert share_of(Budget(calls=7), runs) == Budget(calls=7 // runs)


def test_of_the_budget_of_a_scenario_and_its_part_the_narrower_bound_counts():
    own, part = Budget(calls=5, usd=1.0), Budget(calls=9, tokens=100)
    assert narrower_budget(own, part) == Budget(calls=5, tokens=100, usd=1.0)
