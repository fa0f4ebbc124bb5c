"""The tutorials: their commands and code run as printed; the study on removals is the library's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks import printed
from benchmarks.values import BLOCKS, Block, stamped
from tests.faultserver import FaultServer, Plan
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config.document import STUDIES
from virsci_society.scenarios.config.yaml_io import parse_yaml

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "tutorial-removal.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def test_the_study_is_that_of_the_library() -> None:
    (shown,) = (text for language, text in BLOCK.findall(PAGE) if language == "yaml")
    held = (STUDIES / "removal.yaml").read_text(encoding="utf-8")
    assert parse_yaml(shown, "page").data == parse_yaml(held, "library").data


@pytest.mark.slow
def test_one_society_and_its_fork_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All up to the study, whose commands the slow test runs."""
    monkeypatch.chdir(tmp_path)
    ran = []
    shown = PAGE.split("## 4.")[0]
    for language, text in BLOCK.findall(shown):
        if language == "console":
            for line in text.splitlines():
                arguments = shlex.split(line)[2:]
                assert CliRunner().invoke(app, arguments).exit_code == 0, line
                ran.append(arguments[0])
        elif language == "python":
            exec(compile(text, "tutorial-removal.md", "exec"), {})
    assert ran == ["run", "show", "fork"]
    (told,) = (text for language, text in BLOCK.findall(shown) if language == "text")
    assert capsys.readouterr().out == told


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "block",
    [block for block in BLOCKS if block.page.stem.startswith("tutorial-")],
    ids=lambda block: f"{block.page.stem}, {block.name}",
)
def test_the_page_shows_what_is_printed(
    block: Block, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files, commands and Python of the page up to the block; runs are shared by its blocks."""
    monkeypatch.setattr(printed, "KEPT", tmp_path_factory.getbasetemp() / "values")
    (held,) = (one for one in stamped(block.page) if one.name == block.name)
    assert block.text is not None
    assert block.text() == held.text


@pytest.mark.slow
def test_the_lines_for_a_model_of_ones_own_run_against_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "tutorial-virsci.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(page)
    (mine,) = (text for language, text in blocks if language == "yaml")
    lines = [line for language, text in blocks if language == "sh" for line in text.splitlines()]
    assert len(lines) >= 7
    monkeypatch.chdir(tmp_path)
    with FaultServer(Plan(plays="vllm", window=32_768)) as server:
        told = mine.replace("http://127.0.0.1:8000/v1", server.url)
        told = told.replace("model: mine", "model: test")
        (tmp_path / "mine.yaml").write_text(told, encoding="utf-8")
        for line in lines:
            done = CliRunner().invoke(app, shlex.split(line)[1:])
            assert done.exit_code == 0, (line, done.output)
            if "doctor" in line:
                server.reset()  # it asks too long a question, to learn the window
        counts = server.counts()
    assert counts["requests"] > 200
    assert counts["cut"] == 0
    assert set(counts["outcomes"]) == {"answered"}
