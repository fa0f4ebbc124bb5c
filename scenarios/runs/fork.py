"""Forks, which share the past of a finished run and have another future (rules 22 and 23)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from virsci_society.agents.errors import Diverged, InputError
from virsci_society.agents.files.atomic_files import remove_folder
from virsci_society.agents.files.file_hashes import check_file
from virsci_society.agents.invented_names import masked_name
from virsci_society.agents.journal.database import copy_past
from virsci_society.scenarios.config.document import Document, from_settings, key_path
from virsci_society.scenarios.config.schema import (
    CHANGEABLE,
    Scenario,
    load_scenario,
    read_scenario,
)
from virsci_society.scenarios.config.yaml_io import parse_value
from virsci_society.scenarios.runs.execute import is_finished, prepare
from virsci_society.scenarios.runs.execute import run_scenario as execute
from virsci_society.scenarios.runs.progress import Progress
from virsci_society.scenarios.runs.run_folder import DIGEST, SCENARIO
from virsci_society.scenarios.runs.run_journal import (
    JOURNAL,
    NUMBER,
    identity_hash,
    require_identity,
)
from virsci_society.scenarios.runs.run_state import MANIFEST
from virsci_society.society.interventions import Rank
from virsci_society.society.kernel.durations import parse_days, write_days
from virsci_society.society.results.digest import RunPrefix, compute_run_prefix
from virsci_society.society.results.run import Run


@dataclass(frozen=True)
class Fork:
    """Another future of a finished run."""

    parent: Path
    at: float
    scenario: Scenario

    @classmethod
    def of(
        cls,
        parent: Path,
        at: str,
        settings: Iterable[str] = (),
        remove: str | None = None,
        *,
        trust: bool = False,
    ) -> Fork:
        """Read the arguments of the command."""
        try:
            day = parse_days(at)
        except ValueError as error:
            raise InputError(f"--at: {error}") from error
        for name in (MANIFEST, DIGEST, SCENARIO, JOURNAL):
            if not (parent / name).is_file():
                raise InputError(f"{parent}: no {name} in it; a fork needs a run that has finished")
        finished = Run.open(parent)
        require_identity(finished.manifest.get(NUMBER), parent)
        if day > finished.days:
            end = f"day {finished.days:g}, the end of {parent}"
            raise InputError(f"--at: day {day:g} is beyond {end}")
        held = load_scenario(parent / SCENARIO, trust=trust)
        later: dict[str, Any] = {}
        always: list[str] = []
        for setting in settings:
            key, equals, text = setting.partition("=")
            path = key_path(key)
            if equals and path is not None and path[0] in CHANGEABLE:
                later[key.strip()] = parse_value(text, f"--set {key}")
            else:
                always.append(setting)
        entry: dict[str, Any] = {"at": write_days(day), "set": later}
        if remove is not None:
            by, colon, count = remove.partition(":")
            names = [masked_name(name.strip()) for name in remove.split(",")]
            if (colon and not count.isdecimal()) or remove in get_args(Rank) or not all(names):
                raise InputError(
                    f"--remove {remove}: write it as rank:number, such as degree:10, or as names, "
                    "such as Hatamer,Kodenor"
                )
            entry["remove_scientists"] = {"by": by, "count": int(count)} if colon else names
        data = held.to_data()
        document = Document(dict(data.items()))

        def same_past(given: Sequence[str]) -> bool:
            """Do these settings, from day 0, leave what has happened as it was?"""
            read = read_scenario(document.merged_with(from_settings(given)), trust=trust)
            return identity_hash(read) == identity_hash(held)

        if not same_past(always):
            changing = [field for field in always if not same_past([field])] or always
            raise InputError(
                f"--set {'; --set '.join(changing)}: that would change what happened before day "
                f"{day:g}; what a fork can change is {', '.join(CHANGEABLE)}"
            )
        for change in held.interventions:
            for key in change.set if change.at > day else ():
                # What is named after use replaces the whole section, and what was set in it.
                section = key.removesuffix(".use")
                hidden = [mine for mine in later if f"{mine}.".startswith(f"{section}.")]
                if hidden:
                    raise InputError(
                        f"--set {hidden[0]}: the run sets {key} itself on day {change.at:g}, so "
                        f"it would apply only from day {day:g} to then; fork with --at "
                        f"{write_days(change.at)} or later, or leave the setting out"
                    )
        if not later and remove is None:
            raise InputError(
                "the fork would be identical to the run; give --set, --seed or --remove"
            )
        document = document.merged_with(from_settings(always))
        document.data["interventions"] = [*data["interventions"], entry]
        return cls(parent, day, read_scenario(document, trust=trust))

    def run(self, out: Path, progress: Progress | None = None) -> RunPrefix:
        """Run the fork, or resume it."""
        if out.resolve() == self.parent.resolve():
            raise InputError(f"{out}: a fork needs a new folder; give --out NEW")
        if not is_finished(self.scenario, out):
            new = not out.exists()
            prepare(self.scenario, out)
            if not (out / JOURNAL).is_file():
                digest = check_file(self.parent / DIGEST).read_text(encoding="utf-8").strip()
                origin = {"run": self.parent.name, "digest": digest, "at": self.at}
                copy_past(self.parent / JOURNAL, out / JOURNAL, self.at, json.dumps(origin))
            # With another seed, equal questions must get new answers.
            same_luck = "seed" not in self.scenario.interventions[-1].set
            try:
                execute(self.scenario, out, progress, fork=self.parent if same_luck else None)
            except InputError:
                # Such as a name that is unknown on that day: the corrected command starts again.
                if new:
                    remove_folder(out)
                raise
        ours, theirs = (
            compute_run_prefix(Run.open(folder), self.at) for folder in (out, self.parent)
        )
        if ours != theirs:
            raise Diverged(
                f"{out}: before day {self.at:g} it is not what {self.parent} was: {ours.events} "
                f"events and {ours.calls} calls, not {theirs.events} and {theirs.calls}"
            )
        return ours
