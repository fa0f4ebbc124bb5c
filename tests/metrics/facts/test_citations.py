"""Facts of citations are found where they were planted, and are absent where they were not."""

import math

import numpy as np
import pytest

from tests.metrics.facts.corpora import generator
from virsci_society.metrics.facts.citations import main_keywords
from virsci_society.metrics.facts.tables import FactPaper, make_tables
from virsci_society.metrics.registry import FACTS
from virsci_society.scenarios.config.reader import import_class


def measured(name, tables):
    return import_class(FACTS[name])().measure(tables)


def cited(focal, years=8, later=1):
    """Tables of papers given as (year, authors, citations) or with references, topics and overlap.

    Every citation is by a paper of somebody who writes nothing else, ``later`` years after; the
    first ``overlap`` of them cite the references of the paper as well.
    """
    papers, citing = [], []
    for number, (year, authors, times, *more) in enumerate(focal):
        references, topics, overlap = (*more, *((), (), 0)[len(more) :])
        name = f"a{number:05}"
        papers.append(FactPaper(year, name, tuple(authors), tuple(topics), tuple(references)))
        for turn in range(times):
            also = tuple(references) if turn < overlap else ()
            by = f"z{len(citing):06}"
            citing.append(FactPaper(year + later, by, (by,), (), (name, *also)))
    return make_tables("made", years, papers + citing)


def people(number, name):
    return [f"{name}-{seat}" for seat in range(number)]


@pytest.mark.parametrize("variance", [0.0, 1.3])
def test_citation_spread(variance):
    drawn = np.exp(generator(1).normal(3.0, math.sqrt(variance), 300)).round().astype(int)
    papers = [(0, (f"p{n}",), times) for n, times in enumerate(drawn)]
    # The citing papers of year 1 are not cited.
    assert measured("citation_spread", cited(papers)) == pytest.approx(variance, rel=0.2)


@pytest.mark.parametrize("factor", [1, 3])
def test_team_advantage(factor):
    papers = [(0, people(1 + n % 3, n), 2 * (factor if n % 3 else 1)) for n in range(30)]
    assert measured("team_advantage", cited(papers, later=6)) != measured(
        "team_advantage", cited(papers)
    )
    assert measured("team_advantage", cited(papers)) == pytest.approx(factor)


@pytest.mark.parametrize("factor", [1, 2])
def test_super_tie_premium(factor):
    papers = [
        (year, (f"lead{who}", other), times)
        for who in range(10)
        for year in range(8)
        for other, times in ((f"with{who}", 3 * factor), (f"other{who}-{year}", 3))
    ]
    made = cited(papers, years=14)
    assert measured("super_tie_premium", made) == pytest.approx(factor)


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_reputation(factor):
    held = [1, 10, 100]
    papers = [(0, (f"p{n}",), times) for n, times in enumerate(held)]
    papers += [(3, (f"p{n}",), int(5 * factor**n)) for n in range(3)]
    assert measured("reputation", cited(papers, years=10)) == pytest.approx(factor, rel=1e-3)


@pytest.mark.parametrize("effect", [0, 1])
def test_small_teams_disrupt(effect):
    papers = [
        (1, people(size, f"{size}-{n}"), 4, ("old",), (), effect * step)
        for n in range(5)
        for step, size in enumerate((1, 2, 4, 8))
    ]
    # Each doubling of the authors is a quarter of the ranks.
    made = cited([(*one[:3], (f"old{n}",), *one[4:]) for n, one in enumerate(papers)])
    assert measured("small_teams_disrupt", made) == pytest.approx(-25.0 * effect)


OLD = "aaaabbbbccccdddd"
"""The topics of the papers of year 0, which others cite by their place here."""


def combined(kinds):
    """Papers of year 2 that cite old ones, given as (old topics that are cited, authors, times)."""
    papers = [(0, (f"o{n}",), 0, (), (topic,)) for n, topic in enumerate(OLD)]
    for n, (wanted, authors, times) in enumerate(kinds):
        left = {topic: iter([i for i, one in enumerate(OLD) if one == topic]) for topic in "abcd"}
        references = tuple(f"a{next(left[topic]):05}" for topic in wanted)
        papers.append((2, people(authors, f"k{n}"), times, references))
    return cited(papers, years=10)


@pytest.mark.parametrize("effect", [False, True])
def test_atypical_hits(effect):
    """a and b stand side by side, and seldom beside c: mostly a and b, once c, is what hits."""
    both = [("aaabbbc", 1)] * 60
    others = [("aaabbb", 1)] * 60 + [("cd", 1)] * 80 + [("ac", 1)] * 60
    listed = both + others
    # 26 citing papers are of the next year: hits are the 13 of 260 that are cited.
    hits = range(13) if effect else range(0, 260, 20)
    made = combined([(*one, 2 if n in hits else 0) for n, one in enumerate(listed)])
    found = measured("atypical_hits", made)
    assert found == pytest.approx(100 * 13 / 60 if effect else 5.0, rel=0.01)


@pytest.mark.parametrize("share", [6, 9])
def test_teams_combine(share):
    """Of ten papers by one author six have an atypical pair, of ten by three six or nine."""
    kinds = [("aaabbbc" if n < 6 else "aabb", 1, 0) for n in range(10)]
    kinds += [("aaabbbc" if n < share else "aabb", 3, 0) for n in range(10)]
    kinds += [("aabb", 2, 0)] * 20 + [("ccdd", 2, 0)] * 20
    assert measured("teams_combine", combined(kinds)) == pytest.approx(share / 6)


@pytest.mark.parametrize("factor", [1, 2])
def test_new_pairs_pay(factor):
    papers = [(0, ("o",), 0, (), pair) for pair in (("a", "b"), ("c", "d"))]
    papers += [(5, (f"o{n}",), 2, (), ("a", "b")) for n in range(9)]
    # A pair with a topic that nobody knew is no new pair of known ones.
    papers += [(5, (f"n{n}",), 2 * factor, (), ("a", "c")) for n in range(9)]
    papers += [(5, (f"x{n}",), 50, (), ("a", f"x{n}")) for n in range(9)]
    assert measured("new_pairs_pay", cited(papers, years=12)) == pytest.approx(factor)


def test_the_commonest_keyword_is_the_topic():
    words = {"A": ["Graphs", "trees"], "B": ["graphs"], "C": ["Trees ", "zoo"], "D": [], "E": [""]}
    assert main_keywords(words) == {"A": "graphs", "B": "graphs", "C": "trees"}
    assert main_keywords({"A": ["b", "a"]}) == {"A": "a"}
