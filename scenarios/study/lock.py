"""The folder of a study, with the lock of its design and the result of each run.

A result in state ``running`` without a lease belongs to a run whose process was killed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from virsci_society.agents.errors import BudgetReached, InputError, Stopped, disk_errors_as
from virsci_society.agents.files.atomic_files import (
    holds_others,
    make_folder,
    read_plain_text,
    refuse_links,
    remove_file,
    remove_folder,
    write_atomically,
)
from virsci_society.agents.files.file_hashes import hash_json, rewriting, signed, unsigned
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.scenarios.config.document import IDENTITY
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.config.yaml_io import write_yaml
from virsci_society.scenarios.runs.lease import LeaseHeld, hold_lease, is_abandoned
from virsci_society.scenarios.runs.run_folder import prompt_hashes
from virsci_society.scenarios.runs.run_journal import (
    JOURNAL,
    NUMBER,
    identity_data,
    key_differences,
    require_identity,
)
from virsci_society.scenarios.study.design import Design
from virsci_society.scenarios.study.plan import SPENT, TEXTS, matching_data
from virsci_society.scenarios.study.study_file import STUDY, STUDY_HEAD, Comparison, Keep

State = Literal["waiting", "running", "done", "failed", "stopped", "quarantined"]
STATES = get_args(State)
ENDED = ("done", "quarantined")
"""States that the same command does not start again."""
FAILED_STATES = ("failed", "quarantined")
PARTIAL = 3
"""Exit code: some runs failed, and all others are done."""
QUARANTINE = 3
"""Deaths at one point after which a run is not started again."""
FURTHER = 64
"""Largest difference in answered calls between two deaths that count as the same point."""
Known = Annotated[float, BeforeValidator(lambda value: math.nan if value is None else value)]


@dataclass(frozen=True)
class RunResult:
    """The result of one run, with its state, its cost and its measures (NaN where it has none).

    ``died_at``: how many answers it had at each death of its process since it last ended;
    ``boundary``: the calendar year of day 0; ``embedding``: in which its novelty is measured.
    """

    index: int
    arm: str
    replicate: int
    seed: int
    state: State = "waiting"
    reason: str = ""
    code: int = 0
    details: str = ""
    died_at: tuple[int, ...] = ()
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    digest: str = ""
    boundary: int | None = None
    embedding: str = ""
    measures: Mapping[str, Known] = field(default_factory=dict)

    @property
    def deaths(self) -> int:
        """Consecutive deaths of its process without progress in between."""
        last = self.died_at[-1:]
        alike = takewhile(lambda at: abs(at - last[0]) <= FURTHER, reversed(self.died_at))
        return sum(1 for _ in alike)

    def to_data(self) -> dict[str, Any]:
        """Plain data for JSON; NaN becomes null."""
        measures = {
            name: value if math.isfinite(value) else None for name, value in self.measures.items()
        }
        return {**asdict(self), "died_at": list(self.died_at), "measures": measures}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> RunResult:
        """A result from plain data."""
        try:
            return _result_reader().validate_python(data)
        except ValidationError as error:
            first = error.errors()[0]
            fault = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise InputError(f"not a run result: {fault}") from error


@cache
def _result_reader() -> TypeAdapter[RunResult]:
    return TypeAdapter(RunResult)


def folder_of(study: Path, index: int) -> Path:
    """The run folder of an index."""
    return study / "runs" / f"{index:04d}"


def result_file(study: Path, index: int) -> Path:
    """The path of the result of a run."""
    return study / "runs" / f"{index:04d}.result.json"


def read_result(study: Path, index: int) -> RunResult | None:
    """The result of a run; None if it never started."""
    path = result_file(study, index)
    try:
        return RunResult.from_data(unsigned(read_json_object(path)))
    except FileNotFoundError:
        return None
    except (ValueError, InputError) as error:
        raise InputError(f"{path}: cannot be read ({error}); delete it, and run again") from error


def write_result(study: Path, result: RunResult) -> None:
    """Write a result atomically."""
    write_text(result_file(study, result.index), json.dumps(signed(result.to_data())) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file of a study atomically; several processes may write the same file."""
    with disk_errors_as(Stopped, f"{path}: cannot be written"):
        make_folder(path.parent)
        write_atomically(path, text, durable=True, shared=True)


def exit_code(results: Iterable[RunResult]) -> int:
    """The exit code of a study: 0 all done, 5 or 4 to be resumed, 3 some have failed."""
    every = list(results)
    open_ones = [one for one in every if one.state in ("waiting", "running", "stopped")]
    if any(one.code != BudgetReached.exit_code for one in open_ones):
        return Stopped.exit_code
    if open_ones:
        return BudgetReached.exit_code
    return PARTIAL if any(one.state != "done" for one in every) else 0


def describe_result(study: Path, one: RunResult) -> str:
    """A run in one line: index, state, reason, and the file with details."""
    where = f"; more in {result_file(study, one.index)}" if one.details else ""
    why = f": {one.reason}" if one.reason else ""
    return f"run {one.index:04d} ({one.arm}, replicate {one.replicate}) {one.state}{why}{where}"


LOCK = "lock.json"
BASE = "base.yaml"
BASE_HEAD = (
    "# The scenario that every arm of the study beside this file starts from, every key with\n"
    "# its value.\n"
)
"""First comment of ``base.yaml``, which marks it as written by this program."""
FORMAT = 1
LEVELS = 2
"""Depth of the folders with a study's own files; each run checks its own folder."""
UNLOCKED_KEYS = ("measures", "comparisons", "hash", "by", "study", NUMBER, "arms", "format")
"""Keys of a lock that ``differences`` compares separately or ignores."""
OF_TEXTS = ("calls_after_idea", "words")
"""Measures of the texts whose novelty is measured."""
CUT_OFF = "no process is working on it now; repeat the command to resume"
"""The reason shown for a run whose process was killed."""


@dataclass(frozen=True)
class Lock:
    """The content of ``lock.json``, enough to know every run by its index."""

    data: Mapping[str, Any]

    @property
    def replicates(self) -> int:
        """Runs of each arm."""
        return int(self.data["replicates"])

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.data["arms"]) * self.replicates

    @property
    def arms(self) -> list[dict[str, Any]]:
        """Name and settings of every arm."""
        return list(self.data["arms"])

    def waiting(self, index: int) -> RunResult:
        """The result of a run that has not started."""
        if not 0 <= index < self.runs:
            raise InputError(
                f"no run {index}: this study has the runs 0 to {self.runs - 1} "
                f"({len(self.arms)} arms x {self.replicates} replicates)"
            )
        arm, replicate = self.arm_of(index), index % self.replicates
        return RunResult(index, arm["name"], replicate, int(arm["seeds"][replicate]))

    def arm_of(self, index: int) -> dict[str, Any]:
        """The arm of a run: the runs of an arm follow one another."""
        return self.arms[index // self.replicates]

    def kept_measures(self, named: Sequence[str]) -> list[str]:
        """The named measures, and the measures of budgets and texts that tables need."""
        match = self.data.get("match")
        spent = [] if match is None else [SPENT[match["asked"]["by"]]]
        texts = [] if {*TEXTS}.isdisjoint(named) else OF_TEXTS
        return list(dict.fromkeys([*named, *spent, *texts]))

    def deviations(self, measures: Sequence[str], comparisons: Sequence[Comparison]) -> list[str]:
        """Deviations of measures and comparisons from the plan, one sentence each."""
        planned = [Comparison.model_validate(one).describe() for one in self.data["comparisons"]]
        lines = []
        for what, before, now in (
            ("measure", self.data["measures"], measures),
            ("comparison", planned, [one.describe() for one in comparisons]),
        ):
            added = f"{what} added after the lock, so exploratory: "
            lines += [added + one for one in now if one not in before]
            lines += [f"planned {what} left out: {one}" for one in before if one not in now]
        return lines


def make_lock(design: Design, by: str) -> Lock:
    """The lock of a design."""
    prompts: dict[str, str] = {}
    arms = []
    for arm, scenario in zip(design.arms, design.scenarios, strict=True):
        prompts |= prompt_hashes(scenario)
        entry = {"name": arm.name, "set": dict(arm.settings), "seeds": design.seeds(arm.name)}
        arms.append(entry | {"scenario": hash_json(locked_keys(scenario))})
    file, matching = design.file, matching_data(design)
    data: dict[str, Any] = {
        "format": FORMAT,
        NUMBER: IDENTITY,
        "study": file.study,
        "base": locked_keys(design.base),
        "arms": arms,
        "replicates": file.replicates,
        "seed": file.seed,
        "paired": file.paired,
        "prompts": dict(sorted(prompts.items())),
        "measures": list(file.measures),
        "comparisons": [one.model_dump(mode="json") for one in design.comparisons],
        **({"crossed": file.crossed} if file.crossed else {}),
        **({"usable": file.usable} if file.usable else {}),
        **({} if matching is None else {"match": matching}),
    }
    # As it will be read from the file, which is compared with locks that are made later.
    data = json.loads(json.dumps(data, default=str))
    return Lock(data | {"hash": hash_json(data), "by": by})


def locked_keys(scenario: Scenario) -> dict[str, Any]:
    """The keys that a lock fixes: all but the seed, and how and where the study runs."""
    data, whole = identity_data(scenario), scenario.to_data()
    data.pop("seed", None)
    return data | {key: whole[key] for key in ("until", "novelty")}


def read_lock(study: Path) -> Lock | None:
    """The lock of a study folder; None if there is none yet."""
    path = study / LOCK
    try:
        data = read_json_object(path)
        own = {key: value for key, value in data.items() if key not in ("hash", "by")}
        genuine = data["hash"] == hash_json(own) and data["format"] == FORMAT
    except FileNotFoundError:
        return None
    except KeyError as error:
        raise InputError(f"{path}: cannot be read: no {error} in it") from error
    if not genuine:
        raise InputError(
            f"{path}: does not match its own hash, so it was changed after it was written"
        )
    require_identity(data.get(NUMBER), study)
    return Lock(data)


def require_lock(study: Path) -> Lock:
    """The lock of a study folder."""
    refuse_links(study, LEVELS)
    lock = read_lock(study)
    if lock is None:
        raise InputError(
            f"{study}: contains no {LOCK}; 'society study run' or 'society study lock' writes it"
        )
    return lock


def differences(held: Lock, wanted: Lock) -> list[str]:
    """Differences between two locks that change runs, one line each with both values."""
    whole = [key for key in {**held.data, **wanted.data} if key not in UNLOCKED_KEYS]
    old, new = ({key: one.data.get(key) for key in whole} for one in (held, wanted))
    lines = list(key_differences(old, new))
    before, after = ({arm["name"]: arm for arm in one.arms} for one in (held, wanted))
    lines += [f"arm {name}: left out" for name in before if name not in after]
    lines += [f"arm {name}: new" for name in after if name not in before]
    for name in before:
        if name in after:
            changed = key_differences(before[name]["set"], after[name]["set"])
            lines += [f"arm {name}: {line}" for line in changed]
    if not lines and [*before] != [*after]:
        lines = [f"order of the arms: {', '.join(before)} -> {', '.join(after)}"]
    if not lines and any(
        after[name]["scenario"] != arm["scenario"] for name, arm in before.items()
    ):
        lines = ["the scenarios of the arms: this release gives a key another default"]
    return lines


def open_folder(design: Design, folder: Path, by: str = "run") -> Lock:
    """Create the folder of a study, or check that an existing one belongs to it."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give another folder with --out")
    refuse_links(folder, LEVELS)
    held, wanted = read_lock(folder), make_lock(design, by)
    if held is None:
        marks = {folder / BASE: BASE_HEAD, folder / STUDY: STUDY_HEAD}
        # A killed command may have left our files; a user's file may have the same name.
        theirs = [p for p, mark in marks.items() if p.is_file() and mark not in read_plain_text(p)]
        if theirs or holds_others(folder, BASE, STUDY, LOCK):
            raise InputError(f"{folder}: contains other files; give another folder with --out")
    elif held.data["hash"] != wanted.data["hash"] and (lines := differences(held, wanted)):
        raise InputError(
            f"{folder}: was locked for another study:\n  " + "\n  ".join(lines) + "\n"
            "undo these changes to resume it, or give another folder with --out"
        )
    data: dict[str, Any] = {**design.file.model_dump(mode="json"), "base": BASE, "set": {}}
    kinds = {key: one for key, one in data["arms"].items() if one is not None}
    data["arms"] = kinds.get("named", kinds)
    study = f"# {design.about or design.file.study}.\n{STUDY_HEAD}{write_yaml(data)}"
    base = BASE_HEAD + write_yaml(design.base.to_data() | {"out": None})
    for path, text in ((folder / BASE, base), (folder / STUDY, study)):
        if not path.is_file() or read_plain_text(path) != text:
            with rewriting(path):
                write_text(path, text)
    # Last: a folder without a lock was left by a killed command and is written again.
    if held is None:
        text = json.dumps(wanted.data, indent=1, ensure_ascii=False)
        write_text(folder / LOCK, f"{text}\n")
    return held or wanted


def read_results(folder: Path, lock: Lock) -> list[RunResult]:
    """The result of every run, in the order of the index."""
    return [read_result(folder, index) or lock.waiting(index) for index in range(lock.runs)]


def as_shown(folder: Path, one: RunResult) -> RunResult:
    """The result as displayed: a run whose process was killed is shown as stopped."""
    if one.state == "running" and is_abandoned(folder_of(folder, one.index)):
        return replace(one, state="stopped", reason=CUT_OFF)
    return one


def done_runs(study: Path) -> list[RunResult]:
    """The runs of a study that are done."""
    done = [one for one in read_results(study, require_lock(study)) if one.state == "done"]
    if not done:
        raise InputError(f"{study}: no run of this study is done; 'society study run' does them")
    return done


def unfinished_runs(results: Sequence[RunResult]) -> list[int]:
    """Indices of the runs that the same command would start or resume."""
    return [one.index for one in results if one.state not in ENDED]


def keep_only(folder: Path, keep: Keep) -> None:
    """Delete the files of a measured run that ``keep`` excludes; the caller has its lease."""
    with disk_errors_as(Stopped, f"{folder}: cannot be deleted"):
        if keep == "measures":
            remove_folder(folder)
        elif keep == "tables":
            for path in folder.glob(f"{JOURNAL}*"):
                remove_file(path)


def trim_runs(study: Path, results: Sequence[RunResult], keep: Keep) -> None:
    """Apply ``keep_only`` to finished runs that still have excluded files."""
    for one in results if keep != "folders" else ():
        folder = folder_of(study, one.index)
        if one.state == "done" and (folder / JOURNAL if keep == "tables" else folder).exists():
            with suppress(LeaseHeld), hold_lease(folder, "files that are not kept are deleted"):
                keep_only(folder, keep)
