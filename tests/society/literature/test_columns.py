"""Ids of rows, both ways."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virsci_society.society.literature import columns
from virsci_society.society.literature.columns import IdColumn, Ids

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)


def column(ids):
    half = len(ids) // 2
    return IdColumn(pa.chunked_array([ids[:half], ids[half:]], pa.large_string()))


@pytest.mark.parametrize("few", [0, columns.FEW])
@given(ids=st.lists(TEXTS, unique=True), other=TEXTS)
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
    assert (found[-1], found[1:], len(found)) == ("c", ["a", "c"], 3)
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
