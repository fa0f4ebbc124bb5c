"""The command ``society rate judge``: a sheet of pairs in, a filled sheet out, paid once."""

import json

import pandas as pd
import pytest

from tests.command_line import society
from virsci_society.agents.errors import BudgetReached, InputError
from virsci_society.scenarios.judgement.judge import JudgeJob
from virsci_society.scenarios.judgement.sheets import (
    SheetEntry,
    pair_sheet,
    rating_sheet,
    write_sheet,
)


def entries():
    text = "Because tides drift, we model flows, which vary. "
    return [
        SheetEntry("run", "digest", arm, f"{arm}{n}", f"Title {arm}{n}", text * (9 * n + length))
        for arm, length in (("long", 8), ("short", 1))
        for n in range(3)
    ]


@pytest.fixture
def sheet(here):
    rows, key = pair_sheet(entries(), 1)
    write_sheet(here / "pairs.csv", here / "pairs.key.json", rows, key)
    return here / "pairs.csv"


def test_rules_fill_in_a_sheet_that_import_reads_and_every_output_says_so(sheet, here):
    rules = "rule-based scientists, not a language model"
    before = sheet.read_bytes()
    done = society("rate", "judge", "pairs.csv")
    assert done.exit_code == 0, done.output
    assert f"who judged: {rules}" in done.output
    folder = here / "pairs-judged-by-offline"
    table = pd.read_csv(folder / "judgements.csv")
    assert table["order"].tolist() == ["AB", "BA"] * 3
    assert set(table["who_judged"]) == {rules}
    filled = pd.read_csv(folder / "filled.csv", encoding="utf-8-sig")
    assert set(filled["rater"]) == {rules}
    assert filled["preferred"].isin(["A", "B", "tie"]).all()
    assert sheet.read_bytes() == before
    made = society("rate", "import", folder / "filled.csv", "--key", "pairs.key.json")
    assert made.exit_code == 0, made.output
    assert f"rated by: {rules}" in made.output
    again = society("rate", "judge", "pairs.csv")
    assert "holds these judgements already" in again.output


def test_a_live_judge_that_was_stopped_pays_nothing_twice(sheet, here, monkeypatch):
    from tests.faultserver import FaultServer, Plan

    monkeypatch.setenv("FAULTSERVER_KEY", "key-of-the-tests")
    with FaultServer(Plan(seed=3, rates={"unavailable": 0.1})) as server:
        live = [
            "backend.use=openai",
            "backend.model=test",
            "backend.key=FAULTSERVER_KEY",
            f"backend.api_base={server.url}",
            "backend.retry={first: 0.01, longest: 0.05}",
        ]
        with pytest.raises(BudgetReached, match="4 of 4 calls"):
            JudgeJob.of(sheet, [*live, "backend.budget.calls=4"]).execute()
        whole = JudgeJob.of(sheet, live)
        assert not whole.done
        assert not whole.filled.exists()
        judgements = whole.execute()
        by_call = server.counts(full=True)["by_call"]
        asked = {f"judge/P00{n}/{order}" for n in (1, 2, 3) for order in ("AB", "BA")}
        assert {call: one["answers"] for call, one in by_call.items()} == dict.fromkeys(asked, 1)
    assert JudgeJob.of(sheet, live).done
    assert "the language model test" in whole.filled.read_text(encoding="utf-8-sig")
    offline = JudgeJob.of(sheet, out=here / "offline").execute()
    assert [one.preferred for one in judgements] == [one.preferred for one in offline]
    record = json.loads((whole.folder / "questions.json").read_text())
    assert record["ledger"]["outcomes"]["answered"] == 6


def test_a_plan_counts_the_judgements_and_asks_nothing(sheet, here):
    model = ("backend.use=openai", "backend.model=test", "backend.api_base=http://127.0.0.1:9")
    settings = [word for one in model for word in ("--set", one)]
    done = society("rate", "judge", "pairs.csv", "--plan", *settings)
    assert done.exit_code == 0, done.output
    assert "pairs.csv: 3 pairs, 6 judgements" in done.output
    assert sorted(path.name for path in here.iterdir()) == ["pairs.csv", "pairs.key.json"]


def test_other_sheets_other_settings_and_folders_of_other_pairs_are_refused(sheet, here):
    rows, key = rating_sheet(entries(), 1)
    write_sheet(here / "sheet.csv", here / "sheet.key.json", rows, key)
    done = society("rate", "judge", "sheet.csv")
    assert done.exit_code == 2
    assert "no column 'title_a'" in done.output
    with pytest.raises(InputError, match="a judge takes keys of backend only"):
        JudgeJob.of(sheet, ["seed=3"])
    JudgeJob.of(sheet, out=here / "one").execute()
    with pytest.raises(InputError, match=r"answers to other questions \(another seed\)"):
        JudgeJob.of(sheet, out=here / "one", seed=5).execute()
    sheet.write_text(sheet.read_text(encoding="utf-8").splitlines()[0] + "\n")
    with pytest.raises(InputError, match="holds no pair"):
        JudgeJob.of(sheet)
