"""Vectors that cannot be compared are refused wherever they are read, with their count."""

import dataclasses
import json

import numpy as np
import pytest

from tests.society.ecosystem.raw_records import build_ecosystem, raw
from virsci_society.agents.errors import InputError
from virsci_society.metrics.novelty.novelty import Database, novelty_scores
from virsci_society.society.ecosystem.ecosystem import MANIFEST, Ecosystem, file_hash
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.literature.columns import Ids
from virsci_society.society.literature.embedding.base import SETTINGS_FILE, CachedEmbedding
from virsci_society.society.literature.vector_index import VectorIndex

BAD = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf, "huge": 1e30, "zero": 0.0}


@pytest.fixture(scope="module")
def small():
    return Synthetic(
        scientists=12, papers=80, fields=3, years_past=6, years_contemporary=2
    ).generate(4)


def spoilt(rows, bad, count=3):
    """A copy of rows, the first of which are bad."""
    rows = np.array(rows)
    rows[:count] = BAD[bad]
    return rows


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("side", ["past", "contemporary"])
def test_an_ecosystem_refuses_them_in_python_and_from_a_folder(side, bad, small, tmp_path):
    rows = spoilt(getattr(small, f"{side}_vectors"), bad)
    told = rf"{side} papers.*: 3 of .* vectors .*build the ecosystem again"
    with pytest.raises(InputError, match=told):
        dataclasses.replace(small, **{f"{side}_vectors": rows})
    small.save(tmp_path / "eco")
    path = next((tmp_path / "eco" / "embeddings").glob(f"*/{side}.npy"))
    np.save(path, rows)
    manifest = json.loads((tmp_path / "eco" / MANIFEST).read_text())
    manifest.pop("hash", None)
    manifest["files"][path.relative_to(tmp_path / "eco").as_posix()] = file_hash(path)
    (tmp_path / "eco" / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=told):
        Ecosystem.load(tmp_path / "eco")


@pytest.mark.parametrize("side", ["past", "contemporary"])
def test_an_ecosystem_takes_unit_vectors_of_its_embedding_only(side, small):
    rows, name = getattr(small, f"{side}_vectors"), f"{side}_vectors"
    lengths = np.linspace(0.5, 2, len(rows), dtype=np.float32)[:, None]
    for bad in (3 * rows, rows / 1000, rows * lengths, rows > 0, rows[:, :-1], rows[:, 0]):
        with pytest.raises(InputError, match="build the ecosystem again"):
            dataclasses.replace(small, **{name: bad})
    for same in (rows.astype(float), np.asfortranarray(rows), rows.astype(">f4"), rows.tolist()):
        made = dataclasses.replace(small, **{name: same})
        assert made.digest() == small.digest()
        assert getattr(made, name).dtype == np.float32


def test_zero_vectors_of_papers_without_a_known_word_are_loaded(tmp_path):
    records = [raw(f"p{n}", 2000 + n % 12, "a", abstract="maps of trees") for n in range(30)]
    strange = dataclasses.replace(raw("q", 2011, "a", abstract="柟佲棢"), title="僤婉扡撱")
    made = build_ecosystem([*records, strange], boundary=2010)
    assert int((~made.contemporary_vectors.any(axis=1)).sum()) == 1
    (row,) = made.manifest["cleaning"]
    assert (row["number"], row["example"]) == (1, "q")
    assert any(
        note.startswith("1 of the 31 papers have no vector") for note in made.manifest["notes"]
    )
    made.save(tmp_path / "eco")
    assert Ecosystem.load(tmp_path / "eco").contemporary == made.contemporary


class Fixed(CachedEmbedding):
    """An embedding that makes the same row of every text."""

    name = origin = "fixed"
    revision, dim = "1", 4

    def __init__(self, row):
        super().__init__()
        self.row = np.asarray(row, dtype=np.float32)

    def _compute(self, texts):
        yield list(range(len(texts))), np.tile(self.row, (len(texts), 1))

    def save(self, folder):
        (folder / SETTINGS_FILE).write_text("{}")


@pytest.mark.parametrize("bad", BAD)
def test_a_model_that_makes_them_is_refused_and_nothing_is_kept(bad):
    embedding = Fixed([BAD[bad]] * 4)
    with pytest.raises(InputError, match="fixed: 2 of 2 vectors"):
        embedding.encode(["one", "two"])
    assert embedding.kept_row("one") is None
    assert not embedding.encode([""]).any()


@pytest.mark.parametrize("bad", BAD)
def test_a_table_that_holds_them_is_refused(bad):
    embedding = Fixed([1, 0, 0, 0])
    embedding.keep_rows(["one"], np.full((1, 4), BAD[bad], dtype=np.float32))
    with pytest.raises(InputError, match=r"vectors.sqlite: 1 of 1 vectors .*remove this table"):
        embedding.encode(["one", "two"])


def test_a_search_finds_no_past_paper_without_a_vector():
    rows = np.eye(4, dtype=np.float32)
    rows[1] = 0
    index = VectorIndex(4, Ids(list("abcd")), rows)
    assert [row for row, _ in index.search(rows[0], 4, 4)] == [0, 2, 3]


def test_novelty_is_measured_against_papers_that_have_a_vector():
    rng = np.random.default_rng(1)
    rows, years = rng.normal(size=(20, 4)).astype(np.float32), np.repeat([2010, 2011], 10)
    whole = Database(rows, years, np.ones(20), [f"p{n:02}" for n in range(20)])
    blank = Database(
        np.concatenate([rows, np.zeros((9, 4), np.float32)]),
        np.concatenate([years, np.full(9, 2010)]),
        np.ones(29),
        [*whole.ids, *(f"q{n}" for n in range(9))],
    )
    queries = rng.normal(size=(3, 4)).astype(np.float32)
    one, two = (novelty_scores(queries, base, base) for base in (whole, blank))
    assert one.equals(two)
    with pytest.raises(InputError, match="database: 2 of 20 vectors contain NaN"):
        Database(spoilt(rows, "nan", 2), years, None, whole.ids)
