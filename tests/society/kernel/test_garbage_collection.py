"""The collector's pace during runs, one after another and side by side."""

import gc
import sys
import threading
import weakref

import pytest

from virsci_society.society.kernel import garbage_collection
from virsci_society.society.kernel.garbage_collection import THRESHOLDS, infrequent_collection


@pytest.fixture
def usual():
    """The pace outside of any run, and the end of what a test leaves frozen."""
    before = gc.get_threshold()
    assert before != THRESHOLDS
    yield before
    gc.set_threshold(*before)


def test_the_pace_is_set_and_restored(usual):
    with infrequent_collection():
        assert gc.get_threshold() == THRESHOLDS
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == usual


def test_runs_that_overlap_leave_the_pace_as_it_was(usual):
    """The first run ends while the second still goes on, in another thread."""
    begun, ended = threading.Event(), threading.Event()
    seen = []

    def second():
        with infrequent_collection():
            begun.set()
            assert ended.wait(60)
            seen.append(gc.get_threshold())

    other = threading.Thread(target=second)
    with infrequent_collection():
        other.start()
        assert begun.wait(60)
    ended.set()
    other.join(60)
    assert seen == [THRESHOLDS]
    assert gc.get_threshold() == usual


class Society:
    """Stands for a society: it refers to itself, and takes six tenths of the memory in use."""

    def __init__(self):
        self.parts = [[self] for _ in range(6 * sys.getallocatedblocks() // 10)]


@pytest.mark.slow
def test_a_society_that_has_ended_is_collected_before_the_next_begins(usual, monkeypatch):
    monkeypatch.setattr(garbage_collection, "GROWTH", 1.5)  # as outside of the tests
    monkeypatch.setattr(garbage_collection, "_known", 0)  # what earlier tests had in memory is gone
    gc.collect()
    with infrequent_collection():
        ended = weakref.ref(Society())
    with infrequent_collection():
        assert ended() is None
