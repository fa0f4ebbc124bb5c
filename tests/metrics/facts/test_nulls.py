"""A null draw of any corpus gets no verdict *reproduced*; counted over 100 draws."""

import pytest

from tests.metrics.facts.corpora import corpus, generator, society
from virsci_society.metrics.facts.names import FACTS
from virsci_society.metrics.facts.nulls import NULLS
from virsci_society.metrics.facts.verdicts import judge_facts
from virsci_society.scenarios.config.registry import import_class


def judged_nulls(null, count, years=10):
    """Verdicts on so many null draws, of all facts of that null."""
    facts = {name: import_class(path)() for name, path in FACTS.items()}
    chosen = {name: fact for name, fact in facts.items() if fact.null == null}
    made = corpus(society(generator(11), years=years), years)
    for draw in range(count):
        drawn = NULLS[null].draw(made, generator(1000 + draw))
        yield from judge_facts(chosen, [drawn], draws=20, seed=draw)


@pytest.mark.parametrize("null", NULLS)
def test_a_null_is_not_reproduced(null):
    assert [one.name for one in judged_nulls(null, 3) if one.verdict == "reproduced"] == []


@pytest.mark.slow
@pytest.mark.parametrize("null", NULLS)
def test_no_null_of_100_is_reproduced(null):
    assert [one.name for one in judged_nulls(null, 100) if one.verdict == "reproduced"] == []
