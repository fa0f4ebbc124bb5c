"""Sheets: abstracts for people to judge, blinded and shuffled.

A sheet is a CSV file that any spreadsheet opens. It holds no arm, run, team or name of an author;
the key that undoes this is a file of its own, kept from the raters.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from agents.errors import InputError
from metrics.ratings import DIMENSIONS
from society.streams import Streams

FORMAT = 1
RATED = ("item", "rater", "title", "abstract", *DIMENSIONS)
PAIRED = ("item", "rater", "title_a", "abstract_a", "title_b", "abstract_b", "preferred")
NOBODY = "[a scientist]"
_MASKED = re.compile(r"\bScientist\s?\d+\b", re.IGNORECASE)
_RUNS_CODE = ("=", "+", "-", "@", "\t", "\r", "\n")


@dataclass(frozen=True, slots=True)
class Entry:
    """A paper as a sheet shows it, and where it is from.

    Attributes:
        run: folder of its run.
        digest: of that run.
        arm: the arm of a study, or the run.
        paper: its id there.
        title: without names.
        abstract: without names.
    """

    run: str
    digest: str
    arm: str
    paper: str
    title: str
    abstract: str

    @property
    def place(self) -> dict[str, str]:
        """What the key says of it."""
        told = asdict(self)
        return {name: told[name] for name in ("run", "digest", "arm", "paper")}


def blinded(text: str, names: Sequence[str] = ()) -> str:
    """A text without masked names, and without the names that are given."""
    text = _MASKED.sub(NOBODY, text)
    for name in sorted((name for name in names if name.strip()), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", NOBODY, text)
    return text


def safe(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_RUNS_CODE) else text


def rating_sheet(
    entries: Sequence[Entry], seed: int, most: int | None = None
) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """Rows to be rated, in an order drawn by seed, and their key."""
    chosen = _shuffled(entries, seed, "order")[:most]
    rows, items = [], {}
    for item, entry in zip(_names(len(chosen), "R"), chosen, strict=True):
        shown = {"title": safe(entry.title), "abstract": safe(entry.abstract)}
        rows.append({"item": item, **shown})
        items[item] = entry.place
    return rows, {"format": FORMAT, "kind": "ratings", "seed": seed, "items": items}


def pair_sheet(
    entries: Sequence[Entry], seed: int, most: int | None = None
) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """Pairs of papers of two arms, sides and order drawn by seed, and their key.

    Every two arms are matched paper by paper at random, each paper once for each other arm.

    Raises:
        InputError: there are not two arms with papers.
    """
    arms = sorted({entry.arm for entry in entries})
    if len(arms) < 2:
        raise InputError(f"pairs need papers of two arms; these runs have {len(arms)}")
    pairs = []
    for first, second in combinations(arms, 2):
        sides = [[one for one in entries if one.arm == arm] for arm in (first, second)]
        mixed = [_shuffled(side, seed, "match", first, second, n) for n, side in enumerate(sides)]
        pairs += list(zip(*mixed, strict=False))
    chosen = _shuffled(pairs, seed, "order")[:most]
    flips = Streams(seed, "sheet").stream("sides").random(len(chosen)) < 0.5
    rows, items = [], {}
    for item, pair, flip in zip(_names(len(chosen), "P"), chosen, flips, strict=True):
        a, b = reversed(pair) if flip else pair
        shown = {"title_a": a.title, "abstract_a": a.abstract}
        shown |= {"title_b": b.title, "abstract_b": b.abstract}
        rows.append({"item": item, **{name: safe(text) for name, text in shown.items()}})
        items[item] = {"A": a.place, "B": b.place}
    return rows, {"format": FORMAT, "kind": "pairs", "seed": seed, "items": items}


def write_sheet(sheet: Path, key: Path, rows: Sequence[Mapping[str, str]], told: Any) -> None:
    """Write a sheet and its key; neither may be there already, for raters may have filled it.

    Raises:
        InputError: one of them is there, or cannot be written.
    """
    if sheet.resolve() == key.resolve():
        raise InputError(f"{key}: is the sheet itself; keep the key in another file")
    columns = PAIRED if told["kind"] == "pairs" else RATED
    try:
        # A byte order mark, without which some spreadsheets take UTF-8 for something else.
        with sheet.open("x", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, columns, restval="", lineterminator="\r\n")
            writer.writeheader()
            writer.writerows(rows)
        with key.open("x", encoding="utf-8") as file:
            file.write(json.dumps(told, indent=1) + "\n")
    except FileExistsError as error:
        raise InputError(f"{error.filename}: is there already; give another name") from error
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be written: {error.strerror}") from error


def read_key(path: Path) -> dict[str, Any]:
    """The key of a sheet.

    Raises:
        InputError: it is none.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        known = told["format"] == FORMAT and told["kind"] in ("ratings", "pairs")
        sides = [one for item in told["items"].values() for one in _sides(item)]
        known = known and all({"run", "digest", "arm", "paper"} <= set(one) for one in sides)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as the key of a sheet ({error})") from error
    if not known:
        raise InputError(f"{path}: is not the key of a sheet that this release reads")
    return dict(told)


def _shuffled(things: Sequence[Any], seed: int, *place: object) -> list[Any]:
    rng = Streams(seed, "sheet").stream(*place)
    return [things[int(at)] for at in rng.permutation(len(things))]


def _names(count: int, letter: str) -> list[str]:
    width = max(3, len(str(count)))
    return [f"{letter}{number:0{width}d}" for number in range(1, count + 1)]


def _sides(item: Any) -> list[Any]:
    return [item["A"], item["B"]] if "A" in item else [item]
