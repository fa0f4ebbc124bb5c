import pytest

from virsci_society.metrics.networks.structure import consulting

SHARES = ["reciprocity", "tied_before", "tied_after", "clustering", "giant_share", "most_asked"]


def test_the_consultation_network_by_hand(rows, make_run):
    """S2 asks S5 twice, S5 asks S2 back; S1 asks S2, with whom it wrote before and after."""
    said = ("topic", "?", "!", False)
    rows["consultations"] = [
        ("S1/1", "S2", "S5", 12.0, *said),
        ("S1/1", "S2", "S5", 13.0, *said),
        ("S5/1", "S5", "S2", 14.0, *said),
        ("S1/1", "S1", "S2", 15.0, *said),
        ("S1/1", "S3", "S4", 16.0, *said),
    ]
    row = consulting(make_run(rows)).iloc[0]
    assert row[["asked", "askers", "guests", "pairs"]].tolist() == [5, 4, 3, 4]
    assert row["reciprocity"] == 0.5
    # Unordered: S2-S5 never wrote, S1-S2 before, S3-S4 first on day 50.
    assert row["tied_before"] == pytest.approx(1 / 3)
    assert row["tied_after"] == pytest.approx(1 / 3)
    assert row["most_asked"] == pytest.approx(2 / 5)
    assert row["giant_share"] == pytest.approx(3 / 5)


def test_a_triangle_of_questions_is_clustered_and_none_has_no_shares(rows, make_run):
    said = (12.0, "topic", "?", "!", False)
    rows["consultations"] = [("S1/1", *pair, *said) for pair in (["S1", "S2"], ["S2", "S3"])]
    assert consulting(make_run(rows))["clustering"].tolist() == [0.0]
    rows["consultations"].append(("S1/1", "S3", "S1", *said))
    assert consulting(make_run(rows))["clustering"].tolist() == [1.0]
    rows["consultations"] = [("S1/1", "S1", "S1", *said)]
    row = consulting(make_run(rows)).iloc[0]
    assert row[["asked", "askers", "guests", "pairs"]].tolist() == [0, 0, 0, 0]
    assert row[SHARES].isna().all()
