"""Tables gathered from the runs of a study, the same bytes whichever engine ran them.

The study's own page is made from these alone. Rows are sorted by run; nothing in them depends on
when, where or in which order anything was done.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import remove_file, remove_folder
from virsci_society.agents.files.file_hashes import HASHES, write_hashes
from virsci_society.scenarios.study.budget_matching import SPENT, deviation
from virsci_society.scenarios.study.design import Design, format_value
from virsci_society.scenarios.study.folder import BASE, OF_TEXTS, Lock, deviations, kept_measures
from virsci_society.scenarios.study.run_result import (
    RunResult,
    folder_of,
    measure_run_folder,
    write_result,
    write_text,
)
from virsci_society.scenarios.study.study_file import STUDY, Comparison, about_of, crossed_settings

if TYPE_CHECKING:
    import pandas as pd

    from virsci_society.scenarios.config.schema import Scenario

STUDY_JSON = "study.json"
RUNS, RESULTS, TABLES = "runs.parquet", "results.parquet", "tables"
MEASURES = f"{TABLES}/measures"
REVIEWS = "reviews.parquet"
MATCHED = "matched.parquet"
TEXTS = "texts.parquet"


def gather(design: Design, folder: Path, lock: Lock, results: Sequence[RunResult]) -> None:
    """Write ``study.json``, ``runs.parquet``, ``results.parquet`` and ``tables/*.parquet``."""
    from virsci_society.society.results.table_files import write_parquet

    results = [_measured(design, folder, lock, one) for one in results]
    # First: after a kill in between, the old list would call the new files damaged.
    remove_file(folder / HASHES)
    write_text(folder / STUDY_JSON, study_json(design, lock, folder, results))
    speaker = speaker_of_study(design)
    tables = {
        RUNS: runs_table(design, results),
        RESULTS: results_table(design, results),
        MATCHED: matched_table(design, results),
        TEXTS: texts_table(design, results),
        REVIEWS: reviews_table(folder, results),
    }
    for name, table in tables.items():
        if table is not None:
            write_parquet(folder / name, table, speaker=speaker)
    if design.file.keep == "measures":
        # Those of an earlier time as well: tables of some runs would pass for those of all.
        remove_folder(folder / TABLES)
    else:
        for name, table in stack_measures(folder, results).items():
            path = folder / TABLES / f"{name}.parquet"
            write_parquet(path, table, speaker=speaker)
    written = (BASE, STUDY, STUDY_JSON, *tables)
    files = [folder / name for name in written if (folder / name).exists()]
    write_hashes(folder, [*files, *(folder / TABLES).glob("*.parquet")])


def speaker_of_study(design: Design) -> str:
    """Who speaks in the runs of a study; arms may set keys of the backend themselves."""
    return "; ".join(dict.fromkeys(str(one.backend.backend.about) for one in design.scenarios))


def is_gathered(folder: Path, content: str) -> bool:
    """Were tables and page written after the last run ended, for the same ``study.json``?"""
    page = folder / "report.html"
    files = [folder / name for name in (STUDY_JSON, RUNS, RESULTS)]
    if not page.is_file() or not all(path.is_file() for path in files):
        return False
    if (folder / STUDY_JSON).read_text(encoding="utf-8") != content:
        return False
    # By their times: to compare what is in them would be to gather them again.
    oldest = min(path.stat().st_mtime_ns for path in (*files, page))
    patterns = ("runs/*.result.json", "reviews/*/averages.parquet")
    news = [path for one in patterns for path in folder.glob(one)]
    ends = [path.stat().st_mtime_ns for path in news]
    return max(ends, default=0) <= oldest


def study_json(design: Design, lock: Lock, folder: Path, results: Sequence[RunResult]) -> str:
    """The text of ``study.json``: what was asked, and how it departs from what was planned."""
    file = design.file
    planned = [Comparison.model_validate(one) for one in lock.data["comparisons"]]
    comparisons = [
        one.model_dump(mode="json") | {"exploratory": one not in planned}
        for one in design.comparisons
    ]
    figures = [one.model_dump(mode="json") for one in file.figures]
    data = {
        "title": file.study,
        "about": about_of(design.path),
        "design": file.arms.kind,
        "arms": [
            {"name": arm.name, "set": dict(arm.settings)}
            | ({"of": arm.of, "budget": arm.budget} if arm.of else {})
            for arm in design.arms
        ],
        "keys": design.keys,
        "replicates": file.replicates,
        "seeds": {arm["name"]: arm["seeds"] for arm in lock.arms},
        "measures": list(file.measures),
        **({"labels": file.labels} if file.labels else {}),
        "comparisons": comparisons,
        **({"figures": figures} if figures else {}),
        **({"crossed": file.crossed} if file.crossed else {}),
        **({"match": file.match.model_dump(mode="json")} if file.match is not None else {}),
        "paired": file.paired,
        "lock": lock.data["hash"],
        "deviations": deviations(lock, list(file.measures), design.comparisons),
        "backend_about": speaker_of_study(design),
        "leak": leak_notes(design, results),
        **({"reviewers": reviewers} if (reviewers := reviewers_of(folder)) else {}),
    }
    return json.dumps(data, indent=1, ensure_ascii=False, default=str) + "\n"


def leak_notes(design: Design, results: Sequence[RunResult]) -> dict[str, str]:
    """The model's training cut-off beside the boundary, in a sentence for each arm."""
    from virsci_society.metrics.novelty.training_leaks import training_cutoff
    from virsci_society.scenarios.runs.run_folder import backend_summary

    notes: dict[str, str] = {}
    for arm, scenario in zip(design.arms, design.scenarios, strict=True):
        done = next((one for one in results if one.arm == arm.name and one.state == "done"), None)
        if done is not None:
            about = {"backend": backend_summary(scenario), "boundary": done.boundary}
            notes[arm.name] = training_cutoff(about).sentence
    alike = len(notes) > 1 and len(set(notes.values())) == 1
    return {"every arm": next(iter(notes.values()))} if alike else notes


def runs_table(design: Design, results: Sequence[RunResult]) -> pd.DataFrame:
    """One row per run: run, arm, replicate, seed, state, digest, every crossed and varied key."""
    import pandas as pd

    settings = {arm.name: arm.settings for arm in design.arms}
    columns: dict[str, Any] = {
        "run": pd.array([one.index for one in results], dtype="int64"),
        "arm": pd.array([one.arm for one in results], dtype="string"),
        "replicate": pd.array([one.replicate for one in results], dtype="int64"),
        "seed": pd.array([one.seed for one in results], dtype="int64"),
        "state": pd.array([one.state for one in results], dtype="string"),
        "digest": pd.array([one.digest for one in results], dtype="string"),
    }
    crossed = [crossed_settings(design.file.crossed, one.replicate) for one in results]
    for key in design.file.crossed:
        columns[key] = _column([one[key] for one in crossed])
    for key in design.keys:
        columns[key] = _column([settings[one.arm].get(key) for one in results])
    return pd.DataFrame(columns)


def results_table(design: Design, results: Sequence[RunResult]) -> pd.DataFrame:
    """One row per run and measure; the value is NaN where there is none."""
    import pandas as pd

    rows = []
    for one in results:
        for name in design.file.measures:
            place = (one.index, one.arm, one.replicate, one.seed)
            rows.append((*place, name, one.measures.get(name, math.nan)))
    table = pd.DataFrame(rows, columns=["run", "arm", "replicate", "seed", "measure", "value"])
    whole = dict.fromkeys(("run", "replicate", "seed"), "int64")
    return table.astype({**whole, "arm": "string", "measure": "string", "value": "float64"})


def matched_table(design: Design, results: Sequence[RunResult]) -> pd.DataFrame | None:
    """One row per arm of a matched study: what was planned for one run, and what was spent.

    Columns: ``arm``; ``key`` and ``value``, missing where the arm is run as given; ``target``,
    missing without one; ``planned`` and ``spent``, the forecast and the mean over the runs that
    are done; and both as a share above the target, ``planned_off`` and ``spent_off``. None for
    other studies.
    """
    import pandas as pd

    wanted, matching = design.file.match, design.matching
    if wanted is None or matching is None:
        return None
    measure, rows = SPENT[wanted.by], []
    for one in matching:
        runs = [run for run in results if run.arm == one.arm and run.state == "done"]
        values = [run.measures.get(measure, math.nan) for run in runs]
        known = [value for value in values if math.isfinite(value)]
        spent = math.fsum(known) / len(known) if known else math.nan
        off, spent_off = (deviation(each, one.target) for each in (one.planned, spent))
        planned = (one.arm, one.key, one.value, one.target, one.planned, off)
        rows.append((*planned, len(known), spent, spent_off))
    columns = ["arm", "key", "value", "target", "planned", "planned_off", "n", "spent", "spent_off"]
    numbers = dict.fromkeys(("target", "planned", "planned_off", "spent", "spent_off"), "float64")
    kinds = {"arm": "string", "key": "string", "value": "Int64", "n": "int64", **numbers}
    return pd.DataFrame(rows, columns=columns).astype(kinds)


def texts_table(design: Design, results: Sequence[RunResult]) -> pd.DataFrame | None:
    """One row per arm: which texts its novelty is measured of, and how long they are.

    Columns: ``arm``; ``neighbours`` and ``distances``, the text by which neighbours are found and
    that whose distances are measured; ``calls_after_idea`` and ``words`` (of the measured text),
    means over the runs that are done, and ``words_spread``, their deviation over the runs. None
    where no measure of novelty is asked for.
    """
    import pandas as pd

    from virsci_society.metrics.novelty.novelty import COLUMNS

    if not set(COLUMNS) & set(design.file.measures):
        return None
    rows = []
    for arm, scenario in zip(design.arms, design.scenarios, strict=True):
        runs = [one for one in results if one.arm == arm.name and one.state == "done"]
        values = [one.measures for one in runs]
        table = pd.DataFrame(values, columns=[*OF_TEXTS], dtype="float64")
        means = (table["calls_after_idea"].mean(), table["words"].mean(), table["words"].std())
        rows.append((arm.name, *text_names(scenario), *means))
    columns = ["arm", "neighbours", "distances", "calls_after_idea", "words", "words_spread"]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[:3], "string"))


def text_names(scenario: Scenario) -> tuple[str, str]:
    """The text by which the papers of a scenario find neighbours, and that which is measured."""
    data = scenario.to_data()
    named = {"abstract": "title and abstract", "abstract_only": "abstract"}
    query = data["protocol"].get("found_by", "abstract")
    query, given = named.get(query, query), data["novelty"] or {}
    measured = named["abstract"] if given.get("evaluated") == "abstract" else query
    limit = f", first {given['words']} words" if given.get("words") else ""
    return query + limit, measured + limit


def reviewers_of(folder: Path) -> dict[str, str]:
    """The review panels of a study by name, with a sentence about the model of each."""
    from virsci_society.scenarios.review.review import panel_folders, reviewer_description

    return {panel.name: reviewer_description(panel) for panel in panel_folders(folder)}


def reviews_table(folder: Path, results: Sequence[RunResult]) -> pd.DataFrame | None:
    """One row per run, panel, kind and score: the mean over the run's abstracts, and how many.

    None where nobody has reviewed any.
    """
    from virsci_society.scenarios.review.review import panel_folders, read_averages

    if not panel_folders(folder):
        return None
    scores = read_averages(folder).dropna(subset=["score"])
    scores.insert(0, "run", scores["paper"].str.partition("/")[0].astype("int64"))
    by = ["run", "panel", "kind", "dimension"]
    means = scores.groupby(by, as_index=False)["score"].agg(["mean", "count"])
    table = means.rename(columns={"mean": "score", "count": "papers"})
    done = [one.index for one in results if one.state == "done"]
    whole = {"score": "float64", "papers": "int64"}
    return table[table["run"].isin(done)].astype(whole).reset_index(drop=True)


def stack_measures(folder: Path, results: Sequence[RunResult]) -> dict[str, pd.DataFrame]:
    """The measures' tables of all runs that are done, one below the other, with their run."""
    from virsci_society.metrics.registry import METRICS

    runs = {one.index: folder_of(folder, one.index) for one in results if one.state == "done"}
    tables = {name: _stack(folder, runs, name) for name in METRICS}
    return {name: table for name, table in tables.items() if table is not None}


def _stack(folder: Path, run_folders: Mapping[int, Path], name: str) -> pd.DataFrame | None:
    import numpy as np
    import pyarrow as pa

    from virsci_society.society.results.table_files import as_frame, read_arrow

    where = folder / TABLES / f"{name}.parquet"
    parts, runs = [], []
    for index, run in run_folders.items():
        path = run / MEASURES / f"{name}.parquet"
        if path.is_file():
            parts.append(read_arrow(path))
            runs.append(index)
    if not parts:
        return None
    # A table without rows has columns of no type, which would change those of the others.
    lengths = [len(part) for part in parts]
    filled = [part for part in parts if len(part)] or parts[:1]
    # Pandas makes a table of each in several times the time that it takes to read it.
    try:
        stacked = as_frame(pa.concat_tables(filled, promote_options="permissive"), where)
    except pa.ArrowException as error:
        raise InputError(
            f"{where}: the runs have values of different kinds in it ({error}); they were measured "
            "by different releases: run the study again in another folder"
        ) from error
    # A column of that name in a measure of somebody else means something else.
    stacked = stacked.rename(columns={"run": f"{name}_run"})
    stacked.insert(0, "run", np.repeat(np.asarray(runs, dtype=np.int64), lengths))
    return stacked


def _measured(design: Design, folder: Path, lock: Lock, one: RunResult) -> RunResult:
    """The result of a run with its measures; those that were asked for later are measured now."""
    if one.state != "done":
        return one
    wanted = kept_measures(design.file.measures, lock.data.get("match"))
    new = [name for name in wanted if name not in one.measures]
    if new:
        run = folder_of(folder, one.index)
        if not run.exists():
            raise InputError(
                f"{run}: kept its measures alone, so {', '.join(new)} cannot be measured any more; "
                "leave it out of the study's measures, or run the study in another folder"
            )
        one = replace(one, measures={**one.measures, **measure_run_folder(run, new)})
        write_result(folder, one)
    return one


def _column(values: Sequence[Any]) -> Any:
    """Whole numbers as such, numbers as numbers, everything else as text."""
    import pandas as pd

    given = [value for value in values if value is not None]
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in given)
    if given and numbers:
        whole = all(isinstance(one, int) for one in given)
        return pd.array(list(values), dtype="Int64" if whole else "Float64")
    return pd.array([None if v is None else format_value(v) for v in values], dtype="string")
