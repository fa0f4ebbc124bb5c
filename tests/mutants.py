"""Plant every mistake of the table, alone, and see whether the tests notice (``make mutants``).

Each mistake is planted in a temporary copy of the sources, two at a time, and only the tests
named in the table are run. It ends with 1 if one survives, or if the table no longer fits.
"""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, groupby
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


def misfits(mistakes, root=ROOT):
    """Edits that cannot be made: their pattern does not fit once in its place, or breaks syntax."""
    faults = []
    for mistake in mistakes:
        texts = {}
        for edit in mistake.edits:
            try:
                held = texts.get(edit.file) or (root / edit.file).read_text(encoding="utf-8")
                texts[edit.file] = edited(edit, held)
            except FileNotFoundError:
                faults.append(f"{mistake.name}: there is no {edit.file}")
            except ValueError as error:
                faults.append(f"{mistake.name}: {error}")
        for file, text in texts.items():
            try:
                ast.parse(text if file.endswith(".py") else "")
            except SyntaxError:
                faults.append(f"{mistake.name}: {file} is no Python any more")
    return faults


def edited(edit, text):
    """The text of the edit's file with the mistake in it; line breaks do not matter."""
    start, end = span(edit, text)
    tokens = map(re.escape, re.findall(r"\w+|[^\w\s]", edit.old))
    # The replacement was written with the white space around the old text in mind.
    lead = edit.old[: len(edit.old) - len(edit.old.lstrip())]
    tail = edit.old[len(edit.old.rstrip()) :]
    pattern = re.compile(re.escape(lead) + r"\s*".join(tokens) + re.escape(tail))
    fits = list(pattern.finditer(text, start, end))
    if len(fits) != 1:
        raise ValueError(f"{edit.place} holds {edit.old!r} {len(fits)} times")
    return text[: fits[0].start()] + edit.new + text[fits[0].end() :]


def span(edit, text):
    """Where the function or class of an edit begins and ends; the whole text, if it names none."""
    if not edit.function:
        return 0, len(text)
    body = ast.parse(text).body
    node = None
    for name in edit.function.split("."):
        node = next((one for one in _inside(body) if one.name == name), None)
        if node is None:
            raise ValueError(f"{edit.file} has no {edit.function}")
        body = node.body
    offsets = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return offsets[first - 1], offsets[node.end_lineno]


def _inside(body):
    """Functions and classes of a body, also those below an ``if`` or ``with``."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node
        else:
            yield from _inside(list(ast.iter_child_nodes(node)))


def plant(mistake, root):
    """Make the mistake in a copy; what was compiled from the right text is thrown away."""
    for edit in mistake.edits:
        path = root / edit.file
        path.write_text(edited(edit, path.read_text(encoding="utf-8")), encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()


def copy(source, target, *ignored):
    """The sources and their tests in a folder of their own."""
    for name in COPIED:
        shutil.copytree(
            source / name, target / name, symlinks=True, ignore=shutil.ignore_patterns(*ignored)
        )
    for name in FILES:
        shutil.copy2(source / name, target / name)
    return target


def run_tests(root, tests, **settings):
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


def fail_without_mistake(mistakes, pristine):
    """What pytest says of the named tests that fail as things are; nothing, if all is well."""
    tests = sorted({test for mistake in mistakes for test in mistake.tests})
    # Folder by folder, so that several run at once.
    folders = [list(group) for _, group in groupby(tests, lambda test: test.rpartition("/")[0])]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = list(pool.map(lambda group: run_tests(pristine, group), folders))
    return [run.stdout[-4000:] for run in runs if run.returncode]


def try_mistake(mistake, pristine):
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


def main():
    """Try the mistakes; 0 if every one has been noticed."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--only", metavar="NAME", nargs="+", default=(), help="try these alone")
    only = parser.parse_args().only
    mistakes = [mistake for mistake in MISTAKES if not only or mistake.name in only]
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
                verdict = "noticed" if outcome.by else "BROKEN" if outcome.trouble else "SURVIVED"
                told = f"{verdict:<9} {outcome.seconds:>4.0f} s  {outcome.by} {outcome.trouble}"
                print(f"{outcome.mistake.name:<32} {told.rstrip()}", flush=True)
    noticed = len(mistakes) - survivors
    print(f"{noticed} of {len(mistakes)} noticed, in {time.monotonic() - start:.0f} s")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
