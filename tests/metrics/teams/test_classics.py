"""What came of published models of search, by hand: two communities, and three searchers."""

import pytest

from virsci_society.metrics.idea_quality import consensus, epistemic_progress
from virsci_society.society.results.run import Run


def noted(*notes):
    events = [{"kind": "founded"}, *({"kind": "notes", "team": "A/1"} | note for note in notes)]
    return Run.from_rows({}, {"seed": 1, "days": 50.0}, {}, events=events)


def test_a_community_is_right_where_all_use_the_better_method():
    people = [(0, 1, 3.0), (0, 1, 7.0), (1, 0, 9.0), (1, 1, 0.0), (1, 1, 2.0)]
    run = noted(*({"community": c, "better": b, "since": s} for c, b, s in people))
    right, split = consensus(run).to_dict("records")
    assert right == {"community": 0, "people": 2, "better": 1.0, "right": 1.0, "agreed": 7.0}
    assert (split["people"], split["right"]) == (3, 0.0)
    assert split["better"] == pytest.approx(2 / 3)
    assert consensus(run)["agreed"].isna().tolist() == [False, True]


def test_progress_is_what_all_have_found_and_peaks_are_dated_by_the_first():
    first, second = {"found": 0.25, "peak_1": 12.0}, {"found": 0.125, "peak_1": 9.0}
    (row,) = epistemic_progress(noted(first, second, {"found": 0.0})).to_dict("records")
    assert (row["people"], row["progress"], row["peaks"]) == (3, 0.375, 0.5)
    assert epistemic_progress(noted(first, second))["both"].isna().all()
    (row,) = epistemic_progress(noted(first, second, {"found": 0.1, "peak_2": 30.0})).to_dict(
        "records"
    )
    assert (row["peaks"], row["both"]) == (1.0, 30.0)
