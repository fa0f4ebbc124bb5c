"""Writes the folder of a listing, one file a call, and its index in three formats."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import make_folder, remove_file, write_atomically
from virsci_society.agents.people.question import safe_name
from virsci_society.scenarios.planning.prompt_pages.recording import Listing
from virsci_society.scenarios.planning.prompt_pages.texts import (
    notes,
    render_call,
    render_index,
    stage_of,
    totals,
    whose_words,
)
from virsci_society.scenarios.planning.prompt_pages.tokens import CountedCall, count_call
from virsci_society.scenarios.planning.tokenizer import tokenizer_name

FORMAT = "society prompts 1"
"""Mark of a folder that was written here, in ``index.json``."""
PAGES = "pages"
MOST_CHARACTERS = 5_000_000
"""Characters of all pages up to which their texts stand in ``index.html`` too."""

_FILE = re.compile(rf"{PAGES}/\d{{4,}}-[A-Za-z0-9._-]+\.md")


def write_pages(listing: Listing, out: Path) -> list[CountedCall]:
    """Write a listing into a folder; one that an earlier listing was written to is written anew.

    Args:
        listing: what is written.
        out: the folder; made if it is not there.

    Returns:
        The calls with their tokens, in their order.

    Raises:
        InputError: the folder holds other files, or cannot be written to.
    """
    calls = [count_call(call) for call in listing.calls]
    files = [
        f"{PAGES}/{number:04d}-{safe_name(one.call.id)}.md" for number, one in enumerate(calls, 1)
    ]
    texts = [
        _storable(render_call(listing, one, number, len(calls)))
        for number, one in enumerate(calls, 1)
    ]
    earlier = files_of_earlier_listing(out)
    try:
        for file in earlier:
            remove_file(out / file, within=out)
        make_folder(out / PAGES, within=out)
        # First of all, so that a folder that was left half written is known as ours.
        write_atomically(out / "index.json", _index_json(listing, calls, files))
        for file, text in zip(files, texts, strict=True):
            write_atomically(out / file, text, within=out)
        write_atomically(out / "index.md", _storable(render_index(listing, calls, files)))
        write_atomically(out / "index.html", _storable(_index_html(listing, calls, files, texts)))
    except OSError as error:
        raise InputError(
            f"{out}: cannot be written to ({error.strerror}); give another folder with --out"
        ) from error
    return calls


def files_of_earlier_listing(out: Path) -> list[str]:
    """Pages that an earlier listing has left in this folder, which may be removed.

    Raises:
        InputError: the folder holds something else.
    """
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return []
    refusal = InputError(f"{out}: holds other files; give another folder with --out")
    try:
        held = json.loads((out / "index.json").read_text(encoding="utf-8"))
        if held["format"] != FORMAT:
            raise refusal
        files = [str(one["file"]) for one in held["calls"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise refusal from None
    # Whoever may have written that file: nothing but pages is removed.
    return [file for file in files if _FILE.fullmatch(file)]


def _index_json(listing: Listing, calls: Sequence[CountedCall], files: Sequence[str]) -> str:
    entries = [{"file": file, **_facts(one)} for file, one in zip(files, calls, strict=True)]
    sums = {
        head: {name: asdict(one) for name, one in by.items()} for head, by in totals(calls).items()
    }
    data = {
        "format": FORMAT,
        "title": listing.title,
        "words": whose_words(listing),
        "tokenizer": tokenizer_name(),
        "calls": entries,
        "totals": sums,
    }
    return json.dumps(data, indent=1) + "\n"


def _facts(counted: CountedCall) -> dict[str, Any]:
    call, row = counted.call, counted.call.row
    names = ("team", "stage", "visit", "turn", "seat", "act", "scientist", "asked", "rung")
    tokens = asdict(counted.tokens)
    del tokens["calls"]
    return {
        "call": call.id,
        "page": call.page,
        "form": call.form.__name__,
        **{name: row[name] for name in names},
        "verdict": call.verdict,
        "tokens": tokens,
    }


class _Entry(NamedTuple):
    """One call in ``index.html``: its file, its text if that is shown, and its tokens."""

    file: str
    text: str
    counted: CountedCall

    def team(self) -> str:
        return str(self.counted.call.row["team"])

    def stage(self) -> str:
        return stage_of(self.counted)


def _index_html(
    listing: Listing, calls: Sequence[CountedCall], files: Sequence[str], texts: Sequence[str]
) -> str:
    whole = sum(map(len, texts)) <= MOST_CHARACTERS
    entries = [
        _Entry(file, text if whole else "", one)
        for file, text, one in zip(files, texts, calls, strict=True)
    ]
    teams = [
        (team, [(stage, list(group)) for stage, group in groupby(of_team, _Entry.stage)])
        for team, of_team in groupby(entries, _Entry.team)
    ]
    return _template().render(
        listing=listing,
        words=whose_words(listing),
        notes=notes(listing),
        totals=totals(calls),
        teams=teams,
    )


def _storable(text: str) -> str:
    """The text without halves of surrogate pairs, which no file can hold."""
    return text.encode("utf-8", "replace").decode()


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("virsci_society.scenarios.planning.prompt_pages", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["grouped"] = "{:,}".format
    return environment.get_template("index.html")
