"""The site: `make docs` builds it from the pages of this folder, which are read on GitHub too.

The navigation is the four tables of README.md, so a page is entered in one place. Pages elsewhere
in the repository (CHANGELOG.md) become pages of the site; other files that are linked are copied.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
MADE = DOCS / "pages"
"""Pages made for the site alone, in files that git ignores and that end as no page here does."""
MADE_SUFFIX = ".myst"
README = (DOCS / "README.md").read_text(encoding="utf-8")
GROUPS = ("Tutorials", "How-to", "Reference", "Background")
ELSEWHERE = {
    "CHANGELOG.md": "changelog",
    "CODE_OF_CONDUCT.md": "conduct",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "examples/extension/README.md": "extension",
}
"""Pages outside this folder, and their names on the site."""
MOVED = {"index": "README"}
"""Old addresses and the pages now there: whoever renames a page adds its old name."""

project = "virsci-society"
extensions = ["myst_nb", "sphinx_copybutton"]
root_doc = "README"
exclude_patterns = ["_build"]
smartquotes = False  # two hyphens begin an option
myst_heading_anchors = 5
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_theme = "furo"
html_title = "virsci-society"
html_show_sphinx = False
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False


def pages(group: str) -> list[tuple[str, str, str]]:
    """The rows of a group's table that are pages: title, address without suffix, content."""
    table = on_site(README.partition(f"\n## {group}\n")[2].partition("\n## ")[0], DOCS, DOCS)
    row = r"^\| \[([^\]]+)\]\((\S+)\.(?:md|myst|ipynb)\) \| (.+) \|$"
    return re.findall(row, table, re.MULTILINE)


def on_site(text: str, start: Path, end: Path) -> str:
    """A page of the folder `start` as one of the folder `end`: its relative links are changed.

    A link whose text is the name of a file has the title of the page instead.
    """

    def link(match: re.Match[str]) -> str:
        target = os.path.relpath(start / match[1], ROOT)
        path = MADE / f"{ELSEWHERE[target]}{MADE_SUFFIX}" if target in ELSEWHERE else ROOT / target
        return f"]({os.path.relpath(path, end)}{match[2] or ''})"

    text = re.sub(r"\[([\w./-]+\.md)\]\(((?:\.\./)*\1)\)", r"[](\2)", text)
    return re.sub(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)", link, text)


def toctree(entries: list[str], caption: str = "") -> str:
    """A table of contents that the sidebar shows and the page itself does not."""
    lines = [":hidden:", *([f":caption: {caption}"] if caption else []), "", *entries]
    return "\n".join(["", "```{toctree}", *lines, "```", ""])


def navigation() -> str:
    """The tables of contents of the four groups."""
    return "".join(
        toctree([f"{title} <{page}>" for title, page, _ in pages(group)], group) for group in GROUPS
    )


def read_source(app: Any, page: str, source: list[str]) -> None:
    """Changes the links of a page, and gives the two front pages their tables of contents."""
    folder = (DOCS / page).parent
    if folder != MADE:
        source[0] = on_site(source[0], folder, folder)
    if page == root_doc:
        source[0] += navigation()
    elif page == "protocols/README":
        names = sorted(path.name for path in folder.glob("*.md") if path.stem != "README")
        source[0] += toctree(names)


def make_pages(app: Any) -> None:
    """Writes the pages that stand elsewhere."""
    MADE.mkdir(exist_ok=True)
    for file, name in ELSEWHERE.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        text = "---\norphan: true\n---\n" + on_site(text, (ROOT / file).parent, MADE)
        (MADE / f"{name}{MADE_SUFFIX}").write_text(text, encoding="utf-8")


def other_hosts(page: str) -> list[str]:
    """What a browser would fetch from another host to show the page."""
    tags = re.findall(r"<(?:script|img|link|iframe|source|video|object)\b[^>]*>", page)
    sources = re.findall(r"""\b(?:src|href|data)=["']?((?:https?:)?//[^"'\s>]+)""", " ".join(tags))
    styles = re.findall(r"""(?:url\(|@import\s+)["']?((?:https?:)?//[^"')\s]+)""", page)
    return sources + styles


def finish(app: Any, failure: Exception | None) -> None:
    """Writes redirects and llms.txt, and fails where a page would ask another host."""
    if failure:
        return
    out = Path(app.outdir)
    for old, new in MOVED.items():
        line = f'<!doctype html><meta http-equiv="refresh" content="0; url={new}.html">\n'
        (out / f"{old}.html").write_text(line, encoding="utf-8")
    (out / "llms.txt").write_text(overview(), encoding="utf-8")
    files = [path for path in out.rglob("*") if path.suffix in (".html", ".css")]
    asked = {(file.name, url) for file in files for url in other_hosts(file.read_text("utf-8"))}
    if asked:
        raise ValueError(f"pages that fetch from other hosts: {sorted(asked)}")


def overview() -> str:
    """The contents of the site for language models (llmstxt.org): one line a page."""
    lines = [f"# {project}", "", "> " + README.split("\n\n")[1].replace("\n", " ")]
    for group in GROUPS:
        lines += ["", f"## {group}", ""]
        lines += [f"- [{title}]({page}.html): {content}" for title, page, content in pages(group)]
    return "\n".join([*lines, ""])


def setup(app: Any) -> None:
    app.add_source_suffix(MADE_SUFFIX, "myst-nb")
    app.connect("builder-inited", make_pages)
    app.connect("source-read", read_source)
    app.connect("build-finished", finish)
