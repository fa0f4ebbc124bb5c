"""How rows were sorted, kept in a file that is believed only where it fits them."""

import os
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from virsci_society.society.literature import ivf
from virsci_society.society.literature.ivf import (
    IVFIndex,
    IVFLayout,
    layout_key,
    load_or_build_index,
    read_layout,
    write_layout,
)

COUNT, DIM = 3000, 8
ROWS = np.random.default_rng(0).normal(size=(COUNT, DIM)).astype(np.float32)
CELLS = IVFIndex(ROWS)
KEY = layout_key(ROWS, "distance")


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "past.cells.npz"
    assert write_layout(path, KEY, CELLS.layout)
    return path


def read(path):
    return read_layout(path, KEY, COUNT, DIM)


def test_a_second_start_sorts_nothing_and_finds_the_same(tmp_path, monkeypatch):
    path = tmp_path / "past.cells.npz"
    first = load_or_build_index(ROWS, path)
    monkeypatch.setattr(ivf, "_train", None)
    monkeypatch.setattr(IVFIndex, "_tuned", None)
    second = load_or_build_index(ROWS, path)
    assert second.facts == first.facts == CELLS.facts
    for query in ROWS[:30] + 0.01:
        assert np.array_equal(second.propose(query, 20, COUNT), first.propose(query, 20, COUNT))
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("metric", ["distance", "cosine"])
def test_other_rows_or_another_metric_have_another_key(kept, metric):
    other = ROWS.copy()
    other[7, 3] += 1e-3
    assert layout_key(other, metric) != KEY
    assert (layout_key(ROWS, metric) == KEY) == (metric == "distance")
    assert read_layout(kept, layout_key(other, metric), COUNT, DIM) is None
    assert load_or_build_index(other, kept).layout.centres.shape == CELLS.layout.centres.shape
    assert read(kept) is None


def test_a_folder_that_takes_no_file_is_no_hindrance(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert write_layout(blocked / "past.cells.npz", KEY, CELLS.layout) is False
    assert load_or_build_index(ROWS, tmp_path / "nowhere" / "past.cells.npz").facts == CELLS.facts


def changed(**arrays):
    sorting = CELLS.layout
    known = {"centres": sorting.centres, "cell_of": sorting.cell_of, "scale": sorting.scale}
    return IVFLayout(**(known | {"probed": 1, "recall": 0.99} | arrays))


WRONG = [
    changed(cell_of=CELLS.layout.cell_of - 1),
    changed(cell_of=CELLS.layout.cell_of + len(CELLS.layout.centres)),
    changed(cell_of=CELLS.layout.cell_of[1:]),
    changed(cell_of=CELLS.layout.cell_of.astype(np.int64)),
    changed(centres=CELLS.layout.centres[:, 1:]),
    changed(centres=np.full_like(CELLS.layout.centres, np.nan)),
    changed(scale=CELLS.layout.scale[:-1]),
    changed(probed=0),
    changed(probed=10**6),
    changed(probed=float("nan")),
    changed(compared=5),
    changed(recall=float("nan")),
]


@pytest.mark.parametrize("sorting", WRONG)
def test_arrays_that_do_not_fit_the_rows_are_passed_over(kept, sorting):
    assert read(kept).probed == CELLS.layout.probed
    write_layout(kept, KEY, sorting)
    assert read(kept) is None


def test_a_file_that_unpacks_to_more_than_it_may_is_not_unpacked(kept):
    with kept.open("wb") as file:
        np.savez_compressed(file, centres=np.zeros(10**7, np.float32), key=np.zeros(9))
    assert kept.stat().st_size < 100_000
    assert read(kept) is None


class Planted:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_nothing_is_unpickled(kept, tmp_path):
    canary = tmp_path / "canary"
    planted = np.empty(1, dtype=object)
    planted[0] = Planted(canary)
    with kept.open("wb") as file:
        np.savez(file, centres=planted, cell_of=planted, scale=planted, measured=planted, key=KEY)
    assert read(kept) is None
    kept.write_bytes(pickle.dumps(Planted(canary)))
    assert read(kept) is None
    assert not canary.exists()


@given(
    spots=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), max_size=8),
    share=st.floats(0, 1),
    cut=st.booleans(),
)
@example(spots=[(0.0078125, 91)], share=0.0, cut=False)
def test_a_damaged_file_is_passed_over_or_read_as_it_was(tmp_path_factory, spots, share, cut):
    path = tmp_path_factory.mktemp("kept") / "past.cells.npz"
    write_layout(path, KEY, CELLS.layout)
    data = bytearray(path.read_bytes())
    for place, change in spots:
        data[int(place * len(data))] ^= change
    path.write_bytes(data[: int(share * len(data))] if cut else data)
    found = read(path)
    if found is not None:
        assert np.array_equal(found.centres, CELLS.layout.centres)
        assert np.array_equal(found.cell_of, CELLS.layout.cell_of)
        numbers = (found.probed, found.compared, found.recall)
        assert numbers == (CELLS.layout.probed, CELLS.layout.compared, CELLS.layout.recall)
