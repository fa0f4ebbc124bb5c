"""Entry point of the command ``society``, which first checks whose packages it would import.

The packages of the project have short import names, and other distributions use these names too
(``agents`` above all). pip installs both into one folder without a word, and the later one
overwrites files of the earlier. This module has a name that nobody else uses and imports nothing
of the project before it has checked, so it works also where the packages do not.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec

DISTRIBUTION = "virsci-society"
PACKAGES = ("agents", "society", "protocols", "metrics", "scenarios")
HOME = os.path.dirname(os.path.realpath(__file__))
"""Where this module lies, and the packages beside it."""
CURE = (
    "give it an environment of its own:\n"
    f"  pipx install {DISTRIBUTION}\n"
    f"or\n  uv tool install {DISTRIBUTION}\n"
    "(a folder or a wheel in the place of the name, where it was installed from one)"
)
AGAIN = f"install it once more: pip install --force-reinstall --no-deps {DISTRIBUTION}"
WITH_OTHERS = f"install it with what it needs: pip install {DISTRIBUTION}"
BAD_INPUT, INTERRUPTED = 2, 130


def main() -> None:
    """Check the packages, then run the command."""
    try:
        command = _load()
        # The command handles Ctrl-C itself as soon as it has read its arguments.
        command()
    except KeyboardInterrupt:
        print("interrupted before the command began", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None


def _load() -> Callable[[], None]:
    """The command, from packages that are this distribution's own."""
    conflict = find_conflict()
    if conflict is not None:
        print(conflict, file=sys.stderr)
        raise SystemExit(BAD_INPUT)
    try:
        from scenarios.cli.app import main as command
    except ModuleNotFoundError as error:
        if str(error.name).split(".")[0] in PACKAGES:
            raise
        print(f"the package {error.name!r} is not installed; {WITH_OTHERS}", file=sys.stderr)
        raise SystemExit(BAD_INPUT) from None
    return command


def find_conflict(
    home: str = HOME, names: Sequence[str] = PACKAGES, *, every_file: bool = False
) -> str | None:
    """What is wrong with the installed packages, with the cure; None where nothing is.

    No package is imported. Files are compared with the hashes that the installer recorded for this
    distribution; a working copy of the source has none, and only its place is checked.

    Args:
        home: the folder that holds the packages.
        names: import names of the packages.
        every_file: compare every file; otherwise the first of each package, and those that
            another distribution has as well.
    """
    recorded = _recorded(home)
    others = list(_claims(home, names)) if recorded else []
    changed = _changed(home, names, recorded, others, every_file)
    for other, files in others:
        shared = ", ".join(dict.fromkeys(repr(file.split("/")[0]) for file in files))
        lost = [file for file in changed if file in files]
        what = f"{lost[0]} is not ours any more" if lost else "one overwrites files of the other"
        return (
            f"{DISTRIBUTION} and {other} are installed in one environment ({home}), and both are "
            f"imported as {shared}: {what}; {CURE}"
        )
    if changed:
        return f"{os.path.join(home, changed[0])} is not the file that was installed; {AGAIN}"
    for name in names:
        place = _place(name)
        if place != os.path.join(home, name):
            return _elsewhere(name, place, home)
    return None


def _elsewhere(name: str, place: str | None, home: str) -> str:
    """The message for a package that would be imported from another folder, or from none."""
    if place is None:
        return f"the package {name!r} of {DISTRIBUTION} cannot be found; {AGAIN}"
    owner = next((other for other, _ in _claims(os.path.dirname(place), (name,))), "")
    of = f", which belongs to {owner}" if owner else ""
    return (
        f"the package {name!r} comes from {place}{of}, and not from {os.path.join(home, name)}: "
        f"another package has the same name as one of {DISTRIBUTION}; {CURE}"
    )


def _place(name: str) -> str | None:
    """The folder that a package would be imported from."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec else []
    return os.path.realpath(places[0]) if places else None


def _recorded(home: str) -> Mapping[str, str]:
    """Hashes of this distribution's files, as the installer recorded them; empty if it did not."""
    for folder, name in _distributions(home):
        if _normal(name.rpartition("-")[0]) == _normal(DISTRIBUTION):
            rows = (row.rsplit(",", 2) for row in _rows(_read(os.path.join(folder, "RECORD"))))
            files = {row[0].strip('"'): row[1] for row in rows if len(row) == 3}
            if any(file.startswith(f"{PACKAGES[0]}/") for file in files):
                return files
    return {}


def _changed(
    home: str,
    names: Sequence[str],
    recorded: Mapping[str, str],
    others: Sequence[tuple[str, Sequence[str]]],
    every_file: bool,
) -> list[str]:
    """Files that are missing, or not as they were recorded."""
    theirs = {file for _, files in others for file in files}
    first = {f"{name}/__init__.py" for name in names}
    return [
        file
        for file, digest in recorded.items()
        if digest
        and file.split("/")[0] in names
        and (every_file or file in first or file in theirs)
        and _digest(os.path.join(home, file)) != digest
    ]


def _digest(path: str) -> str | None:
    """The hash of a file as RECORD writes it; None where it cannot be read."""
    if not os.path.isfile(path):
        return None
    found = hashlib.sha256(_read(path)).digest()
    return "sha256=" + base64.urlsafe_b64encode(found).rstrip(b"=").decode()


def _claims(home: str, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Other distributions in a folder that have files in these packages, with the files."""
    starts = tuple(f"{name}/" for name in names)
    sought = [start.encode() for start in starts]
    for folder, name in _distributions(home):
        if _normal(name.rpartition("-")[0]) == _normal(DISTRIBUTION):
            continue
        # The names of its packages are a short file, which not every build tool writes.
        tops = _rows(_read(os.path.join(folder, "top_level.txt")))
        if tops and not set(names) & set(tops):
            continue
        # Searched as bytes first: the records of a large environment are some megabytes.
        record = _read(os.path.join(folder, "RECORD"))
        if not any(record.startswith(one) or b"\n" + one in record for one in sought):
            continue
        files = [row.split(",")[0] for row in _rows(record) if row.startswith(starts)]
        if files:
            yield " ".join(name.rsplit("-", 1)), files


def _distributions(home: str) -> Iterator[tuple[str, str]]:
    """Folders of metadata in a folder of packages, with name and version, in order of name."""
    ending = ".dist-info"
    try:
        found = sorted(name for name in os.listdir(home) if name.endswith(ending))
    except OSError:
        found = []
    for name in found:
        yield os.path.join(home, name), name.removesuffix(ending)


def _read(path: str) -> bytes:
    """The content of a file; nothing where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _rows(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


if __name__ == "__main__":
    main()
