"""Tables and arrays of the folder, one at a time, whatever stands in them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.errors import InputError
from agents.profile import Profile
from society.ecosystem import folder as files
from society.literature.paper import Paper

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
COUNT = st.none() | st.integers(0, 2**40)
DATES = st.floats(-1e6, 1e6)
YEARS = st.integers(1000, 2999)
PAPERS = st.builds(Paper, TEXT, TEXT, TEXT, DATES, YEARS, TEXTS, TEXTS, TEXTS, TEXT, COUNT)
PROFILES = st.builds(Profile, TEXT, TEXTS, TEXTS, st.integers(0, 999), COUNT, TEXTS)


@settings(max_examples=40, deadline=None)
@given(st.lists(PAPERS, max_size=4))
def test_papers_come_back(tmp_path_factory, papers):
    path = tmp_path_factory.mktemp("p") / files.PAPERS
    files.write_papers(path, papers)
    assert files.read_papers(path) == papers


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(PROFILES, st.none() | YEARS), max_size=4))
def test_scientists_come_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("s") / files.SCIENTISTS
    profiles, starts = [p for p, _ in rows], [start for _, start in rows]
    files.write_scientists(path, profiles, starts)
    assert files.read_scientists(path) == (profiles, starts)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 9)), max_size=8))
def test_counts_come_back(tmp_path_factory, entries):
    from scipy.sparse import csr_array

    dense = np.zeros((5, 5), dtype=np.int64)
    for row, column, count in entries:
        dense[row, column] = count
    path = tmp_path_factory.mktemp("c") / files.COAUTHORS
    files.write_counts(path, csr_array(dense))
    assert np.array_equal(files.read_counts(path).toarray(), dense)


@pytest.mark.parametrize(
    "arrays",
    [
        {"data": [1]},
        {"data": [1], "indices": [7], "indptr": [0, 1], "shape": [1, 1]},
        {"data": [1], "indices": [0], "indptr": [0, 5], "shape": [1, 1]},
        {"data": [1], "indices": [0], "indptr": [0, 1], "shape": [1]},
    ],
)
def test_counts_that_do_not_hold_together_are_told(arrays, tmp_path):
    np.savez(tmp_path / "c.npz", **{name: np.array(values) for name, values in arrays.items()})
    with pytest.raises(InputError, match=r"c\.npz"):
        files.read_counts(tmp_path / "c.npz")


def test_vectors_come_back_and_other_shapes_and_types_are_told(tmp_path):
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    path = tmp_path / "rows.npy"
    files.write_rows(path, rows)
    assert np.array_equal(files.read_rows(path, (3, 2)), rows)
    with pytest.raises(InputError, match=r"shape \(3, 2\).*expected float32 of shape \(4, 2\)"):
        files.read_rows(path, (4, 2))
    np.save(path, rows.astype(np.float64))
    with pytest.raises(InputError, match="float64"):
        files.read_rows(path, (3, 2))


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("lsa", "embeddings/lsa"),
        ("sentence-transformers:org/model-1.5", "embeddings/sentence-transformers_org_model-1.5"),
        ("../up", "embeddings/.._up"),
    ],
)
def test_an_embeddings_name_makes_one_folder(name, folder):
    assert files.embedding_folder(name) == folder
    assert len(Path(folder).parts) == 2


def test_the_manifest_covers_what_stands_in_the_folder(tmp_path):
    names = (files.PAPERS, files.SCIENTISTS, files.COAUTHORS)
    for name in names:
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / files.KEY).write_bytes(b"secret")
    files.write_manifest(tmp_path, {"source": "by hand"})
    manifest = files.read_manifest(tmp_path)
    assert sorted(manifest["files"]) == sorted(names)
    assert manifest["source"] == "by hand"


def test_a_hash_is_that_of_the_content(tmp_path):
    (tmp_path / "x").write_bytes(b"abc")
    assert files.file_hash(tmp_path / "x").startswith("ba7816bf8f01cfea")
