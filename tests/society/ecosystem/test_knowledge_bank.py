"""The author knowledge bank: profiles as of a version, searched by interests."""

import threading

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.profile import Profile
from virsci_society.society.ecosystem import knowledge_bank
from virsci_society.society.ecosystem.knowledge_bank import (
    EXACT_UP_TO,
    KnowledgeBank,
    cleaned_interests,
    general_terms,
    interests_text,
    normalize_rows,
)
from virsci_society.society.literature.embedding.lsa import LSAEmbedding

WORDS = ["graphs", "trees", "maps", "volumes", "flows", "robots"]
LSA = LSAEmbedding.fit([*WORDS, "graphs trees", "maps volumes", "flows robots graphs"], seed=1)


def person(number, *interests, papers=0):
    return Profile(f"Scientist{number}", ("Somewhere",), interests, papers)


@pytest.fixture
def bank():
    return KnowledgeBank(
        [person(0, "graphs"), person(1, "trees"), person(2, "graphs", "trees"), person(3)], LSA
    )


def ids(profiles):
    return [profile.id for profile in profiles]


def test_equal_cosines_are_ordered_by_id():
    bank = KnowledgeBank([person(n, "maps") for n in (3, 10, 1, 2)], LSA)
    assert ids(bank.search("maps", 3, 4)) == ["Scientist1", "Scientist10", "Scientist2"]
    assert ids(bank.search("nothing known", 2, 4)) == ["Scientist1", "Scientist10"]


def test_the_order_does_not_hang_on_rounding_noise():
    noisy = LSAEmbedding.fit(
        [*WORDS, "graphs trees", "maps volumes", "flows robots graphs"], seed=2
    )
    bank = KnowledgeBank([person(n, "volumes", "maps") for n in range(9, 3, -1)], noisy)
    assert ids(bank.search("robots", 6, 6)) == [f"Scientist{n}" for n in range(4, 10)]


def test_a_version_is_what_was_dated_before(bank):
    assert bank.visible(0.0) == bank.visible(-5.0) == 4
    bank.update(3.0, person(0, "maps"))
    bank.update(3.0, person(9, "maps"))
    assert [bank.visible(d) for d in (0.0, 3.0, 3.5)] == [4, 4, 6]


def test_similarity_is_the_cosine_rounded(bank):
    rows = LSA.encode(["graphs", "graphs, trees"]).astype(np.float64)
    cosine = rows[0] @ rows[1] / np.linalg.norm(rows[0]) / np.linalg.norm(rows[1])
    found = bank.similarity("Scientist0", "Scientist2", 4)
    assert found == bank.similarity("Scientist2", "Scientist0", 4)
    assert found == pytest.approx(cosine, abs=1.1e-5)
    assert found == round(found, 5)
    assert bank.similarity("Scientist0", "Scientist0", 4) == 1.0
    assert bank.similarity("Scientist0", "Scientist3", 4) == 0.0
    bank.update(1.0, person(2, "maps"))
    assert bank.similarity("Scientist0", "Scientist2", 4) == found
    assert bank.similarity("Scientist0", "Scientist2", 5) != found


def test_wrong_uses_are_told(bank):
    bank.update(5.0, person(0, "maps"))
    with pytest.raises(ProtocolError, match="in order of date"):
        bank.update(4.0, person(1, "maps"))
    with pytest.raises(ProtocolError, match="in order of date"):
        bank.update(float("nan"), person(1, "maps"))
    assert bank.version() == 5
    with pytest.raises(ProtocolError, match="'Nobody'"):
        bank.profile("Nobody", 5)
    for k, version in ((-1, 2), (1, 6), (1, -1)):
        with pytest.raises(ProtocolError, match="version"):
            bank.search("maps", k, version)
    with pytest.raises(ProtocolError, match="two first profiles have the id 'Scientist0'"):
        KnowledgeBank([person(0), person(0)], LSA)
    with pytest.raises(ProtocolError, match="interests need vectors of shape"):
        KnowledgeBank([person(0)], LSA, LSA.encode([]))


def test_an_empty_bank_is_searched_in_vain():
    bank = KnowledgeBank([], LSA)
    assert bank.search("maps", 3, 0) == ()
    bank.update(1.0, person(0, "maps"))
    assert ids(bank.search("maps", 3, 1)) == ["Scientist0"]


def by_hand(profiles, text, k, exclude):
    """The nearest of some profiles, the last of each scientist, one by one."""
    latest = {profile.id: profile for profile in profiles}
    query = normalize_rows(LSA.encode([text]))[0].astype(np.float64)
    scored = []
    for name, profile in latest.items():
        if name not in exclude:
            vector = normalize_rows(LSA.encode([interests_text(profile)]))[0]
            scored.append((-np.round((vector.astype(np.float64) * query).sum(), 5), name))
    return [latest[name] for _, name in sorted(scored)[:k]]


@pytest.mark.parametrize("exact_up_to", [EXACT_UP_TO, 3], ids=["exact", "cells"])
@settings(max_examples=50, deadline=None)
@given(
    updates=st.lists(
        st.tuples(st.integers(0, 9), st.lists(st.sampled_from(WORDS), max_size=3)), max_size=25
    ),
    share=st.floats(0, 1),
    k=st.integers(0, 6),
    text=st.lists(st.sampled_from(WORDS), max_size=2).map(" ".join),
    exclude=st.frozensets(st.integers(0, 9).map(lambda n: f"Scientist{n}"), max_size=3),
)
def test_search_as_of_a_version_is_brute_force(exact_up_to, updates, share, k, text, exclude):
    profiles = [person(n, WORDS[n]) for n in range(4)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knowledge_bank, "EXACT_UP_TO", exact_up_to)
        bank = KnowledgeBank(profiles[:4], LSA)
        assert bank.facts["search"] == ("exact" if exact_up_to > 3 else "cells")
        check_updates(bank, profiles, updates, share, text, k, exclude)


def check_updates(bank, profiles, updates, share, text, k, exclude):
    for date, (number, interests) in enumerate(updates):
        profiles.append(person(number, *interests, papers=date))
        bank.update(float(date), profiles[-1])
    version = int(share * bank.version())
    found = bank.search(text, k, version, exclude)
    assert list(found) == by_hand(profiles[:version], text, k, exclude)


def test_a_reader_is_not_disturbed_by_updates():
    bank = KnowledgeBank([person(n, WORDS[n % 6]) for n in range(20)], LSA)
    expected = bank.search("graphs trees", 5, 20)
    seen, failures = [], []

    def read():
        try:
            for _ in range(200):
                seen.append(bank.search("graphs trees", 5, 20))
                assert len(bank.search("maps", 99, bank.version())) >= 20
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(600):
        bank.update(float(number), person(number % 30, WORDS[number % 5], papers=number))
    for reader in readers:
        reader.join()
    assert not failures
    assert set(seen) == {expected}


def lists(*texts):
    column = pa.array([text.split(", ") if text else [] for text in texts], pa.list_(pa.string()))
    return pa.chunked_array([column])


def shown(interests, general=""):
    return ", ".join(cleaned_interests(tuple(interests.split(", ")), frozenset(general.split())))


def test_terms_that_no_past_paper_has_as_a_keyword_are_general():
    interests = lists("Graphs, maps, work progress", "graphs, big")
    assert general_terms(interests, lists("maps", "GRAPHS")) == {"work progress", "big"}
    assert general_terms(lists(), lists("maps")) == frozenset()


def test_where_no_paper_has_keywords_words_that_many_state_are_general():
    interests = lists(*["machine translation, system"] * 3, "parsing", *["a b"] * 296)
    assert general_terms(interests, lists("", "")) == {"system"}
    assert general_terms(lists("system"), lists("")) == frozenset()


@pytest.mark.parametrize(
    ("interests", "expected"),
    [
        ("big, lic, maps, trees, 2d, old graphs", "maps, trees, old graphs"),
        ("big, lic, maps, vs", "big, lic, maps"),
        ("big, lic", "big, lic"),
        ("绘图, maps, trees, graphs", "绘图, maps, trees, graphs"),
        # Parts of other terms do not come back: they are shown already.
        ("maps, old maps, big", "old maps, big"),
        ("vector field, flow, vector field topology, overflow", "flow, vector field topology, "
         "overflow"),
        ("vector topology, vector field topology, maps", "vector topology, vector field topology, "
         "maps"),
        ("tensor fields, tensors field, maps, trees", "tensor fields, maps, trees"),
        ("Graphs, graph, maps, trees", "Graphs, maps, trees"),
    ],
)  # fmt: skip
def test_what_is_left_out(interests, expected):
    assert shown(interests, "big techniques") == expected


TERMS = ["big", "lic", "maps", "map", "old maps", "maps of trees", "trees", "techniques", "work"]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(TERMS), max_size=10), st.frozensets(st.sampled_from(TERMS)))
def test_what_is_shown_is_a_part_of_the_profile_in_its_order(interests, general):
    found = cleaned_interests(tuple(interests), general)
    left = iter(dict.fromkeys(interests))
    assert all(term in left for term in found)
    assert bool(found) == bool(interests)
