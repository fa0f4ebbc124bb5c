"""The state of a run or a study, running or ended, as the plain data that the watch page shows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.journal.live_view import JournalView, SaidText, is_being_written
from virsci_society.protocols.virsci.protocol import STAGES as DISCUSSED
from virsci_society.scenarios.runs.progress import LEAST_SHARE, Pace, simulated_date
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.scenarios.runs.run_state import (
    FINISHED,
    MANIFEST,
    NOT_BEGUN,
    PARTIAL,
    judge_state,
    last_written,
    read_manifest,
)
from virsci_society.scenarios.study.folder import read_lock, statuses_to_show
from virsci_society.scenarios.study.status import ENDED, STATES, folder_of
from virsci_society.scenarios.watch.society_view import SocietyView
from virsci_society.society.kernel.durations import parse_days

STAGES = {"selection": "collaborator selection", **DISCUSSED, "publication": "publication"}
"""Stages in the order of the protocol, and what they are called."""
LONGEST = 3000
"""Characters of a text that are shown."""


class RunWatch:
    """Reads the state of one run folder, again and again; nothing in it is written or locked.

    Args:
        folder: of the run; may be missing, and may come later.
        keep_ids: keep the ids of all calls that have ended, in ``journal.answered``.

    Attributes:
        folder: of the run.
        journal: what its journal held at the latest look.
    """

    def __init__(self, folder: Path, *, keep_ids: bool = False) -> None:
        self.folder = folder
        self.journal = JournalView(folder / JOURNAL, keep_ids)
        self._society, self._pace = SocietyView(self.journal), Pace()
        self._ended: tuple[int, dict[str, Any]] | None = None

    def fate(self, team: str) -> str:
        """What has become of a team by the latest look, in a few words."""
        ended = (self._ended[1] if self._ended else {}).get("fates", {})
        stage = self.journal.teams.get(team, (0.0, 0.0, ""))[2]
        return ended.get(team) or (f"at the stage of {STAGES.get(stage, stage)}" if stage else "")

    def state(self) -> dict[str, Any]:
        """The state now, as plain data for JSON."""
        trouble = ""
        try:
            self.journal.look()
        except InputError as error:
            trouble = str(error)
        view, manifest = self.journal, _readable(self.folder)
        part = {} if manifest else _readable(self.folder / PARTIAL)
        scenario = view.scenario or (manifest or part).get("scenario") or {}
        writing = is_being_written(self.folder / JOURNAL)
        until, begin = _days(scenario.get("until"), 0.0), _begin(scenario.get("begin"))
        self._ended = _tables_of(self.folder, manifest, self._ended) if manifest else None
        # SQLite writes into the -wal file first; the journal itself may be much older.
        written = last_written(self.folder / JOURNAL, self.folder / f"{JOURNAL}-wal")
        state, reason = NOT_BEGUN, ""
        if manifest or part or written is not None:
            state, reason, _ = judge_state(manifest, part, view.notes, writing)
        # A run that has finished stands at its last day, which no call need be of.
        day = until if state == FINISHED else view.day
        found = {
            "kind": "run",
            "name": str(scenario.get("name") or self.folder.name),
            "seed": scenario.get("seed"),
            "state": state,
            "reason": reason,
            "trouble": trouble,
            "written": written,
            "day": day,
            "until": until,
            "date": _date(scenario, manifest or part, day),
            "share": _share(day, begin, until),
            **_journal_figures(view, ended=writing is False),
            **self._society.figures(),
            "defaults": None,
            "papers": None,
            "team_states": _listed(view.states),
        }
        if view.states:
            found |= {"teams": sum(view.states.values()), "stages": []}
        found["left"] = _seconds_left(self._pace, found["share"] if state == "running" else None)
        found["forecast"] = _forecast(found) if state != FINISHED else None
        shown = {} if self._ended is None else self._ended[1]
        return found | {name: one for name, one in shown.items() if name != "fates"}


def _seconds_left(pace: Pace, share: float | None) -> float | None:
    """Seconds to the end, to the nearest 5; None: nothing goes on, or it is too early to tell."""
    if share is None:
        pace.begin()
        return None
    left = pace.seconds_left(share, 1.0)
    return None if left is None else 5 * round(left / 5)


def _journal_figures(view: JournalView, *, ended: bool) -> dict[str, Any]:
    """What a journal tells of a run, whose process may have ended."""
    totals = view.totals
    return {
        "sessions": view.sessions,
        "stages": [
            {"stage": STAGES.get(key, key), "teams": view.stages[key]}
            for key in sorted(view.stages, key=lambda key: ([*STAGES, key].index(key), key))
        ],
        "teams": sum(view.stages.values()),
        "calls": view.calls,
        "repeated": view.repeated,
        "no_words": view.calls - view.kinds["answer"],
        # What a run that has ended left under way is in doubt: it may have been paid.
        "in_flight": 0 if ended else view.in_flight,
        "in_doubt": view.in_flight if ended else 0,
        "tokens": totals.tokens - totals.in_doubt_tokens,
        "reserved": totals.in_doubt_tokens,
        "usd": totals.usd + totals.cut_off_usd,
        "faults": [
            {"kind": kind, "number": number, "latest": detail[:300]}
            for kind, (number, detail) in sorted(view.faults.items())
        ],
        "abstracts": _newest_abstracts(view.texts),
    }


def _readable(folder: Path) -> dict[str, Any]:
    """The manifest in a folder; empty while it cannot be read, as in the middle of a copy."""
    with suppress(OSError, InputError, ValueError, RecursionError):
        return read_manifest(folder)
    return {}


def _listed(states: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"state": key, "teams": number} for key, number in sorted(states.items())]


def _tables_of(
    folder: Path, manifest: Mapping[str, Any], known: tuple[int, dict[str, Any]] | None
) -> tuple[int, dict[str, Any]] | None:
    """What only the tables of a finished run tell, read once for each manifest."""
    from virsci_society.society.results.run import Run

    try:
        stamp = (folder / MANIFEST).stat().st_mtime_ns
        # The tables of a finished run do not change before its manifest does, and are large.
        if known is not None and known[0] == stamp:
            return known
        run = Run.open(folder)
        states = Counter(str(one) for one in run.table("teams")["state"])
        papers = run.table("papers").sort_values("published", ascending=False)
        titles = dict(zip(papers["team"], papers["title"], strict=True))
        return stamp, {
            "defaults": int(run.table("calls")["defaulted"].sum()),
            "papers": len(papers),
            "teams": sum(states.values()),
            "team_states": _listed(states),
            "abstracts": [
                {
                    "team": str(row["team"]),
                    "day": float(row["published"]),
                    "title": _cut(str(row["title"])),
                    "text": _cut(str(row["abstract"])),
                    "by": "",
                }
                for row in papers.head(5).to_dict("records")
            ],
            "fates": {
                str(row["team"]): ": ".join(
                    filter(None, (str(row["state"]), titles.get(row["team"])))
                )
                for row in run.table("teams").to_dict("records")
            },
            "speaker": str((manifest.get("backend") or {}).get("about", "")),
        }
    except (OSError, InputError, KeyError, AttributeError) as error:
        # No time stamp: the next look tries again.
        return 0, {"trouble": str(error)}


def _newest_abstracts(texts: Iterable[SaidText]) -> list[dict[str, Any]]:
    """The newest of each team, the newest first: later members revise what earlier ones wrote."""
    newest: dict[str, dict[str, Any]] = {}
    for one in map(_abstract, texts):
        newest.setdefault(one["team"], one)
    return list(newest.values())


def _abstract(one: SaidText) -> dict[str, Any]:
    """A reply of the last stage: its title and abstract, or its text where it has no such form."""
    data: Any = None
    with suppress(ValueError, RecursionError):
        data = json.loads(one.text)
    fields = data if isinstance(data, dict) else {}
    team = "/".join(one.call.split("/", 2)[:2])
    title, text = str(fields.get("Title") or ""), str(fields.get("Abstract") or one.text)
    return {
        **{"team": team, "day": one.asked, "by": "rules" if one.model == "offline" else one.model},
        **{"title": _cut(title), "text": _cut(text)},
    }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def _forecast(found: Mapping[str, Any]) -> dict[str, float] | None:
    """Tokens and money of the whole run if the rest costs as much a day as what has been asked."""
    share = found["share"]
    if share is None or share < LEAST_SHARE or not found["tokens"]:
        return None
    return {"tokens": found["tokens"] / share, "usd": found["usd"] / share}


def _share(day: float | None, begin: float, until: float) -> float | None:
    if day is None or until <= begin:
        return None
    return min(1.0, max(0.0, (day - begin) / (until - begin)))


def _date(scenario: Mapping[str, Any], manifest: Mapping[str, Any], day: float | None) -> str:
    """The simulated date, where it is known in which year the run begins."""
    source = (scenario.get("population") or {}).get("ecosystem") or {}
    boundary = manifest.get("boundary", source.get("boundary"))
    if day is None or not isinstance(boundary, int):
        return ""
    with suppress(ValueError, OverflowError):
        return simulated_date(boundary, day)
    return ""


def _days(value: Any, otherwise: float) -> float:
    with suppress(ValueError, TypeError):
        return parse_days(value)
    return otherwise


def _begin(value: Any) -> float:
    text = str(value or "")
    return -_days(text[1:], 0.0) if text.startswith("-") else 0.0


SHOWN = 12
"""Running runs, and runs with a reason why they are not done, that are shown one by one."""


class StudyWatch:
    """Reads the state of one study folder, again and again; nothing in it is written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs: dict[int, RunWatch] = {}
        self._pace = Pace()

    def state(self) -> dict[str, Any]:
        """The state now, as plain data for JSON.

        Raises:
            InputError: lock or statuses cannot be read.
        """
        lock = read_lock(self.folder)
        if lock is None:
            raise InputError(f"{self.folder}: no study has been locked here")
        statuses = statuses_to_show(self.folder, lock)
        every = Counter[str](one.state for one in statuses)
        running = [one.index for one in statuses if one.state == "running"][:SHOWN]
        self._runs = {
            index: self._runs.get(index) or RunWatch(folder_of(self.folder, index))
            for index in running
        }
        arms = {str(arm["name"]): Counter[str]() for arm in lock.arms}
        for one in statuses:
            arms.setdefault(one.arm, Counter())[one.state] += 1
        ended = sum(every[state] for state in ENDED)
        share = ended / len(statuses) if running else None
        return {
            "kind": "study",
            "left": _seconds_left(self._pace, share),
            "name": str(lock.data.get("study", self.folder.name)),
            "state": "running" if running else "finished" if _ended(every) else "not running",
            "runs": len(statuses),
            "ended": ended,
            "states": [{"state": state, "runs": every[state]} for state in STATES],
            "arms": [
                {"arm": arm, "states": [number[state] for state in STATES]}
                for arm, number in arms.items()
            ],
            "calls": sum(one.calls for one in statuses),
            "tokens": sum(one.tokens for one in statuses),
            "usd": sum(one.usd for one in statuses),
            "running": [
                {"index": index, "arm": statuses[index].arm, **_short(watch.state())}
                for index, watch in self._runs.items()
            ],
            "reasons": [
                {"index": one.index, "arm": one.arm, "state": one.state, "reason": one.reason[:300]}
                for one in statuses
                if one.reason
            ][:SHOWN],
        }


def _ended(every: Counter[str]) -> bool:
    return not any(number for state, number in every.items() if state not in ENDED)


def _short(state: dict[str, Any]) -> dict[str, Any]:
    names = ("date", "day", "until", "share", "teams", "calls", "in_flight", "tokens", "usd")
    return {name: state[name] for name in names}
