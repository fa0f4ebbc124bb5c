"""The explorer's page, one HTML file that opens without a server and makes no request.

The content security policy lets exactly one script and one style sheet run, by their hashes, and
forbids the script to parse any text as HTML (trusted types). Everything that users or models have
written goes in as packed data, which the script shows as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from markupsafe import Markup

from virsci_society.metrics.population import people_ever
from virsci_society.metrics.report.network_layout import run_communities
from virsci_society.metrics.report.templates import (
    source_hash,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.scenarios.explorer.conversations import PromptBook, pack_words
from virsci_society.scenarios.explorer.run_arrays import arrays_of, names_of, pack
from virsci_society.society.results.run import Run
from virsci_society.society.results.speaker import speaker_of


def parting_day(one: Run, other: Run) -> float | None:
    """The date of the first event or call that only one of two runs has; None: they are the same.

    Calls count because two runs may say different things long before an event differs. Runs that
    begin with different people or ties part on day 0.
    """
    found = []
    for first, second in zip(_histories(one), _histories(other), strict=True):
        differ = (both for both in zip_longest(first, second) if both[0] != both[1])
        if both := next(differ, None):
            found.append(min(entry[0] for entry in both if entry is not None))
    if not found and one.days != other.days:
        return min(one.days, other.days)
    return min(found, default=None)


def _histories(run: Run) -> Iterator[Iterator[tuple[float, Any]]]:
    """People and ties of before day 0, events, and what was asked and answered, all with dates."""
    people, ties = run.table("scientists"), run.table("ties")
    for rows in (people[people["arrived"].isna()], ties[ties["date"] < 0]):
        told = rows.astype(object).fillna("").itertuples(index=False, name=None)
        yield ((0.0, row) for row in told)
    yield ((float(event["date"]), {**event, "sequence": 0}) for event in run.events())
    calls = run.table("calls")[["asked", "call", "prompt_hash", "reply"]].fillna("")
    yield ((float(row[0]), row) for row in calls.itertuples(index=False, name=None))


FILE = "explorer.html"
LIMITS = ((200, 1_000_000), (20_000, 3_000_000), (None, 6_000_000))
"""Most bytes of a page by number of scientists; the last holds for all larger runs."""
FIXED = 70_000
"""Bytes kept free for script, style and markup."""
SCRIPTS = ("data.js", "views.js", "network.js", "main.js")
"""The files of the script, which become one."""


@dataclass(frozen=True)
class Explorer:
    """A page and what was left out of it.

    Attributes:
        parted: day on which the two runs part; None: there is one run, or they are the same.
    """

    html: str
    left_out: tuple[str, ...]
    parted: float | None


def write_explorer(path: Path, runs: Sequence[Run], books: Sequence[PromptBook] = ()) -> Explorer:
    """Write the page of one run or of two."""
    made = render_explorer(runs, books)
    write_html(path, made.html)
    return made


def render_explorer(runs: Sequence[Run], books: Sequence[PromptBook] = ()) -> Explorer:
    """The page of one run or of two, which are drawn on the same places."""
    listed = [names_of(run) for run in runs]
    names = list(dict.fromkeys(chain.from_iterable(listed)))
    whole = run_communities(runs)
    environment = template_environment(
        "virsci_society.scenarios.explorer", "virsci_society.metrics.report"
    )
    parted = parting_day(*runs) if len(runs) == 2 else None
    packed: list[dict[str, str]] = []
    left_out: dict[str, None] = {}
    for place, run in enumerate(runs):
        book = books[place] if books else PromptBook(missing="not asked for")
        made = arrays_of(run, names, whole)
        drawn = pack(made.values, made.arrays)
        words = pack_words(run, made, book, max(room_for(run) - FIXED - len(drawn), 0))
        packed.append({"drawn": drawn, "said": words.said, "prompts": words.prompts})
        left_out |= dict.fromkeys(words.left_out)
    script = "(() => {\n" + "\n".join(_source(name) for name in SCRIPTS) + "})();\n"
    style = str(style_sheet(environment)) + _source("explorer.css")
    html = environment.get_template("explorer.html").render(
        policy=content_security_policy(script, style),
        script=Markup(script),  # noqa: S704 - our own file
        style=Markup(style),  # noqa: S704 - our own files
        title=_title(runs),
        abouts=list(dict.fromkeys(speaker_of(run.manifest) for run in runs)),
        settings=pack(
            {
                "runs": [_told(run, len(known)) for run, known in zip(runs, listed, strict=True)],
                "parted": parted,
                "left_out": list(left_out),
            }
        ),
        packed=packed,
        left_out=list(left_out),
    )
    return Explorer(html, tuple(left_out), parted)


def content_security_policy(script: str, style: str) -> str:
    """The policy under which exactly this script and this style sheet run."""
    return (
        f"default-src 'none'; script-src '{source_hash(script)}'; "
        f"style-src '{source_hash(style)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    )


def room_for(run: Run) -> int:
    """Most bytes of the page of a run."""
    people = len(run.table("scientists"))
    return next(limit for most, limit in LIMITS if most is None or people <= most)


def _told(run: Run, listed: int) -> dict[str, Any]:
    """What the page says of a run as a whole, in whose tables so many scientists stand."""
    return {
        "name": run.name or "a run",
        "seed": run.seed,
        "days": run.days,
        "boundary": run.boundary,
        "partial": run.partial,
        # Tables of a large society hold those who have acted.
        "unlisted": people_ever(run) > listed,
        "folder": run.folder.resolve().name if run.folder else "",
    }


def _title(runs: Sequence[Run]) -> str:
    """Names of the scenarios; two runs of one scenario are told apart by their folders."""
    names = list(dict.fromkeys(run.name or "a run" for run in runs))
    folders = [run.folder.resolve().name for run in runs if run.folder]
    if len(runs) == 2 and len(names) == 1 and len(folders) == 2:
        return f"{names[0]}: {' and '.join(folders)}"
    return " and ".join(names)


def _source(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
