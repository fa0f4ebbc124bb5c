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
                texts[edit.file] = edited(edit, texts.get(edit.file) or _read(root / edit.file))
            except ValueError as error:
                faults.append(f"{mistake.name}: {error}")
        faults += [
            f"{mistake.name}: {file} is no Python any more"
            for file, text in texts.items()
            if file.endswith(".py") and not _compiles(text)
        ]
    return faults


def edited(edit, text):
    """The text of the edit's file with the mistake in it.

    The pattern is compared token by token, so that line breaks do not matter. A name of it that
    the place no longer holds has been renamed: it stands for whatever one name stands there, and
    the replacement takes that name too."""
    start, end = span(edit, text)
    renamed = set()
    if edit.function:
        renamed = set(re.findall(r"\b[^\W\d]\w*", edit.old))
        renamed -= set(re.findall(r"\w+", text[start:end]))
    fits = list(_pattern(edit.old, renamed).finditer(text, start, end))
    if len(fits) != 1:
        raise ValueError(f"{edit.place} holds {edit.old!r} {len(fits)} times")
    new = edit.new
    for name, other in fits[0].groupdict().items():
        new = re.sub(rf"\b{name}\b", other, new)
    return text[: fits[0].start()] + new + text[fits[0].end() :]


def _pattern(old, renamed):
    """A pattern that finds these tokens, whatever white space stands between them."""
    seen = set()
    parts = []
    for part in re.findall(r"\w+|[^\w\s]", old):
        if part in renamed:
            parts.append(f"(?P={part})" if part in seen else rf"(?P<{part}>[^\W\d]\w*)")
            seen.add(part)
        else:
            parts.append(re.escape(part))
    # The replacement was written with the white space around the old text in mind.
    lead = old[: len(old) - len(old.lstrip())]
    tail = old[len(old.rstrip()) :]
    return re.compile(re.escape(lead) + r"\s*".join(parts) + re.escape(tail))


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


def _read(path):
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ValueError(f"there is no {path.name}") from None


def _compiles(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


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


def line(outcome):
    """One row of the printed table."""
    verdict = "noticed" if outcome.by else "BROKEN" if outcome.trouble else "SURVIVED"
    return f"{outcome.mistake.name:<32} {verdict:<9} {outcome.seconds:>4.0f} s  {outcome.by}"


def chosen(*names):
    """The mistakes to try: those of these names, or all if no name is given."""
    return [mistake for mistake in MISTAKES if not names or mistake.name in names]


def main():
    """Try the mistakes; 0 if every one has been noticed."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--only", metavar="NAME", nargs="+", default=(), help="try these alone")
    parser.add_argument("--fits", action="store_true", help="only see whether the table fits")
    arguments = parser.parse_args()
    mistakes = chosen(*arguments.only)
    if not mistakes:
        print("no such mistake; the table holds:", *(m.name for m in MISTAKES), sep="\n  ")
        return 1
    if faults := misfits(mistakes):
        print("the table no longer fits the sources:", *faults, sep="\n  ")
        return 1
    if arguments.fits:
        print(f"{len(mistakes)} mistakes fit the sources")
        return 0
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
