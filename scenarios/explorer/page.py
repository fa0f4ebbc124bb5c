"""The explorer's page, one HTML file that opens without a server and makes no request.

The content security policy lets one script and one style sheet run, by their hashes.
"""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from virsci_society.metrics.network_layout import run_communities
from virsci_society.metrics.population import people_ever
from virsci_society.metrics.report.templates import (
    source_hash,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.scenarios.explorer.conversations import PromptBook, pack_words
from virsci_society.scenarios.explorer.explorer_data import arrays_of, names_of, pack
from virsci_society.society.results.run import Run
from virsci_society.society.results.text_provenance import speaker_of

FILE = "explorer.html"
LIMITS = ((200, 1_000_000), (20_000, 3_000_000), (None, 6_000_000))
"""Most bytes of a page by number of scientists; the last applies to all larger runs."""
FIXED = 70_000
"""Bytes kept free for script, style and markup."""
SCRIPTS = ("data.js", "views.js", "network.js", "main.js")
"""The files of the script, which become one."""
NO_PROMPTS = PromptBook(missing="not asked for")


def write_explorer(path: Path, run: Run, book: PromptBook = NO_PROMPTS) -> tuple[str, ...]:
    """Write the page of a run; returns sentences about what was left out of it."""
    html, left_out = render_explorer(run, book)
    write_html(path, html)
    return left_out


def render_explorer(run: Run, book: PromptBook = NO_PROMPTS) -> tuple[str, tuple[str, ...]]:
    """The page of a run, and what was left out of it."""
    environment = template_environment(
        "virsci_society.scenarios.explorer", "virsci_society.metrics.report"
    )
    names = names_of(run)
    made = arrays_of(run, names, run.once(run_communities))
    drawn = pack(made.values, made.arrays)
    words = pack_words(run, made, book, max(room_for(run) - FIXED - len(drawn), 0))
    settings = {
        "days": run.days,
        "boundary": run.boundary,
        # Tables of a large society hold those who have acted.
        "unlisted": people_ever(run) > len(names),
        "left_out": list(words.left_out),
    }
    script = "(() => {\n" + "\n".join(_source(name) for name in SCRIPTS) + "})();\n"
    style = str(style_sheet(environment)) + _source("explorer.css")
    policy = (
        f"default-src 'none'; script-src '{source_hash(script)}'; "
        f"style-src '{source_hash(style)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    )
    html = environment.get_template("explorer.html").render(
        policy=policy,
        script=Markup(script),  # noqa: S704 - our own file
        style=Markup(style),  # noqa: S704 - our own files
        title=run.name or "a run",
        about=speaker_of(run.manifest),
        settings=pack(settings),
        drawn=drawn,
        words=words,
    )
    return html, words.left_out


def room_for(run: Run) -> int:
    """Most bytes of the page of a run."""
    people = len(run.table("scientists"))
    return next(limit for most, limit in LIMITS if most is None or people <= most)


def _source(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
