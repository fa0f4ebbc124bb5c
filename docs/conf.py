"""The site: `make docs` builds it from the pages of this folder, which are read on GitHub too.

The navigation is the tables of README.md, so a page is entered in one place. Pages elsewhere
in the repository (CHANGELOG.md) become pages of the site; other files that are linked are copied.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import virsci_society

DOCS = Path(__file__).parent
ROOT = DOCS.parent
MADE = DOCS / "pages"
"""Pages made for the site alone, in files that git ignores and that end as no page here does."""
MADE_SUFFIX = ".myst"
GALLERY = ROOT / "examples" / "gallery"
README = (DOCS / "README.md").read_text(encoding="utf-8")
GROUPS = ("Tutorials", "How-to", "Reference", "Background", "Contributing")
ELSEWHERE = {
    "CHANGELOG.md": "changelog",
    "CODE_OF_CONDUCT.md": "conduct",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "examples/extension/README.md": "extension",
}
"""Pages outside this folder, and their names on the site."""
DATA = {
    "Days": "A length of simulated time in days: a number, or text such as ``2w`` in a file.",
    "METRICS": "The metrics by name.",
    "Process": "The type of the steps of a protocol that take simulated time.",
}
"""Names that are no classes or functions, so have no docstring."""
CARD_PARTS = "How it works|Things to notice|Things to try|What it does not show|Sources"
EXECUTED = re.compile(r"tutorial-.*|python|compare|ecosystems|prompts|scenarios")
"""Pages whose Python and commands are run, in the order of the page, when the site is built."""
NUMBER = re.compile(r"\d+(?:\.\d+)?")
NOTEBOOK = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3, language: python}
---
"""
SETUP = f"""
import os, re, shlex, shutil, subprocess, sys
from pathlib import Path

os.environ["COLUMNS"] = "100"
shutil.copytree({str(ROOT / "examples")!r}, "examples")

def society(lines):
    for line in lines.splitlines():
        words = [sys.executable, "-m", "virsci_society", *shlex.split(line)[2:]]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{{line}}: exit code {{done.returncode}}: {{done.stderr}}")
        progress = r"\\d+ of \\d+ \\("
        print(*[one for one in done.stdout.splitlines() if not re.match(progress, one)], sep="\\n")
"""
"""What the hidden first cell of such a page runs."""
MADE_ROWS = {
    "Reference": [
        ("Names to import", "pages/names", "every public name of Python, with an example"),
        (
            "Cards of the library",
            "pages/library",
            "every scenario and study: what it is, what to try",
        ),
    ]
}
"""Rows of the groups that are on the site alone."""

project = "virsci-society"
extensions = ["myst_nb", "sphinx_copybutton", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
exclude_patterns = ["_build"]
smartquotes_action = "D"  # dashes alone: quotation marks are part of what a reader copies
myst_heading_anchors = 5
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 1800
nb_output_stderr = "remove"  # progress and warnings of the machine that built the page
add_module_names = False
autodoc_default_options = {"members": True, "exclude-members": "model_config, fields"}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_typehints_format = "short"
napoleon_use_ivar = True
python_use_unqualified_type_names = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_theme = "furo"
html_static_path = ["site.css", "site.js"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_title = "virsci-society"
html_search_scorer = str(MADE / "scorer.js")
html_show_sphinx = False
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False


def pages(group: str) -> list[tuple[str, str, str]]:
    """The rows of a group's table that are pages: title, address without suffix, content."""
    table = on_site(README.partition(f"\n## {group}\n")[2].partition("\n## ")[0], DOCS, DOCS)
    row = r"^\| \[([^\]]+)\]\((\S+)\.(?:md|myst|ipynb)\) \| (.+) \|$"
    return MADE_ROWS.get(group, []) + re.findall(row, table, re.MULTILINE)


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
    """The tables of contents of the groups."""
    return "".join(
        toctree([f"{title} <{page}>" for title, page, _ in pages(group)], group) for group in GROUPS
    )


def read_source(app: Any, page: str, source: list[str]) -> None:
    """Changes the links of a page, and gives the front page its tables of contents."""
    folder = (DOCS / page).parent
    shown = with_picture if page == "gallery" else partial(with_text, folder)
    source[0] = re.sub(r"^\[[\w.]+\]\((\S+)\)$", shown, source[0], flags=re.MULTILINE)
    if folder != MADE:
        source[0] = on_site(source[0], folder, folder)
    if EXECUTED.fullmatch(page):
        source[0] = as_notebook(source[0])
    if page == root_doc:
        source[0] = source[0].replace("\n## Glossary\n", f"{glossary_index()}\n## Glossary\n")
        source[0] += navigation()


def as_notebook(text: str) -> str:
    """A page as a notebook: its Python and its commands become cells, its named files are saved."""
    cells = [code_cell(SETUP, "remove-cell")]

    def with_cell(match: re.Match[str]) -> str:
        block, language, code = match.group(0, 1, 2)
        if name := re.match(r"# ([\w-]+\.\w+)\n", code):
            held = code.removeprefix(name[0]) if name[1].endswith(".csv") else code
            cells.append(code_cell(f"_ = Path({name[1]!r}).write_text({held!r})", "remove-cell"))
        elif language == "console":
            cells.append(code_cell(f"society({code!r})", "remove-input"))
        elif language == "python":
            cells.append(code_cell(code))
            block = ""
        made = block + "".join(cells)
        cells.clear()
        return made

    block = r"^```(python|console|yaml|text)\n(.*?)^```\n"
    return NOTEBOOK + re.sub(block, with_cell, text, flags=re.MULTILINE | re.DOTALL)


def code_cell(code: str, tag: str = "") -> str:
    """A cell of a notebook, with a tag that hides it (``remove-cell``) or its code alone."""
    tags = f":tags: [{tag}]\n" if tag else ""
    return f"\n```{{code-cell}} ipython3\n{tags}\n{code}\n```\n"


def check_figures(app: Any, doctree: Any) -> None:
    """Fails where a number in bold on an executed page is in no output of its cells."""
    from docutils import nodes

    if not EXECUTED.fullmatch(app.env.docname):
        return
    outputs = [one for one in doctree.findall(nodes.container) if "cell_output" in one["classes"]]
    printed = set(NUMBER.findall("\n".join(one.astext() for one in outputs)))
    bold = NUMBER.findall("\n".join(one.astext() for one in doctree.findall(nodes.strong)))
    if missing := [number for number in bold if number not in printed]:
        raise ValueError(f"{app.env.docname}: no cell prints {', '.join(missing)}")


def glossary_index() -> str:
    """Entries by which the search finds the terms of the glossary; ``ON`` is no word to it."""
    table = README.partition("\n## Glossary\n")[2]
    _, *terms = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    return "\n```{index} " + ", ".join(f"!{term}" for term in terms) + "\n```\n"


def make_pages(app: Any) -> None:
    """Writes the pages that stand elsewhere."""
    MADE.mkdir(exist_ok=True)
    for file, name in ELSEWHERE.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        text = "---\norphan: true\n---\n" + on_site(text, (ROOT / file).parent, MADE)
        write_page(name, text)
    (MADE / "scorer.js").write_text(scorer(), encoding="utf-8")
    draw_gallery()
    write_page("library", library_page())
    write_page("names", names_page())
    for title, names in name_groups().items():
        write_page(f"names-{title.lower()}", f"# {title}\n\n{autodoc(names)}")


def with_picture(match: re.Match[str]) -> str:
    """In place of the link to a script of the gallery: what it draws, and its text to unfold."""
    script = GALLERY / Path(match[1]).name
    alt = ast.get_docstring(ast.parse(text := script.read_text(encoding="utf-8")))
    code = f"<details><summary>{script.name}</summary>\n\n```python\n{text}```\n\n</details>"
    return f"![{alt}](pages/{script.stem}.svg)\n\n{code}"


def with_text(folder: Path, match: re.Match[str]) -> str:
    """In place of a link that stands alone: the text of the file."""
    path = folder / match[1]
    language = {".py": "python", ".yaml": "yaml", ".toml": "toml"}.get(path.suffix, "text")
    return f"**{path.name}**\n\n```{language}\n{path.read_text(encoding='utf-8')}```"


def draw_gallery() -> None:
    """Makes the pictures of the gallery, unless they are newer than their scripts.

    What only a change of the program alters is drawn after ``make clean``.
    """
    made = [MADE / f"{script.stem}.svg" for script in scripts()]
    newest = max(path.stat().st_mtime for path in GALLERY.iterdir())
    if all(path.exists() and path.stat().st_mtime > newest for path in made):
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(GALLERY)], cwd=folder, check=True)  # noqa: S603
        for picture in made:
            shutil.copy(Path(folder) / picture.name, picture)


def scripts() -> list[Path]:
    """The scripts of the gallery, each of which draws one picture."""
    return sorted(GALLERY.glob("[!_]*.py"))


def scorer() -> str:
    """How the search orders what it finds: how-to pages first, members of classes last."""
    gains = (4, 4, 2, 0, -4)
    more = {
        page: gain for group, gain in zip(GROUPS, gains, strict=True) for _, page, _ in pages(group)
    }
    sphinx = (
        "objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0"
    )
    words = "title: 15, partialTitle: 7, term: 5, partialTerm: 2"
    score = 'one => one[4] + (MORE[one[0]] || 0) - (one[6] === "object" ? 12 : 0)'
    return (
        f"const MORE = {json.dumps(more)};\nvar Scorer = {{score: {score}, {sphinx}, {words}}};\n"
    )


def write_page(name: str, text: str) -> None:
    (MADE / f"{name}{MADE_SUFFIX}").write_text(text, encoding="utf-8")


def library_page() -> str:
    """The cards of all scenarios, then of all studies: the comments at the heads of their files."""
    library = ROOT / "scenarios" / "library"
    files = sorted(
        library.rglob("*.yaml"),
        key=lambda path: ("studies" in path.parts, path.parent != library, path),
    )
    names = {path.relative_to(library).with_suffix("").as_posix(): path for path in files}
    cards = "\n".join(card(name, path) for name, path in names.items())
    head = "# Cards of the library\n\n`society list NAME` prints a card, and the file below it.\n"
    return on_site(f"{head}\n{cards}", DOCS, MADE)


def card(name: str, path: Path) -> str:
    """A card: its first sentences, then each part under its label, with commands as a block."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line[2:] for line in itertools.takewhile(lambda line: line.startswith("#"), lines)]
    text = re.sub(rf"^({CARD_PARTS}): ?", r"\n**\1.** ", "\n".join(head), flags=re.MULTILINE)
    text = re.sub(r"((?:^  society .*\n)+)", r"\n```sh\n\1```\n", text, flags=re.MULTILINE)
    text = re.sub(r"^  society", "society", text, flags=re.MULTILINE)
    text = re.sub(r"docs/([\w/-]+\.md)", r"[\1](\1)", text)
    return f"## {name}\n\n{text}\n"


def name_groups() -> dict[str, list[str]]:
    """The public names by what they are for, from the first table of python.md."""
    page = (DOCS / "python.md").read_text(encoding="utf-8").partition("\n## ")[0]
    found = re.findall(r"^\| (\w+) \| (`.*) \|$", page, re.MULTILINE)
    return {title.capitalize(): re.findall(r"`(\w+)`", names) for title, names in found}


def autodoc(names: list[str]) -> str:
    """What prints the docstrings of the names; a name of data has a line in place of one."""
    lines = ["```{eval-rst}", ".. currentmodule:: virsci_society", ""]
    for name in names:
        if name in DATA:
            lines += [f".. data:: {name}", "", f"   {DATA[name]}", ""]
        else:
            kind = "class" if inspect.isclass(getattr(virsci_society, name)) else "function"
            lines += [f".. auto{kind}:: {name}"]
    return "\n".join([*lines, "```", ""])


def names_page() -> str:
    """The docstring of the package, and a table of all names with the first line of theirs."""
    lines = [
        "# Names to import",
        "",
        "```{eval-rst}",
        ".. automodule:: virsci_society",
        "   :no-members:",
        "```",
    ]
    for title, names in name_groups().items():
        lines += ["", f"## {title}", "", "| name | what it is |", "|---|---|"]
        lines += [f"| [`{name}`](#virsci_society.{name}) | {first_line(name)} |" for name in names]
    return "\n".join([*lines, toctree([f"names-{title.lower()}" for title in name_groups()])])


def first_line(name: str) -> str:
    text = DATA.get(name) or inspect.getdoc(getattr(virsci_society, name)) or ""
    return text.split("\n\n")[0].replace("\n", " ").replace("``", "`")


def add_types(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Gives the attributes in the docstring of a class their types, from its annotations."""
    if what in ("property", "attribute"):
        lines[:0] = ["..", ""]  # else napoleon takes what stands before a colon for the type
    if what not in ("class", "exception"):
        return
    start = lines.index("Attributes:") if "Attributes:" in lines else len(lines)
    for number in range(start + 1, len(lines)):
        if not (match := re.match(r"    (\w+): (.*)", lines[number])):
            if lines[number].startswith(" "):
                continue
            break
        if written := annotation(thing, match[1]):
            lines[number] = f"    {match[1]} ({written}): {match[2]}"


def annotation(thing: type, attribute: str) -> str:
    """The type of an attribute as its class writes it; empty where it writes none."""
    for base in thing.__mro__:
        if attribute in vars(base).get("__annotations__", {}):
            written = str(vars(base)["__annotations__"][attribute])
            return re.sub(r"^Annotated\[(.+?), \w+\(.*\]$", r"\1", written)  # without its checks
        if isinstance(found := vars(base).get(attribute), property):
            return str(found.fget.__annotations__.get("return", ""))
    return str(getattr(thing.__init__, "__annotations__", {}).get(attribute, ""))


def drop_signature(app: Any, what: str, name: str, thing: Any, *_: Any) -> tuple[str, None] | None:
    """Parts are made from the keys of a scenario: their signature is long and never called."""
    return ("", None) if what == "class" and hasattr(thing, "model_fields") else None


def strays(page: str) -> list[str]:
    """What a browser would fetch from another host to show the page; this folder's path."""
    tags = re.findall(r"<(?:script|img|link|iframe|source|video|object)\b[^>]*>", page)
    sources = re.findall(r"""\b(?:src|href|data)=["']?((?:https?:)?//[^"'\s>]+)""", " ".join(tags))
    styles = re.findall(r"""(?:url\(|@import\s+)["']?((?:https?:)?//[^"')\s]+)""", page)
    return [*sources, *styles, *re.findall(re.escape(str(ROOT)), page)]


def finish(app: Any, failure: Exception | None) -> None:
    """Writes index.html and llms.txt, and fails where a page holds what it must not."""
    if failure:
        return
    out = Path(app.outdir)
    line = '<!doctype html><meta http-equiv="refresh" content="0; url=README.html">\n'
    (out / "index.html").write_text(line, encoding="utf-8")
    (out / "llms.txt").write_text(overview(), encoding="utf-8")
    files = [path for path in out.rglob("*") if path.suffix in (".html", ".css")]
    found = {(file.name, one) for file in files for one in strays(file.read_text("utf-8"))}
    if found:
        raise ValueError(f"pages that ask other hosts or name folders here: {sorted(found)}")


def overview() -> str:
    """The contents of the site for language models (llmstxt.org): one line a page."""
    lines = [f"# {project}", "", "> " + README.split("\n\n")[1].replace("\n", " ")]
    for group in GROUPS:
        lines += ["", f"## {group}", ""]
        lines += [f"- [{title}]({page}.html): {content}" for title, page, content in pages(group)]
    return "\n".join([*lines, ""])


def setup(app: Any) -> None:
    from sphinx.domains.python import PyObject

    for field in PyObject.doc_field_types:
        field.label = {"variable": "Attributes"}.get(field.name, field.label)
    app.add_source_suffix(MADE_SUFFIX, "myst-nb")
    app.connect("builder-inited", make_pages)
    # The front page depends on this file and on README's tables, whichever of them has changed.
    app.connect("env-get-outdated", lambda *_: [root_doc])
    app.connect("source-read", read_source)
    app.connect("doctree-read", check_figures)
    app.connect("autodoc-process-docstring", add_types, priority=400)
    app.connect("autodoc-process-signature", drop_signature)
    app.connect("build-finished", finish)
