"""What was said in the teams of a run, stage by stage: as lines of text and as a page.

Everything is read from the tables ``teams``, ``members``, ``calls``, ``consultations`` and
``papers``; prompts, which no table holds, are handed in.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from virsci_society.agents.errors import InputError
from virsci_society.agents.invented_names import with_invented_names
from virsci_society.agents.spelling import did_you_mean, plain_text
from virsci_society.metrics.report.templates import (
    known_text,
    records,
    style_sheet,
    template_environment,
)
from virsci_society.society.results.run import Run
from virsci_society.society.results.speaker import backend_of

WIDTH = 80
"""Columns of the text."""
DID = {
    "invite": "was invited",
    "utter": "said",
    "summarise": "summed up",
    "agree": "agreed or not",
    "stay": "stayed or left",
    "decide": "decided",
    "vote": "voted",
    "critique": "criticised",
    "guest": "answered as a guest",
    "review": "reviewed",
    "re-ask": "was asked again",
    "trim": "shortened",
}
"""What somebody did in an act of the table ``calls``."""


@dataclass(frozen=True, slots=True)
class SpokenReply:
    """One reply of a team's talk: names and texts of the fields of its form, and who said it when.

    ``visit`` is above 1 after a restart of the stage, ``turn`` 0 outside turns. ``note`` says why
    there are no words, or how they were read; it is empty for words that were read as they came.
    ``prompt`` is empty where it is not wanted.
    """

    call: str
    stage: str
    visit: int
    turn: int
    day: float
    speaker: str
    listeners: str
    act: str
    fields: tuple[tuple[str, str], ...]
    note: str
    prompt: str

    @property
    def head(self) -> str:
        """Speaker, act and listeners, such as ``Scientist7 said to the team``."""
        did = DID.get(self.act, self.act)
        return f"{self.speaker} {did}" + (f" (to {self.listeners})" if self.listeners else "")


@dataclass(frozen=True, slots=True)
class TeamTalk:
    """The talk of one team, stage by stage, and what became of the team in one line.

    ``members`` are told with role and dates, ``paper`` is title and abstract.
    """

    team: str
    facts: str
    members: tuple[str, ...]
    stages: tuple[tuple[str, tuple[SpokenReply, ...]], ...]
    paper: tuple[str, str] | None


def team_lines(run: Run, called: Callable[[str], str] = str) -> list[str]:
    """One line for each team of a run, for whoever looks for one to read."""
    teams = run.table("teams")
    if not len(teams):
        return ["no team has ended in this run"]
    calls = run.table("calls")["team"].value_counts()
    shown = [called(str(team)) for team in teams["team"]]
    width = max(map(len, shown))
    lines = [f"{len(teams)} teams; 'society transcript RUN TEAM' shows the talk of one:"]
    for team, row in zip(shown, records(teams), strict=True):
        count = calls.get(row["team"], 0)
        line = f"{team:{width}}  {known_text(row['state']):10} {count:>4} calls"
        topic = known_text(row["topic"])
        room = max(WIDTH - len(line) - 2, 20)
        lines.append(f"{line}  {textwrap.shorten(topic, room, placeholder='...')}".rstrip())
    return [plain_text(line) for line in lines]


def team_rows(run: Run, team: str) -> pd.DataFrame:
    """The row of a team in the table of teams."""
    teams = run.table("teams")
    chosen = teams[teams["team"] == team]
    if not len(chosen):
        shown, names = with_invented_names(team), [str(name) for name in teams["team"]]
        masked = "" if shown == team else f" ({team})"
        raise InputError(
            f"no team {shown!r}{masked} in this run; 'society transcript RUN' lists its "
            f"{len(names)} teams{with_invented_names(did_you_mean(team, names))}"
        )
    return chosen


def team_talks(
    run: Run, team: str | None = None, stage: str | None = None, prompts: Mapping[str, str] = {}
) -> Iterator[TeamTalk]:
    """The talk of one team or of all, in the order of founding."""
    calls = run.table("calls")
    chosen = run.table("teams") if team is None else team_rows(run, team)
    stages = [str(name) for name in calls["stage"].dropna().unique()]
    if stage is not None and stage not in stages:
        raise InputError(
            f"--stage: no stage {stage!r} in this run; it has {', '.join(sorted(stages)) or 'none'}"
            f"{did_you_mean(stage, stages)}"
        )
    by_team = {str(name): rows for name, rows in calls.groupby("team", sort=False)}
    members = {str(name): rows for name, rows in run.table("members").groupby("team", sort=False)}
    none = run.table("members").iloc[:0]
    papers = {str(row["team"]): row for row in records(run.table("papers"))}
    for row in records(chosen):
        name = str(row["team"])
        rows = by_team.get(name, calls.iloc[:0]).sort_values("sequence", kind="stable")
        said = [_utterance(one, row, prompts) for one in records(rows)]
        said = [one for one in said if stage in (None, one.stage)]
        paper = papers.get(name)
        yield TeamTalk(
            team=name,
            facts=_facts(row),
            members=tuple(_member(one) for one in records(members.get(name, none))),
            stages=tuple((head, tuple(group)) for head, group in groupby(said, key=_stage_head)),
            paper=None if paper is None else (str(paper["title"]), str(paper["abstract"])),
        )


def transcript_lines(
    run: Run, team: str | None = None, stage: str | None = None, prompts: Mapping[str, str] = {}
) -> Iterator[str]:
    """A transcript as text of 80 columns; the arguments are those of ``team_talks``."""
    for talk in team_talks(run, team, stage, prompts):
        yield f"team {talk.team}"
        yield from _filled(talk.facts, "  ")
        yield from _filled(f"members: {'; '.join(talk.members)}", "  ")
        for head, said in talk.stages:
            yield ""
            yield f"== {head} =="
            for one in said:
                yield f"day {one.day:.1f}: {one.head}" + (f" [{one.note}]" if one.note else "")
                for line in one.prompt.splitlines():
                    yield f"  | {line}"
                for name, text in one.fields:
                    yield from _filled(f"{name}: {text}", "    ")
        if talk.paper is not None and stage is None:
            yield ""
            yield "== published =="
            yield from _filled(talk.paper[0], "    ")
            yield from _filled(talk.paper[1], "    ")
        yield ""


def transcript_page(
    run: Run, team: str | None = None, stage: str | None = None, prompts: Mapping[str, str] = {}
) -> str:
    """A transcript as one HTML page; the arguments are those of ``team_talks``."""
    environment = template_environment("virsci_society.metrics.report")
    return environment.get_template("transcript.html").render(
        title=f"{run.name}, seed {run.seed}",
        about=backend_of(run.manifest).get("about") or "",
        talks=list(team_talks(run, team, stage, prompts)),
        style=style_sheet(environment),
    )


def _utterance(
    row: Mapping[str, Any], team: Mapping[str, Any], prompts: Mapping[str, str]
) -> SpokenReply:
    act = known_text(row["act"])
    notes = [known_text(row["verdict"])]
    if row["defaulted"] is True:
        notes.append("default of the form")
    elif known_text(row["rung"]) not in ("", "strict"):
        notes.append(f"read: {known_text(row['rung'])}")
    return SpokenReply(
        call=str(row["call"]),
        stage=known_text(row["stage"]),
        visit=_whole(row["visit"]),
        turn=_whole(row["turn"]),
        day=float(row["asked"]),
        speaker=known_text(row["scientist"]),
        listeners=_listeners(act, known_text(team["leader"])),
        act=act,
        fields=tuple(_fields(known_text(row["reply"]))),
        note=", ".join(filter(None, notes)),
        prompt=plain_text(prompts.get(str(row["call"]), "")),
    )


def _listeners(act: str, leader: str) -> str:
    if act == "invite":
        return f"{leader}, the leader"
    return "the team" if act in ("utter", "summarise", "decide", "guest") else ""


def _fields(reply: str) -> Iterator[tuple[str, str]]:
    """The fields of an accepted form; empty ones are left out."""
    try:
        content = json.loads(reply) if reply else {}
    # A model can nest brackets deeper than Python's parser goes.
    except (ValueError, RecursionError):
        content = reply
    if not isinstance(content, dict):
        yield "reply", plain_text(str(content))
        return
    for name, value in content.items():
        if value in ("", None, [], {}):
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield plain_text(str(name)), plain_text(text)


def _stage_head(one: SpokenReply) -> str:
    visit = f", visit {one.visit}" if one.visit > 1 else ""
    return f"{one.stage}{visit}" + (f", turn {one.turn}" if one.turn else "")


def _facts(row: Mapping[str, Any]) -> str:
    parts = [f"led by {row['leader']}, {row['protocol']}, founded on day {row['founded']:.1f}"]
    state = known_text(row["state"])
    reason = known_text(row["reason"])
    parts.append(f"{state} ({reason})" if reason else state)
    if not pd.isna(row["published"]):
        parts.append(f"visible on day {row['published']:.1f}")
    if not pd.isna(row["topic"]):
        parts.append(f"topic: {row['topic']}")
    return plain_text("; ".join(parts))


def _member(row: Mapping[str, Any]) -> str:
    left = "" if pd.isna(row["left"]) else f" to {row['left']:.0f}"
    early = ", left early" if row["stayed"] is False else ""
    return f"{row['scientist']} ({row['role']}, day {row['joined']:.0f}{left}{early})"


def _whole(value: Any) -> int:
    return 0 if pd.isna(value) else int(value)


def _filled(text: str, indent: str) -> Iterator[str]:
    for paragraph in text.splitlines() or [""]:
        yield from textwrap.wrap(
            paragraph, WIDTH, initial_indent=indent, subsequent_indent=indent
        ) or [""]
