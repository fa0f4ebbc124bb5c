"""``docs/python.md``, whose code is run in order, and whose names are all exported."""

import re
from pathlib import Path

import pytest

import virsci_society as vs

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("no_page")
def test_the_code_of_the_page_runs(here, small_text, capsys, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    (here / "small.yaml").write_text(small_text)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    assert code.count('"quickstart"') == 2
    names = {}
    # A smaller society in the place of the quickstart.
    exec(compile(code.replace('"quickstart"', '"small.yaml"'), "python.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert any(one.startswith("<Run small, seed 3: 12 scientists, 2 teams, ") for one in printed)
    assert printed[-1] == "float64"
    assert {"weekly", "degrees"} <= set(names["run"].metric_names())
    assert (here / "two.png").exists()


def test_the_page_names_all_that_is_public_and_nothing_else():
    table = PAGE[PAGE.index("| for | names |") : PAGE.index("The classes to subclass")]
    named = re.findall(r"`(\w+)`", table)
    assert sorted(named) == sorted(vs.__all__)
    assert len(named) <= 50
    assert all(hasattr(vs, name) for name in named)


PRIVATE = re.compile(
    r"(?:from|import) (?:virsci_society\.)?(?:agents|society|protocols|metrics|scenarios)\b[. ]"
)


def test_pages_and_examples_import_nothing_private():
    root = Path(__file__).parents[2]
    pages = [root / "README.md", *(root / "docs").rglob("*.md"), *(root / "docs").glob("*.ipynb")]
    pages += [path for path in (root / "examples").rglob("*.py") if path.name != "setup.py"]
    found = [f"{path.name}: {hit}" for path in pages for hit in PRIVATE.findall(path.read_text())]
    assert found == []
