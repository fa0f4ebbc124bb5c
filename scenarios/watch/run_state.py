"""The state of a run folder, running or ended, as the plain data that the watch page shows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import read_plain_text
from virsci_society.agents.journal.live_view import JournalView, SaidText, is_being_written
from virsci_society.scenarios.runs.progress import LEAST_SHARE, simulated_date
from virsci_society.scenarios.runs.run_folder import MANIFEST, PARTIAL
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.society.kernel.durations import parse_days

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
        self._ended: tuple[int, dict[str, Any]] | None = None

    def state(self) -> dict[str, Any]:
        """The state now, as plain data for JSON."""
        trouble = ""
        try:
            self.journal.look()
        except InputError as error:
            trouble = str(error)
        view, manifest = self.journal, self._manifest(self.folder)
        part = {} if manifest else self._manifest(self.folder / PARTIAL)
        scenario = view.scenario or (manifest or part).get("scenario") or {}
        totals = view.totals
        writing = is_being_written(self.folder / JOURNAL)
        until, begin = _days(scenario.get("until"), 0.0), _begin(scenario.get("begin"))
        ended = _tables_of(self.folder, manifest, self._ended) if manifest else None
        self._ended = ended
        state = _state(bool(manifest), bool(part), writing)
        day = until if state == "finished" else view.day
        share = _share(day, begin, until)
        found = {
            "kind": "run",
            "name": str(scenario.get("name") or self.folder.name),
            "seed": scenario.get("seed"),
            "state": state,
            "reason": str(part.get("partial", "")) if state == "stopped" else "",
            "trouble": trouble,
            "written": _written(self.folder / JOURNAL),
            "day": day,
            "until": until,
            "date": _date(scenario, manifest or part, day),
            "share": share,
            "sessions": view.sessions,
            "stages": [{"stage": key, "teams": n} for key, n in sorted(view.stages.items())],
            "teams": sum(view.stages.values()),
            "calls": view.calls,
            "repeated": view.repeated,
            "no_words": view.calls - view.kinds["answer"],
            "in_flight": view.in_flight if writing is not False else 0,
            "in_doubt": 0 if writing is not False else view.in_flight,
            "tokens": totals.tokens - totals.in_doubt_tokens,
            "reserved": totals.in_doubt_tokens,
            "usd": totals.usd + totals.cut_off_usd,
            "faults": [
                {"kind": kind, "number": number, "latest": detail[:300]}
                for kind, (number, detail) in sorted(view.faults.items())
            ],
            "abstracts": [_abstract(one) for one in view.texts],
            "defaults": None,
            "papers": None,
            "team_states": [],
        }
        found["forecast"] = _forecast(found) if state != "finished" else None
        return found | ({} if ended is None else ended[1])

    def _manifest(self, folder: Path) -> dict[str, Any]:
        with suppress(OSError, InputError, ValueError, RecursionError):
            held = json.loads(read_plain_text(folder / MANIFEST, within=self.folder))
            return held if isinstance(held, dict) else {}
        return {}


def _state(finished: bool, part: bool, writing: bool | None) -> str:
    if writing:
        return "running"
    if finished:
        return "finished"
    if part:
        return "stopped"
    return "unknown" if writing is None else "not running"


def _tables_of(
    folder: Path, manifest: Mapping[str, Any], known: tuple[int, dict[str, Any]] | None
) -> tuple[int, dict[str, Any]] | None:
    """What only the tables of a finished run tell, read once for each manifest."""
    from virsci_society.society.results.run import Run

    try:
        stamp = (folder / MANIFEST).stat().st_mtime_ns
        if known is not None and known[0] == stamp:
            return known
        run = Run.open(folder)
        states = Counter(str(one) for one in run.table("teams")["state"])
        papers = run.table("papers").sort_values("published", ascending=False)
        return stamp, {
            "defaults": int(run.table("calls")["defaulted"].sum()),
            "papers": len(papers),
            "teams": sum(states.values()),
            "team_states": [{"state": key, "teams": n} for key, n in sorted(states.items())],
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
            "speaker": str((manifest.get("backend") or {}).get("about", "")),
        }
    except (OSError, InputError, KeyError, AttributeError) as error:
        return 0, {"trouble": str(error)}


def _abstract(one: SaidText) -> dict[str, Any]:
    """A reply of the last stage: its title and abstract, or its text where it has no such form."""
    data: Any = None
    with suppress(ValueError, RecursionError):
        data = json.loads(one.text)
    fields = data if isinstance(data, dict) else {}
    team = "/".join(one.call.split("/", 2)[:2])
    title, text = str(fields.get("Title") or ""), str(fields.get("Abstract") or one.text)
    return {
        **{"team": team, "day": one.asked, "by": one.model},
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


def _written(journal: Path) -> float | None:
    """When the journal was last written, in seconds since 1970; None where there is none."""
    times = []
    for path in (journal, journal.with_name(f"{journal.name}-wal")):
        with suppress(OSError):
            times.append(path.stat(follow_symlinks=False).st_mtime)
    return max(times, default=None)
