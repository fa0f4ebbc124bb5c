"""The tutorials, beyond what the site runs: a study of the library, a model of one's own."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.faultserver import FaultServer, Plan
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config.document import STUDIES
from virsci_society.scenarios.config.yaml_io import parse_yaml

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "tutorial-removal.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def test_the_study_is_that_of_the_library():
    (shown,) = (text for language, text in BLOCK.findall(PAGE) if language == "yaml")
    held = (STUDIES / "removal.yaml").read_text(encoding="utf-8")
    assert parse_yaml(shown, "page").data == parse_yaml(held, "library").data


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
