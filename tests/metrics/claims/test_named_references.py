"""References that a text names, and which of them exist."""

from virsci_society.metrics.claims import named_references, unknown_references

TEXT = (
    "As in [P3] and [P99], see 10.1109/TVCG.2012.55 and arXiv:2410.09403. Chen et al. (2024) and "
    "Scientist4 (2019) agree; in 2020 (a census year) nobody did. [P3] again."
)


def test_every_form_is_found_once():
    assert [one.known_by for one in named_references(TEXT)] == [
        *("P3", "P99", "10.1109/tvcg.2012.55", "2410.09403", "Chen", "Scientist4")
    ]
    assert named_references("Step 3 of [3] parts (see below), P3 and 2020.") == []


def test_those_that_do_not_exist_are_told_as_they_stand():
    known = {"P3", "10.1109/tvcg.2012.55", "Scientist4"}
    assert unknown_references(TEXT, known.__contains__) == [
        "[P99]",
        "arXiv:2410.09403",
        "Chen et al. (2024)",
    ]
