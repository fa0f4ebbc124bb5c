"""The recipes for other programs in ``examples/recipes``."""

import json
import runpy
from pathlib import Path

import pandas as pd
import pytest

from virsci_society.society.results.run import Run

RECIPES = Path(__file__).parents[3] / "examples" / "recipes"


@pytest.fixture
def recipe(small_run, tmp_path, monkeypatch):
    """Run a script in an empty folder; returns the run."""
    monkeypatch.chdir(tmp_path)

    def run_recipe(name):
        monkeypatch.setattr("sys.argv", [name, str(small_run)])
        runpy.run_path(str(RECIPES / f"{name}.py"))
        return Run.open(small_run)

    return run_recipe


def test_pyscisci_recipe_writes_papers_authors_and_references(recipe):
    run = recipe("pyscisci")
    papers, authors, references = (
        pd.read_csv(f"pyscisci/{name}/{name}0.csv.gz")
        for name in ("publication", "publicationauthoraffiliation", "pub2ref")
    )
    assert papers["Title"].tolist() == run.table("papers")["title"].tolist()
    assert papers["Year"].min() >= run.boundary
    sizes = run.table("authorships").groupby("paper", sort=False).size()
    found = authors.groupby("PublicationId").size()
    assert (
        papers["PublicationId"].map(found).tolist() == sizes[run.table("papers")["paper"]].tolist()
    )
    assert authors["AuthorSequence"].min() == 1
    assert len(references) == len(run.table("citations"))
    assert set(references["CitingPublicationId"]) <= set(papers["PublicationId"])


def test_opentelemetry_recipe_writes_a_span_for_each_call(recipe):
    run = recipe("opentelemetry")
    traces = json.loads(Path("traces.json").read_text())
    spans = traces["resourceSpans"][0]["scopeSpans"][0]["spans"]
    calls = run.table("calls")
    assert len({span["spanId"] for span in spans}) == len(calls)
    assert {len(span["traceId"]) for span in spans} == {32}
    for span, call in zip(spans, calls.itertuples(), strict=True):
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        values = {one["key"]: one["value"]["stringValue"] for one in span["attributes"]}
        assert values["gen_ai.agent.name"] == call.scientist
