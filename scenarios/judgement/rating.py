"""Blinded rating sheets made from runs, and tables made from filled sheets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from virsci_society.scenarios.judgement.ratings.sheets import Rating, SheetEntry


def entries_of(runs: Sequence[Path]) -> list[SheetEntry]:
    """The papers of finished runs, without masked names.

    The arm of a run of a study is what the study says; of any other run, its folder's name.

    Raises:
        InputError: a run that has not finished, or none of them has a paper.
    """
    from virsci_society.scenarios.judgement.ratings.sheets import SheetEntry, blind
    from virsci_society.society.results.run import Run
    from virsci_society.society.results.speaker import speaker_of

    entries = []
    for folder in runs:
        run = Run.open(folder)
        digest, arm = run.digest, arm_of(folder)
        if digest is None:
            raise InputError(f"{folder}: has no digest: the run has not finished")
        speaker = speaker_of(run.manifest)
        names = run.table("scientists")["scientist"].dropna().tolist()
        for row in run.table("papers").to_dict("records"):
            title, abstract = (blind(str(row[part] or ""), names) for part in ("title", "abstract"))
            place = (str(folder), digest, arm, str(row["paper"]))
            entries.append(SheetEntry(*place, title, abstract, speaker))
    if not entries:
        raise InputError("none of these runs has published a paper")
    return entries


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


def ratings_of(answers: Sequence[Rating], key: Mapping[str, Any]) -> pd.DataFrame:
    """One row per rating: origin of the paper, item, rater, dimension and score.

    Args:
        answers: of all sheets.
        key: that was written with the sheet.
    """
    import pandas as pd

    rows = [
        (*_place(key["items"][one.item]), one.item, one.rater, one.dimension, one.value)
        for one in answers
    ]
    names = ["run", "arm", "paper", "item", "rater", "dimension", "score"]
    return pd.DataFrame(rows, columns=names)


def choices_of(answers: Sequence[Rating], key: Mapping[str, Any]) -> pd.DataFrame:
    """One row per answer to a pair.

    Columns: item, rater, preferred and other arm, whether it tied, the arms that stood first and
    second, the pair of papers (the same for a pair that is shown twice), and ``earlier``: 1 if the
    paper was preferred whose id comes first in the alphabet, 0 if the other, 0.5 for a tie.

    Args:
        answers: of all sheets.
        key: that was written with the sheet.
    """
    import pandas as pd

    rows = []
    for one in answers:
        sides = key["items"][one.item]
        first, second = ("B", "A") if one.value == 1 else ("A", "B")
        tie = one.value != one.value
        arms = {side: sides[side]["arm"] for side in ("A", "B")}
        papers = {side: paper_id(sides[side]["run"], sides[side]["paper"]) for side in ("A", "B")}
        earlier = 0.5 if tie else float(papers[first] < papers[second])
        pair = " | ".join(sorted(papers.values()))
        places = (arms["A"], arms["B"], pair, earlier)
        rows.append((one.item, one.rater, arms[first], arms[second], tie, *places))
    names = ["item", "rater", "preferred", "other", "tie", "first", "second", "pair", "earlier"]
    return pd.DataFrame(rows, columns=names)


def measures_of_runs(key: Mapping[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """ON and its parts of every run that the key names, and its reviews; papers are run and id.

    Raises:
        InputError: a run is not where the key says, or is another one by now.
    """
    import pandas as pd

    from virsci_society.scenarios.judgement.ratings.agreement import read_novelty
    from virsci_society.scenarios.judgement.reviews.tables import read_averages
    from virsci_society.society.results.run import Run

    measured: list[pd.DataFrame] = []
    reviewed: list[pd.DataFrame] = []
    for folder, digest in sorted({_run(one) for one in key["items"].values()}):
        run = Run.open(folder)
        if run.digest != digest:
            raise InputError(f"{folder}: is not the run that the sheet was made of, by its digest")
        for found, table in (
            (measured, read_novelty(run)),
            (reviewed, read_averages(Path(folder))),
        ):
            found.append(table.assign(paper=[paper_id(folder, one) for one in table["paper"]]))
    scores: pd.DataFrame = pd.concat(reviewed, ignore_index=True)
    scores["rating"] = scores["kind"] + " " + scores["dimension"] + " by " + scores["panel"]
    return pd.concat(measured, ignore_index=True), scores


def paper_id(run: str, paper: str) -> str:
    """The id of a paper among those of several runs."""
    return f"{run}:{paper}"


def correlate(ratings: pd.DataFrame, key: Mapping[str, Any]) -> pd.DataFrame:
    """Correlations of ON with each rating and each review, and of each review with each rating.

    Args:
        ratings: of ``ratings_of``.
        key: that was written with the sheet.
    """
    import pandas as pd

    from virsci_society.scenarios.judgement.ratings.agreement import correlation_table

    measured, reviewed = measures_of_runs(key)
    people = ratings.assign(
        paper=[paper_id(*place) for place in zip(ratings["run"], ratings["paper"], strict=True)],
        rating="people: " + ratings["dimension"],
    )
    kept = reviewed[reviewed["paper"].isin(people["paper"])]
    both = ["paper", "rating", "score"]
    tables = [correlation_table(measured, pd.concat([people[both], kept[both]], ignore_index=True))]
    if len(kept):
        wide = kept.pivot_table("score", "paper", "rating").reset_index()
        parts = [name for name in wide.columns if name != "paper"]
        tables.append(correlation_table(wide, people[both], parts))
    return pd.concat(tables, ignore_index=True)


def write_results(out: Path, tables: Mapping[str, pd.DataFrame], key: Mapping[str, Any]) -> None:
    """Write tables as Parquet and as CSV that a spreadsheet may open.

    Args:
        out: folder to write to.
        tables: by name.
        key: that was written with the sheet; it says who spoke in the runs.
    """
    from virsci_society.scenarios.judgement.ratings.sheets import speakers_in
    from virsci_society.society.results.table_files import write_csv, write_parquet

    speaker = speakers_in(key)
    try:
        for name, table in tables.items():
            write_parquet(out / f"{name}.parquet", table, speaker=speaker)
        write_csv(out, tables, speaker)
    except OSError as error:
        raise InputError(f"{out}: cannot be written to: {error.strerror}") from error


def _place(item: Mapping[str, str]) -> tuple[str, str, str]:
    return item["run"], item["arm"], item["paper"]


def _run(item: Mapping[str, str]) -> tuple[str, str]:
    return item["run"], item["digest"]
