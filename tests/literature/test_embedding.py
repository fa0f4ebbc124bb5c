"""Embeddings: texts to unit rows that depend on nothing but the text."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.errors import InputError
from society.literature.embedding import (
    ARRAYS_FILE,
    SETTINGS_FILE,
    Lsa,
    load_embedding,
    paper_text,
    words_and_pairs,
)

ROOT = Path(__file__).parents[2]
CORPUS = [
    "Volume rendering of medical scans. Rays are cast through a scalar field.",
    "Interactive volume rendering. Transfer functions colour the scalar field.",
    "Graph drawing with forces. Nodes repel each other and edges are springs.",
    "Force-directed graph layout. Edges are springs and nodes are charged.",
    "Machine translation of rare languages. Parallel corpora are aligned by word.",
    "Word alignment in parallel corpora. Translation quality improves.",
]


@pytest.fixture(scope="module")
def lsa() -> Lsa:
    return Lsa.fit(CORPUS, seed=3)


def test_terms_are_words_without_stop_words_then_adjacent_pairs() -> None:
    assert words_and_pairs("The layout of large Graphs") == [
        "layout",
        "large",
        "graphs",
        "layout large",
        "large graphs",
    ]


def test_terms_keep_hyphens_and_drop_single_letters_and_punctuation() -> None:
    assert words_and_pairs("A k-nearest, _x_ (force-directed) y!") == [
        "k-nearest",
        "force-directed",
        "k-nearest force-directed",
    ]


def test_paper_text_is_title_full_stop_abstract() -> None:
    assert paper_text("Title", "Abstract.") == "Title. Abstract."


def test_rows_are_unit_float32_and_rounded(lsa: Lsa) -> None:
    rows = lsa.encode(CORPUS)
    assert rows.dtype == np.float32
    assert rows.shape == (6, lsa.dim)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-4)
    assert np.array_equal(rows, np.round(rows.astype(np.float64), 5).astype(np.float32))


def test_a_small_corpus_gives_a_shorter_vector(lsa: Lsa) -> None:
    assert lsa.dim == 5
    assert Lsa.fit(CORPUS, dim=3).dim == 3


@pytest.mark.parametrize("text", ["", "zebra quagga", "the of and", "!!!"])
def test_a_text_without_a_known_word_gives_a_zero_row(lsa: Lsa, text: str) -> None:
    assert not lsa.encode([text]).any()


def test_texts_on_one_subject_are_nearer_than_texts_on_two(lsa: Lsa) -> None:
    rows = lsa.encode(CORPUS)
    cosines = rows @ rows.T
    for pair in ((0, 1), (2, 3), (4, 5)):
        others = [row for row in range(6) if row not in pair]
        assert cosines[pair[0], pair[1]] > cosines[pair[0], others].max()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([*CORPUS, "", "graph scan", "volume of words"]), max_size=8))
def test_a_row_does_not_depend_on_its_batch(texts: list[str]) -> None:
    lsa = _FITTED
    rows = lsa.encode(texts)
    assert rows.shape == (len(texts), lsa.dim)
    for row, text in zip(rows, texts, strict=True):
        assert np.array_equal(row, Lsa(lsa._terms, lsa._idf, lsa._projection).encode([text])[0])


_FITTED = Lsa.fit(CORPUS, seed=3)


def test_a_returned_row_can_be_changed_without_changing_the_memo(lsa: Lsa) -> None:
    first = lsa.encode([CORPUS[0]])
    kept = first.copy()
    first[:] = 7.0
    assert np.array_equal(lsa.encode([CORPUS[0]]), kept)


def test_encoding_follows_the_library_that_fitted() -> None:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    tfidf = TfidfVectorizer(analyzer=words_and_pairs, sublinear_tf=True, max_features=20_000)
    weights = tfidf.fit_transform(CORPUS)
    svd = TruncatedSVD(n_components=5, n_iter=4, random_state=3).fit(weights)
    expected = svd.transform(weights)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(_FITTED.encode(CORPUS), expected, atol=2e-5)


def test_the_same_seed_gives_the_same_revision_and_another_text_another() -> None:
    assert Lsa.fit(CORPUS, seed=3).revision == _FITTED.revision
    assert Lsa.fit([*CORPUS, "Another text on chess"], seed=3).revision != _FITTED.revision


@pytest.mark.parametrize("seed", [-1, 2**40])
def test_any_integer_is_a_seed(seed: int) -> None:
    assert Lsa.fit(CORPUS, seed=seed).dim == 5


def test_keywords_are_the_weightiest_terms_and_tell_no_word_twice(lsa: Lsa) -> None:
    words = lsa.keywords("graph layout graph layout springs 42", 3)
    assert words[0] in ("graph layout", "graph", "layout")
    told = [word for term in words for word in term.split()]
    assert len(told) == len(set(told))
    assert lsa.keywords("nothing known", 3) == ()


def test_preferred_keywords_come_first_then_pairs_then_words(lsa: Lsa) -> None:
    text = "force-directed graph layout: springs, nodes"
    assert lsa.keywords(text, 1, {"springs"}) == ("springs",)
    rest = lsa.keywords(text, 4, {"springs"})
    assert " " in rest[1]
    assert [" " in term for term in rest[1:]] == sorted(
        (" " in term for term in rest[1:]), reverse=True
    )


def test_one_text_is_a_corpus() -> None:
    lsa = Lsa.fit(["graph"])
    assert np.array_equal(lsa.encode(["graph", "tree"]), [[1.0], [0.0]])


@pytest.mark.parametrize("texts", [[], [""], ["the of", "and"]])
def test_a_corpus_without_words_is_refused(texts: list[str]) -> None:
    with pytest.raises(InputError, match="titles or abstracts"):
        Lsa.fit(texts)


def test_saved_and_loaded_it_encodes_the_same(lsa: Lsa, tmp_path: Path) -> None:
    lsa.save(tmp_path)
    for loaded in (Lsa.load(tmp_path), load_embedding(tmp_path)):
        assert loaded.revision == lsa.revision
        assert loaded.name == "lsa"
        assert np.array_equal(loaded.encode(CORPUS), lsa.encode(CORPUS))


def test_saving_twice_gives_the_same_bytes(lsa: Lsa, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        lsa.save(tmp_path / name)
    for file in (SETTINGS_FILE, ARRAYS_FILE):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_changed_numbers_are_noticed(lsa: Lsa, tmp_path: Path) -> None:
    lsa.save(tmp_path)
    np.savez(tmp_path / ARRAYS_FILE, idf=lsa._idf * 2, projection=lsa._projection)
    with pytest.raises(InputError, match="build again"):
        Lsa.load(tmp_path)


def test_pickled_arrays_are_refused(lsa: Lsa, tmp_path: Path) -> None:
    lsa.save(tmp_path)
    bad = np.array([{"a": 1}], dtype=object)
    np.savez(tmp_path / ARRAYS_FILE, idf=bad, projection=bad, allow_pickle=True)
    with pytest.raises(InputError, match=ARRAYS_FILE):
        Lsa.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "cannot be read"),
        ("{", "cannot be read"),
        ("[]", "not a saved embedding"),
        ('{"kind": "oracle"}', "oracle"),
    ],
)
def test_a_broken_settings_file_is_told(text: str | None, told: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / SETTINGS_FILE).write_text(text)
    with pytest.raises(InputError, match=told):
        load_embedding(tmp_path)


def test_importing_the_module_imports_no_learning_library() -> None:
    code = "import society.literature.embedding, sys; print('sklearn' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "False"
