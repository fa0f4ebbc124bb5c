"""The gallery: every script is short, uses public names alone, is shown, and draws its picture."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import virsci_society as vs

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "examples" / "gallery"
SCRIPTS = sorted(GALLERY.glob("[!_]*.py"))
TEXTS = {script.stem: script.read_text(encoding="utf-8") for script in SCRIPTS}
ALLOWED = {"matplotlib", "networkx", "numpy", "pandas", "virsci_society"}


@pytest.mark.parametrize("name", TEXTS)
def test_a_script_is_short_and_uses_public_names_alone(name):
    assert len(TEXTS[name].splitlines()) <= 25
    nodes = list(ast.walk(tree := ast.parse(TEXTS[name])))
    assert ast.get_docstring(tree)
    plain = [one.name for node in nodes if isinstance(node, ast.Import) for one in node.names]
    parts = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    assert set(plain) | set(parts) <= ALLOWED
    assert "virsci_society" not in parts
    used = [node for node in nodes if isinstance(node, ast.Attribute)]
    public = {one.attr for one in used if isinstance(one.value, ast.Name) and one.value.id == "vs"}
    assert public <= set(vs.__all__)
    assert not [one.attr for one in used if one.attr.startswith("_")]


def test_the_page_shows_every_script_once():
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert len(TEXTS) >= 12
    assert sorted(re.findall(r"^\[(\w+)\.py\]\(.*\)$", page, re.MULTILINE)) == sorted(TEXTS)


@pytest.mark.slow
def test_the_pictures_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    subprocess.run([sys.executable, str(GALLERY), *TEXTS], cwd=tmp_path, check=True)
    for name in TEXTS:
        picture = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
        assert picture.count("<path") > 10, name
