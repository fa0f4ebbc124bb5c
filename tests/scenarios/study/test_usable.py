"""Which replicates give outcomes: stated beforehand, in the lock, and listed on the page."""

import math

import pytest

from tests.scenarios.study.test_running import TINY, opened
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.study.design import read_study
from virsci_society.scenarios.study.lock import RunResult, require_lock, write_result
from virsci_society.scenarios.study.page import plan_table
from virsci_society.scenarios.study.study import Study
from virsci_society.scenarios.study.tables import gather

USABLE = TINY.replace(
    "measures: [papers, calls]", "measures: [papers, calls, echoed]\nusable: {echoed: 0.05}"
)


def test_a_replicate_of_copies_gives_no_outcomes(tmp_path):
    design, folder = opened(tmp_path, USABLE)
    lock = require_lock(folder)
    assert lock.data["usable"] == {"echoed": 0.05}
    results = []
    for index, (arm, replicate) in enumerate((a, r) for r in (0, 1) for a in ("two", "BIG")):
        echoed = 0.4 if index == 2 else math.nan if index == 3 else 0.05
        measures = {"papers": 1.0, "calls": 9.0, "echoed": echoed}
        results.append(
            RunResult(index, arm, replicate, 1, "done", boundary=2020, measures=measures)
        )
        write_result(folder, results[-1])
    gather(design, folder, lock, results)
    study = Study.open(folder)
    values = study.results.pivot(index="run", columns="measure", values="value")
    assert values["papers"].isna().tolist() == [False, False, True, False]
    assert values["echoed"].iloc[2] == pytest.approx(0.4)
    assert study.description.unusable == {2: "echoed 0.4"}
    row = plan_table(study, []).set_index("item").loc["usable replicates"]
    assert row["planned"] == "echoed at most 0.05"
    assert row["done"] == "1 not usable: run 0002 (echoed 0.4)"


def test_usable_names_measures_of_the_study(tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(TINY + "usable: {echoed: 0.05}\n", encoding="utf-8")
    with pytest.raises(InputError, match="name it under measures as well"):
        read_study(wrong, ())
