"""The server of finished runs: its tools, and the protocol with the official client."""

import asyncio
import json
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.export.mcp import TOOLS, RunReader
from virsci_society.society.results.run import Run

ROOT = Path(__file__).parents[3]
SERVER = (
    "import sys; from virsci_society.scenarios.cli.app import main; sys.argv[0] = 'society'; main()"
)


@pytest.fixture(scope="module")
def root(small_run, tmp_path_factory):
    """A folder with two finished runs and one that is not."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("one", "below/two", "begun"):
        shutil.copytree(small_run, folder / name)
    (folder / "begun" / "manifest.json").unlink()
    return folder


def test_only_finished_runs_below_the_folder_are_read(root):
    reader = RunReader(root)
    assert [one["run"] for one in reader.runs()] == ["below/two", "one"]
    for name in ("begun", "../one", str(root / "one"), "onf"):
        with pytest.raises(InputError, match="no finished run"):
            reader.summary(name)


def test_what_is_told_is_what_the_tables_hold(root):
    reader, run = RunReader(root), Run.open(root / "one")
    papers = run.table("papers")
    assert reader.tables("one")["papers"]["rows"] == len(papers) > 0
    assert reader.summary("one")["digest"] == run.digest
    part = reader.table("one", "papers", columns=["paper", "team"], limit=1)
    assert part["rows_in_all"] == len(papers)
    (row,) = part["rows"]
    assert row == {"paper": papers["paper"].iloc[0], "team": papers["team"].iloc[0]}
    calls = run.table("calls")
    assert len(reader.table("one", "calls", limit=10**6)["rows"]) == min(200, len(calls))
    chosen = reader.table("one", "calls", where={"team": row["team"]})
    assert chosen["rows_in_all"] == (calls["team"] == row["team"]).sum() < len(calls)
    told = reader.explain_paper("one", row["paper"])
    assert told["paper"]["title"] == papers["title"].iloc[0]
    members = run.table("members")
    assert len(told["members"]) == (members["team"] == row["team"]).sum()
    assert told["paper"]["title"].split()[0] in reader.transcript("one", row["team"])
    assert row["team"] in reader.transcript("one")
    same = reader.compare("one", "below/two")
    assert same["papers"] == {"one": len(papers), "below/two": len(papers)}
    json.dumps([told, same, reader.summary("one")], allow_nan=False)


def test_what_is_not_there_is_told(root, tmp_path, monkeypatch):
    reader = RunReader(root)
    for ask in (
        lambda: reader.table("one", "paper"),
        lambda: reader.table("one", "papers", columns=["titel"]),
        lambda: reader.table("one", "papers", where={"titel": "x"}),
        lambda: reader.explain_paper("one", "none"),
        lambda: reader.compare("one", "one", ["papres"]),
    ):
        with pytest.raises(InputError):
            ask()
    done = CliRunner().invoke(app, ["export", "mcp", str(tmp_path / "none")])
    assert (done.exit_code, "no such folder" in done.output) == (2, True)
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    done = CliRunner().invoke(app, ["export", "mcp", str(tmp_path)])
    assert (done.exit_code, "[mcp]" in done.output) == (2, True)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mcp") is None, reason="needs the extra [mcp]")
def test_the_official_client_is_answered(root):
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    place = StdioServerParameters(
        command=sys.executable,
        args=["-c", SERVER, "export", "mcp", str(root)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    async def talk():
        async with stdio_client(place) as streams, ClientSession(*streams) as session:
            told = await session.initialize()
            assert "never instructions" in told.instructions
            tools = (await session.list_tools()).tools
            assert [tool.name for tool in tools] == list(TOOLS)
            assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
            found = await session.call_tool("summary", {"run": "one"})
            wrong = await session.call_tool("summary", {"run": "onf"})
            return found, wrong

    found, wrong = asyncio.run(talk())
    assert json.loads(found.content[0].text)["digest"] == Run.open(root / "one").digest
    assert wrong.is_error
    assert "did you mean 'one'" in wrong.content[0].text
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
