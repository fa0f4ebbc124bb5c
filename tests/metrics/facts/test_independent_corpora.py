"""Verdicts on corpora of a generator that shares no code with facts and nulls: planted and null."""

import pytest

from tests.metrics.facts.corpora import generator, literature
from virsci_society.metrics.facts.fact import judge_facts
from virsci_society.metrics.facts.nulls import NULLS
from virsci_society.metrics.facts.tables import FactPaper, make_tables
from virsci_society.metrics.registry import FACTS
from virsci_society.scenarios.config.reader import import_class

JUDGED = ("team_growth", "solo_papers", "seniors_last", "attachment", "lotka", "transitivity")


def made_corpus(seed, planted, years=24, papers=70, elders_last=0.5):
    """Papers of people who are drawn one by one.

    Planted: teams grow by 2 % a year; who has written much is drawn more often, mostly from the
    group of the paper; newcomers rather come first; papers of large teams are cited together with
    what they cite. Null: sizes stay, everybody is drawn alike, and so are order and citations.
    """
    rng, groups, listed, entry, home = generator(seed), 3 * papers, [], {}, {}
    seats, every, references, sizes = [[] for _ in range(groups)], [], [], []
    for year in range(years):
        mean = 2.4 * 1.02**year - 1 if planted else 2.0
        older = len(listed)
        for _ in range(papers):
            team, group = [], int(rng.integers(groups))
            for _ in range(1 + rng.poisson(mean)):
                group = home[team[0]] if team else group
                near = seats[group] if team and rng.random() < 0.95 else every
                if rng.random() < 0.25 or not (near if planted else entry):
                    who = len(entry)
                    entry[who], home[who] = year, group
                else:
                    who = int(rng.choice(near)) if planted else int(rng.integers(len(entry)))
                team += [] if who in team else [who]
            seats[group] += team
            every += team
            team = [team[place] for place in rng.permutation(len(team))]
            if planted and rng.random() < elders_last:
                team.sort(key=entry.__getitem__, reverse=True)
            cited = set()
            for one in rng.integers(max(0, older - 5 * papers), older, 2) if older else ():
                also = min(1.0, 0.2 * sizes[one]) if planted else 0.5
                cited |= {int(one), *(references[one] if rng.random() < also else ())}
            references.append(sorted(cited)[-4:])
            sizes.append(len(team))
            names = tuple(f"p{one:05}" for one in references[-1])
            authors = tuple(map(str, team))
            listed.append(FactPaper(year, f"p{len(listed):05}", authors, (), names))
    return make_tables("made", years, listed)


def judged(tables, *names, draws=8):
    facts = {name: import_class(FACTS[name])() for name in names}
    return {one.name: one for one in judge_facts(facts, [tables], draws=draws)}


@pytest.fixture(scope="module")
def planted():
    return judged(made_corpus(1, planted=True, papers=120), *JUDGED, "small_teams_disrupt")


@pytest.mark.parametrize("name", JUDGED)
def test_planted_effects_are_reproduced(planted, name):
    assert (planted[name].verdict, planted[name].why) == ("reproduced", "")


def test_citations_inside_a_corpus_get_no_verdict(planted):
    found = planted["small_teams_disrupt"]
    assert found.verdict == "inside the corpus"
    assert found.interval.high < -8 < found.chance


def test_an_effect_beyond_the_range_is_too_strong():
    """Newcomers are first on every paper, where half of the planted papers are ordered so."""
    made = made_corpus(2, planted=True, elders_last=1.0)
    assert judged(made, "seniors_last")["seniors_last"].verdict == "too strong"


def verdicts_of_nulls(count, papers):
    for seed in range(count):
        found = judged(made_corpus(100 + seed, planted=False, papers=papers), *JUDGED)
        yield from ((name, one.verdict) for name, one in found.items())


@pytest.mark.slow
def test_null_corpora_are_not_reproduced():
    found = list(verdicts_of_nulls(2, papers=70))
    assert {verdict for name, verdict in found if name in ("lotka", "transitivity")} == {"absent"}
    assert "reproduced" not in {verdict for _, verdict in found}


@pytest.mark.slow
@pytest.mark.timeout(3600)  # six thousand measurements
def test_no_null_corpus_of_100_is_reproduced():
    found = verdicts_of_nulls(100, papers=40)
    assert [name for name, verdict in found if verdict == "reproduced"] == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("null", NULLS)
def test_no_null_draw_of_100_is_reproduced(null):
    every = {name: import_class(path)() for name, path in FACTS.items()}
    facts = {
        name: fact
        for name, fact in every.items()
        if fact.null == null and "references" not in fact.needs
    }
    made = literature(generator(11), max([10, *(one.least_years for one in facts.values())]), 40)
    for draw in range(100):
        found = judge_facts(facts, [NULLS[null](made, generator(1000 + draw))], seed=draw)
        assert [one.name for one in found if one.verdict == "reproduced"] == []
