"""Papers in columns: a sequence like any other, and who cites whom among them."""

import pickle

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virsci_society.society.literature import columns
from virsci_society.society.literature.columns import IdColumn, Ids
from virsci_society.society.literature.papers import Paper, Papers

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
COUNT = st.none() | st.integers(0, 2**40)
ANY = st.builds(
    Paper, TEXT, TEXT, TEXT, st.floats(-9, 9), st.integers(1, 9), TEXTS, TEXTS, TEXTS, TEXT, COUNT
)


def paper(name, *references, date=0.0, citations=None):
    return Paper(name, "Title", "Text", date, 2000, ("a",), references, citations=citations)


FIVE = [
    paper("a"),
    paper("b", "a", "b", "a"),
    paper("c", "b", "a", "elsewhere"),
    paper("d", citations=4),
    paper("e", "a", "f"),
]


@given(st.lists(ANY, max_size=5), st.data())
def test_they_are_the_sequence_they_were_made_of(rows, data):
    papers = Papers.of(rows)
    assert papers == rows
    assert rows == list(papers)
    assert len(papers) == len(rows)
    bounds = st.none() | st.integers(-7, 7)
    part = slice(
        *(data.draw(bounds) for _ in range(2)), data.draw(st.sampled_from([None, 1, 2, -1]))
    )
    assert papers[part] == rows[part]
    for row in range(-len(rows), len(rows)):
        assert papers[row] == rows[row]
    with pytest.raises(IndexError):
        papers[len(rows)]
    copy = pickle.loads(pickle.dumps(papers[1:]))
    assert copy == rows[1:]


@given(st.lists(ANY, max_size=6), st.integers(0, 6), st.integers(0, 6))
def test_the_digest_knows_values_and_not_chunks(rows, cut, other):
    whole = Papers.of(rows)
    first, last = sorted((cut, other))
    pieces = [whole[:first], whole[first:last], whole[last:]]
    chunks = Papers(pa.concat_tables([piece.table for piece in pieces]))
    assert chunks == whole
    assert chunks.digest() == whole.digest()
    assert whole[first:last].digest() == Papers.of(rows[first:last]).digest()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"authors": ("ab", "c")}, {"authors": ("a", "bc")}),
        ({"authors": ("a", "b")}, {"authors": ("a,b",)}),
        ({"keywords": ()}, {"keywords": ("",)}),
        ({"citations": None}, {"citations": 0}),
        ({"title": "ab", "abstract": "c"}, {"title": "a", "abstract": "bc"}),
    ],
)
def test_the_digest_tells_what_looks_alike_when_joined(one, other):
    rest = {"id": "x", "title": "t", "abstract": "", "date": 0.0, "year": 1, "authors": ()}
    digests = [Papers.of([Paper(**(rest | change))]).digest() for change in (one, other)]
    assert digests[0] != digests[1]


def test_ids_are_found_and_others_are_not():
    papers = Papers.of(FIVE)
    assert [papers.row_of(name) for name in "abcde"] == [0, 1, 2, 3, 4]
    assert papers.row_of("f") is None
    assert papers.rows_of(["e", "nobody", "a", "e"]).tolist() == [4, -1, 0, 4]
    assert papers[2:].rows_of(pa.array(["c", "a"], pa.large_string())).tolist() == [0, -1]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), max_size=7))
def test_references_are_those_that_a_reader_would_find(lists):
    rows = [paper("abcdefg"[n], *references) for n, references in enumerate(lists)]
    papers = Papers.of(rows)
    row_of = {one.id: row for row, one in enumerate(rows)}
    expected = [
        sorted({row_of[r] for r in one.references if r in row_of and r != one.id}) for one in rows
    ]
    starts, cited = papers.cites
    assert [cited[starts[n] : starts[n + 1]].tolist() for n in range(len(rows))] == expected
    for row in range(len(rows)):
        assert papers.cited_by(row).tolist() == [n for n, e in enumerate(expected) if row in e]


def test_the_papers_of_each_author():
    def by(name, *authors):
        return Paper(name, "Title", "Text", 0.0, 2000, authors)

    papers = Papers.of([by("a", "x", "y"), by("b"), by("c", "y", "z", "y"), by("d", "x")])
    assert {name: papers.written_by(name).tolist() for name in "xyzw"} == {
        "x": [0, 3],
        "y": [0, 2],
        "z": [2],
        "w": [],
    }
    assert papers[1:].written_by("x").tolist() == [2]
    assert Papers.of([]).written_by("x").tolist() == []
    assert pickle.loads(pickle.dumps(papers)).written_by("z").tolist() == [2]


KEYS = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)


def column(ids):
    half = len(ids) // 2
    return IdColumn(pa.chunked_array([ids[:half], ids[half:]], pa.large_string()))


@pytest.mark.parametrize("few", [0, columns.FEW])
@given(ids=st.lists(KEYS, unique=True), other=KEYS)
def test_a_column_names_rows_and_finds_them(few, ids, other):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "FEW", few)
        found = column(ids)
        assert list(found) == ids
        assert [found.row_of(key) for key in ids] == list(range(len(ids)))
        assert [ids[row] for row in found.order.tolist()] == sorted(ids)
        assert found.row_of(other) == (ids.index(other) if other in ids else None)
        assert found.repeated() is None


def test_an_id_that_stands_twice_is_told():
    assert column(["b", "a", "c", "a"]).repeated() == "a"


@pytest.mark.parametrize("few", [0, columns.FEW])
def test_rows_are_counted_as_in_any_sequence(few, monkeypatch):
    monkeypatch.setattr(columns, "FEW", few)
    found = column(["b", "a", "c"])
    assert (found[-1], found[1], len(found)) == ("c", "a", 3)
    with pytest.raises(IndexError):
        found[3]


@pytest.mark.parametrize("past", [["b", "a"], column(["b", "a"])])
def test_later_ids_follow_those_of_the_past(past):
    ids = Ids(past, getattr(past, "row_of", None))
    ids.append("z")
    ids.append("c")
    assert [ids[row] for row in range(len(ids))] == ["b", "a", "z", "c"]
    assert [ids.row_of(key) for key in ("a", "b", "c", "z", "q")] == [1, 0, 3, 2, None]
    assert "z" in ids
    assert "q" not in ids
