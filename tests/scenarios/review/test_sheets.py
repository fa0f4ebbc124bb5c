"""Ratings of people: agreement, correlations, preferences, and the sheets they come from."""

import csv
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.correlations import krippendorff_alpha
from virsci_society.scenarios.review.sheets import (
    SheetPaper,
    agreement_table,
    blind,
    correlation_table,
    pair_sheet,
    preference_table,
    rating_sheet,
    read_key,
    read_sheets,
    write_new,
    write_sheet,
)

IDEA = ("novelty", "feasibility", "effectiveness")
NO = np.nan
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NO, NO, NO],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NO, 3],
        [NO, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NO],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NO],
    ]
)
"""Four observers and twelve units: the worked example of Krippendorff (2011), section C."""


def test_alpha_is_that_of_the_published_example():
    assert round(krippendorff_alpha(KRIPPENDORFF), 3) == 0.849


def test_alpha_is_one_where_all_agree_and_unknown_where_nothing_varies():
    assert krippendorff_alpha(np.array([[1.0, 5, 9], [1, 5, 9]])) == 1.0
    assert np.isnan(krippendorff_alpha(np.full((2, 3), 4.0)))
    assert np.isnan(krippendorff_alpha(np.array([[1.0, NO], [NO, 2.0]])))


def test_agreement_of_every_dimension_has_an_interval_and_counts_what_can_be_compared():
    rows = [
        (f"R{item}", f"rater {rater}", what, score)
        for what in ("novelty", "feasibility")
        for (rater, item), score in np.ndenumerate(KRIPPENDORFF)
    ]
    table = agreement_table(pd.DataFrame(rows, columns=["item", "rater", "dimension", "score"]))
    assert table["dimension"].tolist() == ["novelty", "feasibility"]
    for row in table.itertuples():
        assert (row.abstracts, row.raters, round(row.alpha, 3)) == (11, 4, 0.849)
        assert row.low < row.alpha < row.high


def test_on_is_correlated_with_the_mean_rating_of_each_abstract():
    measured = pd.DataFrame({"paper": list("abcd"), "ON": [1.0, 2.0, 3.0, NO]})
    given = [("a", 2.0), ("a", 4.0), ("b", 5.0), ("c", 7.0), ("d", 1.0), ("e", 9.0)]
    scored = pd.DataFrame(given, columns=["paper", "score"]).assign(rating="novelty")
    row = correlation_table(measured, scored).iloc[0]
    # Means 3, 5, 7 against 1, 2, 3; d has no ON, e no abstract.
    assert (row["n"], row["pearson"], row["spearman"]) == (3, pytest.approx(1.0), 1.0)
    assert len(correlation_table(measured, scored[scored["paper"] != "b"])) == 0


def test_preferences_are_those_of_a_binomial_test():
    rows = [("many", "one", False)] * 35 + [("one", "many", False)] * 5 + [("one", "many", True)]
    choices = pd.DataFrame(rows, columns=["preferred", "other", "tie"])
    row = preference_table(choices).iloc[0]
    assert (row["arm"], row["other"], row["n"], row["ties"]) == ("many", "one", 40, 1)
    assert row["preferred"] == 0.875
    assert row["p"] < 0.01
    assert (round(row["low"], 3), round(row["high"], 3)) == (0.732, 0.958)


def papers(count, arm="one", run="runs/x"):
    return [
        SheetPaper(arm, source(arm, f"Scientist{n}/1", run), f"Title {arm} {n}", f"Abstract {n}.")
        for n in range(count)
    ]


def source(arm, paper, run="r"):
    return {"run": run, "digest": "d" * 8, "arm": arm, "paper": paper, "speaker": "rules"}


def test_a_sheet_is_shuffled_by_seed_and_shows_nothing_of_where_papers_are_from(tmp_path):
    many = papers(30, "fast arm", "runs/secret")
    rows, key = rating_sheet(many, IDEA, seed=4)
    assert rating_sheet(many, IDEA, seed=4)[0] == rows
    other = rating_sheet(many, IDEA, seed=5)[0]
    assert [row["title"] for row in other] != [row["title"] for row in rows]
    sources = [one["paper"] for one in key["items"].values()]
    assert sources != [one.source["paper"] for one in many]
    assert set(sources) == {one.source["paper"] for one in many}
    write_sheet(tmp_path / "s.csv", rows, key)
    text = (tmp_path / "s.csv").read_text(encoding="utf-8-sig")
    assert text.splitlines()[0] == "item,rater,title,abstract,novelty,feasibility,effectiveness"
    assert "secret" not in text
    assert "Scientist" not in text
    assert rating_sheet(many, IDEA, seed=4, most=7)[0] == rows[:7]


def test_names_are_taken_out_of_titles_and_abstracts():
    text = "Scientist12 and scientist 3 ask Ada Lovelace; Adam and Scientists stay."
    blinded = blind(text, ["Ada Lovelace", "Ada"])
    assert blinded == "[a scientist] and [a scientist] ask [a scientist]; Adam and Scientists stay."


def test_a_sheet_holds_no_formula_and_no_control_character(tmp_path):
    bad = SheetPaper("x", source("x", "p"), "＝1+1", "seen; =HYPERLINK(1)\x1b[2J\x9b31m")
    write_sheet(tmp_path / "s.csv", *rating_sheet([bad], IDEA, seed=1))
    text = (tmp_path / "s.csv").read_text(encoding="utf-8-sig")
    assert "'＝1+1" in text
    assert "seen; '=HYPERLINK(1)" in text
    assert not {"\x1b", "\x9b"} & set(text)


def test_pairs_take_papers_of_two_arms_on_sides_drawn_by_seed():
    rows, key = pair_sheet([*papers(20, "x"), *papers(12, "y")], seed=1)
    assert len(rows) == 12
    arms = [(item["A"]["arm"], item["B"]["arm"]) for item in key["items"].values()]
    assert set(arms) == {("x", "y"), ("y", "x")}
    for row, item in zip(rows, key["items"].values(), strict=True):
        assert item["A"]["arm"] in row["title_a"]
        assert item["B"]["arm"] in row["title_b"]
    with pytest.raises(InputError, match="two arms"):
        pair_sheet(papers(3), seed=1)


def on_topics(arm, *topics):
    made = papers(len(topics), arm)
    return [replace(one, topic=topic) for one, topic in zip(made, topics, strict=True)]


def test_the_papers_of_a_pair_are_on_one_topic():
    both = [*on_topics("x", "bees", "ants", "ants", "moss"), *on_topics("y", "Ants", "bees")]
    topics = {one.title: one.topic.casefold() for one in both}
    rows, _ = pair_sheet(both, seed=1)
    found = [(topics[row["title_a"]], topics[row["title_b"]]) for row in rows]
    assert sorted(found) == [("ants", "ants"), ("bees", "bees")]
    with pytest.raises(InputError, match="the same topic in the same replicate"):
        pair_sheet([*on_topics("x", "bees"), *on_topics("y", "moss")], seed=1)


def test_pairs_of_a_study_are_of_one_replicate_and_show_their_topic():
    both = [
        replace(paper, replicate=str(place))
        for arm in ("x", "y")
        for place, paper in enumerate(on_topics(arm, "Bees", "bees", "moss"))
    ]
    rows, key = pair_sheet(both, seed=2)
    assert [row["topic"].casefold() for row in rows].count("bees") == 2
    for item in key["items"].values():
        # The paper's number is its replicate.
        assert item["A"]["paper"] == item["B"]["paper"]
    shifted = [replace(one, replicate=one.replicate + one.arm) for one in both]
    with pytest.raises(InputError, match="the same topic in the same replicate"):
        pair_sheet(shifted, seed=2)


@pytest.fixture
def sheet(tmp_path):
    """Three abstracts on a sheet, its key, and a way to fill it."""
    write_sheet(tmp_path / "sheet.csv", *rating_sheet(papers(3), IDEA, seed=1))

    def fill(name, change=lambda rows: rows, delimiter=","):
        with (tmp_path / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
            read = list(csv.DictReader(file))
        for place, row in enumerate(read):
            row |= {"novelty": str(place + 1), "feasibility": "7,5", "effectiveness": "10"}
            row["abstract"] = "two\nlines"
        path = tmp_path / f"{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, read[0], delimiter=delimiter)
            writer.writeheader()
            writer.writerows(change(read))
        return path

    return fill, read_key(tmp_path / "sheet.key.json")


def test_what_raters_fill_in_comes_back(sheet):
    fill, key = sheet
    answers = read_sheets([fill("ann"), fill("bob", delimiter=";")], key)
    assert len(answers) == 2 * 3 * 3
    assert set(answers["rater"]) == {"ann", "bob"}
    bob = answers.query("dimension == 'novelty' and rater == 'bob'").set_index("item")["score"]
    assert bob.to_dict() == {"R001": 1.0, "R002": 2.0, "R003": 3.0}
    assert set(answers.query("dimension == 'feasibility'")["score"]) == {7.5}


def test_every_fault_is_told_with_file_and_line(sheet):
    fill, key = sheet

    def spoil(rows):
        rows[0]["novelty"] = "11"
        rows[1]["feasibility"] = ""
        return [rows[0], rows[1], rows[1], {**rows[0], "item": "R999"}]

    path = fill("eve", spoil)
    with pytest.raises(InputError) as caught:
        read_sheets([path], key)
    lines = str(caught.value).splitlines()
    # Each abstract takes two lines of the file.
    assert lines[0] == f"{path}:2: novelty of R001: got '11', expected a number from 1 to 10"
    assert lines[1].startswith(f"{path}:4: feasibility of R002: it is empty")
    assert lines[2] == f"{path}:6: eve has rated R002 already, in {path}:4"
    assert lines[3] == f"{path}:8: the key knows no item 'R999'"
    assert lines[4] == f"{path}: R003 is missing"
    assert len(lines) == 5


def test_choices_are_read_and_ties_are_none_of_the_two(tmp_path):
    rows, key = pair_sheet([*papers(3, "x"), *papers(3, "y")], seed=1)
    for row, choice in zip(rows, ("A", "b", "Tie"), strict=True):
        row["preferred"] = choice
    write_sheet(tmp_path / "p.csv", rows, key)
    scores = read_sheets([tmp_path / "p.csv"], key)["score"]
    assert scores[:2].tolist() == [0.0, 1.0]
    assert np.isnan(scores[2])


@pytest.mark.parametrize("name", ["s.csv", "s.key.json"])
def test_a_sheet_or_key_that_is_there_is_never_written_over(tmp_path, name):
    rows, key = rating_sheet(papers(3), IDEA, seed=1)
    (tmp_path / name).write_text("filled by a rater")
    with pytest.raises(InputError, match="exists already"):
        write_sheet(tmp_path / "s.csv", rows, key)
    assert (tmp_path / name).read_text() == "filled by a rater"


def test_a_sheet_that_cannot_be_written_whole_is_not_there(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_new(tmp_path / "s.csv", "x" * 100_000 + "\ud800")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": 1}', '{"format": 9, "asked": [], "items": {}}']
)
def test_what_is_no_key_is_refused(tmp_path, text):
    (tmp_path / "k.json").write_text(text)
    with pytest.raises(InputError, match="key of a sheet"):
        read_key(tmp_path / "k.json")


def test_a_file_that_is_no_sheet_is_refused(tmp_path):
    key = {"asked": ["novelty"], "items": {"R001": {"run": ""}}}
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"x\.csv:1: no column 'item'"):
        read_sheets([tmp_path / "x.csv"], key)
