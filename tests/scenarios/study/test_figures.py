import json

import pandas as pd
import pytest

from tests.scenarios.study.study_folder import told_of, write_study
from virsci_society.metrics.inference.intervals import t_interval
from virsci_society.scenarios.study.figures import stack_heights, stacked_section
from virsci_society.scenarios.study.page import write_study_page
from virsci_society.scenarios.study.study import Study, compute_comparisons
from virsci_society.scenarios.study.study_file import Figure

SIZE, LIMIT, ATTENTION = "protocol.team_size", "founding.max_teams", "attention"
ARMS = {
    "two": {ATTENTION: "on", SIZE: 2},
    "four": {ATTENTION: "on", SIZE: 4},
    "two, free": {ATTENTION: "unlimited", SIZE: 2},
    "limit": {ATTENTION: "on", LIMIT: 3},
    "plain": {SIZE: 8},
}
FIGURE = {
    "title": "Days of waiting",
    "parts": {"notice": "a", "the desk": "b"},
    "over": [SIZE, LIMIT],
    "beside": ATTENTION,
}
VALUES = {
    **{("two", "a"): [7.0, 7.0, 7.0], ("two", "b"): [1.0, 2.0, 3.0]},
    **{("four", "a"): [7.0, 7.0, 7.0], ("four", "b"): [4.0, 5.0, None]},
    **{("two, free", "a"): [7.0, 7.0, 7.0], ("two, free", "b"): [0.0, 0.0, 0.0]},
    **{("limit", "a"): [7.0, 7.0, 7.0], ("limit", "b"): [2.0, 2.0, 5.0]},
    **{("plain", "a"): [1.0, 1.0, 1.0], ("plain", "b"): [1.0, 1.0, 1.0]},
}


@pytest.fixture
def folder(tmp_path):
    told = told_of(ARMS, ["a", "b"], 3, figures=[FIGURE])
    return write_study(tmp_path / "study", told, VALUES)


@pytest.fixture
def study(folder):
    return Study.open(folder)


def test_columns_stand_over_the_keys_that_their_arms_set(study):
    table = stack_heights(study, study.description.figures[0])
    assert table[["over", "beside", "place"]].values.tolist() == [
        [SIZE, "on", 2],
        [SIZE, "on", 4],
        [SIZE, "unlimited", 2],
        [SIZE, "as the base", 8],
        [LIMIT, "on", 3],
    ]
    assert table["the desk"].tolist() == [2, 4.5, 0, 1, 3]
    assert table["notice"].tolist() == [7, 7, 7, 1, 7]
    assert table["total"].tolist() == [9, 11.5, 7, 2, 10]


def test_the_interval_is_that_of_the_sum_over_replicates_that_tell_every_part(study):
    table = stack_heights(study, study.description.figures[0])
    assert table["n"].tolist() == [3, 2, 3, 3, 3]
    for row, sums in ((0, [8, 9, 10]), (1, [11, 12]), (4, [9, 9, 12])):
        band = t_interval(sums)
        assert table.loc[row, ["low", "high"]].tolist() == pytest.approx([band.low, band.high])


def test_arms_that_differ_in_other_keys_only_are_averaged_within_each_replicate(tmp_path):
    arms = {f"{n},{k}": {SIZE: n, "protocol.turns": k} for n in (2, 4) for k in (1, 5)}
    values = {(arm, "a"): [1.0, 2.0] if "1" in arm else [3.0, 8.0] for arm in arms}
    told = told_of(arms, ["a"], 2)
    study = Study.open(write_study(tmp_path / "grid", told, values))
    table = stack_heights(study, Figure(title="x", parts={"a": "a"}, over=[SIZE]))
    assert table["total"].tolist() == [3.5, 3.5]
    band = t_interval([2.0, 5.0])
    assert table[["low", "high"]].iloc[0].tolist() == pytest.approx([band.low, band.high])


def test_the_page_holds_the_figure_its_file_and_its_numbers(folder):
    page = write_study_page(folder).read_text(encoding="utf-8")
    assert '<section id="figures">' in page
    assert page.count(">attention: unlimited</text>") == 2
    assert "the desk" in page
    name = "figure-1-Days_of_waiting"
    assert (folder / "report" / f"{name}.svg").read_text().startswith("<?xml")
    table = pd.read_csv(folder / "report" / f"{name}.csv")
    assert table["total"].tolist() == [9, 11.5, 7, 2, 10]
    again = write_study_page(folder).read_text(encoding="utf-8")
    assert again == page


def test_without_values_there_is_no_figure(tmp_path):
    states = dict.fromkeys(range(15), "failed")
    told = told_of(ARMS, ["a", "b"], 3, figures=[FIGURE])
    folder = write_study(tmp_path / "empty", told, VALUES, states)
    study = Study.open(folder)
    assert stacked_section(study, study.description.figures[0])["picture"] is None
    assert '<section id="figures">' not in write_study_page(folder).read_text(encoding="utf-8")


def test_rank_correlations_over_some_arms_say_over_which(folder):
    plans = [
        {"test": "rank_correlation", "of": "b", "over": SIZE, "arms": ["two", "four"]},
        {"test": "rank_correlation", "of": "b", "over": SIZE},
    ]
    told = {**json.loads((folder / "study.json").read_text()), "comparisons": plans}
    (folder / "study.json").write_text(json.dumps(told))
    some, every = compute_comparisons(Study.open(folder))
    assert (some.of, every.of) == ((SIZE,), (SIZE,))
    assert (some.among, every.among) == ("attention=on", "")
    # One replicate of "four" is missing: its seed has nothing to be compared with.
    assert (some.result.n, every.result.n) == (4, 11)
    assert "left out: 1 of 3 blocks" in some.result.note
