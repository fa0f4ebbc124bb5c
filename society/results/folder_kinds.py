"""The kind of a folder without results of a run: a study, several runs, or neither."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.json_files import read_json

MANIFEST, LOCK, PARTIAL = "manifest.json", "lock.json", "partial"
"""The files by which the folders of a run and of a study are known, and the part of a run."""


def planned_runs(folder: Path) -> int | None:
    """How many runs a study folder is for, by its lock; None of any other folder."""
    with suppress(OSError, ValueError, LookupError, TypeError, InputError):
        lock = read_json(folder / LOCK)
        return len(lock["arms"]) * int(lock["replicates"])
    return None


def without_manifest(folder: Path) -> str:
    """The kind of a folder without a manifest, and the command to use for it."""
    runs, studies = (
        sorted(path.parent for depth in ("*", "*/*") for path in folder.glob(f"{depth}/{name}"))
        for name in (MANIFEST, LOCK)
    )
    if (folder / LOCK).exists():
        planned = planned_runs(folder) or 0
        # Of runs that kept their measures alone there is no folder.
        done = max(len(runs), sum(map(_is_done, (folder / "runs").glob("*.result.json"))))
        facts = [f"{folder}: a study, {done} of {planned or '?'} runs finished"]
        if (folder / "report.html").exists():
            facts.append(f"'society show --open {folder}' opens its page")
        elif done:
            facts.append(f"'society study report {folder}' writes its page")
        if not 0 < planned <= done:
            facts.append(f"'society study run {folder}' resumes it")
        return "; ".join([*facts, *(f"one of its runs is {run}" for run in runs[:1])])
    runs = [path for path in runs if path.name != PARTIAL]
    counts = ((len(runs), "run", "runs"), (len(studies), "study", "studies"))
    held = " and ".join(f"{n} {singular if n == 1 else many}" for n, singular, many in counts if n)
    if held:
        such = [*runs, *studies][0]
        return f"{folder}: contains {held}; give one, such as {such} ('society list runs {folder}')"
    missing = f"{folder / MANIFEST}: missing, so this is not a run folder"
    return f"{missing}; give the folder that a run wrote"


def _is_done(result: Path) -> bool:
    with suppress(OSError, LookupError, TypeError, InputError):
        return bool(read_json(result)["state"] == "done")
    return False
