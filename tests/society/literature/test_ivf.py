"""A past too large to search whole: cells, their recall, and what must not change the answer."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from virsci_society.society.literature import ivf
from virsci_society.society.literature.columns import Ids
from virsci_society.society.literature.embedding.cache import vector_table
from virsci_society.society.literature.ivf import (
    COMPARED,
    ORIGIN,
    IVFIndex,
    layout_key,
    load_or_build_index,
)
from virsci_society.society.literature.vector_index import VectorIndex

ROOT = Path(__file__).parents[3]
COUNT, DIM, TWINS = 30_000, 24, 90
PROMISED = 0.97


def clustered(count, dim=DIM, seed=0, clusters=60):
    """Unit rows around random centres, the same for the same seed."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(size=(clusters, dim))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    rows = centres[rng.integers(clusters, size=count)] + rng.normal(size=(count, dim)) / dim**0.5
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def brute(rows, ids, query, k, visible):
    gaps = rows[:visible].astype(np.float64) - query
    distances = np.sqrt(np.square(gaps).sum(axis=1))
    last = min(k, visible) - 1
    near = np.flatnonzero(distances <= np.partition(distances, last)[last]).tolist()
    ranked = sorted((float(distances[row]), ids[row], row) for row in near)
    return [(row, distance) for distance, _, row in ranked[:k]]


def recall(index, rows, ids, visible, queries):
    found = 0
    for query in queries:
        true = brute(rows, ids, query, 5, visible)
        found += sum(hit in true for hit in index.search(query, 5, visible))
    return found / (5 * len(queries))


@pytest.fixture(scope="module")
def rows():
    made = clustered(COUNT)
    # Many papers of one vector, wide apart, more than are ever proposed at first.
    made[100 : 100 + 300 * TWINS : 300] = made[100]
    made.flags.writeable = False
    return made


@pytest.fixture(scope="module")
def ids():
    return [f"p{number:05d}" for number in np.random.default_rng(3).permutation(COUNT)]


@pytest.fixture(scope="module")
def cells(rows):
    return IVFIndex(rows)


@pytest.fixture
def index(rows, ids, cells, monkeypatch):
    monkeypatch.setattr(
        "virsci_society.society.literature.ivf.load_or_build_index", lambda *given: cells
    )
    return VectorIndex(DIM, Ids(ids), rows)


@pytest.fixture(scope="module")
def even():
    """Rows without clusters, in which some of the nearest are missed."""
    rows = np.random.default_rng(5).normal(size=(8000, DIM)).astype(np.float32)
    return rows, IVFIndex(rows)


def share_found(even, visible, probed=None):
    """Share of the five nearest of some visible rows, themselves left out, among the proposed."""
    rows, cells = even
    found = 0
    picked = range(0, visible, max(1, visible // 150))
    for row in picked:
        seen = (visible, (row,))
        near = cells.propose(rows[row], 5, *seen)
        if probed is not None:
            near = cells._propose(rows[row], 5 * COMPARED, *seen, probed)
        true = brute(rows, range(visible), rows[row], 6, visible)[1:]
        found += len({hit for hit, _ in true} & set(near.tolist()))
    return found / (5 * len(picked))


def test_recall_is_measured_not_assumed(even):
    facts = even[1].facts
    assert facts["probed"] > 1
    assert 0.985 <= facts["recall"] < 1.0
    assert share_found(even, 8000) == pytest.approx(facts["recall"], abs=0.015)
    assert share_found(even, 8000, probed=1) < 0.8


@pytest.mark.slow
def test_the_fewer_rows_are_visible_the_more_cells_are_looked_into(rows, cells):
    widened = share_found((rows, cells), 1000)
    assert widened >= 0.99
    assert share_found((rows, cells), 1000, probed=cells.facts["probed"]) < widened


@pytest.mark.parametrize("visible", [25_000, 21_000])
def test_a_search_inside_the_past_sees_nothing_later_and_finds_as_much(index, rows, ids, visible):
    queries = clustered(60, seed=5)
    for query in queries:
        assert all(row < visible for row, _ in index.search(query, 9, visible))
    assert recall(index, rows, ids, visible, queries) >= PROMISED


def test_early_enough_the_answer_is_exact(index, rows, ids):
    for query in clustered(5, seed=6):
        assert index.search(query, 5, 20_000) == brute(rows, ids, query, 5, 20_000)
        assert index.search(query, 5, 3) == brute(rows, ids, query, 5, 3)


def test_equal_distances_are_ordered_by_id_however_many_there_are(index, rows, ids):
    twins = sorted(range(100, 100 + 300 * TWINS, 300), key=ids.__getitem__)
    found = index.search(rows[100], 6, COUNT)
    assert found == [(row, 0.0) for row in twins[:6]]
    early = [row for row in twins if row < 25_000]
    assert [row for row, _ in index.search(rows[100], 6, 25_000)] == early[:6]


def test_excluded_ids_make_room_for_the_next(index, ids):
    for query in clustered(20, seed=8):
        more = index.search(query, 8, COUNT)
        gone = frozenset({ids[more[0][0]], ids[more[2][0]], "nobody"})
        rest = [hit for hit in more if ids[hit[0]] not in gone]
        assert index.search(query, 6, COUNT, gone) == rest[:6]


def test_what_is_added_is_found_beside_the_past_and_changes_no_earlier_answer(index, rows, ids):
    queries = clustered(15, seed=9)
    before = [index.search(query, 5, COUNT) for query in queries]
    fresh = clustered(400, seed=10)
    fresh[:15] = queries
    index.add([f"new{number}" for number in range(400)], fresh)
    assert [index.search(query, 5, COUNT) for query in queries] == before
    for number, query in enumerate(queries):
        (first, second, *_) = index.search(query, 5, COUNT + 400)
        assert first == (COUNT + number, 0.0)
        assert second[1] <= before[number][0][1]
        assert index.search(query, 5, COUNT + number) != index.search(query, 5, COUNT + number + 1)
    assert index.vector("new3").tolist() == queries[3].tolist()
    assert index.vector(ids[7]).tolist() == rows[7].tolist()


def digest():
    rows = clustered(12_000, seed=13)
    cells = IVFIndex(rows)
    whole = hashlib.sha256(cells.layout.centres.tobytes() + cells.layout.cell_of.tobytes())
    for query in clustered(20, seed=14):
        whole.update(cells.propose(query, 20, len(rows)).tobytes())
    return f"{whole.hexdigest()} {cells.facts}"


@pytest.mark.slow
def test_the_number_of_threads_changes_nothing():
    code = "from tests.society.literature import test_ivf as here; print(here.digest())"
    told = set()
    for threads in ("1", "4"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        path = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
        given = os.environ | dict.fromkeys(names, threads) | {"PYTHONPATH": path}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=given
        )
        told.add(done.stdout)
    assert len(told) == 1
    assert "recall" in told.pop()


def test_a_memory_mapped_past_stays_on_disk(index, rows, ids, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    mapped = VectorIndex(DIM, Ids(ids), np.load(tmp_path / "rows.npy", mmap_mode="r"))
    assert isinstance(mapped._past, np.memmap)
    for query in clustered(10, seed=15):
        assert mapped.search(query, 5, COUNT) == index.search(query, 5, COUNT)


FEW = np.random.default_rng(0).normal(size=(3000, 8)).astype(np.float32)


def test_a_second_start_sorts_nothing_and_finds_the_same(monkeypatch, tmp_path):
    monkeypatch.setenv("SOCIETY_CACHE", str(tmp_path / "kept"))
    first = load_or_build_index(FEW)
    monkeypatch.setattr(ivf, "_train", None)
    monkeypatch.setattr(IVFIndex, "_tuned", None)
    second = load_or_build_index(FEW)
    assert second.facts == first.facts
    for query in FEW[:30] + 0.01:
        proposed = first.propose(query, 20, len(FEW))
        assert np.array_equal(second.propose(query, 20, len(FEW)), proposed)


def test_other_rows_or_another_metric_have_another_layout(monkeypatch, tmp_path):
    monkeypatch.setenv("SOCIETY_CACHE", str(tmp_path / "kept"))
    other = FEW.copy()
    other[7, 3] += 1e-3
    load_or_build_index(FEW)
    key = layout_key(FEW, "distance")
    assert vector_table().get(ORIGIN, key) is not None
    for rows, metric in ((other, "distance"), (FEW, "cosine")):
        assert layout_key(rows, metric) != key
        assert vector_table().get(ORIGIN, layout_key(rows, metric)) is None
