"""The folder of a listing, with one Markdown file a call and an index in three formats.

What a model is sent stands in fences, character by character. Everything else is ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import make_folder, remove_file, write_atomically
from virsci_society.agents.people.question import (
    describe_form,
    describe_messages,
    fenced,
    safe_name,
)
from virsci_society.scenarios.planning.prompt_recording import MOST, Listing, RecordedCall
from virsci_society.scenarios.planning.prompt_tokens import (
    CountedCall,
    TokenCounts,
    count_call,
    tokenizer_name,
    totals_by,
)

FORMAT = "society prompts 1"
"""Mark of a folder that was written here, in ``index.json``."""
PAGES = "pages"
MOST_CHARACTERS = 5_000_000
"""Characters of all pages up to which their texts stand in ``index.html`` too."""

_FILE = re.compile(rf"{PAGES}/\d{{4,}}-[A-Za-z0-9._-]+\.md")
RULES = "The words are those of rule-based scientists, not of a language model."
HEADS = ("calls", "prompt", "of it system", "schema", "reply")


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
        loader=jinja2.PackageLoader("virsci_society.scenarios.planning", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["grouped"] = "{:,}".format
    return environment.get_template("prompt_index.html")


def whose_words(listing: Listing) -> str:
    """One sentence: who has written the replies, and what earlier replies stand in the prompts."""
    if listing.rehearsed:
        return f"A rehearsal. {RULES} The run itself would ask {listing.about}."
    return f"The words are those of {listing.about}."


def notes(listing: Listing) -> list[str]:
    """Sentences about what was counted and what is not listed."""
    counter = tokenizer_name()
    said = [
        f"Tokens: {counter}. A prompt is all of its messages; the schema of the form is counted "
        "apart, because only some servers send it to the model."
    ]
    if listing.by_rules:
        said.append(f"Not listed: {listing.by_rules:,} calls that rules answer in the run too.")
    if listing.stopped:
        said.append(f"The rehearsal was stopped after {MOST:,} calls; choose teams with --teams.")
    return said


def render_call(listing: Listing, counted: CountedCall, number: int, total: int) -> str:
    """The text of one call: who is asked, the messages, the form, and the reply below a line.

    Args:
        listing: to which it belongs.
        counted: the call and its tokens.
        number: its place, from 1.
        total: number of calls.
    """
    call, tokens, row = counted.call, counted.tokens, counted.call.row
    facts = {
        "call": f"`{call.id}`",
        "page": call.page or "-",
        "asked": row["scientist"],
        "team": row["team"],
        "stage": f"{row['stage']}, visit {row['visit']}, turn {row['turn']}, seat {row['seat']}",
        "act": row["act"],
        "day": f"{row['asked']:.2f}",
        "form": call.form.__name__,
        "tokens": f"prompt {tokens.prompt:,} (of it system {tokens.system:,}), "
        f"schema {tokens.schema:,}, reply {tokens.reply:,}; {tokenizer_name()}",
    }
    if not call.usage.estimated:
        counts = f"prompt {call.usage.prompt_tokens:,}, reply {call.usage.completion_tokens:,}"
        facts["counted by the provider"] = counts
    if row["rung"]:
        facts["reply read"] = row["rung"]
    parts = [
        f"# Call {number} of {total}: {call.page or row['act']}, {row['scientist']}",
        whose_words(listing),
        "\n".join(f"- {name}: {value}" for name, value in facts.items()),
        describe_messages(call.messages),
        "## Form of the answer",
        describe_form(json.loads(call.schema)),
        "---",
        "## Reply of the rehearsal" if listing.rehearsed else "## Reply",
        fenced(call.text) if not call.verdict else f"No words: {call.verdict}",
    ]
    return "\n\n".join(parts) + "\n"


def render_index(listing: Listing, calls: Sequence[CountedCall], files: Sequence[str]) -> str:
    """The index as Markdown: totals, then the calls by team, stage and turn.

    Args:
        listing: what is listed.
        calls: in their order, with their tokens.
        files: path of each call's page, relative to the index.
    """
    parts = [f"# Prompts of {listing.title}", whose_words(listing), *notes(listing)]
    for head, sums in totals(calls).items():
        parts += [f"## Tokens by {head}", _sums_table(head, sums)]
    file_of = {one.call.id: file for one, file in zip(calls, files, strict=True)}
    for team, of_team in groupby(calls, lambda one: str(one.call.row["team"])):
        parts.append(f"## Team {team}")
        for heading, group in groupby(of_team, stage_of):
            parts += [f"### {heading}", _calls_table(group, file_of)]
    return "\n\n".join(parts) + "\n"


def stage_of(counted: CountedCall) -> str:
    """The heading under which a call is listed: stage, with its visit from the second on."""
    row = counted.call.row
    return row["stage"] if row["visit"] == 1 else f"{row['stage']}, visit {row['visit']}"


def totals(calls: Sequence[CountedCall]) -> dict[str, dict[str, TokenCounts]]:
    """Token sums by stage and by page, each with a last row for all."""

    def stage(call: RecordedCall) -> str:
        return str(call.row["stage"])

    def page(call: RecordedCall) -> str:
        return call.page or "-"

    everything = totals_by(calls, lambda call: "all")
    return {
        "stage": totals_by(calls, stage) | everything,
        "page": totals_by(calls, page) | everything,
    }


def _sums_table(head: str, sums: Mapping[str, TokenCounts]) -> str:
    rows = [
        (name, one.calls, one.prompt, one.system, one.schema, one.reply)
        for name, one in sums.items()
    ]
    return _table((head, *HEADS), rows)


def _calls_table(calls: Iterable[CountedCall], file_of: Mapping[str, str]) -> str:
    rows = []
    for one in calls:
        row, file = one.call.row, file_of[one.call.id]
        link = f"[{file.partition('/')[2].partition('-')[0]}]({file})"
        rows.append(
            (
                *(link, row["turn"], row["scientist"], row["act"], one.call.page or "-"),
                *(one.call.form.__name__, one.tokens.prompt, one.tokens.schema, one.tokens.reply),
            )
        )
    heads = ("call", "turn", "asked", "act", "page", "form", "prompt", "schema", "reply")
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of Markdown; whole numbers are grouped and aligned to the right."""
    numbers = [
        bool(rows) and all(isinstance(row[place], int) for row in rows)
        for place in range(len(heads))
    ]
    rule = ["---:" if number else "---" for number in numbers]
    lines = [heads, rule, *([_cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")
