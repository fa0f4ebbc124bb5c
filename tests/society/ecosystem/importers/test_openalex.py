"""OpenAlex: snapshots, pages, lines and single works; nothing retracted, ids short."""

import json

import pytest

from tests.society.ecosystem.importers.foreign_files import (
    OPENALEX,
    balanced,
    lines,
    openalex_work,
    put,
)
from virsci_society.society.ecosystem.importers.json_papers import OpenAlex, short_id
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord


def read(folder, rows, name="works.jsonl", **options):
    """The source of some works and its records."""
    source = OpenAlex(put(folder, {name: lines(rows)}), **options)
    return source, list(source)


def test_a_page_a_single_work_and_a_snapshot_give_the_same_records(tmp_path):
    expected = read(tmp_path / "lines", OPENALEX)[1]
    page = {"meta": {"count": 3}, "results": OPENALEX, "group_by": []}
    ways = {
        "page.json": json.dumps(page) + "\n\n",
        "indented.json": json.dumps(page, indent=1),
        "list.json": json.dumps(OPENALEX),
        "works/updated_date=2024-01-01/part_000.gz": lines(OPENALEX),
    }
    for name, text in ways.items():
        folder = tmp_path / name.replace("/", "-")
        assert list(OpenAlex(put(folder, {name: text}))) == expected
    put(tmp_path / "one", {"work.json": json.dumps(OPENALEX[0], indent=1)})
    assert list(OpenAlex(tmp_path / "one" / "work.json")) == expected[:1]


def test_only_works_of_a_snapshot_are_read_and_the_newest_of_each(tmp_path):
    old, new = openalex_work(1, title="Old"), openalex_work(1, title="New")
    files = {
        "data/works/updated_date=2023-01-01/part_000.gz": lines([old, openalex_work(2)]),
        "data/works/updated_date=2024-02-01/part_000.gz": lines([new]),
        "data/works/updated_date=2024-02-01/part_001.gz": lines([openalex_work(3)]),
        "data/works/manifest": "{}",
        "data/authors/updated_date=2024-02-01/part_000.gz": lines([{"id": "A1"}]),
        "data/merged_ids/works/2024.csv.gz": "merged",
    }
    source = OpenAlex(put(tmp_path, files))
    assert [(record.id, record.title) for record in source] == [
        ("W1", "New"),
        ("W3", "Work 3"),
        ("W2", "Work 2"),
    ]
    assert source.report.passed == {"duplicate id": 1}
    assert any("merged_ids" in told for told in source.unknown)


def test_what_is_no_paper_is_passed_over_by_reason(tmp_path):
    rows = [
        *OPENALEX,
        openalex_work(4, is_retracted=True),
        openalex_work(5, is_paratext=True),
        openalex_work(6, type="paratext"),
        openalex_work(7, title=None),
        openalex_work(8, publication_year=None),
        {"id": "https://openalex.org/A5", "display_name": "Ada"},
    ]
    source, records = read(tmp_path, rows)
    assert len(records) == 3
    assert source.report.passed == {
        "retracted": 1,
        "paratext": 2,
        "no title": 1,
        "no year": 1,
        "not a work": 1,
    }
    assert balanced(source.report)


def test_keywords_fall_back_to_topics_and_then_to_likely_concepts(tmp_path):
    topics = {"keywords": [], "topics": [{"display_name": "Cartography"}]}
    concepts = [{"display_name": "Map", "score": 0.5}, {"display_name": "Far", "score": 0.1}]
    rows = [
        openalex_work(1, keywords=[{"keyword": "maps"}, "trees"]),
        openalex_work(2, **topics, concepts=concepts),
        openalex_work(3, keywords=None, concepts=concepts),
    ]
    assert [record.keywords for record in read(tmp_path, rows)[1]] == [
        ("maps", "trees"),
        ("Cartography",),
        ("Map",),
    ]


def test_older_and_emptier_works_are_read_as_far_as_they_go(tmp_path):
    bare = {"id": "W4", "display_name": "Bare", "publication_year": 1999}
    older = openalex_work(5, primary_location=None, host_venue={"display_name": "Old Vis"})
    older["authorships"] = [
        {
            "author": {"id": None, "display_name": "Ben"},
            "institutions": [],
            "raw_affiliation_strings": ["There"],
        },
        {"author": None, "raw_author_name": "Cai"},
        {"author": {}},
    ]
    source, (first, second) = read(tmp_path, [bare, older])
    assert first == RawRecord(id="W4", title="Bare", abstract="", year=1999, authors=())
    assert second.venue == "Old Vis"
    assert second.authors == (RawAuthor("name:ben", "Ben", "There"), RawAuthor("name:cai", "Cai"))
    assert (source.report.named, source.report.left_out) == (2, 1)


@pytest.mark.parametrize(
    ("written", "short"),
    [
        ("https://openalex.org/W12", "W12"),
        ("https://openalex.org/works/w12", "W12"),
        ("W12", "W12"),
        ("https://doi.org/10.1/W12", "https://doi.org/10.1/W12"),
        (None, ""),
    ],
)
def test_ids_are_shortened_alike(written, short):
    assert short_id(written, "id") == short


def test_positions_that_are_huge_cost_nothing_and_gaps_close(tmp_path):
    index = {"end": [10**15], "begin": [3]}
    _, (record,) = read(tmp_path, [openalex_work(1, abstract_inverted_index=index)])
    assert record.abstract == "begin end"
