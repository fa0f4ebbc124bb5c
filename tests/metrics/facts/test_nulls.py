"""A null draw of any corpus gets no verdict *reproduced*; counted over 100 draws."""

import pytest

from tests.metrics.facts.corpora import generator, literature
from virsci_society.metrics.facts.fact import judge_facts
from virsci_society.metrics.facts.nulls import NULLS
from virsci_society.metrics.registry import FACTS
from virsci_society.scenarios.config.reader import import_class


def judged_nulls(null, count, papers, draws):
    """Verdicts on so many null draws, of all facts of that null."""
    facts = {name: import_class(path)() for name, path in FACTS.items()}
    chosen = {name: fact for name, fact in facts.items() if fact.null == null}
    years = max(10, *(fact.least_years for fact in chosen.values()))
    made = literature(generator(11), years, papers)
    assert not made.lacks(need for fact in chosen.values() for need in fact.needs)
    for draw in range(count):
        drawn = NULLS[null](made, generator(1000 + draw))
        yield from judge_facts(chosen, [drawn], draws=draws, seed=draw)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("null", NULLS)
def test_a_null_is_not_reproduced(null):
    assert [
        one.name for one in judged_nulls(null, 2, papers=12, draws=4) if one.verdict == "reproduced"
    ] == []


@pytest.mark.slow
@pytest.mark.timeout(3600)  # two thousand measurements
@pytest.mark.parametrize("null", NULLS)
def test_no_null_of_100_is_reproduced(null):
    assert [
        one.name
        for one in judged_nulls(null, 100, papers=40, draws=20)
        if one.verdict == "reproduced"
    ] == []
