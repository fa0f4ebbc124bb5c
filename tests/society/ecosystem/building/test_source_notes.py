"""What an ecosystem says of its sources, for every report to repeat."""

from tests.society.ecosystem.raw_records import build_ecosystem
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord


def record(number, year, citations):
    author = RawAuthor("a", "A")
    words = f"Paper {number}", f"Words about volume rendering, number {number}."
    return RawRecord(str(number), *words, year, (author,), keywords=("k",), citations=citations)


def notes(*records):
    return build_ecosystem(records, boundary=2010).manifest["notes"]


def test_contemporary_citations_are_said_to_be_those_at_collection_time():
    known = notes(record(1, 2008, 3), record(2, 2009, 1), record(3, 2011, 7))
    assert "citations of contemporary papers (for CI) are counts at collection time" in known


def test_unknown_contemporary_citations_make_ci_unavailable():
    unknown = notes(record(1, 2008, None), record(2, 2009, None), record(3, 2011, None))
    assert "citations of contemporary papers are unknown: CI and ON are not available" in unknown
    assert not any(
        "counts at collection time" in note and "contemporary" in note for note in unknown
    )
