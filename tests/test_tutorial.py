"""The tutorial on removals: its study is the library's, its commands and code run as printed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config.document import STUDIES
from virsci_society.scenarios.config.yaml_io import parse_yaml

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "tutorial-removal.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def test_the_study_is_that_of_the_library() -> None:
    (printed,) = (text for language, text in BLOCK.findall(PAGE) if language == "yaml")
    held = (STUDIES / "removal.yaml").read_text(encoding="utf-8")
    assert parse_yaml(printed, "page").data == parse_yaml(held, "library").data


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
    (printed,) = (text for language, text in BLOCK.findall(shown) if language == "text")
    assert capsys.readouterr().out == printed


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE)
    command = (
        "import sys; from virsci_society.scenarios.cli.app import main; "
        "sys.argv[0] = 'society'; main()"
    )
    for at, (language, text) in enumerate(blocks):
        if language == "console":
            for line in text.splitlines():
                asked = [sys.executable, "-c", command, *shlex.split(line)[2:]]
                subprocess.run(asked, cwd=tmp_path, check=True, capture_output=True)
        elif language == "python":
            asked = [sys.executable, "-c", text]
            done = subprocess.run(asked, cwd=tmp_path, check=True, capture_output=True, text=True)
            assert done.stdout == blocks[at + 1][1]
