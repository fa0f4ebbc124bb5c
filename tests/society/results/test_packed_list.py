"""Lists that keep all but their youngest items compressed."""

import pytest

from tests.test_determinism import digest, small
from virsci_society.society.results import packed_list
from virsci_society.society.results.packed_list import PackedList


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(packed_list, "BLOCK", 4)


def filled(*runs):
    """A list of consecutive numbers in tuples, packed after each run of so many."""
    made = PackedList(tuple)
    for length in runs:
        first = len(made)
        made.extend((first + i, 1e-300, None, "é\ud800") for i in range(length))
        made.pack()
    return made


@pytest.mark.usefixtures("small_blocks")
def test_items_come_back_as_they_were_in_their_order():
    made = filled(4, 3, 6, 1)
    plain = [(i, 1e-300, None, "é\ud800") for i in range(14)]
    assert made == plain
    assert plain == made
    assert (len(made), made[0], made[-1], made[2:5]) == (14, plain[0], plain[-1], plain[2:5])
    assert made != plain[:-1]


@pytest.mark.usefixtures("small_blocks")
def test_only_young_items_can_be_cut_off():
    made = filled(4, 3)
    made.cut(5)
    assert [item[0] for item in made] == [0, 1, 2, 3, 4]
    made.cut(1)
    assert [item[0] for item in made] == [0, 1, 2, 3]


def test_items_are_kept_in_a_fraction_of_their_memory():
    made = PackedList(dict)
    for i in range(packed_list.BLOCK):
        made.append({"date": float(i), "sequence": i, "kind": "met", "team": f"Scientist{i}/1"})
    made.pack()
    assert not made._recent
    assert sum(map(len, made._blocks)) < 30 * len(made)


@pytest.mark.slow
def test_a_society_whose_log_is_packed_every_day_is_the_same(monkeypatch):
    plain = small()
    monkeypatch.setattr(packed_list, "BLOCK", 1)
    packed = small()
    assert len(packed.log.events._blocks) > 50
    assert digest(packed) == digest(plain)
