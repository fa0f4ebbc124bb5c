"""Figures of outcomes against measures: a point for each arm, budgets of one arm joined."""

import pandas as pd
import pytest

from tests.scenarios.study.study_folder import told_of, write_study
from virsci_society.scenarios.study.figures import scatter_section
from virsci_society.scenarios.study.page import write_study_page
from virsci_society.scenarios.study.study import Study
from virsci_society.scenarios.study.study_file import Figure

FIGURE = {
    "title": "Quality and cost",
    "of": ["review.virsci.overall", "ON"],
    "against": ["calls", "tokens"],
    "mark": {"profile": "published"},
}
ARMS = {
    "debate (10 calls)": {},
    "debate (20 calls)": {},
    "debate, published": {"profile": "published"},
}
SPENT = {"debate (10 calls)": 10.0, "debate (20 calls)": 21.0, "debate, published": 300.0}


@pytest.fixture
def folder(tmp_path):
    told = told_of(ARMS, ["ON", "calls", "tokens"], 5, figures=[FIGURE])
    for one, budget in zip(told["arms"][:2], (10, 20), strict=True):
        one |= {"of": "debate", "budget": budget}
    values = {}
    for arm, calls in SPENT.items():
        values[arm, "calls"] = [calls] * 5
        values[arm, "tokens"] = [calls * 1000] * 4 + [None]
        values[arm, "ON"] = [calls / 10 + step for step in (-0.2, -0.1, 0.0, 0.1, 0.2)]
    return write_study(tmp_path / "study", told, values)


def reviewed(folder):
    rows = [(run, "mira", "virsci", "overall", 5.0 + run % 2, 1) for run in range(15)]
    columns = ["run", "panel", "kind", "dimension", "score", "papers"]
    pd.DataFrame(rows, columns=columns).to_parquet(folder / "reviews.parquet")
    return folder


def test_a_point_is_the_mean_of_an_arm_with_the_interval_of_its_outcome(folder):
    study, figure = Study.open(folder), Figure(**FIGURE)
    section = scatter_section(study, figure)
    table = section["table"].set_index("arm")
    assert table["calls"].to_dict() == SPENT
    assert table["tokens"].tolist() == [10_000, 21_000, 300_000]
    assert table["ON"].round(9).tolist() == [1.0, 2.1, 30.0]
    # 2.7764 x 0.1581 / 5^.5
    assert (table["ON high"] - table["ON"]).round(4).tolist() == [0.1963] * 3
    assert table["marked"].tolist() == [False, False, True]
    assert "review" not in str(section["columns"]), "nobody has reviewed yet"


def test_reviews_come_first_when_there_are_some_and_budgets_are_joined(folder):
    page = write_study_page(reviewed(folder)).read_text(encoding="utf-8")
    section = scatter_section(Study.open(folder), Figure(**FIGURE))
    drawn = str(section["picture"])
    assert drawn in page
    assert drawn.index("review.virsci.overall by mira") < drawn.rindex(">ON<")
    assert drawn.count('stroke-width="1"') == 4, "one line in each panel"
    for name in ("profile published", "debate", "debate, published"):
        assert f">{name}<" in drawn
    written = pd.read_csv(folder / "report" / "figure-1-Quality_and_cost.csv", comment="#")
    assert written["calls"].tolist() == list(SPENT.values())
