"""Each format by its small files: every field of a paper, and what is passed over and why."""

from dataclasses import replace

import pytest

from tests.society.ecosystem.importers.foreign_files import (
    FILES,
    OAG2,
    OAG3,
    balanced,
    kind,
    lines,
    put,
)
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord
from virsci_society.society.ecosystem.importers.source import open_source

MAPS = RawRecord("p1", "Maps of science", "We draw maps.", 2001, (), venue="Vis")
INDEXED = "We draw maps maps"
ADA, BEN = RawAuthor("name:ada lovelace", "Ada Lovelace"), RawAuthor("name:ben bell", "Ben Bell")
FIRST = {
    "aminer": {
        **{"id": "11", "abstract": "We draw maps. They run over lines.", "venue": "VIS"},
        "authors": (RawAuthor("501", "Ada Lovelace", "Here Univ."), RawAuthor("502", "Ben Bell")),
    },
    "jsonl": {
        "authors": (RawAuthor("ada", "Ada Lovelace", "Here"), BEN),
        **{"keywords": ("maps", "science"), "citations": 3},
    },
    "oag3": {
        **{"id": "53e99784b7602d9701f3e131", "keywords": ("maps",)},
        "authors": (RawAuthor("54488", "Ada Lovelace", "Here"), BEN._replace(name="Ben BELL")),
    },
    "oag2": {
        **{"id": "2507145174", "abstract": INDEXED, "references": ("1976962550", "1982791788")},
        **{"keywords": ("cartography", "science"), "citations": 13},
        "authors": (RawAuthor("2277886111", "Ada Lovelace", "Here."),),
    },
    "dblp10": {
        **{"id": "00127ee2-cb05-48ce-bc49-9de556b93346", "venue": "vis", "citations": 0},
        **{"references": ("51c7e02e-f5ed-431a-8cf5-f761f266d4be",), "authors": (ADA, BEN)},
    },
    "dblp12": {
        **{"id": "1091", "abstract": INDEXED, "references": ("2005687710", "2018037215")},
        **{"keywords": ("Cartography",), "citations": 2},
        "authors": (RawAuthor("2312688602", "Ada Lovelace", "Here"),),
    },
    "openalex": {
        **{"id": "W1", "title": "Work 1", "abstract": INDEXED, "references": ("W1", "W99")},
        **{"keywords": ("Maps",), "citations": 5, "citations_by_year": ((2010, 1), (2012, 3))},
        "authors": (RawAuthor("A7", "Ada", "Here"),),
    },
    "virsci": {"authors": (ADA._replace(affiliation="Here"), BEN), "citations": 3},
}
"""Format -> what its first paper has that ``MAPS`` has not."""
LATER = {
    "aminer": [("12", ("11", "99"), None), ("13", ("11", "12"), None)],
    "jsonl": [("p2", ("p1", "x"), None), ("p3", ("p1", "p2"), None)],
    "oag3": [("b2", ("53e99784b7602d9701f3e131",), None), ("b3", (), 4)],
    "oag2": [("7", ("2507145174",), None), ("8", (), None)],
    "dblp10": [("b", (), 50)],
    "dblp12": [("1388", (), None), ("1674", ("1091",), None)],
    "openalex": [("W2", ("W1", "W99"), 5), ("W3", ("W1", "W99"), 5)],
    "virsci": [("p2", ("p1", "x"), None), ("3", ("p1", "p2"), None)],
}
"""Format -> id, references and citations of its other papers."""
PASSED = {"oag3": {"no id": 1, "no year": 1, "doc_type patent": 1}}


@pytest.mark.parametrize("format_", FIRST)
def test_every_field_of_a_paper_is_read(format_, tmp_path):
    source = open_source(kind(format_), put(tmp_path, FILES[format_]))
    first, *later = source
    assert first == replace(MAPS, **FIRST[format_])
    assert [(one.id, one.references, one.citations) for one in later] == LATER[format_]
    assert source.report.passed == PASSED.get(format_, {})
    assert balanced(source.report)


def test_files_of_authors_and_venues_are_told_by_their_fields_and_counted(tmp_path):
    authors = [{"id": "5", "name": "Ada", "org": "Here"}, {"id": "6", "name": "Ben", "org": ""}]
    venues = [{"id": 1, "JournalId": 1, "DisplayName": "Vis", "NormalizedName": "vis"}]
    files = {"a.json": lines(authors), "v.txt": lines(venues), "p.json": lines(OAG3)}
    source = open_source("oag", put(tmp_path, files))
    assert len(list(source)) == 3
    assert source.report.unused == ["a.json: no publications", "v.txt: no publications"]


def test_both_sides_of_2_at_once_are_refused(tmp_path):
    files = {"mag_papers_0.txt": lines(OAG2), "aminer_papers_0.txt": lines(OAG3)}
    with pytest.raises(InputError, match="the same papers under different ids"):
        list(open_source("oag", put(tmp_path, files)))
    assert len(list(open_source("oag", tmp_path / "aminer_papers_0.txt"))) == 3
