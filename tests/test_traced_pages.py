"""The page that draws two ways through the code, compared with a run whose calls are recorded."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STATION = re.compile(r"^\| `([\w/]+\.py)` \| `([\w.<>]+)` \|", re.MULTILINE)
FILE = re.compile(r"`([a-z_]+/[\w/]+\.py)`")


def traced(nursery, what):
    """The functions entered, by thread, in a process of their own."""
    found = nursery.call(f"tests.traced_run:traced_{what}")
    return {name: [tuple(one) for one in entries] for name, entries in found.items()}


def sections(way):
    """The parts of the page about this way (``run`` or ``call``), below their headings."""
    page = (ROOT / "docs" / "a-call.md").read_text(encoding="utf-8")
    text = page.partition(f"\n## A {way}, ")[2].partition("\n## ")[0]
    return re.split(r"^### ", text, flags=re.MULTILINE)[1:]


def first_missing(stations, entries):
    """The first station that is not entered after the one before it; None: all are."""
    place = 0
    for station in stations:
        while place < len(entries) and entries[place] != station:
            place += 1
        if place == len(entries):
            return station
    return None


@pytest.fixture(scope="module")
def call(nursery):
    return traced(nursery, "call")


@pytest.mark.parametrize(
    ("part", "thread"), [(0, "clock"), (1, "loop"), (2, "journal"), (3, "read")]
)
def test_the_stations_of_a_call_are_entered_in_the_order_of_the_page(call, part, thread):
    stations = STATION.findall(sections("call")[part])
    assert len(stations) >= 3
    assert first_missing(stations, call[thread]) is None


@pytest.mark.parametrize(("part", "thread"), [(0, "clock"), (1, "loop"), (2, "journal")])
def test_every_file_that_a_call_passes_stands_on_the_page(call, part, thread):
    named = set(FILE.findall(sections("call")[part]))
    assert {file for file, _ in call[thread]} == named


def test_the_functions_of_a_run_are_entered_in_the_order_of_the_page(nursery):
    (entries,) = traced(nursery, "run").values()
    stations = [station for part in sections("run") for station in STATION.findall(part)]
    assert len(stations) > 25
    assert first_missing(stations, entries) is None
