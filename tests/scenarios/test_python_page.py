"""``docs/python.md``, whose code the site runs, and whose names are all exported."""

import re
from pathlib import Path

import virsci_society as vs

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")


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
    # The recorded study of ballots repeats random draws of its run.
    internal = ("setup.py", "ballots.py")
    pages += [path for path in (root / "examples").rglob("*.py") if path.name not in internal]
    found = [f"{path.name}: {hit}" for path in pages for hit in PRIVATE.findall(path.read_text())]
    assert found == []
