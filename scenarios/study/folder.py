"""The folder of a study and its lock, which records the whole design before the first call is paid.

Scenarios, seeds and prompts of a folder never change afterwards. Measures and comparisons may be
added or left out, and every report says so.

::

    study.yaml  base.yaml  lock.json
    runs/0000/  runs/0000.result.json  ...
    study.json  runs.parquet  results.parquet  tables/*.parquet  report.html  report/
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError, Stopped, disk_errors_as
from virsci_society.agents.files.atomic_files import (
    holds_others,
    read_plain_text,
    refuse_links,
    remove_file,
    remove_folder,
)
from virsci_society.agents.files.file_hashes import hash_json, rewriting
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.agents.gateway.budget import Budget
from virsci_society.scenarios.config.document import IDENTITY
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.config.yaml_io import read_yaml, write_yaml
from virsci_society.scenarios.runs.lease import LeaseHeld, hold_lease, is_abandoned
from virsci_society.scenarios.runs.run_folder import prompt_hashes
from virsci_society.scenarios.runs.run_journal import (
    JOURNAL,
    NUMBER,
    identity_data,
    key_differences,
    require_identity,
)
from virsci_society.scenarios.study.budget_matching import SPENT, TEXTS, matching_data
from virsci_society.scenarios.study.design import Design
from virsci_society.scenarios.study.run_result import RunResult, folder_of, read_result, write_text
from virsci_society.scenarios.study.study_file import STUDY, STUDY_HEAD, Comparison, Keep, about_of

LOCK = "lock.json"
BASE_HEAD = (
    "# The scenario that every arm of the study beside this file starts from, every key with\n"
    "# its value.\n"
)
"""By this comment, as by that of ``study.yaml``, a file is known as ours."""
FORMAT = 1
LEVELS = 2
"""Folders below one another in which a study's own files lie; each run checks its own."""
PLANNED = ("measures", "comparisons")
"""What may differ from the lock, and is told as a deviation."""
OF_TEXTS = ("calls_after_idea", "words")
"""Measures that tell of which texts the novelty of a run is, and how long they are."""
ASIDE = (*PLANNED, "hash", "by", "study", NUMBER)


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

    @property
    def kept_measures(self) -> list[str]:
        """The measures of each run of which the gathered tables are made."""
        return kept_measures(self.data["measures"], self.data.get("match"))

    def waiting(self, index: int) -> RunResult:
        """The result of a run before it has begun."""
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


def kept_measures(named: Sequence[str], match: Mapping[str, Any] | None) -> list[str]:
    """Measures that are named, and those that tell of budgets and texts."""
    spent = [] if match is None else [SPENT[match["asked"]["by"]]]
    of_texts = OF_TEXTS if set(TEXTS) & set(named) else ()
    return list(dict.fromkeys([*named, *spent, *of_texts]))


def make_lock(design: Design, by: str) -> Lock:
    """The lock of a design."""
    prompts: dict[str, str] = {}
    arms = []
    for arm, scenario in zip(design.arms, design.scenarios, strict=True):
        prompts |= prompt_hashes(scenario)
        entry = {"name": arm.name, "set": dict(arm.settings), "seeds": design.seeds(arm.name)}
        arms.append(entry | {"scenario": hash_json(locked_keys(scenario))})
    data: dict[str, Any] = {
        "format": FORMAT,
        NUMBER: IDENTITY,
        "study": design.file.study,
        "base": locked_keys(design.base),
        "arms": arms,
        "replicates": design.file.replicates,
        "seed": design.file.seed,
        "paired": design.file.paired,
        "prompts": dict(sorted(prompts.items())),
        "measures": list(design.file.measures),
        "comparisons": [one.model_dump(mode="json") for one in design.comparisons],
    }
    if design.file.crossed:
        data["crossed"] = {key: list(values) for key, values in design.file.crossed.items()}
    if (matching := matching_data(design)) is not None:
        data["match"] = matching
    # As it will be read from the file, which is compared with locks that are made later.
    data = json.loads(json.dumps(data, default=str))
    return Lock(data | {"hash": hash_json(data), "by": by})


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
            f"{path}: does not bear its own hash, so it was changed after it was written"
        )
    require_identity(data.get(NUMBER), study)
    return Lock(data)


def require_lock(study: Path) -> Lock:
    """The lock of a study folder."""
    refuse_links(study, LEVELS)
    lock = read_lock(study)
    if lock is None:
        raise InputError(f"{study}: holds no {LOCK}; 'society study run' or 'lock' writes it")
    return lock


def differences(held: Lock, wanted: Lock) -> list[str]:
    """Everything that would be run otherwise than it was locked, one line each, both values."""
    old, new = held.data, wanted.data
    whole = [key for key in old if key not in (*ASIDE, "arms", "format")]
    whole += [key for key in ("match", "crossed") if key in new and key not in old]
    lines = list(
        key_differences({key: old.get(key) for key in whole}, {key: new.get(key) for key in whole})
    )
    before = {arm["name"]: arm for arm in held.arms}
    after = {arm["name"]: arm for arm in wanted.arms}
    lines += [f"arm {name}: left out" for name in before if name not in after]
    lines += [f"arm {name}: new" for name in after if name not in before]
    for name in before:
        if name in after:
            lines += _arm_differences(name, before[name], after[name])
    if not lines and list(before) != list(after):
        lines.append(f"order of the arms: {', '.join(before)} -> {', '.join(after)}")
    if not lines and [arm["scenario"] for arm in held.arms] != [a["scenario"] for a in wanted.arms]:
        lines.append("the scenarios of the arms: this release gives a key another default")
    return lines


def deviations(held: Lock, file_measures: list[str], comparisons: list[Comparison]) -> list[str]:
    """Everything that is reported otherwise than it was planned, one sentence each."""
    planned = list(held.data["measures"])
    stated = [Comparison.model_validate(one) for one in held.data["comparisons"]]
    return [
        *_added("measure", planned, file_measures),
        *_added(
            "comparison",
            [one.describe() for one in stated],
            [one.describe() for one in comparisons],
        ),
    ]


def locked_keys(scenario: Scenario) -> dict[str, Any]:
    """The keys that a lock holds fast: all but the seed, and how and where the study is run."""
    data = identity_data(scenario)
    data.pop("seed", None)
    whole = scenario.to_data()
    return data | {key: whole[key] for key in ("until", "novelty")}


def _arm_differences(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for line in key_differences(old["set"], new["set"]):
        yield f"arm {name}: {line}"


def _added(what: str, planned: list[str], now: list[str]) -> Iterator[str]:
    for one in now:
        if one not in planned:
            yield f"{what} added after the lock, so exploratory: {one}"
    for one in planned:
        if one not in now:
            yield f"planned {what} left out: {one}"


BASE = "base.yaml"
CUT_OFF = "no process works on it now; the same command resumes it"
"""Why a run is told as stopped whose process was killed."""


def open_folder(design: Design, folder: Path, by: str = "run") -> Lock:
    """Make the folder of a study, or check that an existing one is of this very study."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give another folder with --out")
    refuse_links(folder, LEVELS)
    held = read_lock(folder)
    wanted = make_lock(design, by)
    if held is None and (holds_others(folder, BASE, STUDY, LOCK) or _holds_own_files(folder)):
        raise InputError(f"{folder}: holds other files; give another folder with --out")
    if held is not None and (changes := differences(held, wanted)):
        lines = "\n".join(f"  {line}" for line in changes)
        raise InputError(
            f"{folder}: was locked for another study:\n{lines}\n"
            "go on with what it was locked for, or give another folder with --out"
        )
    for name, text in ((BASE, _base_text(design)), (STUDY, _study_text(design))):
        path = folder / name
        if not path.is_file() or read_plain_text(path) != text:
            with rewriting(path):
                write_text(path, text)
    # Last: a folder without a lock was left by a kill, and is made anew.
    if held is None:
        text = json.dumps(wanted.data, indent=1, ensure_ascii=False)
        write_text(folder / LOCK, f"{text}\n")
    return held or wanted


def read_results(folder: Path, lock: Lock) -> list[RunResult]:
    """The result of every run, in the order of the index."""
    return [read_result(folder, index) or lock.waiting(index) for index in range(lock.runs)]


def done_runs(study: Path) -> list[RunResult]:
    """The runs of a study that are done."""
    done = [one for one in read_results(study, require_lock(study)) if one.state == "done"]
    if not done:
        raise InputError(f"{study}: no run of this study is done; 'society study run' does them")
    return done


def results_to_show(folder: Path, lock: Lock) -> list[RunResult]:
    """The same for people to look at: a run whose process was killed is told as stopped."""
    return [
        replace(one, state="stopped", reason=CUT_OFF)
        if one.state == "running" and is_abandoned(folder_of(folder, one.index))
        else one
        for one in read_results(folder, lock)
    ]


def _holds_own_files(folder: Path) -> bool:
    """Does a user's own file bear the name of one of ours, which a killed command may have left?"""
    marks = {BASE: BASE_HEAD, STUDY: STUDY_HEAD}
    paths = {folder / name: mark for name, mark in marks.items() if (folder / name).is_file()}
    return any(mark not in read_plain_text(path) for path, mark in paths.items())


def _base_text(design: Design) -> str:
    data = design.base.to_data()
    data["out"] = None
    return BASE_HEAD + write_yaml(data)


def _study_text(design: Design) -> str:
    data: dict[str, Any] = {**design.file.model_dump(mode="json"), "base": BASE, "set": {}}
    data["arms"] = {key: one for key, one in data["arms"].items() if one is not None}
    about = about_of(design.path) or design.file.study
    return f"# {about}.\n{STUDY_HEAD}{write_yaml(data)}"


def unfinished_runs(results: Sequence[RunResult]) -> list[int]:
    """Indices of the runs that the same command would begin, or go on with."""
    return [one.index for one in results if one.state not in ("done", "quarantined")]


def read_keep(study: Path) -> Keep:
    """What is kept of the runs of a study that have been measured."""
    keep: Keep = read_yaml(study / STUDY).data["keep"]
    return keep


def keep_only(folder: Path, keep: Keep) -> None:
    """Delete of a measured run what is not to be kept; call it under the lease."""
    with disk_errors_as(Stopped, f"{folder}: cannot be deleted"):
        if keep == "measures":
            remove_folder(folder)
        elif keep == "tables":
            for path in folder.glob(f"{JOURNAL}*"):
                remove_file(path)


def trim_runs(study: Path, results: Sequence[RunResult], keep: Keep) -> None:
    """Delete what is not kept of runs that were done before it was asked for, or before a kill."""
    for one in results if keep != "folders" else ():
        folder = folder_of(study, one.index)
        if one.state == "done" and (folder / JOURNAL if keep == "tables" else folder).exists():
            with suppress(LeaseHeld), hold_lease(folder, "what is not kept of it is deleted"):
                keep_only(folder, keep)


def read_budget(study: Path) -> Budget | None:
    """The budget of all runs of a study together; None: each has its scenario's own budget."""
    data = read_yaml(study / STUDY).data.get("budget")
    return None if data is None else Budget.model_validate(data)
