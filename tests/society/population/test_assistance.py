"""Assistance by a machine: who takes it up, what it changes, and that nothing else changes."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import kstest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.build import build_society
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.population.assistance import Assistance

NAMES = [f"Scientist{row}" for row in range(2000)]


def test_a_share_takes_it_up_each_after_a_time_of_its_own():
    rule = Assistance(who=0.3, start=100, spread=50)
    dates = [rule.taken_up(name, 0.0, Streams(1)) for name in NAMES]
    taken = np.array([date for date in dates if date is not None])
    assert len(taken) / len(NAMES) == pytest.approx(0.3, abs=0.04)
    assert kstest((taken - 100) / 50, "expon").pvalue > 1e-3
    at_once = Assistance(who=1.0, start=100)
    assert at_once.taken_up("Scientist1", 30.0, Streams(1)) == 100.0
    assert at_once.taken_up("Scientist1", 130.0, Streams(1)) == 130.0
    assert Assistance(who=0.0).taken_up("Scientist1", 0.0, Streams(1)) is None


def rows(**settings):
    small = {"population.ecosystem.scientists": 40, "population.ecosystem.papers": 300}
    society = build_society(
        load_scenario("community/closed", until="52w", seed=4, **small | settings)
    )
    society.run_to_end()
    return society.log.rows


@pytest.fixture(scope="module")
def plain():
    return rows()


def homework(tables):
    """Beginning and length of the work at the desk, by team, scientist, stage, visit and turn."""
    return {row[:5]: (row[6], row[7] - row[6]) for row in tables["homework"]}


@pytest.mark.slow
def test_who_is_assisted_works_faster_by_the_factor_and_the_others_as_before(plain):
    rule = Assistance(who=0.5, start=60)
    before = homework(plain)
    after = homework(rows(assistance={"who": 0.5, "start": 60, "homework": 0.25}))
    found = Counter()
    for place in before.keys() & after.keys():
        began = before[place][0], after[place][0]
        helped = rule.taken_up(place[1], 0.0, Streams(4)) is not None
        # Between the two dates of beginning it may have been taken up or not.
        if min(began) >= 60 or max(began) < 60:
            expected = 0.25 if helped and min(began) >= 60 else 1.0
            assert after[place][1] == pytest.approx(before[place][1] * expected, abs=1e-4)
            found[expected] += 1
    assert min(found[0.25], found[1.0]) > 20


@pytest.mark.slow
@pytest.mark.parametrize("who", [1.0, 0.5])
def test_an_assisted_leader_finds_only_what_was_there(who):
    rule = {"who": who, "papers_until": 30}
    protocol = {"use": "wordless", "references": 8, "meetings": 0}
    tables = rows(assistance=rule, protocol=protocol, **{"time.publication_delay": "0d"})
    dates = {row[0]: row[4] for row in tables["papers"]}
    leaders = {row[0]: row[1] for row in tables["teams"]}
    cited = Counter()
    for citing, paper, *_ in tables["citations"]:
        helped = Assistance(**rule).taken_up(leaders[citing], 0.0, Streams(4)) is not None
        cited[helped, dates.get(paper, -1.0) >= 30] += 1
    assert cited[True, False] > 20
    assert not cited[True, True]
    assert bool(cited[False, True]) == (who < 1)


@pytest.mark.slow
def test_assistance_that_changes_nothing_changes_nothing(plain):
    none = rows(assistance={"who": 1.0, "homework": 1.0})
    for name in ("papers", "homework", "citations", "meetings"):
        assert none[name] == plain[name], name


def test_it_is_no_key_of_an_intervention():
    with pytest.raises(InputError, match="drawn once for the whole run; give start and spread"):
        load_scenario(
            "community/closed", interventions=[{"at": "4w", "set": {"assistance.who": 0.5}}]
        )
