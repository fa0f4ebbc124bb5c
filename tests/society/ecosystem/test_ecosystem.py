"""The folder of an ecosystem: what is written is read, and nothing else."""

import dataclasses
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virsci_society.agents.errors import InputError
from virsci_society.agents.profile import Profile
from virsci_society.society.ecosystem import ecosystem
from virsci_society.society.ecosystem.ecosystem import MANIFEST, Ecosystem, file_hash
from virsci_society.society.ecosystem.knowledge_bank import People
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.literature.papers import Paper, Papers


@pytest.fixture(scope="module")
def small():
    return Synthetic(
        scientists=12, papers=80, fields=3, years_past=6, years_contemporary=2
    ).generate(4)


@pytest.fixture
def folder(small, tmp_path):
    small.save(tmp_path / "eco")
    return tmp_path / "eco"


def rewrite(folder, change):
    """Change the manifest by a function, and leave out its own hash."""
    path = folder / MANIFEST
    manifest = json.loads(path.read_text())
    manifest.pop("hash", None)
    change(manifest)
    path.write_text(json.dumps(manifest))


def same(one, two):
    assert one.boundary == two.boundary
    assert one.past == two.past
    assert one.contemporary == two.contemporary
    assert one.profiles == two.profiles
    assert np.array_equal(one.career_starts, two.career_starts)
    assert one.coauthors.dtype == two.coauthors.dtype
    assert (one.coauthors != two.coauthors).nnz == 0
    assert one.embedding.revision == two.embedding.revision
    assert np.array_equal(one.past_vectors, two.past_vectors)
    assert np.array_equal(one.contemporary_vectors, two.contemporary_vectors)


def test_what_is_saved_is_loaded(small, folder):
    loaded = Ecosystem.load(folder)
    same(small, loaded)
    assert loaded.manifest.items() >= small.manifest.items()
    assert loaded.manifest["counts"] == small.counts
    assert loaded.key is None
    assert loaded.digest() == small.digest()
    text = "a query on graphs"
    assert np.array_equal(loaded.embedding.encode([text]), small.embedding.encode([text]))


def test_the_key_is_written_only_on_request(small, folder, tmp_path):
    import pandas as pd

    assert not (folder / "key.parquet").exists()
    assert "person" not in (folder / MANIFEST).read_text().replace("persons", "")
    small.save(tmp_path / "keyed", key=True)
    rows = pd.read_parquet(tmp_path / "keyed" / "key.parquet")
    assert list(rows.columns) == ["masked", "id", "name"]
    assert len(rows) == len(small.key)
    (tmp_path / "keyed" / "key.parquet").unlink()
    keyless = Ecosystem.load(tmp_path / "keyed")
    with pytest.raises(InputError, match="no key"):
        keyless.save(tmp_path / "more", key=True)


FILES = [
    *("papers.parquet", "scientists.parquet", "coauthors.npz", "embeddings/lsa/embedding.json"),
    *("embeddings/lsa/embedding.npz", "embeddings/lsa/past.npy"),
    "embeddings/lsa/contemporary.npy",
]


def test_the_manifest_hashes_every_file(folder):
    hashes = json.loads((folder / MANIFEST).read_text())["files"]
    assert sorted(hashes) == sorted(FILES)
    assert all(file_hash(folder / name) == value for name, value in hashes.items())


@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_is_noticed(name, folder):
    path = folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match=rf"{path.name}: its hash .* build the ecosystem again"):
        Ecosystem.load(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(name, folder):
    (folder / name).unlink()
    with pytest.raises(InputError, match=rf"{name}: missing"):
        Ecosystem.load(folder)


def test_a_missing_folder_or_manifest_is_named(folder, tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        Ecosystem.load(tmp_path / "nowhere")
    (folder / MANIFEST).unlink()
    with pytest.raises(InputError, match=r"manifest\.json: missing"):
        Ecosystem.load(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": 3, "format": 1}'])
def test_a_broken_manifest_is_told(text, folder):
    (folder / MANIFEST).write_text(text)
    with pytest.raises(InputError, match="not a manifest"):
        Ecosystem.load(folder)


CHANGES = {
    "format": (lambda m: m.update(format=9), "format 9"),
    "unlisted": (lambda m: m["files"].pop("papers.parquet"), "no hash for papers.parquet"),
    "outside": (lambda m: m["files"].update({"../x": "0"}), "outside the folder"),
    "boundary far": (lambda m: m.update(boundary=1900), "boundary 1900"),
    "boundary moved": (
        lambda m: m.update(boundary=2023),
        r"boundary 2023 does not fit the papers, whose years are 2018 to 2025",
    ),
    "boundary text": (lambda m: m.update(boundary="soon"), "boundary 'soon'"),
    "no embedding": (lambda m: m.update(embeddings=[]), r"embeddings \[\]"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_manifest_that_does_not_fit_is_told(name, folder):
    change, told = CHANGES[name]
    rewrite(folder, change)
    with pytest.raises(InputError, match=told):
        Ecosystem.load(folder)


def test_a_table_with_a_right_hash_and_wrong_content_is_told(folder):
    for name in ("papers.parquet", "coauthors.npz", "embeddings/lsa/past.npy"):
        kept = (folder / name).read_bytes()
        (folder / name).write_bytes(b"nothing")
        rewrite(folder, lambda m, n=name: m["files"].update({n: file_hash(folder / n)}))
        with pytest.raises(InputError, match=name.split("/")[-1]):
            Ecosystem.load(folder)
        (folder / name).write_bytes(kept)
        rewrite(folder, lambda m, n=name: m["files"].update({n: file_hash(folder / n)}))
    Ecosystem.load(folder)


def test_pickled_vectors_are_refused(folder):
    path = folder / "embeddings/lsa/past.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    rewrite(folder, lambda m: m["files"].update({"embeddings/lsa/past.npy": file_hash(path)}))
    with pytest.raises(InputError, match=r"past\.npy"):
        Ecosystem.load(folder)


def test_other_peoples_files_are_not_overwritten(small, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="contains files that"):
        small.save(tmp_path)
    with pytest.raises(InputError, match="is a file"):
        small.save(tmp_path / "thesis.txt")
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize("last", ["write_papers", "write_counts", "write_rows", "write_manifest"])
@pytest.mark.parametrize("there", [False, True], ids=["in a new folder", "over another"])
def test_what_a_killed_writer_left_is_written_again(small, tmp_path, monkeypatch, last, there):
    folder = tmp_path / "eco"
    if there:
        small.save(folder)

    def killed(*ignored):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ecosystem, last, killed)
        with pytest.raises(KeyboardInterrupt):
            small.save(folder)
    with pytest.raises(InputError, match=r"manifest\.json"):
        Ecosystem.load(folder)
    small.save(folder)
    assert Ecosystem.load(folder).counts == small.counts
    assert not (folder / ecosystem.BEGUN).exists()


@pytest.mark.parametrize(
    "change",
    [
        {"career_starts": ()},
        {"interest_vectors": np.zeros((1, 2), np.float32)},
        {"past_vectors": np.zeros((1, 2), np.float32)},
        {"contemporary_vectors": np.zeros((1, 2), np.float32)},
        {"profiles": ()},
        {"boundary": 1980},
        {"boundary": 2023},
    ],
)
def test_parts_that_do_not_belong_together_are_refused(change, small):
    with pytest.raises(InputError):
        dataclasses.replace(small, **change)


@pytest.mark.parametrize("part", ["past", "contemporary", "profiles", "coauthors", "vectors"])
def test_the_digest_tells_any_difference(part, small):
    first = {name: getattr(small, name)[0] for name in ("past", "contemporary", "profiles")}
    vectors = small.past_vectors.copy()
    vectors[0, 0] += 1e-5
    changes = {
        "past": {"past": (dataclasses.replace(first["past"], title="Other"), *small.past[1:])},
        "contemporary": {
            "contemporary": (
                dataclasses.replace(first["contemporary"], citations=12345),
                *small.contemporary[1:],
            )
        },
        "profiles": {
            "profiles": (dataclasses.replace(first["profiles"], papers=99), *small.profiles[1:])
        },
        "coauthors": {"coauthors": small.coauthors * 2},
        "vectors": {"past_vectors": vectors},
    }
    other = dataclasses.replace(small, **changes[part])
    assert other.digest() != small.digest()
    assert dataclasses.replace(small, manifest={}).digest() == small.digest()


def test_papers_out_of_order_are_refused(small):
    first, second, *rest = small.past
    assert first.date == second.date
    for wrong in ([*rest, first, second], [second, first, *rest], [first, first, *rest]):
        with pytest.raises(InputError, match="by date, then id"):
            dataclasses.replace(small, past=wrong, past_vectors=small.past_vectors[: len(wrong)])
    with pytest.raises(InputError, match="by date, then id"):
        dataclasses.replace(small, past=small.past[::-1])


def test_what_is_no_date_is_refused(small):
    first, *rest = small.contemporary
    for date in (float("nan"), float("inf"), -1.0):
        with pytest.raises(InputError):
            dataclasses.replace(small, contemporary=(dataclasses.replace(first, date=date), *rest))


def test_it_can_be_copied_to_another_process(small):
    copy = pickle.loads(pickle.dumps(small))
    same(small, copy)
    assert copy.digest() == small.digest()


def test_interests_of_many_are_stored_as_the_knowledge_bank_encodes_them(small, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ecosystem, "MANY_PEOPLE", len(small.profiles) - 1)
        small.save(tmp_path / "many")
    small.save(tmp_path / "few")
    many, few = (Ecosystem.load(tmp_path / name) for name in ("many", "few"))
    assert few.interest_vectors is None
    texts = [", ".join(profile.interests) for profile in small.profiles]
    assert np.array_equal(many.interest_vectors, small.embedding.encode(texts))
    assert many.digest() == few.digest() == small.digest()
    many.save(tmp_path / "again")
    assert "embeddings/lsa/interests.npy" in Ecosystem.load(tmp_path / "again").manifest["files"]


def test_what_is_loaded_lies_in_its_file_and_can_be_saved_over_it(small, folder):
    loaded = Ecosystem.load(folder)
    assert isinstance(loaded.past_vectors.base, np.memmap)
    loaded.save(folder)
    same(small, loaded)
    same(small, Ecosystem.load(folder))


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
    path = tmp_path_factory.mktemp("p") / ecosystem.PAPERS
    ecosystem.write_papers(path, Papers.of(papers[:1]), Papers.of(papers[1:]))
    assert ecosystem.read_papers(path) == papers


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(PROFILES, st.just(0) | YEARS), max_size=4))
def test_scientists_come_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("s") / ecosystem.SCIENTISTS
    profiles, starts = [p for p, _ in rows], [start for _, start in rows]
    ecosystem.write_scientists(path, People.of(profiles), np.array(starts, dtype=np.int64))
    people, years = ecosystem.read_scientists(path)
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
        ecosystem.read_counts(tmp_path / "c.npz")


def test_vectors_come_back_and_other_shapes_and_types_are_told(tmp_path):
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    path = tmp_path / "rows.npy"
    ecosystem.write_rows(path, rows)
    assert np.array_equal(ecosystem.read_rows(path, (3, 2)), rows)
    with pytest.raises(InputError, match=r"shape \(3, 2\).*expected float32 of shape \(4, 2\)"):
        ecosystem.read_rows(path, (4, 2))
    np.save(path, rows.astype(np.float64))
    with pytest.raises(InputError, match="float64"):
        ecosystem.read_rows(path, (3, 2))


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("lsa", "embeddings/lsa"),
        ("sentence-transformers:org/model-1.5", "embeddings/sentence-transformers_org_model-1.5"),
        ("../up", "embeddings/.._up"),
    ],
)
def test_an_embeddings_name_makes_one_folder(name, folder):
    assert ecosystem.embedding_folder(name) == folder
    assert len(Path(folder).parts) == 2


def rewritten(tmp_path, **columns):
    """A table of papers whose columns are replaced by others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / ecosystem.PAPERS
    ecosystem.write_papers(path, Papers.of([Paper("a", "t", "", 0.0, 2000, ("x",))]))
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
        ecosystem.read_papers(rewritten(tmp_path, **columns))


def test_the_bytes_of_a_table_do_not_depend_on_its_chunks(tmp_path):
    import pyarrow as pa

    papers = [Paper(f"p{n}", "t", "a" * n, 0.0, 2000, ("x",), (f"p{n}",)) for n in range(9)]
    whole = Papers.of(papers)
    pieces = Papers(pa.concat_tables([whole[:4].table, whole[4:5].table, whole[5:].table]))
    assert pieces.table["id"].num_chunks == 3
    ecosystem.write_papers(tmp_path / "one", whole)
    ecosystem.write_papers(tmp_path / "other", pieces)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
