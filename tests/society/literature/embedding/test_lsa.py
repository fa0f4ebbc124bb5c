"""Embeddings: texts to unit rows that depend on nothing but the text."""

import pickle
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from virsci_society.agents.errors import InputError
from virsci_society.society.literature.embedding.base import SETTINGS_FILE
from virsci_society.society.literature.embedding.lsa import (
    ARRAYS_FILE,
    LSAEmbedding,
    count_terms,
    fit_lsa_arrays,
    words_and_pairs,
)
from virsci_society.society.literature.embedding.registry import load_embedding, make_embedding

CORPUS = [
    "Volume rendering of medical scans. Rays are cast through a scalar field.",
    "Interactive volume rendering. Transfer functions colour the scalar field.",
    "Graph drawing with forces. Nodes repel each other and edges are springs.",
    "Force-directed graph layout. Edges are springs and nodes are charged.",
    "Machine translation of rare languages. Parallel corpora are aligned by word.",
    "Word alignment in parallel corpora. Translation quality improves.",
]


@pytest.fixture(scope="module")
def lsa():
    return LSAEmbedding.fit(CORPUS, seed=3)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The layout of large Graphs", "layout, large, graphs, layout large, large graphs"),
        (
            "A k-nearest, _x_ (force-directed) y!",
            "k-nearest, force-directed, k-nearest force-directed",
        ),
    ],
)
def test_terms_are_words_without_stop_words_then_adjacent_pairs(text, terms):
    assert words_and_pairs(text) == terms.split(", ")


@given(st.text("aB9z-_. ", max_size=12))
def test_terms_of_ascii_are_those_of_any_text(text):
    assert words_and_pairs(text) == words_and_pairs(f"{text} é")


def test_rows_are_unit_float32_and_rounded(lsa):
    rows = lsa.encode(CORPUS)
    assert rows.dtype == np.float32
    assert rows.shape == (6, lsa.dim)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-4)
    assert np.array_equal(rows, np.round(rows.astype(np.float64), 5).astype(np.float32))


@pytest.mark.parametrize("text", ["", "zebra quagga", "the of and", "!!!"])
def test_a_text_without_a_known_word_gives_a_zero_row(lsa, text):
    assert not lsa.encode([text]).any()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([*CORPUS, "", "graph scan", "volume of words"]), max_size=8))
def test_a_row_does_not_depend_on_its_batch(texts):
    lsa = _FITTED
    rows = lsa.encode(texts)
    assert rows.shape == (len(texts), lsa.dim)
    for row, text in zip(rows, texts, strict=True):
        assert np.array_equal(
            row, LSAEmbedding(lsa._terms, lsa._idf, lsa._projection).encode([text])[0]
        )


_FITTED = LSAEmbedding.fit(CORPUS, seed=3)


def test_a_returned_row_can_be_changed_without_changing_the_memo(lsa):
    first = lsa.encode([CORPUS[0]])
    kept = first.copy()
    first[:] = 7.0
    assert np.array_equal(lsa.encode([CORPUS[0]]), kept)


def test_encoding_follows_the_library_that_fitted():
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    tfidf = TfidfVectorizer(analyzer=words_and_pairs, sublinear_tf=True, max_features=20_000)
    weights = tfidf.fit_transform(CORPUS)
    svd = TruncatedSVD(n_components=5, n_iter=4, random_state=3).fit(weights)
    expected = svd.transform(weights)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(_FITTED.encode(CORPUS), expected, atol=2e-5)


def test_texts_of_the_fit_are_encoded_alike_by_their_counts():
    texts = [*CORPUS, "", CORPUS[0]]
    counted = count_terms(texts)
    lsa = LSAEmbedding.fit(texts, seed=3, counted=counted)
    assert np.array_equal(lsa.encode(texts, counted=counted), lsa.encode(texts))


def test_the_same_seed_gives_the_same_revision_and_another_text_another():
    assert LSAEmbedding.fit(CORPUS, seed=3).revision == _FITTED.revision
    assert LSAEmbedding.fit([*CORPUS, "Another text on chess"], seed=3).revision != _FITTED.revision


def test_keywords_are_the_weightiest_terms_and_tell_no_word_twice(lsa):
    words = lsa.keywords("graph layout graph layout springs 42", 3)
    assert words[0] in ("graph layout", "graph", "layout")
    told = [word for term in words for word in term.split()]
    assert len(told) == len(set(told))
    assert lsa.keywords("nothing known", 3) == ()


def test_changed_numbers_are_noticed(lsa, tmp_path):
    lsa.save(tmp_path)
    np.savez(tmp_path / ARRAYS_FILE, idf=lsa._idf * 2, projection=lsa._projection)
    with pytest.raises(InputError, match="rebuild it"):
        load_embedding(tmp_path)


def test_pickled_arrays_are_refused(lsa, tmp_path):
    lsa.save(tmp_path)
    bad = np.array([{"a": 1}], dtype=object)
    np.savez(tmp_path / ARRAYS_FILE, idf=bad, projection=bad, allow_pickle=True)
    with pytest.raises(InputError, match=ARRAYS_FILE):
        load_embedding(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "missing; build the ecosystem again"),
        ("{", "cannot be read"),
        ("[]", "not a JSON object"),
        ('{"kind": "oracle"}', "oracle"),
        ('{"kind": "litellm", "model": "openai/rows"}', "not a saved embedding"),
        (
            '{"kind": "litellm", "model": "openai/rows", "probe": [1, 0], "dim": 3}',
            "not a saved embedding",
        ),
        ('{"kind": "sentence-transformers", "source": "org/model"}', "not a saved embedding"),
    ],
)
def test_a_broken_settings_file_is_told(text, told, tmp_path):
    if text is not None:
        (tmp_path / SETTINGS_FILE).write_text(text)
    with pytest.raises(InputError, match=told):
        load_embedding(tmp_path)


def test_a_large_corpus_is_fitted_on_a_seeded_sample_and_says_so(tmp_path):
    many = [f"{text} number{n % 17}" for n, text in enumerate(CORPUS * 20)]
    one, two = (LSAEmbedding.fit(many, seed=3, dim=4, sample=60) for _ in range(2))
    assert one.revision == two.revision
    assert one.revision != LSAEmbedding.fit(many, seed=4, dim=4, sample=60).revision
    assert one.revision != LSAEmbedding.fit(many, seed=3, dim=4).revision
    assert one.notes == ("the LSA is fitted on a seeded sample of 60 of 120 texts",)
    assert LSAEmbedding.fit(many, seed=3, dim=4, sample=120).notes == ()
    one.save(tmp_path)
    assert load_embedding(tmp_path).notes == one.notes
    assert pickle.loads(pickle.dumps(one)).notes == one.notes


@pytest.mark.parametrize(("name", "dim"), [("lsa", 5), ("lsa:2", 2)])
def test_the_lsa_is_made_by_name_and_length(name, dim):
    made = make_embedding(name, texts=CORPUS, seed=3)
    assert isinstance(made, LSAEmbedding)
    assert (made.name, made.dim) == ("lsa", dim)
    assert dim == 2 or made.revision == _FITTED.revision


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("word2vec", "'word2vec' is not known; known: lsa, lsa:LENGTH, sentence-transformers:"),
        ("lsa:many", "expected a length"),
        ("lsa:0", "expected a length"),
        ("litellm", "name a model: litellm:MODEL"),
        ("litellm:with space", "model"),
        ("sentence-transformers:", "name a model"),
        ("lsa+lsa:64", "'lsa:64' is not known"),
        ("lsa+", "'' is not known"),
    ],
)
def test_a_wrong_name_is_told(name, told):
    with pytest.raises(InputError, match=told):
        make_embedding(name, texts=CORPUS)


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="the extra is here")
def test_without_the_extra_it_is_told_how_to_install_it():
    with pytest.raises(InputError, match=r"pip install -e '.*\[semantic\]'"):
        make_embedding("sentence-transformers:org/model")


def drawn_corpus(texts, words, length, seed):
    """Texts of words that are the rarer the later they come in the list."""
    rng = np.random.default_rng(seed)
    names = np.array([f"word{number}" for number in range(words)])
    chances = 1 / np.arange(1, words + 1)
    drawn = rng.choice(names, size=(texts, length), p=chances / chances.sum())
    return [" ".join(row) for row in drawn]


def by_scikit_learn(texts, seed, dim, most_terms):
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    few = len(texts) < 50
    tfidf = TfidfVectorizer(
        analyzer=words_and_pairs,
        sublinear_tf=True,
        min_df=1 if few else 2,
        max_df=1.0 if few else 0.5,
        max_features=most_terms,
    )
    weights = tfidf.fit_transform(texts)
    svd = TruncatedSVD(min(dim, min(weights.shape) - 1), n_iter=4, random_state=seed)
    with threadpool_limits(limits=1):
        components = svd.fit(weights).components_
    return tfidf.get_feature_names_out().tolist(), tfidf.idf_, components.T.astype(np.float32)


@pytest.mark.parametrize(
    ("texts", "words", "length", "dim", "most_terms"),
    [
        (3, 10, 5, 256, 20_000),
        (49, 40, 8, 16, 20_000),
        (60, 200, 12, 256, 20_000),
        (300, 60, 20, 64, 20_000),
        (300, 60, 20, 64, 51),
        (700, 9, 6, 256, 20_000),
    ],
)
def test_the_fit_is_that_of_scikit_learn(texts, words, length, dim, most_terms):
    given = drawn_corpus(texts, words, length, seed=texts)
    terms, idf, projection = fit_lsa_arrays(count_terms(given), 5, dim, most_terms)
    expected = by_scikit_learn(given, 5, dim, most_terms)
    assert terms == expected[0]
    assert np.array_equal(idf, expected[1])
    assert np.array_equal(projection, expected[2])


def test_of_terms_alike_in_number_the_first_are_kept():
    """Which ones scikit-learn keeps depends on how the processor sorts."""
    rare, usual = ([f"{how}{number:03}" for number in range(500)] for how in ("rare", "usual"))
    terms = fit_lsa_arrays(count_terms([*rare, *usual] * 2 + usual), 5, 8, 510)[0]
    assert terms == [*(f"rare{number:03}" for number in range(10)), *usual]


def test_texts_whose_signs_hang_on_the_order_of_sums_are_fitted_as_by_scikit_learn():
    given = [f"{left} {right} {left}" for left in ("graph", "mesh") for right in ("tree", "ray")]
    assert np.array_equal(
        fit_lsa_arrays(count_terms(given), 3, 256, 100)[2], by_scikit_learn(given, 3, 256, 100)[2]
    )


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["", "the of and"], "2 texts .they contain no text"),
        ([f"alone{number} everywhere" for number in range(60)], "60 texts .no word is in at least"),
    ],
)
def test_texts_without_a_usable_word_are_refused(texts, why):
    with pytest.raises(InputError, match=why):
        fit_lsa_arrays(count_terms(texts), 0, 8, 100)
