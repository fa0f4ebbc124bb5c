"""Claims of a run: planted figures, references and passages are found, clean text is not."""

import numpy as np
import pytest

from virsci_society.metrics.claims import run_claims
from virsci_society.metrics.novelty.novelty import Database, Databases

COPIED = "the tide of the northern shore turns twice before the moon has set"


def databases(texts):
    """Past papers with these texts; the contemporary side is empty."""

    def side(texts, letter):
        vectors = np.ones((len(texts), 2), dtype=np.float32)
        ids = tuple(f"{letter}{n}" for n in range(len(texts)))
        years = np.full(len(texts), 2010)
        return Database(vectors, years, np.ones(len(texts)), ids, lambda row: texts[row])

    return Databases(side(texts, "past"), side([], "later"))


@pytest.fixture
def claiming(make_run, rows):
    """The hand-made run, whose first paper has this abstract and cites the first past paper."""

    def build(abstract, **held):
        paper = list(rows["papers"][0])
        paper[3] = abstract
        rows["papers"] = [tuple(paper)]
        rows["citations"] = [(paper[0], "past0", 50.0, False)]
        return make_run(rows, {}, **held)

    return build


def test_what_was_planted_is_found(claiming):
    text = f"It reduces errors by 42 %. We know ({COPIED.upper()}) from [P2] and [P9]."
    past = databases([f"They say that {COPIED}, and more.", "Nothing."])
    row = run_claims(claiming(text, databases=past)).iloc[0]
    assert (row["figures"], row["figures_text"]) == (1, "It reduces errors by 42 %.")
    # Two past papers and one of the society: there is no ninth.
    assert (row["references"], row["unknown_references"], row["unknown_text"]) == (2, 1, "[P9]")
    assert (row["copied"], row["copied_from"]) == (len(COPIED.split()), "past0")
    assert row["copied_text"] == COPIED


def test_clean_text_is_not_flagged(claiming):
    past = databases(["They talk of other things.", "Nothing."])
    row = run_claims(claiming("We plan a comparison, as in [P1].", databases=past)).iloc[0]
    assert (row["figures"], row["unknown_references"]) == (0, 0)
    assert row["copied"] < 3


def test_a_wordless_paper_copies_nothing(claiming):
    row = run_claims(claiming("", databases=databases([COPIED]))).iloc[0]
    assert (row["figures"], row["references"]) == (0, 0)
    assert row[["copied", "copied_from"]].isna().all()


def test_without_the_literature_what_needs_it_is_missing(claiming):
    row = run_claims(claiming("It doubles the speed. We know [P1].")).iloc[0]
    assert row["figures"] == 1
    assert row[["unknown_references", "copied"]].isna().all()
