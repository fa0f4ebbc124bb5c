"""The state of a study folder as the plain data that the watch page shows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.study.folder import statuses_to_show
from virsci_society.scenarios.study.lock import read_lock
from virsci_society.scenarios.study.status import ENDED, STATES, folder_of
from virsci_society.scenarios.watch.run_state import RunWatch

SHOWN = 12
"""Running runs, and runs with a reason why they are not done, that are shown one by one."""


class StudyWatch:
    """Reads the state of one study folder, again and again; nothing in it is written.

    Args:
        folder: of the study, with its lock.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs: dict[int, RunWatch] = {}

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
        return {
            "kind": "study",
            "name": str(lock.data.get("study", self.folder.name)),
            "state": "running" if running else "finished" if _ended(every) else "not running",
            "runs": len(statuses),
            "ended": sum(every[state] for state in ENDED),
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
