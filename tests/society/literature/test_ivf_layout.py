"""How rows were sorted, kept in the table of vectors by a hash of them."""

import numpy as np
import pytest

from virsci_society.society.literature import ivf
from virsci_society.society.literature.embedding.cache import vector_table
from virsci_society.society.literature.ivf import ORIGIN, IVFIndex, layout_key, load_or_build_index

COUNT, DIM = 3000, 8
ROWS = np.random.default_rng(0).normal(size=(COUNT, DIM)).astype(np.float32)
CELLS = IVFIndex(ROWS)


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("SOCIETY_CACHE", str(tmp_path / "kept"))


def test_a_second_start_sorts_nothing_and_finds_the_same(monkeypatch):
    first = load_or_build_index(ROWS)
    monkeypatch.setattr(ivf, "_train", None)
    monkeypatch.setattr(IVFIndex, "_tuned", None)
    second = load_or_build_index(ROWS)
    assert second.facts == first.facts == CELLS.facts
    for query in ROWS[:30] + 0.01:
        assert np.array_equal(second.propose(query, 20, COUNT), first.propose(query, 20, COUNT))


def test_other_rows_or_another_metric_have_another_layout():
    other = ROWS.copy()
    other[7, 3] += 1e-3
    load_or_build_index(ROWS)
    key = layout_key(ROWS, "distance")
    assert vector_table().get(ORIGIN, key) is not None
    for rows, metric in ((other, "distance"), (ROWS, "cosine")):
        assert layout_key(rows, metric) != key
        assert vector_table().get(ORIGIN, layout_key(rows, metric)) is None
