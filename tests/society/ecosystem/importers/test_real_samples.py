"""Every real sample is read, and the counts are those of its README."""

import pytest

from tests.society.ecosystem.importers.foreign_files import balanced
from virsci_society.society.ecosystem.importers.source import open_source

# source, path, read, kept, passed over by reason
SAMPLES = [
    ("aminer", "aminer", 1, 1, {}),
    ("dblp", "dblp_v10", 1, 1, {}),
    ("oag", "oag_v2", 1, 1, {}),
    ("oag", "oag_v3", 1, 1, {}),
    ("openalex", "openalex/search_page.json", 50, 49, {"paratext": 1}),
    ("openalex", "openalex/works_search_page.jsonl.gz", 50, 49, {"paratext": 1}),
    ("openalex", "openalex/snapshot", 27, 11, {"no title": 16}),
    ("openalex", "openalex/work_W2741809807.json", 1, 1, {}),
    ("openalex", "openalex", 128, 61, {"paratext": 2, "no title": 16, "duplicate id": 49}),
]


@pytest.mark.parametrize(("kind", "path", "read", "kept", "passed"), SAMPLES)
def test_the_counts_of_a_sample_are_those_of_its_readme(kind, path, read, kept, passed, real_data):
    source = open_source(kind, real_data / "formats" / path)
    records = list(source)
    assert (source.report.read, source.report.kept, source.report.malformed) == (read, kept, 0)
    assert source.report.passed == passed
    assert len(records) == kept
    assert balanced(source.report)


def test_vis_is_read_whole(real_data):
    source = open_source("jsonl", real_data / "vis")
    records = list(source)
    assert len(records) == source.report.read == 4303
    assert source.report.having["abstract"] == 4234
    assert source.report.having["citations"] == 4303
    assert sum(len(record.references) for record in records) == 110425


@pytest.mark.slow
def test_nlp_is_read_whole_and_says_what_is_unknown(real_data):
    source = open_source("jsonl", real_data / "nlp")
    count = sum(1 for _ in source)
    assert count == 78056
    assert source.report.having["abstract"] == 38886
    told = " ".join(source.unknown)
    assert "no references" in told
    assert "unknown, not none" in told
    assert "no citation counts: they are unknown, not zero" in told
