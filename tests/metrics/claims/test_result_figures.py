"""Figures stated as results: by hand, and on sentences that are labelled."""

import pytest

from tests.metrics.claims.precision import labelled, main, precision_and_recall
from virsci_society.metrics.claims import result_figures, sentences


def test_a_planted_figure_is_counted_and_clean_text_is_not():
    clean = "We compare two layouts. A drop would be informative. The study has 3 parts."
    assert result_figures(clean) == []
    planted = f"{clean} The new one reduces errors by 42 %. It is simple."
    assert result_figures(planted) == ["The new one reduces errors by 42 %."]


@pytest.mark.parametrize(
    "sentence",
    [
        "We expect that it reduces errors by 42 %.",
        "This was done to reduce errors by 42 %.",
        "Chen et al. (2021) showed that it reduces errors by 42 %.",
        "It reduces errors by much.",
    ],
)
def test_announced_sourced_or_vague_is_no_result(sentence):
    assert result_figures(sentence) == []


def test_a_full_stop_within_a_number_ends_no_sentence():
    assert sentences("It reached 0.94. Then it fell.") == ["It reached 0.94.", "Then it fell."]


def test_sixty_labelled_sentences(capsys):
    assert [truth for _, truth in labelled()].count(True) == 30
    assert len({sentence for sentence, _ in labelled()}) == 60
    precision, recall = precision_and_recall()
    assert precision >= 0.95
    assert recall >= 0.9
    main()
    printed = capsys.readouterr().out
    assert printed.startswith(f"60 sentences: precision {precision:.2f}, recall {recall:.2f}")
