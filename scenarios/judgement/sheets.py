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
from dataclasses import dataclass
from io import StringIO
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import open_new
from virsci_society.scenarios.judgement.review_kinds import RUBRIC_SCORES
from virsci_society.scenarios.judgement.sheet_entries import SheetEntry
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.speaker import join_speakers
from virsci_society.society.results.table_files import safe_cell

FORMAT = 1
DIMENSIONS = ("novelty", "feasibility", "effectiveness")
"""Of a rating, each from 1 to 10 (Si et al. 2024)."""
RATINGS = {"idea": DIMENSIONS, "proposal": RUBRIC_SCORES}
"""What raters are asked, by kind: as Si et al. 2024, or by the rubric of Chen et al. 2025, which
reviewing models have too."""
PAIRED = ("item", "rater", "title_a", "abstract_a", "title_b", "abstract_b", "preferred")
TOPIC = "topic"
"""A column beside the texts, which sheets of earlier releases do not have."""
HIGH = 6.0
"""Scores above it are the high tier, others the low one (Chen et al. 2025)."""
CHOICES = ("A", "B", "tie")


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


def rating_sheet(
    entries: Sequence[SheetEntry], seed: int, most: int | None = None, kind: str = "idea"
) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """The rows of a sheet of papers to be rated, in an order drawn by seed, and its key.

    Args:
        entries: papers to choose from.
        seed: of the order.
        most: papers on the sheet at most; None for all. Of papers with a score, as many of the
            high tier as of the low one.
        kind: of the questions, a key of ``RATINGS``.
    """
    chosen = _shuffled(entries, seed, "order")
    if any(one.score is not None for one in entries):
        chosen = _both_tiers(chosen, most)
    rows, items = [], {}
    for item, entry in zip(_names(len(chosen[:most]), "R"), chosen[:most], strict=True):
        shown = {"title": safe_cell(entry.title), "abstract": safe_cell(entry.abstract)}
        rows.append({"item": item, **_topic_cell(entry.topic), **shown})
        tier = {} if entry.score is None else {"tier": _tier(entry), "score": entry.score}
        items[item] = entry.source | tier
    asked = {} if kind == "idea" else {"dimensions": list(RATINGS[kind])}
    return rows, {"format": FORMAT, "kind": "ratings", "seed": seed, **asked, "items": items}


def _tier(entry: SheetEntry) -> str:
    return "high" if (entry.score or 0.0) > HIGH else "low"


def _both_tiers(entries: Sequence[SheetEntry], most: int | None) -> list[SheetEntry]:
    """The first of both tiers in their order, as many of the one as of the other."""
    tiers = {
        name: [one for one in entries if one.score is not None and _tier(one) == name]
        for name in ("low", "high")
    }
    sizes = {name: len(those) for name, those in tiers.items()}
    each = min(*sizes.values(), len(entries) if most is None else most // 2)
    if not each:
        raise InputError(
            f"--tiers: {sizes['low']} papers have a score up to {HIGH:g} and {sizes['high']} a "
            "higher one, so that one tier would be empty; leave --tiers out, or review more runs"
        )
    chosen = {id(one) for those in tiers.values() for one in those[:each]}
    # In the order that was drawn: tier after tier would tell raters which is which.
    return [one for one in entries if id(one) in chosen]


def _topic_cell(*topics: str) -> dict[str, str]:
    """The topic as raters see it, of a pair on two topics both; no cell where none is known."""
    different = dict.fromkeys(filter(None, topics))
    sides = zip("AB", topics, strict=False)
    text = "; ".join(f"{side}: {topic}" for side, topic in sides) if len(different) > 1 else ""
    return {TOPIC: safe_cell(text or next(iter(different)))} if different else {}


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
    a topic and, in a study whose arms share seeds, within a replicate: of two papers on different
    topics a rater would judge the topics, and of two ecosystems what happened to be in them.

    Args:
        entries: papers to choose from.
        seed: of matching, sides and order.
        most: pairs on the sheet at most; None for all.
        swapped: show each pair twice, the second time with its sides exchanged.
        across_topics: match papers of any topics and replicates.

    Raises:
        InputError: there are not two arms with papers, or none that share a topic.
    """
    pairs = _matched_pairs(entries, seed, across_topics)
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
        cells = {name: safe_cell(text) for name, text in shown.items()}
        rows.append({"item": item, **_topic_cell(a.topic, b.topic), **cells})
        items[item] = {"A": a.source, "B": b.source}
    return rows, {"format": FORMAT, "kind": "pairs", "seed": seed, "items": items}


def _matched_pairs(
    entries: Sequence[SheetEntry], seed: int, across_topics: bool
) -> list[tuple[SheetEntry, SheetEntry]]:
    """Papers of every two arms that are alike in topic and replicate, matched at random."""
    arms = sorted({entry.arm for entry in entries})
    if len(arms) < 2:
        raise InputError(f"pairs need papers of two arms; these runs have {len(arms)}")
    groups: dict[tuple[tuple[str, str], str], list[SheetEntry]] = {}
    for one in entries:
        place = ("", "") if across_topics else (one.topic.casefold(), one.replicate)
        groups.setdefault((place, one.arm), []).append(one)
    pairs: list[tuple[SheetEntry, SheetEntry]] = []
    for first, second in combinations(arms, 2):
        for place in sorted({place for place, _ in groups}):
            # Without topics the streams are those of earlier releases, and so are their sheets.
            labels = ("match", first, second, *filter(None, place))
            mixed = [
                _shuffled(groups.get((place, arm), []), seed, *labels, side)
                for side, arm in enumerate((first, second))
            ]
            pairs += list(zip(*mixed, strict=False))
    if not pairs:
        raise InputError(
            "no two arms have papers on one topic in one replicate; give --across-topics to pair "
            "papers on any"
        )
    return pairs


def write_sheet(sheet: Path, key: Path, rows: Sequence[Mapping[str, str]], content: Any) -> None:
    """Write a sheet and its key; neither may exist already, for raters may have filled it.

    Raises:
        InputError: one of the files exists, or cannot be written.
    """
    if sheet.resolve() == key.resolve():
        raise InputError(f"{key}: is the sheet itself; keep the key in another file")
    write_new(sheet, sheet_text(rows, columns_of(content)))
    write_new(key, json.dumps(content, indent=1) + "\n")


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet.

    Raises:
        InputError: the file exists, or cannot be written.
    """
    try:
        with open_new(path) as file:
            file.write(text)
    except FileExistsError as error:
        raise InputError(f"{path}: is there already; give another name") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error


def columns_of(key: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that a sheet of a key must have; others may stand beside them."""
    if key["kind"] == "pairs":
        return PAIRED
    return ("item", "rater", "title", "abstract", *key.get("dimensions", DIMENSIONS))


def sheet_text(rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> str:
    """A sheet as CSV; empty cells may be missing in its rows."""
    file = StringIO(newline="")
    # A byte order mark, without which some spreadsheets take UTF-8 for something else.
    file.write("\ufeff")
    if any(TOPIC in row for row in rows):
        columns = (*columns[:2], TOPIC, *columns[2:])
    writer = csv.DictWriter(file, columns, restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def read_pairs(path: Path) -> list[dict[str, str]]:
    """The rows of a sheet of pairs, filled or not.

    Raises:
        InputError: it is no sheet of pairs, holds no row, or an item twice.
    """
    columns = (*PAIRED, TOPIC)
    rows = [{name: row[name] for name in columns if name in row} for _, row in _rows(path, PAIRED)]
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
        for line, row in _rows(path, columns_of(key)):
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
                ratings += _read_row(row, item, rater, location, key, faults, incomplete)
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
    key: Mapping[str, Any],
    faults: list[str],
    incomplete: bool,
) -> Iterator[Rating]:
    paired = key["kind"] == "pairs"
    for name in ("preferred",) if paired else key.get("dimensions", DIMENSIONS):
        text = row[name].strip()
        value = _choice(text) if paired else _score(text)
        if not text and incomplete:
            continue
        if value is None:
            wanted = "A, B or tie" if paired else "a number from 1 to 10"
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
