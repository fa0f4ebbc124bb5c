"""Blinded sheets of abstracts for people, their ratings, and what these agree with.

The key that undoes the blinding is a file of its own; ratings are averaged as given.
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
import pandas as pd

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import write_atomically
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.agents.spelling import did_you_mean
from virsci_society.metrics.inference.correlations import krippendorff_alpha, pearson, spearman
from virsci_society.metrics.novelty.novelty import run_novelty
from virsci_society.scenarios.review.review import read_averages
from virsci_society.scenarios.study.lock import LOCK, done_runs, folder_of, read_lock
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run
from virsci_society.society.results.table_files import safe_cell, write_csv, write_parquet
from virsci_society.society.results.text_provenance import join_speakers, speaker_of

FORMAT = 1
PREFERRED = "preferred"
"""The only question of a sheet of pairs; its answers are A, B and tie."""
CHOICES = {"a": 0.0, "b": 1.0, "tie": np.nan}
SCORE = re.compile(r"0?[1-9]([.,]\d{1,6})?|10([.,]0{1,6})?")
"""A number from 1 to 10, with a point or a comma."""
NOBODY = "[a scientist]"
RESAMPLES = 2000
MIN_ABSTRACTS = 3
"""Fewer abstracts than this are not correlated."""


@dataclass(frozen=True, slots=True)
class SheetPaper:
    """A paper as a sheet shows it, without names; the key has its arm and source."""

    arm: str
    source: Mapping[str, str]
    """Run, digest, arm, paper and speaker."""
    title: str
    abstract: str
    topic: str = ""
    """From which the scenario starts, or else that of the paper's team."""
    replicate: str = ""
    """What its run shares with those of other arms of a study; empty elsewhere."""


def blind(text: str, names: Sequence[str] = ()) -> str:
    """Replace masked names (``Scientist12``) and the given names by a placeholder."""
    text = re.sub(r"\bScientist\s?\d+\b", NOBODY, text, flags=re.IGNORECASE)
    # The longest first: a name within a longer one would leave the rest of it.
    for name in sorted((name for name in names if name.strip()), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", NOBODY, text)
    return text


def read_papers(paths: Sequence[Path], arms: Sequence[str] = ()) -> list[SheetPaper]:
    """The papers of finished runs, and of the finished runs of studies; of all arms by default."""
    folders: list[Path] = []
    for path in paths:
        of_study = (path / LOCK).is_file()
        folders += [folder_of(path, one.index) for one in done_runs(path)] if of_study else [path]
    papers: list[SheetPaper] = []
    for folder in folders:
        run, place = Run.open(folder), folder.resolve()
        if run.digest is None:
            raise InputError(f"{folder}: has no digest: the run has not finished")
        arm, replicate = place.name, ""
        lock = read_lock(place.parent.parent)
        if lock is not None and place.name.isdecimal():
            arm = str(lock.arm_of(int(place.name))["name"])
            replicate = str(int(place.name) % lock.replicates) if lock.data["paired"] else ""
        setting = run.manifest["scenario"]["protocol"].get("topic")
        start = str(setting.get("start") or "") if isinstance(setting, dict) else ""
        names = run.table("scientists")["scientist"].dropna().tolist()
        table = run.table("papers")[["paper", "title", "abstract", "topic"]].fillna("")
        for paper, *texts in table.itertuples(index=False, name=None):
            title, abstract, topic = (blind(str(text), names) for text in texts)
            topic = blind(start, names) or topic
            source = {"run": str(folder), "digest": run.digest, "arm": arm, "paper": str(paper)}
            source["speaker"] = speaker_of(run.manifest)
            papers.append(SheetPaper(arm, source, title, abstract, topic, replicate))
    if not papers:
        raise InputError("none of these runs has published a paper")
    known = list(dict.fromkeys(one.arm for one in papers))
    for arm in arms:
        if arm not in known:
            hint = did_you_mean(arm, known)
            raise InputError(f"--arm {arm}: not found{hint}; choose from {', '.join(known)}")
    return [one for one in papers if not arms or one.arm in arms]


def rating_sheet(
    papers: Sequence[SheetPaper], asked: Sequence[str], seed: int, most: int | None = None
) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """The rows of a sheet of papers in an order drawn by seed, at most ``most``, and its key."""
    rows, items = [], {}
    for number, paper in enumerate(_shuffled(papers, seed, "order")[:most], start=1):
        item = f"R{number:03d}"
        texts = {"topic": paper.topic, "title": paper.title, "abstract": paper.abstract}
        rows.append({"item": item, **texts})
        items[item] = paper.source
    return rows, {"format": FORMAT, "asked": list(asked), "seed": seed, "items": items}


def pair_sheet(
    papers: Sequence[SheetPaper], seed: int, most: int | None = None
) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """The rows of a sheet of pairs of papers of two arms, drawn by seed, and its key.

    Papers are matched by topic and replicate: else a rater would judge the topics.
    """
    groups: dict[tuple[str, str], dict[str, list[SheetPaper]]] = {}
    for one in papers:
        arms = groups.setdefault((one.topic.casefold(), one.replicate), {})
        arms.setdefault(one.arm, []).append(one)
    names = sorted({one.arm for one in papers})
    if len(names) < 2:
        raise InputError(f"pairs need papers of two arms; these runs have {len(names)}")
    pairs: list[tuple[SheetPaper, SheetPaper]] = []
    for arms_of_pair in combinations(names, 2):
        for place, arms in sorted(groups.items()):
            labels = ("match", *arms_of_pair, *filter(None, place))
            sides = [_shuffled(arms.get(arm, []), seed, *labels, arm) for arm in arms_of_pair]
            pairs += list(zip(*sides, strict=False))
    if not pairs:
        raise InputError("no two arms have papers on the same topic in the same replicate")
    chosen = _shuffled(pairs, seed, "order")[:most]
    # Drawn, since raters prefer one side.
    flips = Streams(seed, "sheet").stream("sides").random(len(chosen)) < 0.5
    rows, items = [], {}
    for number, (pair, flip) in enumerate(zip(chosen, flips, strict=True), start=1):
        item, (a, b) = f"P{number:03d}", reversed(pair) if flip else pair
        row = {"item": item, "topic": a.topic, "title_a": a.title, "abstract_a": a.abstract}
        rows.append({**row, "title_b": b.title, "abstract_b": b.abstract})
        items[item] = {"A": a.source, "B": b.source}
    return rows, {"format": FORMAT, "asked": [PREFERRED], "seed": seed, "items": items}


def _shuffled(things: Sequence[Any], seed: int, *labels: object) -> list[Any]:
    rng = Streams(seed, "sheet").stream(*labels)
    return [things[int(at)] for at in rng.permutation(len(things))]


def write_sheet(sheet: Path, rows: Sequence[Mapping[str, str]], key: Mapping[str, Any]) -> Path:
    """Write a sheet and, beside it, its key, whose path is returned."""
    text = StringIO(newline="")
    # A byte order mark, without which some spreadsheets take UTF-8 for something else.
    text.write("\ufeff")
    columns = [name for name in rows[0] if name != "topic" or any(row["topic"] for row in rows)]
    columns = ["item", "rater", *columns[1:], *key["asked"]]
    writer = csv.DictWriter(text, columns, "", extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(cell) for name, cell in row.items()} for row in rows)
    beside = sheet.with_name(f"{sheet.stem}.key.json")
    write_new(beside, json.dumps(key, indent=1) + "\n")
    write_new(sheet, text.getvalue())
    return beside


def write_new(path: Path, text: str) -> None:
    """Write a file that does not exist yet: raters may have filled one that does."""
    if path.exists() or path.is_symlink():
        raise InputError(f"{path}: exists already; give another name")
    write_atomically(path, text)


def read_key(path: Path) -> dict[str, Any]:
    """Read the key of a sheet."""
    try:
        key = read_json_object(path)
        known = key["format"] == FORMAT and all(isinstance(one, str) for one in key["asked"])
        for item in key["items"].values():
            for side in _sides(item):
                known = known and {"run", "digest", "arm", "paper", "speaker"} <= set(side)
    except (InputError, OSError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: cannot be read as the key of a sheet ({error})") from error
    if not known:
        raise InputError(f"{path}: is not the key of a sheet")
    return dict(key)


def _sides(item: Mapping[str, Any]) -> list[Any]:
    return [item["A"], item["B"]] if "A" in item else [item]


def read_sheets(paths: Sequence[Path], key: Mapping[str, Any]) -> pd.DataFrame:
    """The answers in filled sheets: ``item``, ``rater``, ``dimension`` and ``score``.

    A choice scores 0 (A), 1 (B) or NaN (tie).
    """
    answers: list[tuple[str, str, str, float]] = []
    faults: list[str] = []
    seen: dict[tuple[str, str], str] = {}
    for path in paths:
        rated = set()
        for line, row in _rows(path, ("item", "rater", *key["asked"])):
            location, item = f"{path}:{line}", row["item"].strip()
            rater = row["rater"].strip() or path.stem
            if item not in key["items"]:
                faults.append(f"{location}: the key knows no item {item!r}")
                continue
            if (rater, item) in seen:
                faults.append(
                    f"{location}: {rater} has rated {item} already, in {seen[rater, item]}"
                )
                continue
            seen[rater, item] = location
            rated.add(item)
            for name in key["asked"]:
                text = row[name].strip()
                if text.casefold() in CHOICES and name == PREFERRED:
                    answers.append((item, rater, name, CHOICES[text.casefold()]))
                elif name != PREFERRED and SCORE.fullmatch(text):
                    answers.append((item, rater, name, float(text.replace(",", "."))))
                else:
                    wanted = "A, B or tie" if name == PREFERRED else "a number from 1 to 10"
                    got = f"got {text!r}" if text else "it is empty"
                    faults.append(f"{location}: {name} of {item}: {got}, expected {wanted}")
        faults += [f"{path}: {item} is missing" for item in key["items"] if item not in rated]
    if faults:
        raise InputError("\n".join(faults))
    return pd.DataFrame(answers, columns=["item", "rater", "dimension", "score"])


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a sheet with their lines; spreadsheets choose the separator."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head = file.readline()
            separator = max(",;\t", key=head.count)
            names = next(csv.reader([head], delimiter=separator), [])
            absent = [name for name in columns if name not in names]
            if absent:
                raise InputError(f"{path}:1: no column {absent[0]!r}: not a sheet of this key")
            reader, line = csv.reader(file, delimiter=separator), 2
            for cells in reader:
                filled = [*cells, *[""] * len(names)][: len(names)]
                if any(map(str.strip, cells)):
                    yield line, dict(zip(names, filled, strict=True))
                line = reader.line_num + 2
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as a sheet: {error}") from error


def rating_results(answers: pd.DataFrame, key: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """``ratings`` with their origin, ``agreement`` of raters, ``correlations`` over abstracts."""
    sources = pd.DataFrame.from_dict(key["items"], orient="index")[["run", "arm", "paper"]]
    ratings = sources.merge(answers, left_index=True, right_on="item")
    measured: list[pd.DataFrame] = []
    reviewed: list[pd.DataFrame] = []
    for folder, digest in sorted({(one["run"], one["digest"]) for one in key["items"].values()}):
        run = Run.open(folder)
        if run.digest != digest:
            raise InputError(f"{folder}: is not the run of the sheet: the digests differ")
        for tables, table in (
            (measured, run_novelty(run)),
            (reviewed, read_averages(Path(folder))),
        ):
            tables.append(table.assign(paper=folder + ":" + table["paper"]))
    people = ratings.assign(
        paper=ratings["run"] + ":" + ratings["paper"], rating="people: " + ratings["dimension"]
    )[["paper", "rating", "score"]]
    model = pd.concat(reviewed, ignore_index=True)
    model = model[model["paper"].isin(people["paper"])]
    model["rating"] = model["kind"] + " " + model["dimension"] + " by " + model["panel"]
    model = model[["paper", "rating", "score"]]
    return {
        "ratings": ratings,
        "agreement": agreement_table(ratings, key["seed"]),
        "correlations": correlation_table(pd.concat(measured), pd.concat([people, model])),
    }


def agreement_table(ratings: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Krippendorff's alpha of every dimension, with a 95 % interval (bootstrap over abstracts)."""
    rows = []
    for dimension, rows_of_dimension in ratings.groupby("dimension", sort=False):
        table = rows_of_dimension.pivot_table("score", "rater", "item").to_numpy(dtype=np.float64)
        shared = table[:, (~np.isnan(table)).sum(axis=0) > 1]
        items, raters = shared.shape[1], int((~np.isnan(shared)).any(axis=1).sum())
        # By the number of abstracts too: two questions on other abstracts share no resample.
        rng = np.random.default_rng([seed, items])
        draws = rng.integers(0, max(items, 1), (RESAMPLES if items > 1 else 0, items))
        resampled = np.array([krippendorff_alpha(shared[:, draw]) for draw in draws])
        finite = resampled[~np.isnan(resampled)]
        low, high = np.quantile(finite, (0.025, 0.975)) if len(finite) else (np.nan, np.nan)
        rows.append((dimension, krippendorff_alpha(table), low, high, items, raters))
    columns = ["dimension", "alpha", "low", "high", "abstracts", "raters"]
    return pd.DataFrame(rows, columns=columns)


def correlation_table(measured: pd.DataFrame, scored: pd.DataFrame) -> pd.DataFrame:
    """Pearson's and Spearman's correlation of ON with ratings or reviews, over abstracts."""
    values = measured.set_index("paper")["ON"].dropna().astype("float64")
    rows = []
    for rating, given in scored.dropna(subset=["score"]).groupby("rating", sort=False):
        means = given.groupby("paper")["score"].mean().astype("float64")
        pairs = pd.concat([values, means], axis=1, join="inner").to_numpy(dtype=np.float64)
        if len(pairs) >= MIN_ABSTRACTS:
            p, s = pearson(pairs[:, 0], pairs[:, 1]), spearman(pairs[:, 0], pairs[:, 1])
            rows.append(("ON", rating, p.n, p.r, p.low, p.high, s.r, s.low, s.high))
    columns = ["measure", "rating", "n", "pearson", "pearson_low", "pearson_high"]
    return pd.DataFrame(rows, columns=[*columns, "spearman", "spearman_low", "spearman_high"])


def pair_results(answers: pd.DataFrame, key: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """``choices``, the preferred and the other arm of each answer, and ``preferences``."""
    rows = []
    for item, rater, _, value in answers.itertuples(index=False, name=None):
        arms = [side["arm"] for side in _sides(key["items"][item])]
        preferred, other = reversed(arms) if value == 1 else arms
        rows.append((item, rater, preferred, other, bool(np.isnan(value))))
    choices = pd.DataFrame(rows, columns=["item", "rater", "preferred", "other", "tie"])
    return {"choices": choices, "preferences": preference_table(choices)}


def preference_table(choices: pd.DataFrame) -> pd.DataFrame:
    """How often one arm is preferred to another, by the exact interval and binomial test.

    Ties count for neither side (Chen et al. 2025: 87.5 % of 40 pairs, p < 0.01).
    """
    from scipy.stats import binomtest

    sides = np.sort(choices[["preferred", "other"]].astype(str).to_numpy(), axis=1)
    rows = []
    for first, second in sorted({(a, b) for a, b in sides.tolist()}):
        these = choices[(sides == (first, second)).all(axis=1)]
        decided = these[~these["tie"].astype(bool)]
        wins, n = int((decided["preferred"] == first).sum()), len(decided)
        estimates = (np.nan,) * 4
        if n:
            test = binomtest(wins, n)
            estimates = (wins / n, *test.proportion_ci(), float(test.pvalue))
        rows.append((first, second, n, len(these) - n, *estimates))
    columns = ["arm", "other", "n", "ties", "preferred", "low", "high", "p"]
    return pd.DataFrame(rows, columns=columns)


def write_results(folder: Path, tables: Mapping[str, pd.DataFrame], key: Mapping[str, Any]) -> None:
    """Write tables as Parquet and as CSV that a spreadsheet may open; both name who spoke."""
    sides = [side for item in key["items"].values() for side in _sides(item)]
    speaker = join_speakers(side["speaker"] for side in sides)
    for name, table in tables.items():
        write_parquet(folder / f"{name}.parquet", table, speaker=speaker)
    write_csv(folder, tables, speaker)
