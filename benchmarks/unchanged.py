"""Shows whether two versions of this program do exactly the same.

A version is given by the path of its ``society`` command. Nothing of the program is imported here,
so any version can be asked, whatever its modules are called::

    python benchmarks/unchanged.py record --society OLD/.venv/bin/society --out old.json
    python benchmarks/unchanged.py record --society NEW/.venv/bin/society --out new.json
    python benchmarks/unchanged.py compare old.json new.json

``record`` runs every scenario of the library with the rule-based scientists (no language model) and
two seeds, and notes the digest and the content of every file of the run folder: each column of each
table, each key of the manifest, each column of the journal, each array of vectors, and a sha256 of
everything else (events, networks, report, scenario). ``community/vis`` needs an ecosystem that is
built from a file of papers; the ecosystem is noted as well. Without that file both are skipped, and
``record`` says so. What is not compared, and why, stands in ``EXCLUDED``.

``text`` writes what the command prints (help of every command, lists, schema, some messages about
wrong input) as text files, and ``compare-text`` prints how two such folders differ.
``compare-folders`` compares two folders that runs, studies or ecosystem builds have left.

Exit codes: 0 all the same, 1 a difference or a command that failed, 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

Content = dict[str, str]
"""``FILE`` or ``FILE:PART`` -> what is there: a value, or a sha256."""

EXCLUDED = {
    "*manifest.json:versions.*": "installed packages; `compare` prints them if they differ",
    "*manifest.json:ledger.sessions.*.release": "the release of this program",
    "*journal.sqlite:meta.sessions.*.release": "the release of this program",
    "*journal.sqlite:attempts.seconds": "wall time of a call",
    "*.sqlite-wal:": "a part of the journal, which is read with it",
    "*.sqlite-shm:": "an index of the part before",
    "*.lock:": "an empty file by which a process holds the folder",
    "*scenario.schema.json:": "names modules; it is compared with its references written out",
}
"""Patterns of ``FILE:PART`` (``FILE:`` for a whole file) that are not compared, with the reason."""

VIS = Path(__file__).resolve().parents[2] / "shared" / "data" / "vis" / "papers.jsonl.gz"
NEEDS_ECOSYSTEM = "community/vis"
ECOSYSTEM = "ecosystem of community/vis"
BUILD = ("ecosystem", "build", "jsonl", "papers.jsonl.gz", "--boundary", "2012")
BUILD += ("--active-years", "6", "--out", "eco/vis")

MESSAGES = (
    ("run", "quickstrat"),
    ("check", "quickstart", "--set", "protocol.tunrs=3"),
    ("check", "quickstart", "--set", "protocol.use=virsy"),
    ("check", "quickstart", "--set", "protocol.team_size=many", "--set", "until=never"),
    ("check", "quickstart", "--set", "founding.use=poisson", "--set", "founding.count=3"),
    ("check", "quickstart", "--set", "protocol.use=elsewhere:Protocol"),
    ("check", "community/vis"),
    ("show", "no-such-folder"),
    ("study", "status", "no-such-study"),
    ("ecosystem", "info", "synthetic"),
)
"""Commands beside help, lists and schema whose words are kept by ``text``."""

FOLDERS = re.compile(r"(?<![^\s'\"(])/(?:[^/\s:'\"]+/)+")
"""The folders of an absolute path; ``text`` writes ``.../``, since versions lie elsewhere."""


def main() -> int:
    """Read the arguments, do what they say, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record", help="run the scenarios and note what comes out")
    one.add_argument("--society", type=Path, required=True, help="the command of a version")
    one.add_argument("--out", type=Path, required=True, metavar="FILE.json")
    one.add_argument("--scenarios", type=_words, help="a,b (default: the whole library)")
    one.add_argument("--seeds", type=_words, default=["1", "2"], help="default: 1,2")
    one.add_argument("--jobs", type=int, default=2, help="runs at a time")
    one.add_argument("--vis", type=Path, default=VIS, help="papers that community/vis is built of")
    two = commands.add_parser("compare", help="compare two records")
    two.add_argument("before", type=Path)
    two.add_argument("after", type=Path)
    two.add_argument("--common", action="store_true", help="only the runs that are in both")
    three = commands.add_parser("compare-folders", help="compare two folders, file by file")
    three.add_argument("before", type=Path)
    three.add_argument("after", type=Path)
    three.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="FILE:PART",
        help="a pattern that is not compared either, as in EXCLUDED; can be repeated",
    )
    four = commands.add_parser("text", help="write down what the command prints")
    four.add_argument("--society", type=Path, required=True, help="the command of a version")
    four.add_argument("--out", type=Path, required=True, metavar="DIR")
    five = commands.add_parser("compare-text", help="show how two folders of `text` differ")
    five.add_argument("before", type=Path)
    five.add_argument("after", type=Path)
    five.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="FILE",
        help="a pattern of texts that are not compared; schema.txt names modules, and "
        "schema-written-out.txt says the same without these names; can be repeated",
    )
    given = parser.parse_args()
    if given.command == "record":
        return record(given)
    if given.command == "compare":
        return compare(_load(given.before), _load(given.after), common=given.common)
    if given.command == "compare-folders":
        return compare_folders(given.before, given.after, given.without)
    if given.command == "text":
        return write_text(given.society, given.out)
    return compare_text(given.before, given.after, given.without)


def _words(text: str) -> list[str]:
    return text.split(",")


def _load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


# Record


def record(given: argparse.Namespace) -> int:
    """Run the scenarios and write the record; 1 if a command has failed."""
    society = _command(given.society)
    scenarios = given.scenarios or library(society)
    skipped: dict[str, str] = {}
    runs: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="unchanged-") as name:
        work = Path(name)
        if NEEDS_ECOSYSTEM in scenarios:
            if given.vis.is_file():
                shutil.copy(given.vis, work / "papers.jsonl.gz")
                runs[ECOSYSTEM] = observe(society, BUILD, work, "eco/vis")
                _tell(ECOSYSTEM, runs[ECOSYSTEM])
            else:
                skipped[NEEDS_ECOSYSTEM] = f"{given.vis} is not there"
                print(f"{NEEDS_ECOSYSTEM} skipped: {skipped[NEEDS_ECOSYSTEM]}", flush=True)
        tasks = [(one, seed) for one in scenarios if one not in skipped for seed in given.seeds]

        def run(task: tuple[str, str]) -> dict[str, Any]:
            scenario, seed = task
            folder = f"runs/{scenario.replace('/', '-')}-{seed}"
            told = ["run", scenario, "--set", f"seed={seed}", "--out", folder]
            if scenario == NEEDS_ECOSYSTEM:
                told += ["--set", "population.ecosystem.path=eco/vis"]
            found = observe(society, told, work, folder)
            shutil.rmtree(work / folder, ignore_errors=True)
            _tell(f"{scenario} {seed}", found)
            return found

        with ThreadPoolExecutor(given.jobs) as pool:
            found = list(pool.map(run, tasks))
    runs |= {f"{scenario} {seed}": one for (scenario, seed), one in zip(tasks, found, strict=True)}
    versions = next((one["versions"] for one in found if one["versions"]), {})
    told = {"society": str(society), "versions": versions, "skipped": skipped, "runs": runs}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(told, indent=0) + "\n", encoding="utf-8")
    failed = [name for name, one in runs.items() if one["exit code"]]
    print(f"{given.out}: {len(runs) - len(failed)} of {len(runs)} done")
    for name in failed:
        print(f"FAILED: {name}: {runs[name]['error']}")
    return int(bool(failed))


def library(society: Path) -> list[str]:
    """Names of the scenarios of the library, as the command lists them."""
    listed = ask(society, "list")
    if listed.returncode:
        raise SystemExit(f"{society} list: {listed.stderr.strip()}")
    return [line.split()[0] for line in listed.stdout.splitlines() if line.strip()]


def observe(society: Path, told: Iterable[str], work: Path, folder: str) -> dict[str, Any]:
    """Give one command in a folder of its own, and note the content of the folder it writes."""
    began = time.monotonic()
    done = ask(society, *told, cwd=work)
    took = round(time.monotonic() - began, 1)
    noted: dict[str, Any] = {"exit code": done.returncode, "seconds": took, "digest": None}
    noted |= {"versions": {}, "error": "", "content": {}}
    if done.returncode:
        noted["error"] = " / ".join(done.stderr.strip().splitlines()[-3:])
        return noted
    noted["content"] = {"what it printed": sha(done.stdout.encode()), **content(work / folder)}
    if (work / folder / "digest").is_file():
        noted["digest"] = (work / folder / "digest").read_text(encoding="utf-8").strip()
        noted["versions"] = _load(work / folder / "manifest.json").get("versions", {})
    return noted


def ask(
    society: Path, *told: str, cwd: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """Give the command with these arguments, in surroundings that are always the same."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    fixed = {"COLUMNS": "100", "LINES": "50", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC"}
    fixed |= {"OMP_NUM_THREADS": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [society, *told],
        cwd=cwd,
        env=kept | fixed | more,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _command(path: Path) -> Path:
    if not path.is_file():
        raise SystemExit(f"{path}: no such command")
    return path.absolute()


def _tell(name: str, one: Mapping[str, Any]) -> None:
    end = f"exit code {one['exit code']}" if one["exit code"] else one["digest"] or "done"
    print(f"{name}: {one['seconds']} s, {end}", flush=True)


# Content of a folder


def content(folder: Path) -> Content:
    """What every file of a folder holds, part by part."""
    found: Content = {}
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            continue
        name = path.relative_to(folder).as_posix()
        for part, value in parts(path):
            found[f"{name}:{part}"] = value
    return {name: value for name, value in found.items() if not excluded(name, EXCLUDED)}


def excluded(name: str, patterns: Iterable[str]) -> bool:
    """Does one of the patterns leave this out?"""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def parts(path: Path) -> Iterator[tuple[str, str]]:
    """The parts of one file; a file of no known kind is one part without a name."""
    if path.suffix == ".parquet":
        yield from _parquet(path)
    elif path.suffix == ".npz":
        with np.load(path) as arrays:
            for name in arrays.files:
                held = arrays[name]
                yield name, f"{held.dtype} {held.shape} {sha(np.ascontiguousarray(held).tobytes())}"
    elif path.suffix == ".sqlite":
        yield from _sqlite(path)
    elif path.name == "manifest.json":
        yield from leaves(_load(path))
    else:
        yield "", sha(path.read_bytes())
    if path.name == "scenario.schema.json":
        yield "written out", sha(json.dumps(written_out(_load(path))).encode())


def _parquet(path: Path) -> Iterator[tuple[str, str]]:
    """Names of the columns in order, number of rows, and of each column its type and values."""
    table = pq.read_table(path)
    yield "the columns", ", ".join(table.column_names)
    yield "the rows", str(table.num_rows)
    for name in table.column_names:
        column = table.column(name)
        values = json.dumps(column.to_pylist(), default=repr)
        yield name, f"{column.type} {sha(values.encode())}"


def _sqlite(path: Path) -> Iterator[tuple[str, str]]:
    """Each table by column; of ``meta`` (keys and values) each key.

    It is read from a copy, since reading leaves files beside it.
    """
    with tempfile.TemporaryDirectory(prefix="unchanged-") as spare:
        for one in path.parent.glob(f"{path.name}*"):
            shutil.copy(one, spare)
        yield from _copied_sqlite(Path(spare) / path.name)


def _copied_sqlite(path: Path) -> Iterator[tuple[str, str]]:
    connection = sqlite3.connect(path)
    try:
        tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        for table, made in sorted(tables.fetchall()):
            yield f"{table}, how it is made", " ".join(made.split())
            rows = connection.execute(f"SELECT * FROM {table} ORDER BY 1")
            if table == "meta":
                yield from leaves({key: _parsed(value) for key, value in rows}, "meta.")
                continue
            names = [column[0] for column in rows.description]
            values = rows.fetchall()
            yield f"{table}, the rows", str(len(values))
            for place, name in enumerate(names):
                column = json.dumps([row[place] for row in values], default=repr)
                yield f"{table}.{name}", sha(column.encode())
    finally:
        connection.close()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def leaves(data: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The values of nested data by their dotted paths, and the order of the keys."""
    if isinstance(data, dict) and data:
        yield f"{path}the keys", ", ".join(data)
        for key, value in data.items():
            yield from leaves(value, f"{path}{key}.")
    elif isinstance(data, list) and any(isinstance(one, dict | list) for one in data):
        yield f"{path}the length", str(len(data))
        for place, value in enumerate(data):
            yield from leaves(value, f"{path}{place}.")
    else:
        yield path.removesuffix("."), json.dumps(data)


def written_out(schema: Any, root: Any = None, within: tuple[str, ...] = ()) -> Any:
    """A JSON Schema with every reference replaced by what it refers to.

    Definitions are named by modules and classes of the program; what they say is not. A definition
    that refers to one it stands within, by whatever name, becomes the number of levels between.
    """
    root = schema if root is None else root
    if isinstance(schema, list):
        return [written_out(one, root, within) for one in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if name in within:
        return {"levels up": len(within) - within.index(name)}
    kept = {
        key: written_out(value, root, within)
        for key, value in schema.items()
        if key not in ("$ref", "$defs")
    }
    if not name:
        return kept
    return {**kept, "referred to": written_out(root["$defs"][name], root, (*within, name))}


def sha(data: bytes) -> str:
    """Sha256 as hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


# Compare


def compare(before: Mapping[str, Any], after: Mapping[str, Any], *, common: bool) -> int:
    """Print the table of runs, and every difference if there is one."""
    names = list(dict.fromkeys((*before["runs"], *after["runs"])))
    both = [name for name in names if name in before["runs"] and name in after["runs"]]
    found = [] if common else [f"{name}: only in one record" for name in names if name not in both]
    if not both:
        found.append("no run is in both records")
    rows = [("scenario", "seed", "digest equal", "tables", "measures", "journal", "other")]
    for name in both:
        old, new = before["runs"][name], after["runs"][name]
        if old["exit code"] or new["exit code"]:
            found.append(f"{name}: a command has failed: {old['error'] or new['error']}")
            continue
        scenario, _, seed = (name, "", "") if name == ECOSYSTEM else name.rpartition(" ")
        same = {True: "yes", False: "NO", None: "-"}
        equal = None if old["digest"] is None else old["digest"] == new["digest"]
        differing = differences(old["content"], new["content"])
        files = {_file(part) for part in differing}
        count = [counted(old["content"], files, kind) for kind in KINDS]
        rows.append((scenario, seed, same[equal], *count))
        found += [f"{name}: {part}: {told}" for part, told in differing.items()]
    _print_table(rows)
    if not common and before["skipped"] != after["skipped"]:
        found.append(f"skipped before: {before['skipped']}, after: {after['skipped']}")
    for scenario, why in before["skipped"].items():
        print(f"not compared: {scenario}: {why}")
    for package, version in before["versions"].items():
        other = after["versions"].get(package)
        if other != version:
            print(f"note: {package} was {version} before and is {other} after")
    return _conclude(found)


KINDS = ("tables", "measures", "journal", "other")


def counted(held: Content, differing: set[str], kind: str) -> str:
    """How many of the files of a kind are equal, of how many."""
    files = {_file(part) for part in held}
    ours = {file for file in files if _kind(file) == kind}
    return f"{len(ours - differing)}/{len(ours)}"


def _file(part: str) -> str:
    return part.partition(":")[0]


def _kind(file: str) -> str:
    if file.endswith(".parquet"):
        return "measures" if "measures/" in file else "tables"
    return "journal" if file.endswith(".sqlite") else "other"


def differences(before: Content, after: Content) -> dict[str, str]:
    """What differs, part by part, and how; a file that is in one only is told of once."""
    told = {}
    files = [{_file(part) for part in held} for held in (before, after)]
    for part in dict.fromkeys((*before, *after)):
        if excluded(part, EXCLUDED):
            continue
        old, new, file = before.get(part), after.get(part), _file(part)
        if file not in files[1]:
            told[f"{file}:"] = "this file is gone"
        elif file not in files[0]:
            told[f"{file}:"] = "this file is new"
        elif new is None:
            told[part] = "gone"
        elif old is None:
            told[part] = "new"
        elif old != new:
            told[part] = f"{_short(old)} -> {_short(new)}"
    return told


def _short(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:97]}..."


def compare_folders(before: Path, after: Path, without: list[str]) -> int:
    """Compare two folders, file by file."""
    for folder in (before, after):
        if not folder.is_dir():
            raise SystemExit(f"{folder}: no such folder")
    old, new = (
        {part: value for part, value in content(one).items() if not excluded(part, without)}
        for one in (before, after)
    )
    differing = differences(old, new)
    print(f"{len({_file(part) for part in old})} files with {len(old)} parts")
    return _conclude([f"{part}: {told}" for part, told in differing.items()])


def _print_table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def _conclude(found: list[str]) -> int:
    for one in found:
        print(f"DIFFERENT: {one}")
    print(f"{len(found)} differences" if found else "all the same")
    return int(bool(found))


# Text


def write_text(society: Path, folder: Path) -> int:
    """Write what the command prints into text files, one for each command."""
    society = _command(society)
    if folder.is_dir() and any(folder.iterdir()):
        raise SystemExit(f"{folder}: is not empty")
    folder.mkdir(parents=True, exist_ok=True)
    commands = list(with_subcommands(society))
    asked = [(*path, "--help") for path in commands]
    asked += [path for path in commands if path and path[-1] == "list"]
    asked += [("list", "keys", "--json"), ("list", "keys"), *MESSAGES]
    with tempfile.TemporaryDirectory(prefix="unchanged-") as empty:
        for told in asked:
            done = ask(society, *told, cwd=Path(empty))
            text = f"$ society {' '.join(told)}\n{done.stdout}"
            text += f"--- on stderr\n{done.stderr}" if done.stderr else ""
            text = FOLDERS.sub(".../", text) + f"--- exit code {done.returncode}\n"
            name = re.sub(r"[^\w.=-]+", "-", " ".join(told))
            (folder / f"{name}.txt").write_text(text, encoding="utf-8")
            if told == ("list", "keys", "--json"):
                out = json.dumps(written_out(json.loads(done.stdout)), indent=1)
                (folder / "schema-written-out.txt").write_text(out + "\n", encoding="utf-8")
    print(f"{folder}: {len(asked)} commands")
    return 0


def with_subcommands(society: Path, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """A command and all below it, as their help names them."""
    yield path
    told = ask(society, *path, "--help").stdout
    _, is_group, listed = told.partition("\nCommands:\n")
    if is_group:
        for name in re.findall(r"^  ([\w-]+)", listed, re.MULTILINE):
            yield from with_subcommands(society, (*path, name))


def compare_text(before: Path, after: Path, without: list[str]) -> int:
    """Print the unified diff of two folders of text files."""
    for folder in (before, after):
        if not folder.is_dir():
            raise SystemExit(f"{folder}: no such folder")
    names = sorted({path.name for one in (before, after) for path in one.glob("*.txt")})
    names = [name for name in names if not excluded(name, without)]
    different = 0
    for name in names:
        old, new = (_lines(folder / name) for folder in (before, after))
        diff = list(difflib.unified_diff(old, new, f"before/{name}", f"after/{name}", lineterm=""))
        different += bool(diff)
        print("\n".join(diff), end="\n" if diff else "")
    print(f"{len(names) - different} of {len(names)} texts are the same")
    return int(different > 0 or not names)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


if __name__ == "__main__":
    sys.exit(main())
