"""The hashes of the files of a folder, by which a file that was changed or damaged is noticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import virsci_society
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import require_plain, write_atomically
from virsci_society.agents.files.json_files import read_json_object

HASHES = "hashes.json"
FORMAT = 1
PACKAGES = ("agents", "society", "protocols", "metrics", "scenarios")


class FileHashes:
    """The listed hashes of one folder: sha256 (hex) by the name of a file, relative with ``/``."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder, self.files = folder, dict(files)

    def check(self, path: Path) -> Path:
        """Return the path of a file of the folder, if it is not listed or has the listed hash."""
        expected = self.files.get(path.relative_to(self.folder).as_posix())
        if expected is not None and file_hash(path) != expected:
            raise InputError(
                f"{path}: was changed or damaged after it was written: its hash is not the one in "
                f"{HASHES}; restore the file, or write it again"
            )
        return path

    def check_all(self) -> int:
        """Check every listed file; returns how many there are."""
        for name in self.files:
            if not (self.folder / name).exists():
                raise InputError(f"{self.folder / name}: is missing, and {HASHES} lists it")
            self.check(self.folder / name)
        return len(self.files)


def read_hashes(folder: Path) -> FileHashes | None:
    """The hashes of the files of a folder; None if it has no list; InputError if it is damaged."""
    path = folder / HASHES
    try:
        data = read_json_object(path)
    except FileNotFoundError:
        return None
    files, form = data.get("files"), data.get("format")
    if isinstance(files, dict) and data.get("hash") == hash_json({"format": form, "files": files}):
        return FileHashes(folder, {str(name): str(value) for name, value in files.items()})
    raise InputError(f"{path}: does not match its own hash, so it was changed; restore it")


def write_hashes(
    folder: Path, paths: Iterable[Path] = (), texts: Mapping[str, str] | None = None
) -> None:
    """Hash files of a folder and write the list, in place of an older one."""
    later = {
        name: hashlib.sha256(text.encode()).hexdigest() for name, text in (texts or {}).items()
    }
    _write_list(folder, _hashed(folder, paths) | later)


def update_hashes(folder: Path, paths: Iterable[Path]) -> None:
    """Put files that were written later into the list of a folder, if it has one."""
    held = read_hashes(folder)
    if held is not None:
        _write_list(folder, held.files | _hashed(folder, paths))


@contextmanager
def rewriting(*paths: Path) -> Iterator[None]:
    """Remove files from the list while they are written: a kill leaves no wrong hash."""
    folder = paths[0].parent
    held = read_hashes(folder)
    # Before the first file changes: a kill would leave it beside the hash of the old one.
    if held is not None and (named := {path.name for path in paths} & held.files.keys()):
        _write_list(
            folder, {name: digest for name, digest in held.files.items() if name not in named}
        )
    yield
    update_hashes(folder, paths)


def _hashed(folder: Path, paths: Iterable[Path]) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): file_hash(path) for path in paths}


def _write_list(folder: Path, files: Mapping[str, str]) -> None:
    data = {"format": FORMAT, "files": dict(sorted(files.items()))}
    write_atomically(folder / HASHES, json.dumps(signed(data), indent=1) + "\n")


def check_file(path: Path) -> Path:
    """Return the path of a file, if the list of its folder has its hash or does not name it."""
    held = read_hashes(path.parent)
    return path if held is None or not path.exists() else held.check(path)


def file_hash(path: Path) -> str:
    """The sha256 (hex) of a plain file."""
    with require_plain(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def source_digest() -> str:
    """The sha256 (hex) of the Python files of this program, as they were when first asked for."""
    root, hasher = Path(virsci_society.__file__).parent, hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((root / package).resolve().rglob("*.py")):
            hasher.update(path.read_bytes())
    return hasher.hexdigest()


def hash_json(data: Any) -> str:
    """The sha256 (hex) of plain data, whatever the order of its keys."""
    # In ASCII, because half of a surrogate pair has no bytes in UTF-8.
    text = json.dumps(data, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def signed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Plain data with its own hash under the key ``hash``, in place of an older one."""
    rest = {key: value for key, value in data.items() if key != "hash"}
    return {**rest, "hash": hash_json(rest)}


def unsigned(data: dict[str, Any]) -> dict[str, Any]:
    """Plain data without its hash; ValueError if that is the hash of other data."""
    rest = {key: value for key, value in data.items() if key != "hash"}
    if "hash" in data and data["hash"] != hash_json(rest):
        raise ValueError("it does not match its own hash, so it was changed after it was written")
    return rest
