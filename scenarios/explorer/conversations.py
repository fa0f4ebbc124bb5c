"""All that was said in a run for the explorer: papers, calls with their replies, prompts, votes.

A page holds words up to a limit. They are kept or left out team by team: first the teams with a
paper, in order of founding. Prompts repeat most of their lines, so each line is stored once. The
tables of a run hold the hash of each prompt and not its text: a replay makes every prompt anew and
asks no model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.errors import Diverged, InputError
from virsci_society.agents.prompts.slots import Reference
from virsci_society.protocols.ideas import CandidateIdea
from virsci_society.scenarios.explorer.run_arrays import NOBODY, RunArrays, pack
from virsci_society.scenarios.planning.prompt_recording import replaying
from virsci_society.scenarios.runs.rehearsal import go_through
from virsci_society.society.results.run import Run

BYTES = 255
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


@dataclass(frozen=True, slots=True)
class AskedIdea:
    """An idea that a prompt shows: on a ballot, or as the one to be written up."""

    author: str
    title: str
    used: tuple[str, ...] = ()
    retrieved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """What one call was asked."""

    messages: tuple[tuple[str, str], ...]
    ideas: tuple[AskedIdea, ...] = ()


@dataclass(frozen=True)
class PromptBook:
    """The prompts of a run, which its tables do not hold."""

    questions: Mapping[str, ShownPrompt] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""


@dataclass(frozen=True)
class Words:
    """The packed words of a run."""

    said: str
    prompts: str
    left_out: tuple[str, ...]


def pack_words(run: Run, made: RunArrays, book: PromptBook, room: int) -> Words:
    """Pack as many words as there is room for, in characters of all packed words."""
    teams = teams_in_order(run)
    calls = run.table("calls").sort_values(["sequence", "asked", "call"], kind="stable")
    by_team = {str(team): rows for team, rows in calls.groupby("team", sort=False)}

    def listed(chosen: Sequence[str]) -> pd.DataFrame:
        parts = [by_team[team] for team in chosen if team in by_team]
        return pd.concat(parts) if parts else calls.iloc[:0]

    def said_by(chosen: Sequence[str]) -> str:
        return pack(*_said(run, made, book, frozenset(chosen), listed(chosen)))

    def asked_of(chosen: Sequence[str]) -> str:
        return pack_prompts(listed(chosen)["call"], book.questions)

    said, kept = fit(teams, said_by, room)
    prompts, shown = "", 0
    if book.questions:
        prompts, shown = fit(teams[:kept], asked_of, room - len(said))
    left_out = []
    if kept < len(teams):
        left_out.append(
            f"Words of {len(teams) - kept:,} of {len(teams):,} teams: the file would be too large."
        )
    if book.missing and len(calls):
        left_out.append(f"All prompts: {book.missing}.")
    elif shown < kept and book.questions:
        left_out.append(
            f"Prompts of {kept - shown:,} of {kept:,} teams: the file would be too large."
        )
    return Words(said, prompts if shown else "", tuple(left_out))


def teams_in_order(run: Run) -> list[str]:
    """Ids of all teams, those with a paper first, each by date of founding."""
    teams = run.table("teams")
    without = ~teams["team"].isin(run.table("papers")["team"])
    return [
        str(team)
        for team in teams.assign(without=without).sort_values(
            ["without", "founded", "team"], kind="stable"
        )["team"]
    ]


def fit(items: Sequence[str], make: Callable[[Sequence[str]], str], room: int) -> tuple[str, int]:
    """The text of as many items as there is room for, and their number.

    Args:
        room: most characters.
    """
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


def _said(
    run: Run, made: RunArrays, book: PromptBook, teams: frozenset[str], calls: pd.DataFrame
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values and arrays of papers and calls of some teams."""
    papers, table = run.table("papers"), run.table("teams")
    shown = papers["team"].isin(teams)
    coded, arrays = _coded(calls)
    values: dict[str, Any] = {
        "abstracts": list(papers["abstract"].where(shown, "").fillna("")),
        "keywords": list(papers["keywords"].where(shown, "").fillna("")),
        "topics": list(table["topic"].fillna("")),
        "reasons": list(table["reason"].fillna("")),
        "past_titles": {paper: book.titles[paper] for paper in sorted(book.titles)},
        **{name: _rows(run, made, name, columns) for name, columns in SMALL_TABLES.items()},
        **coded,
        "replies": [_text(reply) for reply in calls["reply"]],
        "ids": [own_id(call) for call in calls.to_dict("records")],
        **ideas_of(calls, book.questions),
    }
    return values, arrays | _asked(run, made, calls) | needs_of(calls)


def _coded(calls: pd.DataFrame) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns of calls with few different texts: the texts, and a number of one for each call."""
    values: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    for column in ("stage", "act", "form", "verdict", "rung", "model"):
        codes, known = pd.factorize(calls[column].fillna(""))
        values[f"{column}s"] = [str(one) for one in known]
        # One byte a call: texts beyond the 255th are shown as one.
        arrays[f"call_{column}"] = np.minimum(codes, BYTES).astype(np.uint8)
    for column in ("visit", "turn", "seat"):
        arrays[f"call_{column}"] = calls[column].fillna(0).to_numpy(dtype=np.uint16)
    return values, arrays


def _asked(run: Run, made: RunArrays, calls: pd.DataFrame) -> dict[str, Any]:
    """Team, speaker and date of each call; flag 1 a model's answer, 2 a default."""
    numbers = [made.teams.get(str(team), NOBODY) for team in calls["team"]]
    speakers = [made.people.get(str(who), NOBODY) for who in calls["scientist"]]
    live = calls["live"].fillna(False).to_numpy(dtype=np.uint8)
    defaulted = calls["defaulted"].fillna(False).to_numpy(dtype=np.uint8)
    return {
        "call_team": np.array(numbers, dtype=np.uint32),
        "call_who": np.array(speakers, dtype=np.uint32),
        "call_asked": calls["asked"].to_numpy(dtype=np.float32),
        "call_flags": live + 2 * defaulted,
    }


def own_id(call: Mapping[Any, Any]) -> str:
    """A call's id; empty where its other columns say it already."""
    parts = (call[key] for key in ("team", "stage", "visit", "turn", "seat", "act", "scientist"))
    usual = "/".join(str(part) for part in parts)
    return "" if call["call"] == usual else str(call["call"])


def needs_of(calls: pd.DataFrame) -> dict[str, Any]:
    """Which calls each call waited for: numbers of calls, with the place where each one's begin."""
    number: dict[str, int] = {}
    for place, call in enumerate(calls["call"]):
        number[str(call)] = place
        speaker, guest, _ = str(call).rpartition("/guest/")
        if guest:
            number[f"{speaker}/guest"] = place
    found = [
        [number[need] for need in _text(needs).split() if need in number]
        for needs in calls["needs"]
    ]
    starts = np.cumsum([0, *map(len, found)])
    return {
        "need_start": starts.astype(np.uint32),
        "need_to": np.array([one for needs in found for one in needs], dtype=np.uint32),
    }


def ideas_of(calls: pd.DataFrame, questions: Mapping[str, ShownPrompt]) -> dict[str, Any]:
    """Which calls put forward the ideas that a ballot lists or that a draft writes up."""
    known: dict[tuple[str, str, str], int] = {}
    ballots: dict[int, list[int]] = {}
    papers: dict[str, dict[int, list[str]]] = {"used": {}, "retrieved": {}}
    rows = zip(calls["call"], calls["team"], calls["scientist"], calls["reply"], strict=True)
    for place, (call, team, who, reply) in enumerate(rows):
        title = title_of(reply)
        if title:
            known[str(team), str(who), title] = place
        asked = questions.get(str(call))
        for idea in () if asked is None else asked.ideas:
            origin = known.get((str(team), idea.author, idea.title), -1)
            ballots.setdefault(place, []).append(origin)
            if origin >= 0:
                papers["used"][origin] = list(idea.used)
                papers["retrieved"][origin] = list(idea.retrieved)
    return {"ballots": ballots, **papers}


def title_of(reply: Any) -> str:
    """The field ``Title`` of an accepted reply; empty where it has none."""
    try:
        title = json.loads(reply)["Title"]
    except (TypeError, ValueError, KeyError):
        return ""
    return title if isinstance(title, str) else ""


def pack_prompts(calls: Iterable[str], questions: Mapping[str, ShownPrompt]) -> str:
    """Prompts of calls, packed; a line that occurs in several of them is stored once.

    Line numbers begin with those of the roles, which stand before the lines of their message.
    """
    messages = {call: questions[call].messages for call in calls if call in questions}
    roles = sorted({role for asked in messages.values() for role, _ in asked})
    number = {("role", role): place for place, role in enumerate(roles)}
    listed: list[int] = []
    lengths: list[int] = []
    for call in calls:
        before = len(listed)
        for role, text in messages.get(call, ()):
            listed.append(number["role", role])
            listed += [number.setdefault(("line", line), len(number)) for line in text.split("\n")]
        lengths.append(len(listed) - before)
    lines = np.array(listed, dtype=np.uint32)
    arrays = {
        "line": np.diff(lines, prepend=np.uint32(0)).astype(np.uint32),
        "start": np.array([0, *accumulate(lengths)], dtype=np.uint32),
    }
    texts = [text for kind, text in number if kind == "line"]
    return pack({"roles": roles, "lines": texts}, arrays, as_sent=True)


def _rows(run: Run, made: RunArrays, name: str, columns: Sequence[str]) -> list[list[Any]]:
    """Rows of a small table, with numbers of teams and scientists in place of their names."""
    known = {"team": made.teams, "scientist": made.people}
    rows = run.table(name)[list(columns)].to_dict("records")
    return [
        [
            known[key].get(str(value), -1) if key in known else _plain(value)
            for key, value in row.items()
        ]
        for row in rows
    ]


def _plain(value: Any) -> Any:
    if pd.isna(value):
        return None
    return round(float(value), 3) if isinstance(value, (int, float, np.number)) else str(value)


def _text(value: Any) -> str:
    return "" if value is None or pd.isna(value) else str(value)


MOST_CALLS = 10_000
"""Calls of a run up to which its prompts are made anew without being asked for."""


def read_prompts(
    folder: Path, calls: int, wanted: bool | None, *, trust: bool = False
) -> PromptBook:
    """The prompts of a run, or why there are none.

    Args:
        wanted: None: where the run has finished and has at most ``MOST_CALLS`` calls.
    """
    if wanted is False:
        return PromptBook(missing="not asked for")
    if not calls:
        return PromptBook()
    if wanted is None and calls > MOST_CALLS:
        return PromptBook(missing=f"the run has more than {MOST_CALLS:,} calls; give --prompts")
    try:
        return _replay(folder, trust=trust)
    except (InputError, Diverged) as error:
        if wanted:
            raise
        return PromptBook(missing=str(error))


def _replay(folder: Path, *, trust: bool) -> PromptBook:
    with replaying(folder, trust=trust) as (scenario, gateway):
        go_through(scenario, gateway, lambda society: False)
    questions: dict[str, ShownPrompt] = {}
    titles: dict[str, str] = {}
    for request, _ in gateway.recorded:
        messages = tuple((message.role, message.content) for message in request.messages)
        ideas = tuple(map(_shown_idea, _ideas(request.slots)))
        questions[request.id] = ShownPrompt(messages, ideas)
        for paper in _references(tuple(request.slots.values())):
            titles.setdefault(paper.id, paper.title)
    return PromptBook(questions, titles)


def _ideas(slots: Mapping[str, Any]) -> Iterator[CandidateIdea]:
    """The ideas on a ballot, the one to be written up, or the one on the table."""
    for name in ("ideas", "idea", "previous"):
        held = slots.get(name)
        for value in held if isinstance(held, tuple) else (held,):
            if isinstance(value, CandidateIdea):
                yield value


def _shown_idea(idea: CandidateIdea) -> AskedIdea:
    return AskedIdea(idea.author, idea.idea.title, idea.used, idea.retrieved)


def _references(values: tuple[Any, ...]) -> Iterator[Reference]:
    """All references in slots: alone, in tuples, and those of ideas."""
    for value in values:
        if isinstance(value, Reference):
            yield value
        elif isinstance(value, CandidateIdea):
            yield from (*value.references, *value.builds_on)
        elif isinstance(value, tuple):
            yield from _references(value)
