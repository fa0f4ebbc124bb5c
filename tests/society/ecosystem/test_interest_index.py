"""The author knowledge bank where its people are too many to be compared one by one."""

import numpy as np
import pytest

from virsci_society.agents.profile import Profile
from virsci_society.society.ecosystem.knowledge_bank import (
    KnowledgeBank,
    People,
    interests_text,
    normalize_rows,
)
from virsci_society.society.literature import columns
from virsci_society.society.literature.embedding.lsa import LSAEmbedding

EXACT_UP_TO = 6_000
"""Here; in the program it is ``LIMIT``."""
COUNT = EXACT_UP_TO + 1_000
WORDS = [f"{a}{b}" for a in ("ba", "ce", "di", "fo", "gu", "ha", "ke", "li") for b in "bcdfghklmn"]
RNG = np.random.default_rng(0)
FIELDS = [RNG.choice(WORDS, 8, replace=False) for _ in range(30)]
TEXTS = [", ".join(RNG.choice(FIELDS[RNG.integers(30)], 4)) for _ in range(400)]
LSA = LSAEmbedding.fit([*WORDS, *TEXTS], seed=1, dim=32)
NO_WORD = "unheard"


def person(number, *interests, papers=0):
    return Profile(f"Scientist{number}", (), tuple(interests), papers)


@pytest.fixture(scope="module", autouse=True)
def _fewer_are_compared_one_by_one():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("virsci_society.society.ecosystem.knowledge_bank.EXACT_UP_TO", EXACT_UP_TO)
        yield


@pytest.fixture(scope="module")
def profiles():
    rng = np.random.default_rng(1)
    chosen = [rng.choice(FIELDS[rng.integers(30)], 4).tolist() for _ in range(COUNT)]
    chosen[7] = []
    return [person(number, *interests) for number, interests in enumerate(chosen)]


@pytest.fixture(scope="module")
def vectors(profiles):
    return LSA.encode([interests_text(profile) for profile in profiles])


@pytest.fixture(scope="module")
def people(profiles):
    return People.of(profiles)


@pytest.fixture(scope="module")
def cells(people, vectors):
    """The cells of these vectors, which no search and no update changes."""
    return KnowledgeBank(people, LSA, vectors)._cells


@pytest.fixture
def bank(people, vectors, cells):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "virsci_society.society.literature.ivf.load_or_build_index", lambda *given: cells
        )
        return KnowledgeBank(people, LSA, vectors)


def cosines(vectors, text):
    query = normalize_rows(LSA.encode([text]))[0].astype(np.float64)
    return np.round((normalize_rows(vectors).astype(np.float64) * query).sum(axis=1), 5)


def ids(found):
    return [profile.id for profile in found]


def test_a_text_without_a_known_word_is_equally_near_to_everybody(bank):
    first = sorted(f"Scientist{number}" for number in range(COUNT))
    assert ids(bank.search(NO_WORD, 4, COUNT)) == first[:4]
    assert ids(bank.search(NO_WORD, 4, COUNT, frozenset(first[:2]))) == first[2:6]
    bank.update(1.0, person(10, NO_WORD))
    assert ids(bank.search(NO_WORD, 4, COUNT + 1)) == first[:4]


def test_people_without_known_interests_crowd_nobody_out(people, vectors):
    """At a distance of 1 from every text they are nearer than those with some likeness."""
    hollow = vectors.copy()
    hollow[cosines(vectors, TEXTS[0]) >= 0.4] = 0
    bank = KnowledgeBank(people, LSA, hollow)
    found = [int(one.id.removeprefix("Scientist")) for one in bank.search(TEXTS[0], 5, COUNT)]
    assert (cosines(hollow, TEXTS[0])[found] > 0.3).all()


def test_nobody_is_made_an_object_before_being_found(people, vectors, monkeypatch):
    made = []
    make, people = People.__getitem__, People(people.table)
    monkeypatch.setattr(columns, "FEW", COUNT - 1)
    monkeypatch.setattr(People, "__getitem__", lambda *a: made.append(a[1]) or make(*a))
    monkeypatch.setattr(People, "__iter__", None)
    bank = KnowledgeBank(people, LSA, vectors)
    assert not made
    found = bank.search(TEXTS[0], 5, COUNT)
    assert sorted(made) == sorted(int(profile.id.removeprefix("Scientist")) for profile in found)


def test_a_memory_mapped_file_of_rows_is_not_copied(people, vectors, bank, tmp_path):
    np.save(tmp_path / "interests.npy", vectors)
    mapped = np.load(tmp_path / "interests.npy", mmap_mode="r")
    other = KnowledgeBank(people, LSA, mapped)
    assert other._initial is mapped
    for text in TEXTS[:10]:
        assert other.search(text, 5, COUNT) == bank.search(text, 5, COUNT)
