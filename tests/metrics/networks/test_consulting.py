import math

import pytest

from virsci_society.metrics.networks.structure import consulted_coauthors


def test_pairs_who_wrote_before_the_first_question_by_hand(rows, make_run):
    """S2 and S5 ask each other and never wrote; S1 asks S2, with whom it wrote before."""
    said = ("topic", "?", "!", False)
    rows["consultations"] = [
        ("S1/1", "S2", "S5", 12.0, *said),
        ("S5/1", "S5", "S2", 14.0, *said),
        ("S1/1", "S1", "S2", 15.0, *said),
        ("S1/1", "S3", "S4", 16.0, *said),
    ]
    # S3 and S4 first wrote on day 50.
    assert consulted_coauthors(make_run(rows)) == pytest.approx(1 / 3)
    rows["consultations"] = []
    assert math.isnan(consulted_coauthors(make_run(rows)))
