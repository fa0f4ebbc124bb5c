"""The sampled study of the library."""

from virsci_society.scenarios.study.design import read_study


def test_the_study_of_assumed_times_moves_what_nobody_has_measured():
    design = read_study("sensitivity")
    assert design.file.arms.latin_hypercube.over["time.reply_window"] == (2.0, 28.0)
    assert len(design.arms) == 30
    assert {one.until for one in design.scenarios} == {365.0}
