"""A run whose function calls are recorded, for the pages that draw the ways through the code.

``python -m tests.traced_run call`` runs one scientist against the fault server and prints, as JSON,
the functions entered on each thread from the first question to its settled answer. ``python -m
tests.traced_run run`` runs a small ``quickstart`` and prints the functions entered on the main
thread. Entries are ``[file, qualified name]`` in the order of entering, repetitions left out where
the same function is entered several times in a row.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "virsci_society"
INSIDE = f"{PACKAGE}{os.sep}"
SMALL = {"population.ecosystem.scientists": 12, "population.ecosystem.papers": 80}
"""An ecosystem that is made quickly, while calls are recorded."""
FUNCTION = 1
"""The flag of code objects that are functions and not bodies of classes or modules."""
IMPORTING = f"{INSIDE}agents{os.sep}lazy_imports.py"
"""An import that is put off is still an import, and no part of a call."""

Entry = tuple[str, str]


class Recorder:
    """Functions of the five packages that are entered, by the name of the thread."""

    def __init__(self) -> None:
        self.entered: dict[str, list[Entry]] = {}

    def __enter__(self) -> Recorder:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        entry = entry_of(frame.f_code)
        if entry is not None:
            entries = self.entered.setdefault(threading.current_thread().name, [])
            if not entries or entries[-1] != entry:
                entries.append(entry)


@cache  # asked for at every call of every function of Python
def entry_of(code: CodeType) -> Entry | None:
    """File and name of a function; None for what is no function or none of the five packages."""
    if not code.co_flags & FUNCTION or code.co_name.startswith("<"):
        return None
    if not code.co_filename.startswith(INSIDE) or code.co_filename == IMPORTING:
        return None
    return Path(code.co_filename).relative_to(PACKAGE).as_posix(), code.co_qualname


def traced_call() -> dict[str, list[Entry]]:
    """One question in the topic discussion, from the stage to the settled answer, by thread.

    ``clock`` ends where the question is handed over, ``loop`` where its answer settles; ``journal``
    is the writer's thread, ``read`` what the clock does when it first reads an answer.
    """
    import openai  # noqa: F401 - what is imported while calls are recorded takes ten times as long

    from tests.faultserver import FaultServer, Plan
    from virsci_society.scenarios.config.schema import load_scenario
    from virsci_society.scenarios.runs.execute import run_scenario

    os.environ["OPENAI_API_KEY"] = "not-a-key"
    with FaultServer(Plan()) as server, tempfile.TemporaryDirectory() as folder:
        keys = {"backend.use": "openai", "backend.model": "test", "backend.api_base": server.url}
        few = {"protocol.turns": 1, "backend.in_flight": 1, "metrics": []}
        scenario = load_scenario("virsci/single", **keys, **few, **SMALL)
        with Recorder() as recorder:
            run_scenario(scenario, Path(folder) / "run", page=False)
    clock, loop = recorder.entered["MainThread"], recorder.entered["answers"]
    asked = index(clock, "discuss_topic")
    handed_over = index(clock, "Dispatcher.submit", index(clock, "Lab.pose", asked))
    rendered = index(loop, "ask_model")
    settled = index(loop, "Answer._settle", index(loop, "read_reply", rendered))
    read = index(clock, "Answer.read", handed_over)
    return {
        "clock": clock[asked : handed_over + 1],
        "loop": loop[: settled + 1],
        "journal": recorder.entered["journal"],
        "read": clock[read : read + 20],
    }


def traced_run() -> dict[str, list[Entry]]:
    """A small ``quickstart`` from the command to the report, on the main thread."""
    from typer.testing import CliRunner

    from virsci_society.scenarios.cli.app import app

    few = {"founding.most": 1, "protocol.turns": 1, "metrics": "[teams]"} | SMALL
    settings = [part for key, value in few.items() for part in ("--set", f"{key}={value}")]
    with tempfile.TemporaryDirectory() as folder, Recorder() as recorder:
        done = CliRunner().invoke(app, ["run", "quickstart", *settings, "--out", f"{folder}/run"])
    if done.exit_code:
        raise SystemExit(done.output)
    return {"main": recorder.entered["MainThread"]}


def index(entries: list[Entry], name: str, start: int = 0) -> int:
    """Where a function of this qualified name is first entered, from ``start`` on."""
    return next(place for place in range(start, len(entries)) if entries[place][1] == name)


if __name__ == "__main__":
    json.dump({"call": traced_call, "run": traced_run}[sys.argv[1]](), sys.stdout)
