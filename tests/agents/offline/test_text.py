"""Words: cleaning, stems, sentences; nothing a corpus holds may break them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.offline.offline_examples import any_text
from virsci_society.agents.offline.text import (
    COMMON,
    EPONYMS,
    affinity,
    as_sentence,
    capitalise,
    clean,
    count_words,
    join_list,
    mid_sentence_case,
    shared_fraction,
    split_sentences,
    stem,
    stem_pairs,
    stems,
    tokens,
    truncate_words,
    with_article,
)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Volume  Rendering", "Volume Rendering"),
        ("  <i>k</i>-means  ", "k -means".replace(" -", " ")),
        ("C++", "C"),
        ("Graphs.", "Graphs"),
        ("open (unclosed", "open unclosed"),
        ("Node.js", "Node.js"),
        ("a\nb\tc", "a b c"),
        ("…", ""),
        ("", ""),
        ('say "this"', "say this"),
        ("CAD/CAM", "CAD/CAM"),
    ],
)
def test_clean_keeps_letters_digits_and_inner_punctuation(raw, expected):
    assert clean(raw) == expected


def test_clean_bounds_words_and_letters():
    assert count_words(clean("word " * 100)) == 8
    assert len(clean("x" * 1000)) == 40


@given(any_text)
def test_clean_leaves_one_printable_line(text):
    phrase = clean(text)
    assert phrase == phrase.strip()
    assert '"' not in phrase
    assert "\n" not in phrase
    assert all(unicodedata.category(c)[0] in "LMNPSZ" for c in phrase)
    assert not phrase or any(c.isalnum() for c in phrase)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Volume Rendering", "volume rendering"),
        ("GPU", "GPU"),
        ("GPU-Based Rendering", "GPU-Based rendering"),
        ("Bayesian Networks", "Bayesian networks"),
        ("Markov-chain models", "Markov-chain models"),
        ("LaTeX Documents", "LaTeX documents"),
        ("X Rays", "x rays"),
        ("3D Shapes", "3D shapes"),
        ("Poincare Map", "Poincare map"),
    ],
)
def test_inner_undoes_title_case_but_keeps_names(raw, expected):
    assert mid_sentence_case(raw) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("graphs", "graph"),
        ("studies", "study"),
        ("analysis", "analysis"),
        ("class", "class"),
        ("corpus", "corpus"),
        ("gas", "gas"),
        ("is", "is"),
    ],
)
def test_stem_takes_plural_endings_off(word, expected):
    assert stem(word) == expected


def test_stems_leave_common_words_out():
    assert stems("We present the graphs of a study") == {"graph"}
    assert tokens("State-of-the-art, isn't it?") == ("state-of-the-art", "isn't", "it")


def test_pairs_skip_common_words():
    assert stem_pairs("volume of the rendering") == {("volume", "rendering")}
    assert stem_pairs("alone") == frozenset()


def test_share_of_nothing_is_zero():
    assert shared_fraction(frozenset(), frozenset("a")) == 0.0
    assert shared_fraction(frozenset("ab"), frozenset("a")) == 0.5


def test_affinity_by_hand():
    # Best interest fully contained: (2 * 1 + (1 + 0) / 2) / 3.
    assert affinity(("Volume Rendering", "Treemaps"), "volume rendering of trees") == pytest.approx(
        2.5 / 3
    )
    assert affinity((), "volume") == 0.0
    assert affinity(("Treemaps",), "") == 0.0
    assert affinity(("Treemaps",), "a treemap") == 1.0


def test_affinity_knows_interests_made_of_common_words():
    assert "design" in COMMON
    assert affinity(("Design",), "on design today") == 1.0
    assert affinity(("Design",), "on drawing today") == 0.0


@given(st.lists(any_text, max_size=4).map(tuple), any_text)
def test_affinity_is_a_share(interests, text):
    assert 0.0 <= affinity(interests, text) <= 1.0


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("hello", "Hello."),
        ("Is it?", "Is it?"),
        (' he said "no."', 'He said "no."'),
        ("done ", "Done."),
    ],
)
def test_a_sentence_begins_with_a_capital_and_ends_with_a_stop(raw, expected):
    assert as_sentence(raw) == expected


def test_sentences_do_not_split_inside_abbreviations():
    text = "We use e.g. graphs. Then  we stop! 3D comes next?\nYes."
    assert split_sentences(text) == [
        "We use e.g. graphs.",
        "Then we stop!",
        "3D comes next?",
        "Yes.",
    ]
    assert split_sentences("  ") == []


@given(st.text(max_size=200))
def test_sentences_keep_every_word(text):
    assert " ".join(split_sentences(text)).split() == text.split()


def test_parts_are_joined_as_an_english_list():
    assert join_list([]) == ""
    assert join_list(["a"]) == "a"
    assert join_list(["a", "b"]) == "a and b"
    assert join_list(iter(["a", "b", "c"])) == "a, b and c"


def test_shortened_never_ends_in_a_word_that_wants_another():
    assert truncate_words("selections of interest", 5) == "selections of interest"
    assert truncate_words("maps of the world for all", 3) == "maps"
    assert truncate_words("one two three", 2) == "one"
    assert truncate_words("", 3) == ""


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("provenance recorder", "a provenance recorder"),
        ("equivariant network", "an equivariant network"),
        ("model of ice", "a model of ice"),
        ("ice models", "ice models"),
        ("graph drawing", "graph drawing"),
        ("heat transfer", "heat transfer"),
        ("alphabetical order", "alphabetical order"),
        ("MRI scanner", "an MRI scanner"),
        ("mRNA vaccine", "an mRNA vaccine"),
        ("GPU kernel", "a GPU kernel"),
        ("UML diagram", "a UML diagram"),
        ("unified framework", "a unified framework"),
        ("unintended signal", "an unintended signal"),
        ("user model", "a user model"),
        ("hourly survey", "an hourly survey"),
        ("European atlas", "a European atlas"),
        ("8-bit image", "an 8-bit image"),
        ("the one model", "the one model"),
        ("", ""),
    ],
)
def test_one_thing_of_many_has_an_article(term, expected):
    assert with_article(term) == expected


@given(any_text)
def test_an_article_adds_one_word_at_most(text):
    assert with_article(text) in (text, f"a {text}", f"an {text}")


def test_a_capital_comes_first():
    assert capitalise("graphs") == "Graphs"
    assert capitalise("") == ""


def test_vocabulary_is_lower_case_and_small():
    assert all(word == word.lower() for word in COMMON | EPONYMS)
    assert not COMMON & EPONYMS
    assert {"the", "we", "propose", "results"} <= COMMON
    assert not {"graph", "volume", "language", "data"} & COMMON
