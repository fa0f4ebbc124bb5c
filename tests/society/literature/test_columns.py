"""Ids of rows, both ways."""

from hypothesis import given
from hypothesis import strategies as st

from virsci_society.society.literature.columns import Ids

TEXTS = st.text(max_size=6)


@given(past=st.lists(TEXTS, unique=True), later=st.lists(TEXTS, unique=True), other=TEXTS)
def test_ids_name_rows_and_are_found_also_those_appended(past, later, other):
    ids, whole = Ids(past), [*past, *(key for key in later if key not in past)]
    for key in whole[len(past) :]:
        ids.append(key)
    assert list(ids) == [ids[row] for row in range(len(ids))] == whole
    assert [ids.row_of(key) for key in whole] == list(range(len(whole)))
    assert ids.row_of(other) == (whole.index(other) if other in whole else None)
    assert (other in ids) == (other in whole)
    assert ids.repeated() is None


def test_an_id_that_stands_twice_is_told_and_is_its_first_row():
    ids = Ids(["b", "a", "c", "a"])
    assert (ids.repeated(), ids.row_of("a")) == ("a", 1)
