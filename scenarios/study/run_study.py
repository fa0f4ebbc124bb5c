"""The way of a study from its file to its page, and all of it in one call from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.runs.progress import Progress
from virsci_society.scenarios.study.design import Design, check_arms, read_study, study_of
from virsci_society.scenarios.study.engine import Engine, run_locally
from virsci_society.scenarios.study.lock import (
    Lock,
    RunResult,
    describe_result,
    open_folder,
    read_lock,
    read_results,
    trim_runs,
    unfinished_runs,
)
from virsci_society.scenarios.study.study import Study
from virsci_society.scenarios.study.study_file import FOLDERS
from virsci_society.scenarios.study.tables import gather, is_gathered, study_json


def open_study(
    study: str | Path,
    settings: Iterable[str],
    folder: Path,
    progress: Progress,
    *,
    trust: bool,
    by: str = "run",
    check: Callable[[Design, Lock | None], object] = lambda design, held: None,
) -> tuple[Design, Lock]:
    """The design of a study and the lock of its folder, which is made if missing.

    Args:
        check: is called before anything is rehearsed or written, with the lock if there is one.
    """
    find_code_here(trust)
    held = read_lock(folder)
    measured = () if held is None else held.data["measures"]
    design = read_study(study, settings, trust=trust, measured=measured)
    check(design, held)
    if design.file.match is not None:
        from virsci_society.scenarios.study.budget_matching import match_budgets

        locked = None if held is None else held.data.get("match")
        design = match_budgets(design, locked, progress=progress, trust=trust)
    return design, open_folder(design, folder, by)


def conclude(
    design: Design,
    folder: Path,
    lock: Lock,
    *,
    changed: bool,
    interim_p: bool = False,
    tell: Callable[[str], object] = lambda line: None,
) -> tuple[list[RunResult], bool]:
    """Gather and write the page, if there is anything new; how every run stands, and if it was."""
    found = read_results(folder, lock)
    done = sum(one.state == "done" for one in found)
    new = changed or not is_gathered(folder, study_json(design, lock, folder, found))
    if done and new:
        from virsci_society.scenarios.study.page import write_study_page

        tell(f"gathering {done:,} runs")
        gather(design, folder, lock, found)
        tell("writing the page")
        write_study_page(folder, interim_p=interim_p)
    trim_runs(folder, found, design.file.keep)
    return found, new


def run_study(
    base: str | Path | Scenario,
    arms: Mapping[str, Any],
    *,
    measures: Sequence[str],
    replicates: int = 20,
    comparisons: Sequence[Mapping[str, Any]] | None = None,
    out: Path | str | None = None,
    seed: int = 1,
    jobs: int = 1,
    trust: bool = False,
) -> Study:
    """Replicate a scenario in several arms, and open the finished study.

    The same call resumes a study that was stopped; of a finished one nothing is done again.

    Args:
        base: the scenario that every arm starts from: a name of the library, a path or a scenario.
        arms: the scenario keys of each arm by its name, dotted or nested; or ``grid`` or
            ``latin_hypercube`` as in a study file.
        measures: what is measured of each run, as ``society list measures`` names it.
        replicates: runs of each arm; replicate r has the same seed in every arm.
        comparisons: the planned tests as in a study file; None: every measure, paired, of all arms
            against the first.
        out: the study's folder; None: ``runs/studies/`` and the name of the scenario.
        jobs: processes. More than one needs ``if __name__ == "__main__":`` in a script.

    Returns:
        The study: ``results`` is a DataFrame with a row per run and measure, ``compare()`` the
        planned comparisons, ``folder`` holds ``report.html``.

    Raises:
        InputError: something is wrong with the design, or no run could be done.

    Example:
        >>> study = vs.run_study(
        ...     scenario,
        ...     arms={"pairs": {"protocol.team_size": 2}, "threes": {"protocol.team_size": 3}},
        ...     replicates=2,
        ...     measures=["papers"],
        ... )
        >>> study.results.groupby("arm")["value"].size().to_dict()
        {'pairs': 2, 'threes': 2}
        >>> study.compare()[["measure", "of"]].to_numpy().tolist()
        [['papers', 'pairs to threes']]
    """
    find_code_here(trust)
    if comparisons is None:
        comparisons = [{"test": "paired", "of": one} for one in measures]
    data = {
        "study": base.name if isinstance(base, Scenario) else Path(base).stem,
        "arms": dict(arms),
        "replicates": replicates,
        "seed": seed,
        "measures": list(measures),
        "comparisons": list(comparisons),
    }
    design = study_of(data, base, trust=trust)
    folder = FOLDERS / design.name if out is None else Path(out)
    check_arms(design)
    lock = open_folder(design, folder)
    todo = unfinished_runs(read_results(folder, lock))
    if todo:
        _, together = Engine().sizes(design, len(todo))
        run_locally(folder, todo, jobs=jobs, together=together, trust=trust)
    found, _ = conclude(design, folder, lock, changed=bool(todo))
    if not any(one.state == "done" for one in found):
        told = describe_result(folder, found[0])
        raise InputError(f"{folder}: no run of this study could be done: {told}")
    return Study.open(folder)
