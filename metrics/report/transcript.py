"""What was said in the teams of a run, stage by stage: as rows and as lines of text."""

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
from virsci_society.metrics.report.templates import known_text, records
from virsci_society.society.results.run import Run

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
    """One reply of a team's talk, and who said it when."""

    call: str
    stage: str
    visit: int
    turn: int
    day: float
    speaker: str
    act: str
    form: str
    model: str
    live: bool
    needs: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    note: str

    @property
    def title(self) -> str:
        """Stage and turn, such as ``topic, visit 2, turn 1``."""
        visit = f", visit {self.visit}" if self.visit > 1 else ""
        return f"{self.stage}{visit}" + (f", turn {self.turn}" if self.turn else "")


@dataclass(frozen=True, slots=True)
class TeamTalk:
    """The talk of one team, and what became of the team in one line."""

    team: str
    leader: str
    facts: str
    members: tuple[str, ...]
    said: tuple[SpokenReply, ...]
    paper: tuple[str, str] | None

    @property
    def stages(self) -> list[tuple[str, list[SpokenReply]]]:
        """The replies by stage and turn, with the title of each."""
        return [(title, list(said)) for title, said in groupby(self.said, lambda one: one.title)]

    def head(self, one: SpokenReply) -> str:
        """Speaker, act and listeners, such as ``Scientist7 said (to the team)``."""
        to = "the team" if one.act in ("utter", "summarise", "decide", "guest") else ""
        to = f"{self.leader}, the leader" if one.act == "invite" else to
        return f"{one.speaker} {DID.get(one.act, one.act)}" + (f" (to {to})" if to else "")


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


def team_talks(run: Run, team: str | None = None, stage: str | None = None) -> Iterator[TeamTalk]:
    """The talk of one team or of all, in the order of founding."""
    calls, chosen = run.table("calls"), run.table("teams")
    if team is not None and not (own := chosen["team"] == team).any():
        shown, names = with_invented_names(team), [str(name) for name in chosen["team"]]
        masked = "" if shown == team else f" ({team})"
        raise InputError(
            f"no team {shown!r}{masked} in this run; 'society transcript RUN' lists its "
            f"{len(names)} teams{with_invented_names(did_you_mean(team, names))}"
        )
    stages = [str(name) for name in calls["stage"].dropna().unique()]
    if stage is not None and stage not in stages:
        raise InputError(
            f"--stage: no stage {stage!r} in this run; it has {', '.join(sorted(stages)) or 'none'}"
            f"{did_you_mean(stage, stages)}"
        )
    by_team = {str(name): rows for name, rows in calls.groupby("team", sort=False)}
    members = {str(name): rows for name, rows in run.table("members").groupby("team", sort=False)}
    papers = {str(row["team"]): row for row in records(run.table("papers"))}
    for row in records(chosen if team is None else chosen[own]):
        name, paper = str(row["team"]), papers.get(str(row["team"]))
        rows = by_team.get(name, calls.iloc[:0]).sort_values("sequence", kind="stable")
        said = map(_spoken, records(rows))
        yield TeamTalk(
            team=name,
            leader=known_text(row["leader"]),
            facts=_facts(row),
            members=tuple(map(_member, records(members[name]))) if name in members else (),
            said=tuple(one for one in said if stage in (None, one.stage)),
            paper=None if paper is None else (str(paper["title"]), str(paper["abstract"])),
        )


def transcript_lines(run: Run, team: str | None = None, stage: str | None = None) -> Iterator[str]:
    """A transcript as text of 80 columns."""
    for talk in team_talks(run, team, stage):
        yield f"team {talk.team}"
        yield from _filled(talk.facts, "  ")
        yield from _filled(f"members: {'; '.join(talk.members)}", "  ")
        for title, said in talk.stages:
            yield ""
            yield f"== {title} =="
            for one in said:
                note = f" [{one.note}]" if one.note else ""
                yield f"day {one.day:.1f}: {talk.head(one)}{note}"
                for name, text in one.fields:
                    yield from _filled(f"{name}: {text}", "    ")
        if talk.paper is not None and stage is None:
            yield ""
            yield "== published =="
            yield from _filled(talk.paper[0], "    ")
            yield from _filled(talk.paper[1], "    ")
        yield ""


def _spoken(row: Mapping[str, Any]) -> SpokenReply:
    notes, rung = [known_text(row["verdict"])], known_text(row["rung"])
    if row["defaulted"] is True:
        notes.append("default of the form")
    elif rung not in ("", "strict"):
        notes.append(f"read: {rung}")
    visit, turn = (0 if pd.isna(row[name]) else int(row[name]) for name in ("visit", "turn"))
    return SpokenReply(
        call=str(row["call"]),
        stage=known_text(row["stage"]),
        visit=visit,
        turn=turn,
        day=float(row["asked"]),
        speaker=known_text(row["scientist"]),
        act=known_text(row["act"]),
        form=known_text(row["form"]),
        model=known_text(row["model"]),
        live=row["live"] is True,
        needs=tuple(known_text(row["needs"]).split()),
        fields=tuple(_fields(known_text(row["reply"]))),
        note=", ".join(filter(None, notes)),
    )


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
        if text := _flat(value):
            yield plain_text(str(name)), plain_text(text)


def _flat(value: Any) -> str:
    """A value of JSON as text: entries of a list by semicolons, of an object with their names."""
    if isinstance(value, list):
        return "; ".join(filter(None, map(_flat, value)))
    if isinstance(value, dict):
        return ", ".join(f"{key}: {text}" for key, one in value.items() if (text := _flat(one)))
    return "" if value is None else str(value)


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


def _filled(text: str, indent: str) -> Iterator[str]:
    for paragraph in text.splitlines() or [""]:
        yield from textwrap.wrap(
            paragraph, WIDTH, initial_indent=indent, subsequent_indent=indent
        ) or [""]
