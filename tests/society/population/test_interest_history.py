"""The history of interests: what holds as of a date."""

from virsci_society.society.population.interest_drift import InterestHistory


def test_interests_are_told_as_of_a_date():
    held = InterestHistory()
    assert held.before(3, 1e9) is None
    held.record(3, 5.0, (("a", 1.0),))
    held.record(3, 5.0, (("b", 1.0), ("a", 0.5)))
    held.record(3, 8.0, ())
    assert [held.before(3, date) for date in (5.0, 5.1, 8.0, 8.1)] == [
        None,
        ("b", "a"),
        ("b", "a"),
        (),
    ]
    assert held.latest(3) == (8.0, ())
    assert held.latest(4) is None
    assert held.changed_rows() == (3,)
