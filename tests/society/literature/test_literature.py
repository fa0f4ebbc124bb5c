"""Literature: what is published, as of a date."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.errors import ProtocolError
from agents.reference import Reference
from society.literature.embedding.base import paper_text
from society.literature.embedding.lsa import LSAEmbedding
from society.literature.literature import MEMO, Literature
from society.literature.papers import Paper, Papers

WORDS = ["graph", "volume", "protein", "climate", "robot", "battery", "galaxy", "privacy"]


def paper(name, date, abstract="", references=(), **more):
    year = 2012 + int(date // 365)
    title = f"On {name}"
    return Paper(name, title, abstract or name, date, year, ("Scientist0",), references, **more)


def make(papers):
    texts = [paper_text(p.title, p.abstract) for p in papers]
    embedding = LSAEmbedding.fit([*texts, " ".join(WORDS), *WORDS], seed=1)
    return Literature(papers, embedding.encode(texts), embedding, 2012)


@pytest.fixture
def three():
    return make(
        [
            paper("graph", -730.0),
            paper("volume", -365.0, references=("graph", "elsewhere")),
            paper("protein", -365.0, references=("graph", "volume")),
        ]
    )


def test_papers_stand_by_date_then_id_with_their_vectors(three):
    assert [p.id for p in three.papers] == ["graph", "protein", "volume"]
    mixed = make([paper("b", -1.0, "volume"), paper("a", -1.0, "graph"), paper("c", -9.0)])
    assert [p.id for p in mixed.papers] == ["c", "a", "b"]
    text = paper_text("On b", "volume")
    assert np.array_equal(mixed.vector("b"), mixed.embedding.encode([text])[0])


def test_visible_counts_papers_strictly_before_the_date(three):
    assert [three.visible(d) for d in (-731, -730, -729.5, -365, -364, 0)] == [0, 0, 1, 1, 3, 3]


def test_a_published_paper_is_found_from_the_next_instant_on(three):
    three.publish(paper("climate", 10.0, "climate climate"))
    assert three.visible(10.0) == 3
    assert three.visible(10.5) == 4
    assert "climate" not in {r.id for r in three.search("climate", 9, three.visible(10.0))}
    assert three.search("climate", 1, three.visible(10.5))[0].id == "climate"


def test_a_hit_is_a_reference_with_its_true_distance(three):
    found = three.search("On graph. graph", 1, 3)
    assert found == (Reference("graph", "On graph", "graph", 2010, (), 0.0),)


def test_excluded_papers_are_passed_over(three):
    found = three.search("On graph. graph", 3, 3, frozenset({"graph"}))
    assert {r.id for r in found} == {"protein", "volume"}


def test_papers_and_vectors_are_found_by_their_id(three):
    assert "graph" in three
    assert "climate" not in three
    assert len(three) == 3
    assert three.paper("volume").title == "On volume"
    with pytest.raises(ProtocolError, match="'climate'"):
        three.paper("climate")
    with pytest.raises(ProtocolError, match="'climate'"):
        three.vector("climate")


def test_citations_are_dated_events_counted_strictly_before(three):
    three.publish(paper("climate", 5.0, references=("graph", "graph", "climate", "unknown")))
    three.publish(paper("robot", 5.0, references=("graph",)))
    assert [three.citations("graph", d) for d in (-365, -364, 5, 5.5)] == [0, 2, 2, 4]
    assert three.citations("climate", 100) == 0
    with pytest.raises(ProtocolError, match="'unknown'"):
        three.citations("unknown", 0)


def test_papers_of_one_day_may_cite_each_other_whatever_their_order():
    literature = make([paper("a", -5.0, references=("b",)), paper("b", -5.0, references=("a",))])
    assert literature.citations("a", 0) == literature.citations("b", 0) == 1


@pytest.mark.parametrize(
    ("name", "date", "told"),
    [("graph", 1.0, "already"), ("robot", -366.0, "order"), ("robot", float("nan"), "order")],
)
def test_a_paper_that_cannot_be_published_leaves_no_trace(three, name, date, told):
    bad = Paper(name, "On", "", date, 2012, ())
    with pytest.raises(ProtocolError, match=told):
        three.publish(bad)
    assert len(three) == 3
    assert ("robot" in three) is False


def test_papers_of_the_same_date_may_follow_each_other(three):
    three.publish(paper("z", 3.0))
    three.publish(paper("a", 3.0))
    assert three.visible(3.0) == 3
    assert three.visible(3.1) == 5


def test_an_empty_past_is_searched_in_vain():
    embedding = LSAEmbedding.fit(["graph drawing"])
    literature = Literature([], np.zeros((0, embedding.dim), np.float32), embedding, 2012)
    assert literature.search("graph", 5, literature.visible(10.0)) == ()
    literature.publish(paper("graph", 3.0))
    assert literature.search("graph", 5, literature.visible(10.0))[0].id == "graph"


def by_hand(literature, text, k, date):
    query = literature.embedding.encode([text])[0].astype(np.float64)
    ranked = sorted(
        (float(np.sqrt(np.square(literature.vector(p.id).astype(np.float64) - query).sum())), p.id)
        for p in literature.papers
        if p.date < date
    )
    return [(key, distance) for distance, key in ranked[:k]]


@settings(max_examples=30, deadline=None)
@given(
    dates=st.lists(st.integers(-20, 20), min_size=1, max_size=25),
    ask=st.integers(-22, 22),
    k=st.integers(1, 6),
    words=st.lists(st.sampled_from(WORDS), max_size=3),
    seed=st.integers(0, 99),
)
def test_search_as_of_a_date_is_brute_force_over_what_was_published(dates, ask, k, words, seed):
    rng = np.random.default_rng(seed)
    papers = [
        paper(f"p{n:02d}", float(date), " ".join(rng.choice(WORDS, 3)))
        for n, date in enumerate(sorted(dates))
    ]
    literature = make([p for p in papers if p.date < 0])
    text = " ".join(words)
    early = literature.search(text, k, literature.visible(min(ask, 0)))
    for p in papers:
        if p.date >= 0:
            literature.publish(p)
    found = literature.search(text, k, literature.visible(ask))
    assert [(r.id, r.distance) for r in found] == by_hand(literature, text, k, ask)
    assert literature.search(text, k, literature.visible(min(ask, 0))) == early


def test_a_search_in_another_thread_is_not_disturbed_by_publishing(three):
    expected = three.search("graph volume", 2, 3)
    seen, failures = [], []

    def read():
        try:
            for _ in range(150):
                seen.append(three.search("graph volume", 2, 3))
                three.search("volume", 5, three.visible(1e9))
                three.citations("graph", 0.0)
        except Exception as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(400):
        three.publish(paper(f"n{number}", float(number), "graph volume", ("graph",)))
    for reader in readers:
        reader.join()
    assert not failures
    assert set(seen) == {expected}
    assert three.citations("graph", 0.0) == 2
    assert three.citations("graph", 1e9) == 402


def test_a_past_in_columns_is_not_gone_through(monkeypatch):
    """Millions of papers take seconds to begin with, because none is made before it is found."""
    count, made, make = MEMO + 1, [], Papers.__getitem__
    papers = Papers.of(
        paper(f"p{n:05d}", float(n - count), WORDS[n % 8], (f"p{n // 2:05d}", f"p{n:05d}"))
        for n in range(count)
    )
    embedding = LSAEmbedding.fit(WORDS, seed=1)
    vectors = embedding.encode([WORDS[n % 8] for n in range(count)])
    monkeypatch.setattr(Papers, "__getitem__", lambda *a: made.append(a[1]) or make(*a))
    monkeypatch.setattr(Papers, "__iter__", None)
    literature = Literature(papers, vectors, embedding, 2012)
    dates = (14 - count, 15 - count, 0)
    assert [literature.citations("p00007", date) for date in dates] == [0, 1, 2]
    assert not made
    found = literature.search("robot", 3, literature.visible(0.0))
    assert made == [4, 12, 20] == [int(one.id[1:]) for one in found]
    assert literature.search("robot", 3, literature.visible(0.0)) == found
    assert len(made) == 3
    assert literature.facts == {"search": "exact", "recall": 1.0}


def test_what_was_published_stands_apart_from_the_past(three):
    three.publish(paper("climate", 5.0))
    assert [p.id for p in three.published] == ["climate"]
    assert [p.id for p in three.papers] == ["graph", "protein", "volume", "climate"]


def test_a_past_paper_is_there_once():
    with pytest.raises(ProtocolError, match="two past papers have the id 'a'"):
        make([paper("a", -5.0), paper("a", -4.0)])


@settings(max_examples=40, deadline=None)
@given(
    links=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=40),
    days=st.lists(st.integers(-9, -1), min_size=10, max_size=10),
    before=st.integers(-10, 1),
)
def test_citations_within_the_past_are_counted_as_by_hand(links, days, before):
    refs = {n: tuple(f"p{to}" for by, to in links if by == n) for n in range(10)}
    papers = [paper(f"p{n}", float(days[n]), "graph", refs[n]) for n in range(10)]
    literature = make(papers)
    for n in range(10):
        citing = [p for p in papers if f"p{n}" in p.references and p.id != f"p{n}"]
        expected = sum(p.date < before for p in citing)
        assert literature.citations(f"p{n}", before) == expected
