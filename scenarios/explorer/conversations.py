"""All that was said in a run for the explorer: papers, calls with their replies, prompts, votes.

Tables hold only hashes of prompts: a replay makes every prompt anew and asks no model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from virsci_society.agents.errors import Diverged, InputError
from virsci_society.agents.prompts.slots import Reference
from virsci_society.metrics.report.transcript import SpokenReply, TeamTalk, team_talks
from virsci_society.protocols.ideas import CandidateIdea
from virsci_society.scenarios.explorer.explorer_data import NOBODY, RunArrays, pack
from virsci_society.scenarios.planning.prompts import replaying
from virsci_society.scenarios.runs.rehearsal import go_through
from virsci_society.society.results.run import Run

Item = TypeVar("Item")
FILLED = 0.95
"""Share of the room that is full enough: no more is tried then."""
SMALL_TABLES = {
    "interests": ("scientist", "date", "topic", "interests"),
    "submissions": ("team", "submission", "round", "submitted", "decided", "decision", "score"),
    "referees": (
        *("team", "submission", "round", "scientist", "invited", "delivered"),
        *("outcome", "recommendation", "score"),
    ),
}
"""Tables that are packed row by row, their columns in the order in which the page reads them."""


@dataclass(frozen=True)
class PromptBook:
    """The prompts of a run with the ideas that each shows, or the reason for their absence."""

    texts: Mapping[str, str] = field(default_factory=dict)
    ideas: Mapping[str, Sequence[CandidateIdea]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""


@dataclass(frozen=True)
class Words:
    """The packed words of a run."""

    said: str
    prompts: str
    left_out: tuple[str, ...]


def pack_words(run: Run, made: RunArrays, book: PromptBook, room: int) -> Words:
    """Pack texts up to a number of characters, teams with a paper first."""
    # The sort is stable, and talks come by date of founding.
    talks = sorted(team_talks(run), key=lambda talk: talk.paper is None)

    def said_by(chosen: Sequence[TeamTalk]) -> str:
        return pack(said_in(run, made, book, chosen))

    def asked_of(chosen: Sequence[TeamTalk]) -> str:
        return pack_prompts([entry.call for talk in chosen for entry in talk.said], book.texts)

    said, kept = fit(talks, said_by, room)
    prompts, shown = "", 0
    if book.texts:
        prompts, shown = fit(talks[:kept], asked_of, room - len(said))
    left_out = []
    if kept < len(talks):
        left_out.append(
            f"Conversations of {len(talks) - kept:,} of {len(talks):,} teams, for file size."
        )
    if book.missing and len(run.table("calls")):
        left_out.append(f"All prompts: {book.missing}.")
    elif shown < kept and book.texts:
        left_out.append(f"Prompts of {kept - shown:,} of {kept:,} teams, for file size.")
    return Words(said, prompts if shown else "", tuple(left_out))


def fit(items: Sequence[Item], make: Callable[[Sequence[Item]], str], room: int) -> tuple[str, int]:
    """The text of the items that fit into a number of characters, and their number."""
    text = make(items)
    if len(text) <= room:
        return text, len(items)
    low, high, best = 0, len(items), make(())
    while high - low > 1 and len(best) < FILLED * room:
        middle = (low + high) // 2
        text = make(items[:middle])
        if len(text) <= room:
            low, best = middle, text
        else:
            high = middle
    return best, low


def said_in(
    run: Run, made: RunArrays, book: PromptBook, talks: Sequence[TeamTalk]
) -> dict[str, Any]:
    """Papers, small tables and all replies of some teams, as the script reads them."""

    def plain(column: str, value: Any) -> Any:
        """A cell of a small table; teams and scientists as their numbers."""
        if column in ("team", "scientist"):
            return (made.teams if column == "team" else made.people).get(str(value), -1)
        if pd.isna(value):
            return None
        numeric = isinstance(value, (int, float, np.number))
        return round(float(value), 3) if numeric else str(value)

    papers, teams = run.table("papers"), run.table("teams")
    shown = papers["team"].isin([talk.team for talk in talks])
    said = [(talk, entry) for talk in talks for entry in talk.said]
    number = {entry.call: index for index, (_, entry) in enumerate(said)}
    # If a guest answered, work that waited for "X/guest" waited for that answer.
    number |= {f"{call.rpartition('/guest/')[0]}/guest": n for call, n in number.items()}
    calls = [
        {
            "id": entry.call,
            "team": made.teams.get(talk.team, NOBODY),
            "who": made.people.get(entry.speaker, NOBODY),
            "day": round(entry.day, 3),
            "stage": entry.stage,
            "title": entry.title,
            "turn": entry.turn,
            "act": entry.act,
            "form": entry.form,
            "model": entry.model,
            "note": ", ".join(filter(None, ("language model" if entry.live else "", entry.note))),
            "fields": entry.fields,
            "needs": [number[need] for need in entry.needs if need in number],
        }
        for talk, entry in said
    ]
    return {
        "abstracts": list(papers["abstract"].where(shown, "").fillna("")),
        "keywords": list(papers["keywords"].where(shown, "").fillna("")),
        "topics": list(teams["topic"].fillna("")),
        "reasons": list(teams["reason"].fillna("")),
        "past_titles": {paper: book.titles[paper] for paper in sorted(book.titles)},
        **{
            name: [
                [plain(str(column), value) for column, value in row.items()]
                for row in run.table(name)[list(columns)].to_dict("records")
            ]
            for name, columns in SMALL_TABLES.items()
        },
        "calls": calls,
        **ideas_of(said, book.ideas),
    }


def ideas_of(
    said: Sequence[tuple[TeamTalk, SpokenReply]], shown: Mapping[str, Sequence[CandidateIdea]]
) -> dict[str, Any]:
    """Which calls put forward the ideas that a ballot lists or that a draft writes up."""
    known: dict[tuple[str, str, str], int] = {}
    ballots: dict[int, list[int]] = {}
    papers: dict[str, dict[int, list[str]]] = {"used": {}, "retrieved": {}}
    for index, (talk, entry) in enumerate(said):
        if title := dict(entry.fields).get("Title"):
            known[talk.team, entry.speaker, title] = index
        for idea in shown.get(entry.call, ()):
            origin = known.get((talk.team, idea.author, idea.idea.title), -1)
            ballots.setdefault(index, []).append(origin)
            if origin >= 0:
                papers["used"][origin] = list(idea.used)
                papers["retrieved"][origin] = list(idea.retrieved)
    return {"ballots": ballots, **papers}


def pack_prompts(calls: Iterable[str], texts: Mapping[str, str]) -> str:
    """Prompts of calls, packed as numbers of lines: a line of several prompts is stored once."""
    number: dict[str, int] = {}
    prompts = [
        [number.setdefault(line, len(number)) for line in texts[call].split("\n")]
        if call in texts
        else []
        for call in calls
    ]
    return pack({"lines": list(number), "prompts": prompts}, as_sent=True)


MOST_CALLS = 10_000
"""Calls of a run up to which its prompts are rebuilt by default."""


def read_prompts(
    folder: Path, calls: int, wanted: bool | None, *, trust: bool = False
) -> PromptBook:
    """The prompts of a run, or why there are none; None: wanted of at most ``MOST_CALLS`` calls."""
    if wanted is False:
        return PromptBook(missing="not asked for")
    if not calls:
        return PromptBook()
    if wanted is None and calls > MOST_CALLS:
        return PromptBook(missing=f"the run has more than {MOST_CALLS:,} calls; give --prompts")
    try:
        with replaying(folder, trust=trust) as (scenario, gateway):
            go_through(scenario, gateway, lambda society: False)
    except (InputError, Diverged) as error:
        if wanted:
            raise
        return PromptBook(missing=str(error))
    texts, ideas, titles = {}, {}, dict[str, str]()
    for request, _ in gateway.recorded:
        texts[request.id] = "\n".join(f"[{one.role}]\n{one.content}" for one in request.messages)
        # The ideas on a ballot, the one to be written up, or the one on the table.
        named = [request.slots.get(name) for name in ("ideas", "idea", "previous")]
        listed = chain.from_iterable(one if isinstance(one, tuple) else (one,) for one in named)
        ideas[request.id] = tuple(one for one in listed if isinstance(one, CandidateIdea))
        for paper in _references(tuple(request.slots.values())):
            titles.setdefault(paper.id, paper.title)
    return PromptBook(texts, ideas, titles)


def _references(values: tuple[Any, ...]) -> Iterator[Reference]:
    """All references in slots: single, in tuples, and of ideas."""
    for value in values:
        if isinstance(value, Reference):
            yield value
        elif isinstance(value, CandidateIdea):
            yield from (*value.references, *value.builds_on)
        elif isinstance(value, tuple):
            yield from _references(value)
