"""The recipes of ``docs/explorer.md`` for other programs, run as they are printed."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from virsci_society.society.results.run import Run

PAGE = (Path(__file__).parents[3] / "docs/explorer.md").read_text(encoding="utf-8")


@pytest.fixture
def recipe(small_run, tmp_path, monkeypatch):
    """Run the recipe below a heading in an empty folder; returns the run."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(small_run, tmp_path / "runs" / "seven")

    def run_recipe(heading):
        code = re.search(rf"#### {heading}\n+```python\n(.*?)```", PAGE, re.DOTALL)[1]
        exec(compile(code, "explorer.md", "exec"), {})
        return Run.open(small_run)

    return run_recipe


def test_pyscisci_recipe_writes_papers_authors_and_references(recipe):
    run = recipe("pySciSci")
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
    run = recipe("OpenTelemetry")
    traces = json.loads(Path("traces.json").read_text())
    spans = traces["resourceSpans"][0]["scopeSpans"][0]["spans"]
    calls = run.table("calls")
    assert len({span["spanId"] for span in spans}) == len(calls)
    assert {len(span["traceId"]) for span in spans} == {32}
    for span, call in zip(spans, calls.itertuples(), strict=True):
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        values = {one["key"]: one["value"]["stringValue"] for one in span["attributes"]}
        assert values["gen_ai.agent.name"] == call.scientist
