"""One archive of a finished run or study that a stranger can verify, and its verification.

It holds the files of the folder, the metadata of ``crate`` and ``SHA256SUMS``,
which ``sha256sum -c`` reads. A file that the program did not write is left out.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from shutil import copyfileobj, disk_usage
from stat import S_IFREG
from tempfile import TemporaryDirectory

from virsci_society.agents.errors import Diverged, InputError
from virsci_society.agents.files.atomic_files import replacing, write_atomically
from virsci_society.agents.files.file_hashes import HASHES, file_hash, read_hashes
from virsci_society.scenarios.analysis.verification import Verification, verify_folder
from virsci_society.scenarios.export.crate import (
    ArchivedRun,
    ArchiveFacts,
    citation,
    codemeta,
    crate_metadata,
)
from virsci_society.scenarios.runs.execute import replay
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.scenarios.runs.run_state import FINISHED, MANIFEST, read_manifest, read_state
from virsci_society.scenarios.study.folder import LOCK, read_statuses, require_lock
from virsci_society.scenarios.study.status import folder_of

SUMS, CRATE_FILE = "SHA256SUMS", "ro-crate-metadata.json"
_FIRST_IN_ZIP = 315532800
"""1980, before which a zip file knows no date."""
RUN, STUDY, ECOSYSTEM = "run", "study", "ecosystem"
README = """\
# {title}

{terms}
Costs: {costs}.

Made by virsci-society {version} under Python {python}. `society doctor FILE.zip` checks every file
and goes through every run again from its journal, without a network, to the same digest.
`sha256sum -c {sums}` checks the files alone.
"""


def write_archive(
    folder: Path,
    target: Path,
    *,
    license: str | None = None,
    authors: Sequence[str] = (),
    ecosystem: bool = False,
    announce: Callable[[str], object] = lambda line: None,
) -> int:
    """Write the archive of a finished run, or of a study whose runs are all done and gathered.

    Args:
        folder: of the run or study.
        target: the zip file.
        license: identifier in SPDX's list, for the archive as a whole.
        authors: their names.
        ecosystem: with the ecosystem, where it lies in a folder of its own.
        announce: is told what is being done.

    Returns:
        Number of files in it.

    Raises:
        InputError: it is neither, is not finished, or is damaged.
    """
    if license is not None and not re.fullmatch(r"[A-Za-z0-9.+-]+", license):
        raise InputError(f"--license: got {license!r}, expected a name of SPDX, such as CC-BY-4.0")
    study = (folder / LOCK).exists()
    top = STUDY if study else RUN
    with TemporaryDirectory() as spare:
        runs = _runs_of_study(folder) if study else [folder]
        for run in runs:
            if (state := read_state(run)).state != FINISHED:
                raise InputError(f"{run}: {state.sentence()}; an archive holds finished runs only")
            if not (run / JOURNAL).exists():
                raise InputError(
                    f"{run}: its journal was not kept, so nobody could replay it; an archive is "
                    "made of runs that kept their whole folders"
                )
        announce("checking every file")
        if damage := verify_folder(folder).damage:
            raise InputError("\n".join(damage))
        files = {f"{top}/{name}": path for name, path in _files(folder)}
        if study:
            files |= {f"{top}/{name}": path for name, path in _files_of_runs(runs)}
        places = [f"{top}/runs/{run.name}" if study else top for run in runs]
        archived = [_archived(place, run) for place, run in zip(places, runs, strict=True)]
        if ecosystem:
            files |= _ecosystem_files(archived)
        title = f"study {folder.resolve().name}" if study else archived[0].title
        date = date_of_release(*map(run_ended, runs))
        facts = ArchiveFacts(title, archived, date.date().isoformat(), license, authors)
        files |= _described(Path(spare), facts)
        sums = {name: (file_hash(path), path.stat().st_size) for name, path in files.items()}
        files |= _written(Path(spare), {CRATE_FILE: _json(crate_metadata(facts, sums))})
        lines = [f"{file_hash(path)}  {name}\n" for name, path in files.items()]
        files |= _written(Path(spare), {SUMS: "".join(lines)})
        announce(f"packing {len(files):,} files")
        with replacing(target) as new:
            _pack(new, files, date)
    return len(files)


def verify_archive(path: Path, replaying: Callable[[str], object], *, trust: bool) -> Verification:
    """Check every file of an archive, and go through its runs again from their journals.

    Args:
        path: the zip file.
        replaying: is told each run before it is gone through again.
        trust: let dotted paths in the scenarios be imported.

    Returns:
        What was found; where a file is damaged, no run is gone through.

    Raises:
        InputError: it is no archive that ``write_archive`` has written.
    """
    told = Verification()
    with TemporaryDirectory() as spare:
        folder = Path(spare)
        try:
            with zipfile.ZipFile(path) as archive:
                _require_room(archive, folder)
                told.damage += _unpack(archive, folder)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise InputError(f"{path}: cannot be read: {error}; get it once more") from error
        if told.damage:
            return told
        inside = folder / (STUDY if (folder / STUDY).is_dir() else RUN)
        told.damage += verify_folder(inside).damage
        runs = _runs_of_study(inside) if inside.name == STUDY else [inside]
        digests: list[str] = []
        ecosystem = folder / ECOSYSTEM
        settings = [f"population.ecosystem.path={ecosystem}"] if ecosystem.is_dir() else []
        for run in runs if not told.damage else ():
            replaying(f"replaying {run.relative_to(folder)} from its journal alone")
            told.damage += _replayed(run, digests, trust, settings)
        told.found += _sentences(path, folder, runs, digests)
    return told


def _replayed(run: Path, digests: list[str], trust: bool, settings: Sequence[str]) -> Iterator[str]:
    """Replay a run and keep its digest; yields why it could not be, or came to another one."""
    try:
        digests.append(replay(run, trust=trust, settings=settings))
    except (Diverged, InputError) as error:
        written, here = read_manifest(run)["versions"]["python"], platform.python_version()
        under = f" (written under Python {written}, replayed under {here})"
        yield f"{error}{under if written != here else ''}"


def _sentences(
    path: Path, folder: Path, runs: Sequence[Path], digests: Sequence[str]
) -> Iterator[str]:
    files = sum(one.is_file() for one in folder.rglob("*"))
    facts = ArchiveFacts("", [_archived("", run) for run in runs], "", None, ())
    digest = f" {digests[0]}" if len(digests) == 1 else "s"
    yield (
        f"{path}: {files} files are as they were written, {len(digests)} of {len(runs)} runs "
        f"replayed without a network to the same digest{digest}; who spoke: {facts.speakers}"
    )


def _runs_of_study(study: Path) -> list[Path]:
    """The folders of a study's runs, which must all be done."""
    lock = require_lock(study)
    missing = [one.index for one in read_statuses(study, lock) if one.state != "done"]
    if missing:
        raise InputError(f"{study}: run {missing[0]} is not done; 'society study run' does it")
    return [folder_of(study, index) for index in range(lock.runs)]


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files of a run or study that the program wrote and that belong to its results."""
    listed = read_hashes(folder)
    if listed is None:
        raise InputError(f"{folder}: has no {HASHES}; 'society study report' gathers a study")
    own = [*listed.files, HASHES, "report.html", LOCK, JOURNAL]
    names = sorted({*own}, key=PurePosixPath)
    yield from ((name, folder / name) for name in names if (folder / name).is_file())


def _files_of_runs(runs: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """The files of the runs of a study, and those beside them."""
    for run in runs:
        beside = (run.with_name(f"{run.name}.{kind}.json") for kind in ("status", "measures"))
        yield from ((f"runs/{one.name}", one) for one in beside if one.is_file())
        yield from ((f"runs/{run.name}/{name}", path) for name, path in _files(run))


def _ecosystem_files(runs: Sequence[ArchivedRun]) -> dict[str, Path]:
    """The files of the one ecosystem that all of these runs have read from its folder.

    Raises:
        InputError: they have read none, or several, or it was changed.
    """
    parts = [run.manifest["scenario"]["population"]["ecosystem"] for run in runs]
    places = {str(part.get("path")) for part in parts if part["use"] == "folder"}
    if len(places) != 1:
        raise InputError(
            f"--ecosystem: one folder of an ecosystem is packed; here are {len(places)}"
        )
    place = Path(*places)
    if damage := verify_folder(place).damage:
        raise InputError("\n".join(damage))
    names = sorted([MANIFEST, *json.loads((place / MANIFEST).read_text("utf-8"))["files"]])
    return {f"{ECOSYSTEM}/{name}": place / name for name in names}


def _archived(path: str, run: Path) -> ArchivedRun:
    return ArchivedRun(path, read_manifest(run), run_ended(run).isoformat())


def run_ended(folder: Path) -> datetime:
    """When the manifest of a run was written, to the second."""
    return datetime.fromtimestamp(int((folder / MANIFEST).stat().st_mtime), UTC)


def date_of_release(*ended: datetime) -> datetime:
    """``SOURCE_DATE_EPOCH`` (seconds since 1970) if it is set, else when the last run ended.

    So a run that is archived twice gives the same bytes.

    Raises:
        InputError: it is set to something else.
    """
    stated = os.environ.get("SOURCE_DATE_EPOCH")
    if not stated:
        return max(ended)
    try:
        return datetime.fromtimestamp(int(stated), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(
            f"SOURCE_DATE_EPOCH: got {stated!r}, expected seconds since 1970; unset it"
        ) from error


def _described(spare: Path, facts: ArchiveFacts) -> dict[str, Path]:
    """The texts about an archive, by path in it."""
    versions = facts.runs[0].manifest["versions"]
    readme = README.format(
        title=facts.title,
        terms="\n".join(f"- {line}" for line in facts.terms()),
        costs=facts.costs(),
        version=versions["virsci-society"],
        python=versions["python"],
        sums=SUMS,
    )
    texts = {"README.md": readme, "CITATION.cff": citation(facts)}
    texts["codemeta.json"] = _json(codemeta(facts))
    return _written(spare, texts)


def _written(folder: Path, texts: Mapping[str, str]) -> dict[str, Path]:
    for name, text in texts.items():
        write_atomically(folder / name, text)
    return {name: folder / name for name in texts}


def _json(data: object) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _pack(target: Path, files: Mapping[str, Path], date: datetime) -> None:
    """Write the zip file; what was written after the date, as all that is made here, bears it."""
    with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED) as archive:
        for name, path in files.items():
            told = zipfile.ZipInfo.from_file(path, name, strict_timestamps=False)
            written = max(min(path.stat().st_mtime, date.timestamp()), _FIRST_IN_ZIP)
            told.date_time = time.gmtime(written)[:6]
            told.external_attr = (S_IFREG | 0o644) << 16
            told.compress_type = archive.compression
            with path.open("rb") as source, archive.open(told, "w") as packed:
                copyfileobj(source, packed)


def _require_room(archive: zipfile.ZipFile, folder: Path) -> None:
    """Refuse an archive that would fill the disk: a few bytes can stand for very many."""
    size, free = sum(one.file_size for one in archive.infolist()), disk_usage(folder).free
    if size > free / 2:
        raise InputError(
            f"{archive.filename}: unpacks to {size:,} bytes, more than half of the {free:,} that "
            f"are free in {folder.parent}; set TMPDIR to a folder with more room, if you trust it"
        )


def _unpack(archive: zipfile.ZipFile, folder: Path) -> Iterator[str]:
    """Unpack the files that are listed; yields what is missing, changed or not listed."""
    names = {one.filename for one in archive.infolist() if not one.is_dir()}
    if SUMS not in names:
        raise InputError(f"{archive.filename}: holds no {SUMS}; 'society export archive' writes it")
    listed = {}
    for line in archive.read(SUMS).decode("utf-8", "replace").splitlines():
        digest, _, name = line.partition("  ")
        listed[name] = digest
    yield from (f"{name}: is missing" for name in sorted(listed.keys() - names))
    yield from (f"{name}: is not listed in {SUMS}" for name in sorted(names - {SUMS, *listed}))
    for name in sorted(listed.keys() & names):
        # Below the folder whatever the name says, and never a link.
        if file_hash(Path(archive.extract(name, folder))) != listed[name]:
            yield f"{name}: was changed after it was written"
