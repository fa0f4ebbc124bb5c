"""Whatever stands in the files: only InputError comes out, and no record is lost silently."""

import gzip
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.society.ecosystem.importers.foreign_files import (
    DBLP12,
    FILES,
    JSONL,
    MAIN,
    OAG2,
    OPENALEX,
    balanced,
    kind,
    lines,
    put,
)
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers.cleaning import FIRST_YEAR, LAST_YEAR
from virsci_society.society.ecosystem.importers.source import open_source

FORMATS = sorted(FILES)
NASTY = (
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\n",
    b"\r",
    b'"',
    b"'",
    b"#index ",
    b"[" * 3000,
    b'{"a":' * 3000,
    b"9" * 5000,
    b"1e999",
    b"NaN",
    b"\\ud800",
    b"\\",
    b",",
    b"}",
    b"]",
    b"-",
    b"(",
)
"""What breaks parsers: NULs, other encodings, half surrogates, deep nests, huge numbers."""


@st.composite
def mutated(draw, data):
    """Bytes after a few flips, deletions, insertions, swaps and cuts."""
    data = bytearray(data)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        what = draw(st.sampled_from(("flip", "delete", "insert", "nasty", "cut", "double")))
        if what == "flip" and data:
            data[at] = draw(st.integers(0, 255))
        elif what == "delete":
            del data[at : at + draw(st.integers(1, 60))]
        elif what == "insert":
            data[at:at] = draw(st.binary(max_size=12))
        elif what == "nasty":
            data[at:at] = draw(st.sampled_from(NASTY))
        elif what == "cut":
            del data[at:]
        else:
            data += data[at : at + 400]
    return bytes(data)


def read(name, folder):
    """Read a folder to its end or its error, and check what must hold in every case."""
    source = open_source(name, folder, malformed_share=1.0)
    found = []
    with suppress(InputError):
        found.extend(source)
    reading = source.report
    assert balanced(reading)
    assert reading.kept == len({record.id for record in found}) == len(found)
    assert min(reading.malformed, 1) <= len(reading.shown) <= 20
    for record in found:
        assert record.id
        assert record.title
        assert FIRST_YEAR <= record.year <= LAST_YEAR
        assert len({author.id for author in record.authors}) == len(record.authors)
        repr(record).encode("utf-8")
        " ".join((record.title, record.abstract, record.venue, *record.keywords)).encode("utf-8")
    return source


@pytest.mark.sweep(3)
@pytest.mark.parametrize("format_", FORMATS)
def test_mutated_files_never_crash_and_never_lose_a_record(format_, tmp_path_factory):
    files = {name: text.encode() for name, text in FILES[format_].items()}

    @settings(max_examples=60, deadline=None)
    @given(data=st.data())
    def check(data):
        name = data.draw(st.sampled_from(sorted(files)))
        broken = files | {name: data.draw(mutated(files[name]))}
        read(kind(format_), put(tmp_path_factory.mktemp("fuzz"), broken))

    check()


@pytest.mark.parametrize("format_", FORMATS)
def test_a_damaged_packed_file_is_an_input_error_or_read(format_, tmp_path_factory):
    name = MAIN[format_]
    packed = gzip.compress(FILES[format_][name].encode(), mtime=0)
    target = name if name.endswith(".gz") else f"{name}.gz"

    @settings(max_examples=30, deadline=None)
    @given(broken=mutated(packed))
    def check(broken):
        folder = tmp_path_factory.mktemp("fuzz")
        put(folder, {other: text for other, text in FILES[format_].items() if other != name})
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        (folder / target).write_bytes(broken)
        read(kind(format_), folder)

    check()


DEEP = json.loads("[" * 90 + "]" * 90)
WRONG = [
    *(None, True, False, 0, -1, 5, 10**30, 10**400, 1.5, 1e308, float("nan"), float("inf")),
    *("", "x", " ", "\ud800", "\u0000", "9" * 30, [], {}, [None], [[]], [{}], [5], ["\udfff"]),
    *({"a": 1}, {"name": 5}, {"a": [True]}, {"InvertedIndex": [1]}, [{"id": [], "name": {}}], DEEP),
    *([{"name": "A", "id": True}], [{"author": 5}], [{"author": {"id": {}}}], {"source": "x"}),
    *([{"year": None, "cited_by_count": 1}], [{"year": 2000, "cited_by_count": "x"}]),
]
ROWS = {
    "jsonl": JSONL[0],
    "oag": OAG2[0],
    "dblp": DBLP12[0],
    "openalex": OPENALEX[0] | {"concepts": [], "topics": [], "host_venue": {}},
}
FIELDS = [(name, field) for name, row in ROWS.items() for field in row]


@pytest.mark.parametrize(("name", "field"), FIELDS)
def test_any_kind_of_value_in_any_field_is_a_record_or_counted(name, field, tmp_path):
    row = ROWS[name]
    rows = [row, *(row | {"id": f"w{at}"} | {field: wrong} for at, wrong in enumerate(WRONG))]
    source = read(name, put(tmp_path, {"p.jsonl": lines(rows)}))
    assert source.report.read == len(rows)
    assert source.report.kept >= 1


@pytest.mark.parametrize(
    "field", ["id", "title", "authors", "affiliations", "year", "paper_references", "citation"]
)
def test_any_literal_in_any_field_of_virsci_is_a_record_or_counted(field, tmp_path):
    row = {"id": "p", "title": "T", "authors": ["A"], "year": 2000, "affiliations": ["X"]}
    wrong = [*WRONG, (), (1, 2), ("a", ("b",)), {1}, b"x", 1j, ..., (("x",),)]
    files = {"first.txt": repr(row)} | {
        f"{at}.txt": repr(row | {"id": f"w{at}"} | {field: value}) for at, value in enumerate(wrong)
    }
    source = read("virsci", put(tmp_path, files))
    assert source.report.read == len(files)
