"""Blinded, shuffled CSV sheets of abstracts for human raters, written and read back.

A sheet opens in any spreadsheet. It holds no arm, run, team or name of an author; the key that
undoes the blinding is a file of its own, kept from the raters. All faults of a filled sheet are
reported together, each by file and line.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import open_new
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run
from virsci_society.society.results.speaker import join_speakers, speaker_of
from virsci_society.society.results.table_files import safe_cell

FORMAT = 1
DIMENSIONS = ("novelty", "feasibility", "effectiveness")
"""Of a rating, each from 1 to 10 (Si et al. 2024)."""
RATED = ("item", "rater", "title", "abstract", *DIMENSIONS)
PAIRED = ("item", "rater", "title_a", "abstract_a", "title_b", "abstract_b", "preferred")
CHOICES = ("A", "B", "tie")
NOBODY = "[a scientist]"
_MASKED = re.compile(r"\bScientist\s?\d+\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """A paper as a sheet shows it, and its source, which the key holds.

    Attributes:
        run: folder of its run.
        digest: of that run.
        arm: the arm of a study, or the run.
        paper: its id there.
        title: without names.
        abstract: without names.
        speaker: who spoke in the run; the key says so, the sheet does not.
        topic: that the scenario begins from, or else that of its team; of a pair it is the same.
    """

    run: str
    digest: str
    arm: str
    paper: str
    title: str
    abstract: str
    speaker: str = ""
    topic: str = ""

    @property
    def source(self) -> dict[str, str]:
        """Run, digest, arm, paper and speaker, as the key of a sheet holds them."""
        fields = asdict(self)
        return {name: fields[name] for name in ("run", "digest", "arm", "paper", "speaker")}


@dataclass(frozen=True, slots=True)
class Rating:
    """One cell of a sheet that a rater has filled in.

    Attributes:
        item: item of the sheet.
        rater: name of the rater.
        dimension: a dimension, or ``preferred``.
        value: a score from 1 to 10; of a choice 0 (A), 1 (B) or NaN (tie).
    """

    item: str
    rater: str
    dimension: str
    value: float


def blind(text: str, names: Sequence[str] = ()) -> str:
    """A text whose masked and given names are replaced by a placeholder.

    Args:
        text: a title or an abstract.
        names: names of scientists; masked names (``Scientist12``) are always replaced.
    """
    text = _MASKED.sub(NOBODY, text)
    # The longest first: a name within a longer one would leave the rest of it.
    for name in sorted((name for name in names if name.strip()), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", NOBODY, text)
    return text


def entries_of(runs: Sequence[Path]) -> list[SheetEntry]:
    """The papers of finished runs, without masked names.

    The arm of a run of a study is what the study says; of any other run, its folder's name.

    Raises:
        InputError: a run that has not finished, or none of them has a paper.
    """
    entries = []
    for folder in runs:
        run = Run.open(folder)
        digest, arm = run.digest, arm_of(folder)
        if digest is None:
            raise InputError(f"{folder}: has no digest: the run has not finished")
        speaker, start = speaker_of(run.manifest), _start_of(run.manifest)
        names = run.table("scientists")["scientist"].dropna().tolist()
        papers = run.table("papers")
        # A team that was given no topic, and agreed on none, has a missing value here.
        papers["topic"] = papers["topic"].fillna("")
        for row in papers.to_dict("records"):
            title, abstract = (blind(str(row[part] or ""), names) for part in ("title", "abstract"))
            place = (str(folder), digest, arm, str(row["paper"]))
            topic = start or str(row["topic"])
            entries.append(SheetEntry(*place, title, abstract, speaker, topic))
    if not entries:
        raise InputError("none of these runs has published a paper")
    return entries


def _start_of(manifest: Mapping[str, Any]) -> str:
    """The topic from which all teams of a run begin; empty where each finds, or is given, one."""
    topic = manifest["scenario"]["protocol"].get("topic")
    return str(topic.get("start") or "") if isinstance(topic, dict) else ""


def arm_of(folder: Path) -> str:
    """The arm of a run: its study's name for it, or the name of the folder."""
    place = folder.resolve()
    path = place.with_name(f"{place.name}.status.json")
    try:
        status = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    arm = status.get("arm") if isinstance(status, dict) else None
    return str(arm or place.name)


def rating_sheet(
    entries: Sequence[SheetEntry], seed: int, most: int | None = None
) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """The rows of a sheet of papers to be rated, in an order drawn by seed, and its key.

    Args:
        entries: papers to choose from.
        seed: of the order.
        most: papers on the sheet at most; None for all.
    """
    chosen = _shuffled(entries, seed, "order")[:most]
    rows, items = [], {}
    for item, entry in zip(_names(len(chosen), "R"), chosen, strict=True):
        shown = {"title": safe_cell(entry.title), "abstract": safe_cell(entry.abstract)}
        rows.append({"item": item, **shown})
        items[item] = entry.source
    return rows, {"format": FORMAT, "kind": "ratings", "seed": seed, "items": items}


def pair_sheet(
    entries: Sequence[SheetEntry],
    seed: int,
    most: int | None = None,
    *,
    swapped: bool = False,
    across_topics: bool = False,
) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """The rows of a sheet of pairs of papers of two arms, drawn by seed, and its key.

    Every two arms are matched paper by paper at random, each paper once for each other arm, within
    a topic: of two papers on different topics a rater would judge the topics.

    Args:
        entries: papers to choose from.
        seed: of matching, sides and order.
        most: pairs on the sheet at most; None for all.
        swapped: show each pair twice, the second time with its sides exchanged.
        across_topics: match papers of any topics.

    Raises:
        InputError: there are not two arms with papers, or none that share a topic.
    """
    arms = sorted({entry.arm for entry in entries})
    if len(arms) < 2:
        raise InputError(f"pairs need papers of two arms; these runs have {len(arms)}")
    groups: dict[tuple[str, str], list[SheetEntry]] = {}
    for one in entries:
        groups.setdefault(("" if across_topics else one.topic.casefold(), one.arm), []).append(one)
    pairs = []
    for first, second in combinations(arms, 2):
        for topic in sorted({topic for topic, _ in groups}):
            # Without topics the streams are those of earlier releases, and so are their sheets.
            labels = ("match", first, second, *([topic] if topic else []))
            mixed = [
                _shuffled(groups.get((topic, arm), []), seed, *labels, side)
                for side, arm in enumerate((first, second))
            ]
            pairs += list(zip(*mixed, strict=False))
    if not pairs:
        raise InputError(
            "no two arms have papers on one topic; give --across-topics to pair papers on any"
        )
    chosen = _shuffled(pairs, seed, "order")[:most]
    # Drawn, since raters and models lean to one side.
    flips = Streams(seed, "sheet").stream("sides").random(len(chosen)) < 0.5
    shown_pairs = list(zip(chosen, flips.tolist(), strict=True))
    if swapped:
        twice = shown_pairs + [(pair, not flip) for pair, flip in shown_pairs]
        shown_pairs = _shuffled(twice, seed, "order", "swapped")
    rows, items = [], {}
    for item, (pair, flip) in zip(_names(len(shown_pairs), "P"), shown_pairs, strict=True):
        a, b = reversed(pair) if flip else pair
        shown = {"title_a": a.title, "abstract_a": a.abstract}
        shown |= {"title_b": b.title, "abstract_b": b.abstract}
        rows.append({"item": item, **{name: safe_cell(text) for name, text in shown.items()}})
        items[item] = {"A": a.source, "B": b.source}
    return rows, {"format": FORMAT, "kind": "pairs", "seed": seed, "items": items}


def write_sheet(sheet: Path, key: Path, rows: Sequence[Mapping[str, str]], content: Any) -> None:
    """Write a sheet and its key; neither may exist already, for raters may have filled it.

    Args:
        sheet: path of the CSV file.
        key: path of the JSON file.
        rows: rows of the sheet.
        content: content of the key.

    Raises:
        InputError: one of the files exists, or cannot be written.
    """
    if sheet.resolve() == key.resolve():
        raise InputError(f"{key}: is the sheet itself; keep the key in another file")
    try:
        with open_new(sheet) as file:
            file.write(sheet_text(rows, content["kind"]))
        with open_new(key) as file:
            file.write(json.dumps(content, indent=1) + "\n")
    except FileExistsError as error:
        raise InputError(f"{error.filename}: is there already; give another name") from error
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be written: {error.strerror}") from error


def sheet_text(rows: Sequence[Mapping[str, str]], kind: str) -> str:
    """A sheet as CSV.

    Args:
        rows: of the sheet; empty cells may be missing.
        kind: ``ratings`` or ``pairs``.
    """
    file = StringIO(newline="")
    # A byte order mark, without which some spreadsheets take UTF-8 for something else.
    file.write("\ufeff")
    columns = PAIRED if kind == "pairs" else RATED
    writer = csv.DictWriter(file, columns, restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def read_pairs(path: Path) -> list[dict[str, str]]:
    """The rows of a sheet of pairs, filled or not.

    Raises:
        InputError: it is no sheet of pairs, holds no row, or an item twice.
    """
    rows = [{name: row[name] for name in PAIRED} for _, row in _rows(path, PAIRED)]
    items = [row["item"] for row in rows]
    if not rows or len(set(items)) < len(items):
        raise InputError(f"{path}: {'an item stands in it twice' if rows else 'holds no pair'}")
    return rows


def read_key(path: Path) -> dict[str, Any]:
    """Read the key of a sheet.

    Raises:
        InputError: the file is no key of a sheet of this release.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        known = content["format"] == FORMAT and content["kind"] in ("ratings", "pairs")
        sides = [one for item in content["items"].values() for one in _sides(item)]
        known = known and all({"run", "digest", "arm", "paper"} <= set(one) for one in sides)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as the key of a sheet ({error})") from error
    if not known:
        raise InputError(f"{path}: is not the key of a sheet that this release reads")
    return dict(content)


def speakers_in(key: Mapping[str, Any]) -> str:
    """Who spoke in the runs of a sheet; empty where its key is of a release that did not say."""
    sides = [one for item in key["items"].values() for one in _sides(item)]
    return join_speakers(str(one.get("speaker") or "") for one in sides)


def _shuffled(things: Sequence[Any], seed: int, *labels: object) -> list[Any]:
    rng = Streams(seed, "sheet").stream(*labels)
    return [things[int(at)] for at in rng.permutation(len(things))]


def _names(count: int, letter: str) -> list[str]:
    width = max(3, len(str(count)))
    return [f"{letter}{number:0{width}d}" for number in range(1, count + 1)]


def _sides(item: Any) -> list[Any]:
    return [item["A"], item["B"]] if "A" in item else [item]


def read_sheets(
    paths: Sequence[Path], key: Mapping[str, Any], *, incomplete: bool = False
) -> list[Rating]:
    """Read the ratings in filled sheets; a sheet without a name in ``rater`` is one rater's.

    Args:
        paths: the sheets.
        key: key of all of them.
        incomplete: empty cells and missing rows are no faults.

    Raises:
        InputError: all faults at once, each with its file and line: no sheet of this key, an
            unknown item, an item rated twice by one rater, a score that is missing or is none.
    """
    ratings: list[Rating] = []
    faults: list[str] = []
    seen: dict[tuple[str, str], str] = {}
    for path in paths:
        for line, row in _rows(path, PAIRED if key["kind"] == "pairs" else RATED):
            location, item = f"{path}:{line}", row["item"].strip()
            rater = row["rater"].strip() or path.stem
            if item not in key["items"]:
                faults.append(f"{location}: the key knows no item {item!r}")
            elif (rater, item) in seen:
                faults.append(
                    f"{location}: {rater} has rated {item} already, in {seen[rater, item]}"
                )
            else:
                seen[rater, item] = location
                ratings += _read_row(row, item, rater, location, key["kind"], faults, incomplete)
        if incomplete:
            continue
        rated = {item for rater, item in seen if seen[rater, item].startswith(f"{path}:")}
        faults += [f"{path}: {item} is missing" for item in key["items"] if item not in rated]
    if faults:
        raise InputError("\n".join(faults))
    return ratings


def _read_row(
    row: Mapping[str, str],
    item: str,
    rater: str,
    location: str,
    kind: str,
    faults: list[str],
    incomplete: bool,
) -> Iterator[Rating]:
    names = ("preferred",) if kind == "pairs" else DIMENSIONS
    for name in names:
        text = row[name].strip()
        value = _choice(text) if kind == "pairs" else _score(text)
        if not text and incomplete:
            continue
        if value is None:
            wanted = "A, B or tie" if kind == "pairs" else "a number from 1 to 10"
            got = f"got {text!r}" if text else "it is empty"
            faults.append(f"{location}: {name} of {item}: {got}, expected {wanted}")
        else:
            yield Rating(item, rater, name, value)


def _score(text: str) -> float | None:
    """A number from 1 to 10, with a point or a comma."""
    if not re.fullmatch(r"\d{1,2}([.,]\d{1,6})?", text):
        return None
    value = float(text.replace(",", "."))
    return value if 1 <= value <= 10 else None


def _choice(text: str) -> float | None:
    named = {
        name.casefold(): value for name, value in zip(CHOICES, (0.0, 1.0, np.nan), strict=True)
    }
    return named.get(text.casefold())


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a sheet with the lines on which they begin; spreadsheets choose the separator."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head = file.readline()
            separator = max(",;\t", key=head.count)
            names = next(csv.reader([head], delimiter=separator), [])
            absent = [name for name in columns if name not in names]
            if absent:
                raise InputError(f"{path}:1: no column {absent[0]!r}: not a sheet of this key")
            reader, begins = csv.reader(file, delimiter=separator), 2
            for cells in reader:
                filled = [*cells, *[""] * len(names)][: len(names)]
                if any(map(str.strip, cells)):
                    yield begins, dict(zip(names, filled, strict=True))
                begins = reader.line_num + 2
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as a sheet: {error}") from error
