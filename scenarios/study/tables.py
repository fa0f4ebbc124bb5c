"""The tables of a study, gathered from its runs, the same bytes whichever engine did them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import remove_file
from virsci_society.agents.files.file_hashes import HASHES, write_hashes
from virsci_society.scenarios.study.design import Design, format_value
from virsci_society.scenarios.study.lock import (
    BASE,
    OF_TEXTS,
    Lock,
    RunResult,
    folder_of,
    write_result,
    write_text,
)
from virsci_society.scenarios.study.plan import SPENT, deviation
from virsci_society.scenarios.study.study_file import (
    STUDY,
    Comparison,
    Figure,
    Match,
    crossed_settings,
    unusable_reason,
)

if TYPE_CHECKING:
    import pandas as pd

STUDY_JSON = "study.json"
NEEDED = ("runs", "results")
"""Tables that every study has."""


class StudyArm(BaseModel):
    """One arm; ``of`` is its name in the file, where it is run at several budgets."""

    name: str
    set: dict[str, Any] = Field(default_factory=dict)
    of: str = ""
    budget: float | None = None


class PlannedComparison(Comparison):
    """One comparison as it was planned, or ``exploratory``: added after the lock."""

    exploratory: bool = False


class StudyDescription(BaseModel):
    """The content of ``study.json``: the questions, and deviations from the plan."""

    title: str = ""
    about: str = ""
    design: str = "named"
    arms: list[StudyArm]
    keys: list[str] = Field(default_factory=list)
    replicates: int = Field(ge=1)
    measures: list[str]
    labels: dict[str, str] = Field(default_factory=dict)
    comparisons: list[PlannedComparison] = Field(default_factory=list)
    figures: list[Figure] = Field(default_factory=list)
    crossed: dict[str, list[Any]] = Field(default_factory=dict)
    usable: dict[str, float] = Field(default_factory=dict)
    unusable: dict[int, str] = Field(default_factory=dict)
    match: Match | None = None
    paired: bool = True
    deviations: list[str] = Field(default_factory=list)
    backend_about: str = ""
    embedding: str = ""
    leak: dict[str, Any] = Field(default_factory=dict)
    reviewers: dict[str, str] = Field(default_factory=dict)


def gather(design: Design, folder: Path, lock: Lock, results: Sequence[RunResult]) -> None:
    """Write ``study.json``, ``runs.parquet``, ``results.parquet`` and the optional tables."""
    from virsci_society.society.results.table_files import write_parquet

    results = [_measured(design, folder, lock, one) for one in results]
    # First: after a kill in between, the old list would call the new files damaged.
    remove_file(folder / HASHES)
    write_text(folder / STUDY_JSON, study_json(design, lock, folder, results))
    tables = {
        "runs": runs_table(design, results),
        "results": results_table(design, results),
        "matched": matched_table(design, results),
        "texts": texts_table(design, results),
        "reviews": reviews_table(folder, results),
    }
    speaker = speaker_of_study(design)
    for name, table in tables.items():
        if table is not None:
            write_parquet(folder / f"{name}.parquet", table, speaker=speaker)
    written = [folder / one for one in (BASE, STUDY, STUDY_JSON, *(f"{n}.parquet" for n in tables))]
    write_hashes(folder, sorted(path for path in written if path.exists()))


def speaker_of_study(design: Design) -> str:
    """Who answers in the runs of a study; arms may set keys of the backend."""
    return "; ".join(dict.fromkeys(str(one.backend.backend.about) for one in design.scenarios))


def is_gathered(folder: Path, content: str) -> bool:
    """Were tables and page written after the last run ended, for the same ``study.json``?"""
    files = [
        folder / name for name in (STUDY_JSON, "report.html", *(f"{n}.parquet" for n in NEEDED))
    ]
    if not all(path.is_file() for path in files) or files[0].read_text("utf-8") != content:
        return False
    # By modification time: comparing contents would mean gathering again.
    patterns = ("runs/*.result.json", "reviews/*/averages.parquet")
    news = [path.stat().st_mtime_ns for one in patterns for path in folder.glob(one)]
    return max(news, default=0) <= min(path.stat().st_mtime_ns for path in files)


def study_json(design: Design, lock: Lock, folder: Path, results: Sequence[RunResult]) -> str:
    """The text of ``study.json``."""
    from virsci_society.scenarios.review.review import panel_folders, reviewer_description

    file = design.file
    planned = [Comparison.model_validate(one) for one in lock.data["comparisons"]]
    unusable = {one.index: unusable_reason(file.usable, one.measures) for one in results}
    described = StudyDescription(
        title=file.study,
        about=design.about,
        design=file.arms.kind,
        arms=[
            StudyArm(name=arm.name, set=dict(arm.settings), of=arm.of, budget=arm.budget)
            for arm in design.arms
        ],
        keys=design.keys,
        replicates=file.replicates,
        measures=list(file.measures),
        labels=file.labels,
        comparisons=[
            PlannedComparison(**one.model_dump(), exploratory=one not in planned)
            for one in design.comparisons
        ],
        figures=list(file.figures),
        crossed={key: list(values) for key, values in file.crossed.items()},
        usable=file.usable,
        unusable={index: why for index, why in unusable.items() if why},
        match=file.match,
        paired=file.paired,
        deviations=lock.deviations(file.measures, design.comparisons),
        backend_about=speaker_of_study(design),
        embedding=" or ".join(dict.fromkeys(one.embedding for one in results if one.embedding)),
        leak=leak_notes(design, results),
        reviewers={one.name: reviewer_description(one) for one in panel_folders(folder)},
    )
    return described.model_dump_json(indent=1) + "\n"


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
    crossed = [crossed_settings(design.file.crossed, one.replicate) for one in results]
    kinds = {"run": "int64", "arm": "string", "replicate": "int64", "seed": "int64"}
    kinds |= {"state": "string", "digest": "string"}
    rows = [(one.index, one.arm, one.replicate, one.seed, one.state, one.digest) for one in results]
    table = pd.DataFrame(rows, columns=[*kinds]).astype(kinds)
    for key in design.file.crossed:
        table[key] = _column([one[key] for one in crossed])
    for key in design.keys:
        table[key] = _column([settings[one.arm].get(key) for one in results])
    return table


def _column(values: Sequence[Any]) -> Any:
    """Whole numbers as such, numbers as numbers, everything else as text."""
    import pandas as pd

    given = [value for value in values if value is not None]
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in given)
    if given and numbers:
        whole = all(isinstance(one, int) for one in given)
        return pd.array(list(values), dtype="Int64" if whole else "Float64")
    return pd.array([None if v is None else format_value(v) for v in values], dtype="string")


def results_table(design: Design, results: Sequence[RunResult]) -> pd.DataFrame:
    """One row per run and measure; NaN if missing, or if the replicate is not usable."""
    import pandas as pd

    usable, rows = design.file.usable, []
    for one in results:
        counts = not unusable_reason(usable, one.measures)
        # Those of novelty in a further embedding are called "HD by NAME".
        further = [name for name in one.measures if " by " in name]
        for name in (*design.file.measures, *further):
            value = one.measures.get(name, math.nan) if counts or name in usable else math.nan
            rows.append((one.index, one.arm, one.replicate, one.seed, name, value))
    table = pd.DataFrame(rows, columns=["run", "arm", "replicate", "seed", "measure", "value"])
    whole = dict.fromkeys(("run", "replicate", "seed"), "int64")
    return table.astype({**whole, "arm": "string", "measure": "string", "value": "float64"})


def matched_table(design: Design, results: Sequence[RunResult]) -> pd.DataFrame | None:
    """One row per arm of a matched study: what was planned for one run, and what was spent."""
    import pandas as pd

    wanted, rows = design.file.match, []
    if wanted is None or design.matching is None:
        return None
    for one in design.matching:
        runs = [run for run in results if run.arm == one.arm and run.state == "done"]
        values = [run.measures.get(SPENT[wanted.by], math.nan) for run in runs]
        known = [value for value in values if math.isfinite(value)]
        spent = math.fsum(known) / len(known) if known else math.nan
        off = (deviation(each, one.target) for each in (one.planned, spent))
        rows.append((*vars(one).values(), len(known), spent, *off))
    columns = ["arm", "key", "value", "target", "planned", "n", "spent", "planned_off", "spent_off"]
    kinds = {"arm": "string", "key": "string", "value": "Int64", "n": "int64"}
    table = pd.DataFrame(rows, columns=columns)
    return table.astype({**dict.fromkeys(columns, "float64"), **kinds})


def texts_table(design: Design, results: Sequence[RunResult]) -> pd.DataFrame | None:
    """One row per arm: of which texts its novelty is, how long they are, and what comes after."""
    import pandas as pd

    from virsci_society.metrics.novelty.novelty import COLUMNS

    if not set(COLUMNS) & set(design.file.measures):
        return None
    rows = []
    for arm, scenario in zip(design.arms, design.scenarios, strict=True):
        runs = [one.measures for one in results if one.arm == arm.name and one.state == "done"]
        table = pd.DataFrame(runs, columns=[*OF_TEXTS], dtype="float64")
        means = (table["calls_after_idea"].mean(), table["words"].mean(), table["words"].std())
        data = scenario.to_data()
        named = {"abstract": "title and abstract", "abstract_only": "abstract"}
        query = data["protocol"].get("neighbour_query", "abstract")
        query, given = named.get(query, query), data["novelty"] or {}
        measured = named["abstract"] if given.get("evaluated") == "abstract" else query
        limit = f", first {given['words']} words" if given.get("words") else ""
        rows.append((arm.name, query + limit, measured + limit, *means))
    columns = ["arm", "neighbours", "distances", "calls_after_idea", "words", "words_spread"]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[:3], "string"))


def reviews_table(folder: Path, results: Sequence[RunResult]) -> pd.DataFrame | None:
    """One row per run, panel, kind and score: the mean over the run's abstracts, and how many."""
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


def _measured(design: Design, folder: Path, lock: Lock, one: RunResult) -> RunResult:
    """The result of a run; measures that were added to the study later are computed now."""
    new = [name for name in lock.kept_measures(design.file.measures) if name not in one.measures]
    if one.state != "done" or not new:
        return one
    from virsci_society.scenarios.study.run_one import measure_run_folder

    run = folder_of(folder, one.index)
    if not run.exists():
        raise InputError(
            f"{run}: kept only its measures, so {', '.join(new)} can no longer be "
            "measured; remove it from the study's measures, or run the study in another folder"
        )
    one = replace(one, measures={**one.measures, **measure_run_folder(run, new)})
    write_result(folder, one)
    return one
