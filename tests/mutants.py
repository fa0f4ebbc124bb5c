"""Plant every mistake of the table, alone, and see whether the tests notice (``make mutants``).

Each mistake is planted in a temporary copy of the sources, two at a time, and only the tests
named in the table are run. It ends with 1 if one survives, or if the table no longer fits.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tests.mutant_table import MISTAKES, Mistake

ROOT = Path(__file__).parents[1]
PACKAGES = ("agents", "society", "protocols", "metrics", "scenarios")
COPIED = ("virsci_society", *PACKAGES, "tests", "docs")
FILES = ("pyproject.toml", "README.md")
PYTEST = ("-m", "pytest", "-x", "-rfE", "-p", "no:cacheprovider", "--timeout=120")
AT_ONCE = 2
LONGEST = 300
"""Seconds after which a run of tests counts as hanging, which is noticed too."""

_NOTICED_BY = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


class Outcome(NamedTuple):
    """What became of one mistake; ``by`` is empty if no test noticed."""

    mistake: Mistake
    by: str
    seconds: float
    trouble: str = ""


def misfits(mistakes: Sequence[Mistake], root: Path = ROOT) -> list[str]:
    """Edits that cannot be made: their old text does not stand in the file exactly once."""
    faults = []
    for mistake in mistakes:
        for edit in mistake.edits:
            path = root / edit.file
            count = path.read_text(encoding="utf-8").count(edit.old) if path.is_file() else 0
            if count != 1:
                faults.append(f"{mistake.name}: {edit.file} holds {edit.old!r} {count} times")
    return faults


def plant(mistake: Mistake, root: Path) -> None:
    """Make the mistake in a copy; what was compiled from the right text is thrown away."""
    for edit in mistake.edits:
        path = root / edit.file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()


def copy(source: Path, target: Path, *ignored: str) -> Path:
    """The sources and their tests in a folder of their own."""
    for name in COPIED:
        shutil.copytree(
            source / name,
            target / name,
            symlinks=True,
            ignore=shutil.ignore_patterns(*ignored),
        )
    for name in FILES:
        shutil.copy2(source / name, target / name)
    return target


def run_tests(
    root: Path, tests: Iterable[str], **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run tests in a copy, which is also what their subprocesses import."""
    environment = os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"} | settings
    return subprocess.run(
        [sys.executable, *PYTEST, *tests],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )


def fail_without_mistake(mistakes: Sequence[Mistake], pristine: Path) -> list[str]:
    """What pytest says of the named tests that fail as things are; nothing, if all is well."""
    tests = sorted({test for mistake in mistakes for test in mistake.tests})
    # Folder by folder, so that several run at once.
    folders = [list(group) for _, group in groupby(tests, lambda test: test.rpartition("/")[0])]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = list(pool.map(lambda group: run_tests(pristine, group), folders))
    return [run.stdout[-4000:] for run in runs if run.returncode]


def try_mistake(mistake: Mistake, pristine: Path) -> Outcome:
    """Plant one mistake in a copy of its own and run its tests."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        root = copy(pristine, Path(folder))
        plant(mistake, root)
        try:
            done = run_tests(root, mistake.tests, PYTHONDONTWRITEBYTECODE="1")
        except subprocess.TimeoutExpired:
            return Outcome(mistake, "(they hang)", time.monotonic() - start)
    seconds = time.monotonic() - start
    found = _NOTICED_BY.search(done.stdout)
    if done.returncode == 1 and found:
        return Outcome(mistake, found[1].removeprefix("tests/"), seconds)
    # Anything but passing or failing tests says that the plant is broken, not the code.
    return Outcome(mistake, "", seconds, done.stdout[-2000:] if done.returncode else "")


def line(outcome: Outcome) -> str:
    """One row of the printed table."""
    verdict = "noticed" if outcome.by else "BROKEN" if outcome.trouble else "SURVIVED"
    return f"{outcome.mistake.name:<32} {verdict:<9} {outcome.seconds:>4.0f} s  {outcome.by}"


def chosen(only: str | None) -> list[Mistake]:
    """The mistakes to try: all, or the one of that name."""
    return [mistake for mistake in MISTAKES if only in (None, mistake.name)]


def main() -> int:
    """Try the mistakes; 0 if every one has been noticed."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--only", metavar="NAME", help="try the mistake of this name alone")
    mistakes = chosen(parser.parse_args().only)
    if not mistakes:
        print("no such mistake; the table holds:", *(m.name for m in MISTAKES), sep="\n  ")
        return 1
    if faults := misfits(mistakes):
        print("the table no longer fits the sources:", *faults, sep="\n  ")
        return 1
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pristine-") as folder:
        pristine = copy(ROOT, Path(folder), "__pycache__")
        if failures := fail_without_mistake(mistakes, pristine):
            print(*failures, "tests fail without any mistake", sep="\n")
            return 1
        print(f"without a mistake all pass, in {time.monotonic() - start:.0f} s", flush=True)
        survivors = 0
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for outcome in pool.map(lambda mistake: try_mistake(mistake, pristine), mistakes):
                survivors += not outcome.by
                print(line(outcome), outcome.trouble, sep="\n" if outcome.trouble else "")
                sys.stdout.flush()
    noticed = len(mistakes) - survivors
    print(f"{noticed} of {len(mistakes)} noticed, in {time.monotonic() - start:.0f} s")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
