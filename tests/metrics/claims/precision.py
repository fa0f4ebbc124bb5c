"""Precision and recall of the search for figures stated as results, on sentences made by hand.

``python -m tests.metrics.claims.precision`` prints them, and the sentences that it gets wrong.
"""

import csv
from pathlib import Path

from virsci_society.metrics.claims import is_result_figure

SENTENCES = Path(__file__).with_name("sentences.csv")


def labelled():
    """Sentences, each with whether it states a figure as a result."""
    with SENTENCES.open(encoding="utf-8", newline="") as lines:
        return [(row["sentence"], row["result"] == "1") for row in csv.DictReader(lines)]


def precision_and_recall():
    """Share of the found sentences that are right, and share of the right ones that are found."""
    found = [(is_result_figure(sentence), truth) for sentence, truth in labelled()]
    both = sum(said and truth for said, truth in found)
    return both / sum(said for said, _ in found), both / sum(truth for _, truth in found)


def main():
    """Print both shares, and what is wrong."""
    sentences = labelled()
    precision, recall = precision_and_recall()
    print(f"{len(sentences)} sentences: precision {precision:.2f}, recall {recall:.2f}")
    for sentence, truth in sentences:
        if is_result_figure(sentence) != truth:
            print(f"{'missed' if truth else 'wrongly found'}: {sentence}")


if __name__ == "__main__":
    main()
