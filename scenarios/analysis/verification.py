"""Check a folder against the hashes written with it, and report all damage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import refuse_links
from virsci_society.agents.files.file_hashes import HASHES, check_file, read_hashes, unsigned
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.agents.journal.journal import Journal
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.scenarios.runs.run_state import MANIFEST, PARTIAL, read_state
from virsci_society.scenarios.study.lock import LEVELS, LOCK, read_lock, read_result


@dataclass
class Verification:
    """What the check of a folder has found."""

    found: list[str] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)

    def add(self, check: Callable[[], str]) -> None:
        """Add what a check returns, or the damage that it raises."""
        with self.collecting():
            self.found.append(check())

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Add the damage that the block raises."""
        try:
            yield
        except InputError as error:
            self.damage.append(str(error))
        except OSError as error:
            self.damage.append(f"{error.filename}: cannot be read: {error.strerror}")


def verify_folder(folder: Path) -> Verification:
    """Check the folder of a run, a study, a calibration or an ecosystem."""
    result = Verification()
    if (folder / LOCK).exists() and (folder / "runs").is_dir():
        _verify_study(result, folder)
    # Of the others only a calibration has a lock.
    elif (folder / LOCK).exists():
        result.add(lambda: _verify_kinds(folder, 1))
        with result.collecting():
            data = read_json_object(check_file(folder / LOCK))
            try:
                if "hash" not in unsigned(data) | data:
                    raise ValueError("it has no hash")
            except (ValueError, TypeError) as error:
                raise InputError(f"{folder / LOCK}: {error}; restore it") from error
            result.found.append(f"{folder / LOCK}: verified")
        result.add(lambda: _verify_files(folder))
    elif (folder / "papers.parquet").exists():
        from virsci_society.society.ecosystem.ecosystem import read_manifest

        with result.collecting():
            files = read_manifest(folder)["files"]
            result.found.append(f"{folder}: {len(files)} files verified")
    elif any((folder / name).exists() for name in (MANIFEST, JOURNAL, PARTIAL)):
        _verify_run(result, folder)
    else:
        raise InputError(
            f"{folder}: contains no run, study, calibration or ecosystem; give the folder that the "
            "program wrote"
        )
    return result


def _verify_run(result: Verification, folder: Path) -> None:
    result.add(lambda: f"{folder}: {read_state(folder).sentence()}")
    result.add(lambda: _verify_kinds(folder, 16))
    result.add(lambda: _verify_files(folder))
    if (folder / PARTIAL).is_dir():
        result.add(lambda: _verify_files(folder / PARTIAL))
    if (path := folder / JOURNAL).exists():
        with result.collecting(), Journal(path, frozen=True) as journal:
            result.found.append(f"{path}: {journal.rows_verified} rows verified")


def _verify_study(result: Verification, study: Path) -> None:
    result.add(lambda: _verify_kinds(study, LEVELS))
    with result.collecting():
        read_lock(study)
        result.found.append(f"{study / LOCK}: verified")
    result.add(lambda: _verify_files(study))
    # Of runs that kept their measures alone there is no folder. Sorted, because a folder lists its
    # files in an order of its own (rule 12).
    for name in sorted({one.name.partition(".")[0] for one in (study / "runs").iterdir()}):
        if not name.isdigit():
            continue
        with result.collecting():
            read_result(study, int(name))
            result.found.append(f"run {int(name):04d}: result verified")
        if (study / "runs" / name).is_dir():
            _verify_run(result, study / "runs" / name)


def _verify_kinds(folder: Path, depth: int) -> str:
    refuse_links(folder, depth)
    return f"{folder}: contains only plain files"


def _verify_files(folder: Path) -> str:
    hashes = read_hashes(folder)
    if hashes is not None:
        return f"{folder}: {hashes.check_all()} files verified"
    if not (folder / MANIFEST).exists():
        return f"{folder}: has no checksums yet, because nothing in it has finished"
    raise InputError(f"{folder / HASHES}: is missing; restore it")
