"""Literature: what is published, as of a date."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virsci_society.agents.errors import ProtocolError
from virsci_society.society.literature.columns import FEW
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.literature.embedding.lsa import LSAEmbedding
from virsci_society.society.literature.literature import Literature, maximal_marginal_relevance
from virsci_society.society.literature.papers import Paper, Papers

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


def test_citations_are_dated_events_counted_strictly_before(three):
    three.publish(paper("climate", 5.0, references=("graph", "graph", "climate", "unknown")))
    three.publish(paper("robot", 5.0, references=("graph",)))
    assert [three.citations("graph", d) for d in (-365, -364, 5, 5.5)] == [0, 2, 2, 4]
    assert three.citations("climate", 100) == 0
    with pytest.raises(ProtocolError, match="'unknown'"):
        three.citations("unknown", 0)


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


def test_a_past_in_columns_is_not_gone_through(monkeypatch):
    """Millions of papers take seconds to begin with, because none is made before it is found."""
    count, made, make = FEW + 1, [], Papers.__getitem__
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


def counting(*words):
    """An embedding with one dimension a word: how often a text names it, at unit length."""
    from virsci_society.society.literature.embedding.base import Embedding, unit_rows

    class Counting(Embedding):
        name, revision, dim = "counting", "1", len(words)

        def __init__(self):
            self.asked = []

        def encode(self, texts):
            self.asked.append(list(texts))
            return unit_rows([[t.lower().split().count(word) for word in words] for t in texts])

        def save(self, folder):
            raise NotImplementedError

    return Counting()


def of_bodies(embedding, bodies, first=-100.0, **more):
    """A past whose papers are searched by these texts alone, by id."""
    papers = [paper(key, first + n, body, **more) for n, (key, body) in enumerate(bodies.items())]
    return Literature(papers, embedding.encode(list(bodies.values())), embedding, 2012)


BODIES = {
    "p1": "graph graph graph graph volume volume volume",  # (0.8, 0.6, 0)
    "p2": "graph graph graph graph volume volume volume",  # the same
    "p3": "graph graph graph robot robot robot robot",  # (0.6, 0, 0.8)
    "p4": "volume",  # (0, 1, 0)
    "p5": "robot",  # (0, 0, 1)
}


def test_a_diverse_search_by_hand():
    """The cosines with "graph" are 0.8, 0.8, 0.6, 0, 0; the relevances 1, 1, 0.75, 0, 0.

    With a diversity of 0.5: first p1; then p2 has 0.5 - 0.5 and p3 0.375 - 0.5 x 0.48 = 0.135;
    then p4 has 0 - 0.5 x 0.6, p5 0 - 0.5 x 0.8, and p2 still 0.
    """
    literature = of_bodies(counting("graph", "volume", "robot"), BODIES)

    def chosen(*texts, k=3, **more):
        return [one.id for one in literature.search_diverse(texts, k, 5, **more)]

    assert chosen("graph", diversity=0.0) == ["p1", "p2", "p3"]
    assert chosen("graph", diversity=0.5) == ["p1", "p3", "p2"]
    assert chosen("graph", diversity=0.5, k=2, exclude=frozenset({"p1"})) == ["p2", "p3"]


def test_the_paper_nearest_to_each_text_has_the_same_relevance():
    """Cosines with "graph" go up to 0.8, those with "volume" to 1: p1 is no less relevant than p4.

    p1 has max(1, 0.6), p2 the same, p3 0.75, p4 1, p5 0; of equal ones that of the first text is
    the first, then the nearer, then the first by id.
    """
    literature = of_bodies(counting("graph", "volume", "robot"), BODIES)
    found = literature.search_diverse(("volume", "graph"), 5, 5, diversity=0.0)
    assert [one.id for one in found] == ["p4", "p1", "p2", "p3", "p5"]
    other = literature.search_diverse(("graph", "volume"), 5, 5, diversity=0.0)
    assert [one.id for one in other] == ["p1", "p2", "p4", "p3", "p5"]
    # The distance is that from the nearest text, whichever that is.
    assert [round(one.distance**2, 4) for one in other] == [0.4, 0.4, 0.0, 0.8, 2.0]


def test_a_text_without_a_known_word_proposes_nothing_beside_others():
    embedding = counting("graph", "volume", "robot")
    literature = of_bodies(embedding, {**BODIES, "p0": "nothing known"})
    alone = literature.search_diverse(("graph",), 6, 6, diversity=0.3)
    assert literature.search_diverse(("elsewhere", "graph"), 6, 6, diversity=0.3) == alone
    # A paper without a known word has no vector: no search finds it, though its distance is 1.
    plain = [one.id for one in literature.search("graph", 6, 6)]
    assert plain == ["p1", "p2", "p3", "p4", "p5"]
    assert {one.id for one in alone[-2:]} == {"p4", "p5"}
    # Where no text has a known word, nothing is known of any paper either.
    lost = literature.search_diverse(("elsewhere",), 6, 6, diversity=0.0)
    assert lost == literature.search("elsewhere", 6, 6)


@settings(max_examples=40, deadline=None)
@given(
    bodies=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), max_size=30),
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    k=st.integers(1, 9),
    share=st.floats(0, 1),
    hidden=st.integers(0, 3),
)
def test_without_diversity_one_text_finds_the_plain_nearest(bodies, words, k, share, hidden):
    literature = make(
        [paper(f"p{n:02d}", n - 99.0, " ".join(body)) for n, body in enumerate(bodies)]
    )
    visible = int(share * len(bodies))
    text, out = " ".join(words), frozenset(f"p{n:02d}" for n in range(hidden))
    plain = literature.search(text, k, visible, out)
    assert literature.search_diverse((text,), k, visible, diversity=0.0, exclude=out) == plain
    # Ties included: the same papers are found whatever is asked for twice.
    twice = literature.search_diverse((text, text), k, visible, diversity=0.0, exclude=out)
    assert twice == plain


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 999),
    k=st.integers(1, 6),
    diversity=st.floats(0, 1),
    later=st.integers(0, 8),
)
def test_a_diverse_search_sees_nothing_later(seed, k, diversity, later):
    rng = np.random.default_rng(seed)
    papers = [paper(f"p{n:02d}", n - 20.0, " ".join(rng.choice(WORDS, 3))) for n in range(20)]
    literature = make(papers)
    texts = [" ".join(rng.choice(WORDS, 2)) for _ in range(3)]
    before = literature.search_diverse(texts, k, literature.visible(0.0), diversity=diversity)
    own = literature.search_author("Scientist0", texts[0], k, literature.visible(0.0))
    for n in range(later):
        literature.publish(paper(f"q{n}", 5.0, " ".join(texts)))
    assert literature.search_diverse(texts, k, 20, diversity=diversity) == before
    assert literature.search_diverse(texts, k, literature.visible(5.0), diversity=diversity) == (
        before
    )
    assert literature.search_author("Scientist0", texts[0], k, literature.visible(5.0)) == own
    assert len(before) == len({one.id for one in before}) == k


def test_the_papers_of_an_author_are_those_of_past_and_present():
    def by(name, date, body, *authors):
        return Paper(name, f"On {name}", body, date, 2012, authors)

    past = [
        by("a", -9.0, "graph", "Scientist1", "Author7"),
        by("b", -8.0, "volume", "Scientist2"),
        by("c", -8.0, "robot", "Author7", "Scientist1", "Scientist1"),
    ]
    literature = make(past)

    def found(author, k, date, text="robot"):
        return [p.id for p in literature.search_author(author, text, k, literature.visible(date))]

    assert found("Scientist1", 9, 0.0) == ["c", "a"]
    assert found("Scientist1", 1, 0.0) == ["c"]
    assert found("Scientist1", 0, 0.0) == []
    assert found("Scientist1", 9, -8.0) == ["a"]
    assert found("Author7", 9, 0.0, "graph") == ["a", "c"]
    assert found("Scientist3", 9, 0.0) == []
    literature.publish(by("d", 3.0, "robot robot", "Scientist3", "Scientist1"))
    assert found("Scientist3", 9, 3.0) == []
    assert found("Scientist3", 9, 4.0) == ["d"]
    assert set(found("Scientist1", 9, 4.0)) == {"a", "c", "d"}
    (best, *_) = literature.search_author("Scientist1", "On a. graph", 2, literature.visible(4.0))
    assert best == literature.search("On a. graph", 1, literature.visible(4.0))[0]


def test_sums_that_differ_in_their_last_bits_are_ties():
    """0.1 + 0.2 is greater than 0.3 in floating point."""
    relevance = np.array([0.3, 0.1 + 0.2])
    assert relevance[1] > relevance[0]
    assert maximal_marginal_relevance(relevance, np.eye(2, dtype=np.float32), 1, 0.0) == [0]


def test_a_row_of_zeros_is_like_no_other():
    vectors = np.array([[1, 0], [1, 0], [0, 0]], dtype=np.float32)
    assert maximal_marginal_relevance(np.array([1.0, 0.5, 0.1]), vectors, 2, 0.5) == [0, 2]


@given(
    seed=st.integers(0, 9999),
    items=st.integers(1, 12),
    count=st.integers(0, 13),
    diversity=st.floats(0, 1),
)
def test_every_choice_is_the_best_of_those_that_are_left(seed, items, count, diversity):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(items, 5))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    relevance = rng.random(items)
    chosen = maximal_marginal_relevance(relevance, vectors, count, diversity)
    assert len(chosen) == len(set(chosen)) == min(items, count)
    wide = vectors.astype(np.float64)

    def score(item, before):
        likeness = max((float(wide[item] @ wide[one]) for one in before), default=0.0)
        return (1 - diversity) * relevance[item] - diversity * likeness

    for place, item in enumerate(chosen):
        left = [one for one in range(items) if one not in chosen[:place]]
        best = max(score(one, chosen[:place]) for one in left)
        assert score(item, chosen[:place]) == pytest.approx(best, abs=1e-8)
