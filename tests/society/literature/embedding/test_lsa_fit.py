"""The fit of the LSA is that of scikit-learn, bit by bit, on which older ecosystems rest."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from virsci_society.agents.errors import InputError
from virsci_society.society.literature.embedding.lsa import fit_lsa_arrays, words_and_pairs


def corpus(texts, words, length, seed):
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
    given = corpus(texts, words, length, seed=texts)
    terms, idf, projection = fit_lsa_arrays(map(words_and_pairs, given), 5, dim, most_terms)
    expected = by_scikit_learn(given, 5, dim, most_terms)
    assert terms == expected[0]
    assert np.array_equal(idf, expected[1])
    assert np.array_equal(projection, expected[2])


def test_of_terms_alike_in_number_the_first_are_kept():
    """Which ones scikit-learn keeps depends on how the processor sorts."""
    rare, usual = ([[f"{how}{number:03}"] for number in range(500)] for how in ("rare", "usual"))
    terms = fit_lsa_arrays([*rare, *usual] * 2 + usual, 5, 8, 510)[0]
    assert terms == [*(f"rare{number:03}" for number in range(10)), *(term for (term,) in usual)]


def test_texts_whose_signs_hang_on_the_order_of_sums_are_fitted_as_by_scikit_learn():
    given = [f"{left} {right} {left}" for left in ("graph", "mesh") for right in ("tree", "ray")]
    assert np.array_equal(
        fit_lsa_arrays(map(words_and_pairs, given), 3, 256, 100)[2],
        by_scikit_learn(given, 3, 256, 100)[2],
    )


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["", "the of and"], "2 texts .there are no words"),
        ([f"alone{number} everywhere" for number in range(60)], "60 texts .no word is in at least"),
    ],
)
def test_texts_without_a_usable_word_are_refused(texts, why):
    with pytest.raises(InputError, match=why):
        fit_lsa_arrays(map(words_and_pairs, texts), 0, 8, 100)
