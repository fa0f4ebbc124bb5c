"""What the documentation shows is run: README's example, its commands, the notebook."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from society.run import Run

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMAND = "import sys; from scenarios.cli import main; sys.argv[0] = 'society'; main()"


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def society(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", COMMAND, *arguments]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280
    )


def test_the_first_example_prints_what_the_readme_shows(tmp_path):
    code, shown = blocks(README, "python")[0], blocks(README, "text")[0]
    assert len(code.strip().splitlines()) <= 15
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown


def test_the_commands_of_the_readme_run(tmp_path):
    lines = [line[2:] for block in blocks(README, "console") for line in block.splitlines()]
    assert lines
    for line in lines:
        done = society(shlex.split(line)[1:], tmp_path)
        assert done.returncode == 0, (line, done.stderr)
        assert done.stdout.strip(), line


def test_the_links_of_the_pages_lead_somewhere():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for link in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), (page.name, link)


def test_the_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(ROOT / "docs" / "quickstart.ipynb", as_version=4)
    client = NotebookClient(notebook, timeout=250, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert all(out.output_type != "error" for cell in outputs for out in cell)
    assert any(outputs)


def test_the_protocol_of_the_extension_page_runs_once_it_is_trusted(tmp_path):
    page = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    (tmp_path / "essay.txt").write_text("Write an essay on {{ topic }}.")
    (tmp_path / "alone.py").write_text(blocks(page, "python")[0])
    asked = ["run", "quickstart", "--set", "protocol.use=alone:Alone", "--set", "founding.most=2"]
    refused = society([*asked, "--out", "refused"], tmp_path)
    assert refused.returncode == 2
    assert "--trust" in refused.stderr
    trusted = society([*asked, "--out", "trusted", "--trust"], tmp_path)
    assert trusted.returncode == 0, trusted.stderr
    assert set(Run.open(tmp_path / "trusted").table("teams")["protocol"]) == {"alone"}


@pytest.mark.parametrize("name", ["LICENSE", "CITATION.cff"])
def test_nobody_is_named(name):
    assert "virsci-society contributors" in (ROOT / name).read_text(encoding="utf-8")


def test_the_viewer_shows_steps_and_starts_anew(monkeypatch):
    solara = pytest.importorskip("solara", reason="needs the extra [viz]")
    ipywidgets = pytest.importorskip("ipywidgets", reason="needs the extra [viz]")
    widgets = pytest.importorskip("ipyvuetify", reason="needs the extra [viz]")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    viewer = runpy.run_path(str(ROOT / "examples" / "viewer.py"))
    page = solara.AppLayout(children=[viewer["page"]])
    _, shown = solara.render(page, handle_error=False)

    def press(label):
        buttons = [one for one in shown.find(widgets.Btn).widgets if label in one.children]
        buttons[0].click()

    def pictures():
        return [bytes(one.value) for one in shown.find(ipywidgets.Image).widgets]

    before = pictures()
    assert len(before) == 3
    for _ in range(10):
        press("Step")
    assert all(old != new for old, new in zip(before, pictures(), strict=True))
    press("Reset")
    assert pictures() == before
