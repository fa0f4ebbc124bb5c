import importlib
import inspect
import re

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.metrics.registry import (
    FAMILIES,
    METRICS,
    MODULES,
    compares_papers,
    compute_metric,
    measure,
    metrics_named,
)
from virsci_society.scenarios.config.schema import DEFAULT_METRICS


@pytest.fixture(scope="module")
def nothing(make_run):
    """A run in which nothing happened."""
    return make_run({})


@pytest.fixture(scope="module")
def shared(hand_run):
    """The hand-made run, whose tables no metric may change, and copies of these."""
    made = hand_run()
    return made, {table: rows.copy() for table, rows in made.tables().items()}


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_documented_with_a_source(name):
    text = (inspect.getdoc(METRICS[name]) or "").partition("\n\n")[0]
    assert re.search(r"VirSci|this project|\(\w+ (et al\. )?(and \w+ )?\d{4}\)", text), name
    assert len(text) > 40


@pytest.mark.parametrize(
    ("names", "compares"),
    [
        ((), False),
        (("teams", "structure", "impact", "degrees"), False),
        (("cost", "novelty"), True),
        (("tail",), False),
        (("mine:own",), True),
    ],
)
def test_papers_are_compared_where_a_metric_is_made_from_the_past(names, compares):
    assert compares_papers(names) is compares


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_gives_the_same_columns_for_an_empty_run(name, measured, nothing):
    full, empty = measured[name], METRICS[name](nothing)
    assert list(full.columns) == list(empty.columns)
    assert [str(dtype) for dtype in full.dtypes] == [str(dtype) for dtype in empty.dtypes]


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_leaves_the_tables_alone(name, shared):
    run, before = shared
    METRICS[name](run)
    for table, rows in run.tables().items():
        assert rows.equals(before[table]), table


PARTS = {"project_spans", "inside_citations"}
"""Functions that figures or several metrics use."""


def test_every_public_function_from_a_run_to_a_table_is_listed():
    """A metric that is not registered is never written with a run."""
    listed = [inspect.unwrap(metric) for metric in METRICS.values()]
    for path in MODULES:
        module = importlib.import_module(f"virsci_society.metrics.{path}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("_") or function.__module__ != module.__name__:
                continue
            takes = list(inspect.signature(function).parameters)[:1]
            gives = inspect.signature(function).return_annotation
            if takes == ["run"] and gives == "pd.DataFrame" and name not in PARTS:
                assert function in listed, f"{module.__name__}.{name}"


def test_names_can_be_file_names():
    assert all(name.isidentifier() for name in METRICS)


def test_what_was_written_goes_before_what_would_be_computed(run, make_run):
    written = METRICS["teams"](run).head(1)
    again = make_run(metrics={"teams": written})
    assert compute_metric(again, "teams") is written
    assert len(compute_metric(run, "teams")) == 3
    with pytest.raises(InputError, match="no metric is called 'fame'"):
        compute_metric(run, "fame")
    told = r"^no metric is called 'degree'; did you mean 'degrees'.*a rank of scientists"
    with pytest.raises(InputError, match=told):
        compute_metric(run, "degree")


def test_a_scenario_can_ask_for_every_family_and_has_the_usual_ones_by_default():
    assert set(DEFAULT_METRICS) == set(FAMILIES) - {"chance", "classics", "copies", "worth"}
    assert list(METRICS) == [name for family in FAMILIES for name in metrics_named(family)]


def test_a_name_stands_for_a_family_or_for_one_metric():
    assert metrics_named("degrees") == ("degrees",)
    # Of a family and a metric of one name the family is meant, which holds the metric.
    assert "by_protocol" in metrics_named("teams")
    assert all(name in metrics_named(name) for name in FAMILIES if name in METRICS)
    assert metrics_named("degree") == ()


def test_a_measure_is_registered_once_and_with_a_definition():
    with pytest.raises(ValueError, match="measure modularity: registered twice"):
        measure("structure", "index", "modularity")(len)
    with pytest.raises(ValueError, match="without a definition"):
        measure("structure", "index", "undefined")(lambda run: 1.0)
