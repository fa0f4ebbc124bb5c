import pytest

from virsci_society.metrics import cost as call_counts
from virsci_society.metrics.cost import ACTS, STAGES, calls_by_act, inference_cost


def test_four_members_and_five_turns_cost_eighty(run):
    row = inference_cost(run).set_index("team").loc["S1/1"]
    assert row[list(STAGES)].tolist() == [20, 20, 20, 20]
    assert row["inference_cost"] == 80
    assert row["size_x_turns"] == 20
    assert row[[f"turns_{stage}" for stage in STAGES]].tolist() == [5, 5, 5, 5]
    assert inference_cost(run)["turns_topic"].isna().tolist() == [False, True, True]


def test_restarts_are_counted_apart(run):
    assert inference_cost(run).set_index("team").loc["S1/1", "extra_cost"] == 2


@pytest.mark.parametrize(
    "act", ["invite", "summarise", "agree", "stay", "decide", "guest", "review", "re-ask", "trim"]
)
def test_other_acts_never_enter(act, rows, make_run, add_call):
    rows["calls"].append(add_call("S1/1", "ideas", 1, 1, 0, act, "S1", 3.0, tail="/more"))
    row = inference_cost(make_run(rows)).set_index("team").loc["S1/1"]
    assert (row["inference_cost"], row["extra_cost"]) == (80, 2)


def test_other_stages_never_enter(rows, make_run, add_call):
    rows["calls"].append(add_call("S1/1", "selection", 1, 1, 0, "utter", "S1", 3.0))
    assert inference_cost(make_run(rows))["inference_cost"].tolist() == [80, 0, 0]


@pytest.mark.parametrize("by", ["act", "stage"])
def test_every_table_sums_to_the_number_of_calls(by, run, empty_run):
    table = getattr(call_counts, f"calls_by_{by}")(run)
    assert table["calls"].sum() == len(run.table("calls"))
    assert table["prompt_tokens"].sum() == 100 * len(run.table("calls"))
    assert table["completion_tokens"].sum() == 20 * len(run.table("calls"))
    empty = getattr(call_counts, f"calls_by_{by}")(empty_run)
    assert empty.empty
    assert list(empty.columns) == list(table.columns)


def test_acts_are_counted_as_nouns(run):
    table = calls_by_act(run).set_index("act")["calls"]
    assert table.to_dict() == {
        "utterance": 62,
        "ballot": 20,
        "summary": 12,
        "decision": 1,
        "guest": 1,
        "invitation": 1,
        "re-ask": 1,
    }
    assert ACTS["decide"] == "decision"


def test_every_act_of_the_contract_has_a_noun():
    from virsci_society.society.results.tables import TABLES

    meaning = next(column.meaning for column in TABLES["calls"] if column.name == "act")
    assert [word.strip() for word in meaning.split(",")] == list(ACTS)


def test_defaulted_and_unruled_are_counted(rows, make_run, add_call):
    row = list(add_call("S1/1", "topic", 1, 1, 0, "utter", "S1", 3.0))
    row[11], row[12] = True, True
    rows["calls"] = [tuple(row)]
    table = calls_by_act(make_run(rows))
    assert table[["defaulted", "unruled"]].iloc[0].tolist() == [1, 1]
