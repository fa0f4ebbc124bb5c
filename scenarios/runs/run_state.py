"""The state of a run, read from its folder in one place for all commands and pages."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from virsci_society.agents.errors import BudgetReached, InputError, Interrupted, Stopped
from virsci_society.agents.files.json_files import read_json, read_json_object
from virsci_society.agents.journal.database import is_being_written, read_notes
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import spent_in
from virsci_society.agents.redaction import redact
from virsci_society.scenarios.runs.run_journal import COMMAND, JOURNAL, ledger_of
from virsci_society.scenarios.runs.signals import RESUME_WITH, THE_SAME, resuming_command
from virsci_society.society.results.folder_kinds import planned_runs

if TYPE_CHECKING:
    from virsci_society.society.results.run import Run

T = TypeVar("T")
MANIFEST = "manifest.json"
PARTIAL = "partial"
PANEL = "panel.json"
"""In the folder of a review, which has a journal and is not a run."""
DEPTH = 4
"""Levels of folders that are searched."""
END = "ended"
"""The note in a journal about the end of its latest session."""
STANDING = "standing"
"""The note in a journal about the progress of a running session."""
SNAPSHOT = "its process continued"
"""The reason in the manifest of a part that a run has left while it went on."""
RUNNING, FINISHED, FAILED, KILLED = "running", "finished", "failed", "killed"
BY_BUDGET, BY_USER, STOPPED = "stopped by budget", "stopped by user", "stopped"
NOT_BEGUN, DAMAGED, UNSEEN = "not begun", "damaged", "running or killed"


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of a run, as every command and page reports it."""

    folder: str
    state: str
    date: str = ""
    scenario: str = ""
    seed: int | None = None
    days: float | None = None
    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    reason: str = ""
    stood: str = ""
    answered: int | None = None
    session: int = 0
    command: str = ""
    free: bool = False
    fork_of: str = ""

    def to_data(self) -> dict[str, Any]:
        """The state as plain data."""
        return asdict(self)

    @property
    def words(self) -> str:
        """State and reason."""
        return f"{self.state}: {' '.join(self.reason.split())}" if self.reason else self.state

    def sentence(self) -> str:
        """State, reason and counts in one sentence, without the folder."""
        counts = "" if self.answered is None else f"; calls: {self.answered:,} answered"
        if self.calls:
            counts += f"; paid: {paid_words(self.calls, self.tokens or 0, self.usd or 0.0)}"
        return f"{self.words}{counts}"


def paid_words(attempts: int, tokens: int, usd: float) -> str:
    """What a run has cost, such as ``1,200 tokens in 3 attempts, $0.10``."""
    return f"{tokens:,} tokens in {attempts:,} attempts" + (f", ${usd:,.2f}" if usd else "")


@contextmanager
def recorded_end(journal: Journal) -> Iterator[None]:
    """Note in the journal how this session ends; only one that is killed leaves no note."""

    def note(state: str, reason: str = "", stood: str = "", *_: str) -> None:
        # A provider's message may repeat the key that it has refused.
        end = {"session": journal.session, "state": state, "reason": redact(reason), "stood": stood}
        journal.set_meta({END: json.dumps(end)})

    try:
        yield
    except BaseException as error:
        state = STOPPED if isinstance(error, Stopped) else FAILED
        if isinstance(error, BudgetReached):
            state = BY_BUDGET
        elif isinstance(error, Interrupted | KeyboardInterrupt):
            state = BY_USER
        # The disk, or the loss of the lease, may be what ended it: then nothing can be noted.
        with suppress(Stopped, InputError):
            note(state, str(error), *getattr(error, "__notes__", ()))
        raise
    # A manifest says that a run has finished; this note is not worth a failure on a full disk.
    with suppress(Stopped):
        note(FINISHED)


def judge_state(
    manifest: Mapping[str, Any],
    part: Mapping[str, Any],
    notes: Mapping[str, str],
    writing: bool | None,
) -> tuple[str, str, str]:
    """State, reason and progress of the latest session of a started run."""
    session = held_note(notes, "session", 0)
    if writing:
        standing: dict[str, Any] = held_note(notes, STANDING, {})
        same_session = standing.get("session") == session
        return RUNNING, "", str(standing.get("stood", "")) if same_session else ""
    # A session that only found out that the scenario has changed has signed nothing, and has left
    # the results as they were.
    if manifest and _last_session(notes) <= _last_session(manifest):
        return FINISHED, "", ""
    end: dict[str, Any] = held_note(notes, END, {})
    if end.get("session") == session:
        state, reason, stood = (str(end.get(key, "")) for key in ("state", "reason", "stood"))
        return state, reason, stood
    # There was no room on the disk for the note.
    if part and part.get("partial") != SNAPSHOT and _last_session(part) >= session:
        return STOPPED, str(part.get("partial") or ""), ""
    if writing is None:
        return UNSEEN, "whether a process is working on it cannot be checked from this machine", ""
    why = (
        f"no end of session {session} is recorded, and no process on this machine is working on it"
    )
    return KILLED, why, ""


def held_note(notes: Mapping[str, str], key: str, otherwise: T) -> T:
    """A note as the value that it is of; ``otherwise`` where a stranger has written another."""
    with suppress(ValueError, RecursionError):
        held = json.loads(notes.get(key, "null"))
        return held if isinstance(held, type(otherwise)) else otherwise
    return otherwise


def _last_session(held: Mapping[str, Any]) -> int:
    """The number of the last session in a manifest or in the notes of a journal; 0: none."""
    ledger = held.get("ledger")
    sessions: Any = held_note(held, "sessions", []) if "ledger" not in held else []
    if isinstance(ledger, Mapping):
        sessions = ledger.get("sessions") or []
    number = sessions[-1].get("session") if sessions and isinstance(sessions[-1], Mapping) else 0
    return number if isinstance(number, int) else 0


def read_state(folder: Path) -> RunState:
    """The state of a run folder, which may be missing; for ``partial/`` the state of its run."""
    # The journal and its lock lie beside the part, not in it.
    run = folder.parent if folder.name == PARTIAL else folder
    times = []
    for name in (MANIFEST, f"{PARTIAL}/{MANIFEST}", JOURNAL, f"{JOURNAL}-wal"):
        with suppress(OSError):
            times.append((run / name).stat(follow_symlinks=False).st_mtime)
    if not times:
        return RunState(str(folder), NOT_BEGUN)
    date = datetime.fromtimestamp(max(times), UTC).isoformat(timespec="seconds")
    try:
        manifest = read_manifest(run)
        part = {} if manifest else read_manifest(run / PARTIAL)
        notes = journal_notes(run)
        state, reason, stood = judge_state(manifest, part, notes, is_being_written(run / JOURNAL))
        results = manifest or part
        ledger, answered, day = results.get("ledger") or {}, None, results.get("days")
        if state != FINISHED and notes:
            # What is not finished has cost what its journal says, and come as far.
            with Journal(run / JOURNAL, frozen=True, verify=False) as journal:
                ledger = ledger_of(journal)
                answered, latest = journal.answered()
            day = latest if day is None else day
        scenario: dict[str, Any] = held_note(notes, "scenario", {})
        words: list[Any] = held_note(notes, COMMAND, [])
        forked: dict[str, Any] = held_note(notes, "forked", {})
        seed = results.get("seed", scenario.get("seed"))
        calls, tokens, usd = spent_in(ledger) if results or notes else (None, None, None)
        return RunState(
            str(folder),
            state,
            date,
            scenario=str(results.get("name") or scenario.get("name") or ""),
            seed=None if seed is None else int(seed),
            days=None if day is None else float(day),
            calls=calls,
            tokens=tokens,
            usd=usd,
            reason=reason,
            stood=stood,
            answered=answered,
            session=held_note(notes, "session", 0),
            command=resuming_command(list(map(str, words))),
            free=bool(ledger.get("free")),
            fork_of=f"of {forked.get('run')} on day {forked.get('at'):g}" if forked else "",
        )
    except (OSError, InputError, ValueError, TypeError, AttributeError, RecursionError):
        return RunState(str(folder), DAMAGED, date)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest in a folder; empty if there is none, or the folder is a link."""
    path = folder / MANIFEST
    if folder.is_symlink() or not path.exists():
        return {}
    return read_json_object(path)


def journal_notes(folder: Path) -> dict[str, str]:
    """The notes in the journal of a run; none if it is unreadable, as just after the start."""
    with suppress(InputError):
        return read_notes(folder / JOURNAL) if (folder / JOURNAL).is_file() else {}
    return {}


def open_run(folder: Path) -> tuple[Run, RunState]:
    """Open a run, or the part of it that there is, with its state and its cost as of now."""
    from virsci_society.society.results.run import Run, resolve_run_folder

    state = read_state(folder)
    if state.session and not has_world(folder):
        message = f"{folder}: nothing to show yet ({state.sentence()})"
        raise InputError(f"{message}; {resume_hint(state)}")
    for attempt in range(3):
        target = resolve_run_folder(folder)
        try:
            run = Run.open(target)
            if state.state == RUNNING:
                run.read_all()
            break
        except InputError:
            # It may have been replaced, or the run may have finished, in the middle of reading.
            if state.state != RUNNING or attempt == 2:
                raise
    if run.partial is not None:
        why = state.reason or "another process is working on it"
        run.manifest |= {"state": state.state, "partial": why}
        journal = target.parent / JOURNAL
        if state.session:
            with Journal(journal, frozen=True, verify=False) as held:
                run.manifest["ledger"] = ledger_of(held)
    return run, state


def resume_hint(state: RunState) -> str:
    """Which command resumes a run that has not finished; after a budget with a larger one."""
    run_folder = Path(state.folder)
    folder = run_folder.parent if run_folder.name == PARTIAL else run_folder
    study = folder.parent.parent
    if folder.parent.name == "runs" and planned_runs(study) is not None:
        return f"'society study run {study}' resumes it"
    setting = state.reason.partition(RESUME_WITH)[2]
    if state.command:
        command = resuming_command(shlex.split(state.command)[1:], setting)
        larger = " with a larger budget" if setting else ""
        return f"{THE_SAME}{larger} resumes it without repeating answered calls: {command}"
    command = f"'society run SCENARIO --out {folder}' with the same scenario and settings"
    command += f", and --set {setting}," if setting else ""
    return f"{command} resumes it without repeating answered calls"


def has_world(folder: Path) -> bool:
    """Whether there are tables to be shown: of the run, or of the part that its last stop left."""
    return any((path / MANIFEST).exists() for path in (folder, folder / PARTIAL))


def list_runs(root: Path) -> list[RunState]:
    """Every run and study below a folder, or the folder itself, sorted by path."""
    if not root.is_dir():
        raise InputError(f"{root}: no such folder; runs are written to runs/ by default")
    return sorted(_states(root, DEPTH), key=lambda one: Path(one.folder))


def _states(folder: Path, depth: int) -> Iterator[RunState]:
    has_tables = (folder / MANIFEST).is_file() and (folder / "tables").is_dir()
    if has_tables or ((folder / JOURNAL).is_file() and not (folder / PANEL).is_file()):
        yield read_state(folder)
        return
    below = sorted(sub for sub in folder.iterdir() if sub.is_dir() and not sub.is_symlink())
    states = chain.from_iterable(_states(sub, depth - 1) for sub in below if depth)
    planned = planned_runs(folder)
    if planned is None:
        yield from states
        return
    # A study is one entry; of runs that kept their measures alone there are only the results.
    runs = [*states]
    for path in sorted((folder / "runs").glob("*.result.json")):
        run = path.with_name(path.name.partition(".")[0])
        with suppress(InputError, OSError, LookupError, TypeError):
            held = read_json(path)
            if held["state"] == "done" and not run.exists():
                written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
                cost = {key: held[key] for key in ("calls", "tokens", "usd")}
                runs.append(
                    RunState(str(run), FINISHED, written.isoformat(timespec="seconds"), **cost)
                )
    done = sum(sub.state == FINISHED for sub in runs)
    spent: dict[str, Any] = {
        name: sum(getattr(sub, name) or 0 for sub in runs) for name in ("calls", "tokens", "usd")
    }
    date = max((sub.date for sub in runs), default="")
    yield RunState(str(folder), f"study: {done} of {planned} runs finished", date, **spent)
