"""Tables and arrays of the folder, one at a time, whatever stands in them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virsci_society.agents.errors import InputError
from virsci_society.agents.profile import Profile
from virsci_society.society.ecosystem import storage as files
from virsci_society.society.ecosystem.knowledge_bank import People
from virsci_society.society.literature.papers import Paper, Papers

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
    files.write_papers(path, Papers.of(papers[:1]), Papers.of(papers[1:]))
    assert files.read_papers(path) == papers


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(PROFILES, st.just(0) | YEARS), max_size=4))
def test_scientists_come_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("s") / files.SCIENTISTS
    profiles, starts = [p for p, _ in rows], [start for _, start in rows]
    files.write_scientists(path, People.of(profiles), np.array(starts, dtype=np.int64))
    people, years = files.read_scientists(path)
    assert people == profiles
    assert years.tolist() == starts


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


def made(tmp_path, **columns):
    """A table of papers whose columns are replaced by others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / files.PAPERS
    files.write_papers(path, Papers.of([Paper("a", "t", "", 0.0, 2000, ("x",))]))
    table = pq.read_table(path)
    for name, values in columns.items():
        place = table.column_names.index(name)
        table = table.remove_column(place)
        if values is not None:
            table = table.add_column(place, name, pa.array(values))
    pq.write_table(table, path)
    return path


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"title": None}, "title"),
        ({"year": ["soon"]}, "soon"),
        ({"id": [None]}, "column 'id' has empty cells"),
        ({"authors": [["x", None]]}, "column 'authors' has empty cells"),
        ({"references": [None]}, "not a readable table|column 'references' has empty cells"),
    ],
)
def test_columns_that_are_not_those_of_papers_are_told(columns, told, tmp_path):
    with pytest.raises(InputError, match=rf"papers\.parquet: .*({told})"):
        files.read_papers(made(tmp_path, **columns))


def test_the_bytes_of_a_table_do_not_depend_on_its_chunks(tmp_path):
    import pyarrow as pa

    papers = [Paper(f"p{n}", "t", "a" * n, 0.0, 2000, ("x",), (f"p{n}",)) for n in range(9)]
    whole = Papers.of(papers)
    pieces = Papers(pa.concat_tables([whole[:4].table, whole[4:5].table, whole[5:].table]))
    assert pieces.table["id"].num_chunks == 3
    files.write_papers(tmp_path / "one", whole)
    files.write_papers(tmp_path / "other", pieces)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
