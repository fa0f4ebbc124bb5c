"""The tutorials: their commands and code run as printed; the study on removals is the library's."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.faultserver import FaultServer, Plan
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config.document import STUDIES
from virsci_society.scenarios.config.yaml_io import parse_yaml

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "tutorial-removal.md").read_text(encoding="utf-8")
TUTORIALS = sorted((ROOT / "docs").glob("tutorial-*.md"))
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def test_the_study_is_that_of_the_library():
    (shown,) = (text for language, text in BLOCK.findall(PAGE) if language == "yaml")
    held = (STUDIES / "removal.yaml").read_text(encoding="utf-8")
    assert parse_yaml(shown, "page").data == parse_yaml(held, "library").data


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial_prints_what_its_page_shows(page, tmp_path):
    """Save the files, run the commands and the Python of a page, and compare every output."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    shutil.copytree(ROOT / "examples" / "recorded", tmp_path / "examples" / "recorded")
    expected, printed = [], []
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if name := re.match(r"# (\w+\.(?:py|yaml))\n", text):
            (tmp_path / name[1]).write_text(text, encoding="utf-8")
        elif language == "console":
            for line in text.splitlines():
                command = f"{sys.executable} -m virsci_society {line.removeprefix('$ society ')}"
                subprocess.run(command, shell=True, cwd=tmp_path, env=environment, check=True)
        elif language == "python":
            command = [sys.executable, "-c", text]
            done = subprocess.run(
                command,
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            printed.append(done.stdout)
        elif language == "text":
            expected.append(text)
    assert printed == expected


@pytest.mark.slow
def test_the_lines_for_a_model_of_ones_own_run_against_a_server(tmp_path, monkeypatch):
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
