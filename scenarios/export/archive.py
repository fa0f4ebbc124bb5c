"""One zip file of a finished run or study that a stranger can verify and replay.

Its metadata are written by hand: the library ``rocrate`` brings a network client.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path, PureWindowsPath
from shutil import copyfileobj, disk_usage
from stat import S_IFDIR, S_IFMT, S_IFREG
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from virsci_society.agents.errors import Diverged, InputError
from virsci_society.agents.files.atomic_files import replacing
from virsci_society.agents.files.file_hashes import HASHES, file_hash, read_hashes
from virsci_society.scenarios.analysis.verification import Verification, verify_folder
from virsci_society.scenarios.runs.execute import replay
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.scenarios.runs.run_state import FINISHED, MANIFEST, read_manifest, read_state
from virsci_society.scenarios.study.lock import LOCK, folder_of, read_results, require_lock
from virsci_society.society.results.text_provenance import speaker_of

SUMS, CRATE_FILE = "SHA256SUMS", "ro-crate-metadata.json"
RUN, STUDY = "run", "study"
CRATE = "https://w3id.org/ro/crate/1.3"
DEEPEST, LONGEST = 16, 1000
"""Parts and characters of the name of a member."""
SMALL, LARGEST_RATIO = 2**26, 200
"""An archive may unpack to 64 MiB, or to 200 times its own size; our files reach about 30 times."""


def write_archive(folder: Path, target: Path) -> int:
    """Archive a finished run, or a study whose runs are all done; returns the number of files."""
    runs, files = _runs_in(folder), dict[str, Path]()
    for run in runs:
        if (state := read_state(run)).state != FINISHED:
            raise InputError(f"{run}: {state.sentence()}; an archive contains finished runs only")
        if not (run / JOURNAL).exists():
            raise InputError(
                f"{run}: its journal was not kept, so it cannot be replayed; only "
                "runs that kept their whole folders can be archived"
            )
    if damage := verify_folder(folder).damage:
        raise InputError("\n".join(damage))
    top = RUN if runs == [folder] else STUDY
    for place in dict.fromkeys([folder, *runs]):
        listed = read_hashes(place)
        if listed is None:
            raise InputError(f"{place}: has no {HASHES}; 'society study report' writes it")
        named = {*listed.files, HASHES, "report.html", LOCK, JOURNAL}
        paths = [place / name for name in sorted(named)]
        if place != folder:  # the result of a study's run is beside its folder
            paths.append(place.with_name(f"{place.name}.result.json"))
        held = [path for path in paths if path.is_file()]
        files |= {f"{top}/{path.relative_to(folder).as_posix()}": path for path in held}
    manifests = [read_manifest(run) for run in runs]
    ended = max(int((run / MANIFEST).stat().st_mtime) for run in runs)
    date = datetime.fromtimestamp(ended, UTC)
    title, day = folder.resolve().name, date.date().isoformat()
    crate = crate_metadata(title, day, manifests, files.keys())
    text = json.dumps(crate, indent=1, ensure_ascii=False) + "\n"
    sums = {name: file_hash(path) for name, path in files.items()}
    sums[CRATE_FILE] = hashlib.sha256(text.encode()).hexdigest()
    lines = "".join(f"{digest}  {name}\n" for name, digest in sums.items())
    with replacing(target) as new, zipfile.ZipFile(new, "x", zipfile.ZIP_DEFLATED) as archive:
        for name, path in files.items():
            head = _member(name, date)
            head.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(head, "w") as packed:
                copyfileobj(source, packed)
        for name, content in ((CRATE_FILE, text), (SUMS, lines)):
            archive.writestr(_member(name, date), content)
    return len(files) + 2


def verify_archive(path: Path, replaying: Callable[[str], object], *, trust: bool) -> Verification:
    """Check every file of an archive, and replay its runs from their journals."""
    verified, digests, runs = Verification(), list[str](), list[Path]()
    with TemporaryDirectory() as spare:
        folder = Path(spare).resolve()
        verified.damage += unpack(path, folder)
        if not verified.damage:
            top = folder / (STUDY if (folder / STUDY).is_dir() else RUN)
            with verified.collecting():
                verified.damage += verify_folder(top).damage
                runs = _runs_in(top)
        for run in runs if not verified.damage else ():
            replaying(f"replaying {run.relative_to(folder)} from its journal")
            try:
                digests.append(replay(run, trust=trust))
            except (Diverged, InputError) as error:
                versions, here = read_manifest(run).get("versions"), platform.python_version()
                written = versions.get("python", here) if isinstance(versions, dict) else here
                under = f" (written under Python {written}, replayed under {here})"
                verified.damage.append(f"{error}{under if written != here else ''}")
        if not verified.damage:
            count = sum(one.is_file() for one in folder.rglob("*"))
            digest = f" {digests[0]}" if len(digests) == 1 else "s"
            verified.found.append(
                f"{path}: {count} files verified, {len(digests)} of {len(runs)} "
                f"runs replayed without a network to the same digest{digest}; answers: "
                f"{_speakers(map(read_manifest, runs))}"
            )
        # Nobody can look into a folder that is removed.
        verified.damage = [
            f"{path}: {one.replace(f'{folder}{os.sep}', '')}" for one in verified.damage
        ]
    return verified


def unpack(path: Path, folder: Path) -> Iterator[str]:
    """Unpack the files that ``SHA256SUMS`` lists; yields what is missing, changed or not listed.

    Every member is looked at before the first byte is written.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members: dict[str, zipfile.ZipInfo] = {}
            for one in archive.infolist():
                if fault := _fault_of(one, members):
                    raise InputError(f"{path}: {one.filename!r} {fault}; it is not unpacked")
                members[one.filename] = one
            size, packed = sum(one.file_size for one in members.values()), path.stat().st_size
            # A few bytes can unpack to very many, which would fill the disk.
            if size > max(SMALL, LARGEST_RATIO * packed):
                raise InputError(
                    f"{path}: unpacks from {packed:,} to {size:,} bytes, more than {LARGEST_RATIO} "
                    "times as many, so it is not an archive of runs"
                )
            if size > (free := disk_usage(folder).free) / 2:
                raise InputError(
                    f"{path}: unpacks to {size:,} bytes, more than half of the {free:,} that are "
                    "free for temporary files; set TMPDIR to a folder with more room, if you trust"
                    " it"
                )
            if SUMS not in members:
                raise InputError(f"{path}: contains no {SUMS}; 'society export archive' writes it")
            lines = archive.read(SUMS).decode("utf-8", "replace").splitlines()
            listed = {name: digest for digest, _, name in (one.partition("  ") for one in lines)}
            files = {name for name in members if not name.endswith("/")}
            yield from (f"{name}: is missing" for name in sorted(listed.keys() - files))
            yield from (
                f"{name}: is not listed in {SUMS}" for name in sorted(files - {SUMS, *listed})
            )
            for name in sorted(listed.keys() & files):
                if file_hash(Path(archive.extract(members[name], folder))) != listed[name]:
                    yield f"{name}: was changed after it was written"
    # Raised by zipfile for damage of one kind or another.
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}; download it again") from error
    except OSError as error:
        # Without the file's name, which may be one in the temporary folder.
        raise InputError(f"{path}: cannot be unpacked: {error.strerror or error}") from error


def _fault_of(one: zipfile.ZipInfo, others: Mapping[str, zipfile.ZipInfo]) -> str:
    """Why a member of an archive must not be unpacked; empty if it may."""
    name = one.filename
    parts = name.removesuffix("/").split("/")
    if {"", ".", ".."} & {*parts} or "\\" in name or PureWindowsPath(name).drive:
        return "has a name that points outside the archive"
    if len(parts) > DEEPEST or len(name) > LONGEST or not name.isprintable():
        return "has a name that no file of an archive has"
    if name in others:
        return "appears twice"
    if S_IFMT(one.external_attr >> 16) not in (0, S_IFREG, S_IFDIR) or one.flag_bits & 1:
        return "is encrypted, a link or another file that is not plain"
    if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is not compressed by deflate"
    return ""


def _runs_in(folder: Path) -> list[Path]:
    """The folder of a run, or the folders of all runs of a finished study."""
    if not (folder / LOCK).exists():
        return [folder]
    lock = require_lock(folder)
    missing = [one.index for one in read_results(folder, lock) if one.state != "done"]
    if missing:
        raise InputError(f"{folder}: run {missing[0]} is not done; 'society study run' does it")
    return [folder_of(folder, index) for index in range(lock.runs)]


def _member(name: str, date: datetime) -> zipfile.ZipInfo:
    """The head of a member; a zip file knows no date before 1980."""
    head = zipfile.ZipInfo(name, max(date.timetuple()[:6], (1980, 1, 1, 0, 0, 0)))
    head.external_attr, head.compress_type = (S_IFREG | 0o644) << 16, zipfile.ZIP_DEFLATED
    return head


def crate_metadata(
    title: str, date: str, manifests: Collection[Mapping[str, Any]], files: Iterable[str]
) -> dict[str, Any]:
    """The content of ``ro-crate-metadata.json``: programs, backends, sources and licences."""
    programs = dict.fromkeys(
        f"virsci-society {one['versions']['virsci-society']} (Python {one['versions']['python']})"
        for one in manifests
    )
    sources = dict.fromkeys(str(one["ecosystem"]["source"]) for one in manifests)
    description = (
        f"Runs of a simulated society of scientists by {', '.join(programs)}. "
        f"Answers: {_speakers(manifests)}. Past papers: {', '.join(sources)}. The terms of a "
        "model's provider, or the licence of its weights, determine whether its texts may be "
        "redistributed. The licences of past papers apply to the excerpts in prompts. Each "
        "manifest.json gives the cost of its run."
    )
    root = {
        "name": title,
        "description": description,
        "datePublished": date,
        "license": "No licence of this archive is stated.",
        "hasPart": [{"@id": quote(path)} for path in files],
    }
    about = {"conformsTo": {"@id": CRATE}, "about": {"@id": "./"}}
    graph = [
        {"@id": CRATE_FILE, "@type": "CreativeWork", **about},
        {"@id": "./", "@type": "Dataset", **root},
        *({"@id": quote(path), "@type": "File", "name": Path(path).name} for path in files),
    ]
    return {"@context": f"{CRATE}/context", "@graph": graph}


def _speakers(manifests: Iterable[Mapping[str, Any]]) -> str:
    return "; ".join(dict.fromkeys(speaker_of(manifest) or "not known" for manifest in manifests))
