"""The blocks of printed results in the documentation: of which runs each is, how it is printed.

``benchmarks/values.py`` lists them with their pages, stamps them and prints them again.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import virsci_society as vs
from virsci_society.agents.files.file_hashes import hash_json
from virsci_society.metrics.inference.intervals import MEANINGS, POOR_COVERAGE
from virsci_society.metrics.scalars.measures import MEASURES
from virsci_society.scenarios.config.reader import differing_keys
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.runs.run_folder import prompt_hashes
from virsci_society.scenarios.study.reader import read_study

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
KEPT = ROOT / "runs" / "values"
"""Runs and studies from which blocks are printed; an interrupted one is resumed."""
ADDED = frozenset({"words", "calls_after_idea", "topic_extent"})
"""Measures added since the oldest block was printed. No block shows them, so that they are in no
stamp; else each new measure would put all blocks out of date."""
COVERAGE = ROOT / "metrics" / "inference" / "coverage.csv"
MODEL = ("backend.use=litellm", "backend.model=ollama_chat/llama3.1:8b")
STAYING = {"protocol.topic.leaving": "off"}
PLANNED = (*(f"virsci/table-{number}" for number in (1, 2, 3, 9)), "virsci/figure-8")
LENGTH = 10
"""Characters of a hash that a stamp shows."""
PROBES = {
    "words": {"population.ecosystem.scientists": 30, "population.ecosystem.papers": 240},
    "no words": {"until": "26w"},
}
"""What the program does, seen in one small run with words and in one without."""
PROBED = {"words": "virsci/paper", "no words": "community/assembly"}
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


class Source(NamedTuple):
    """What was run: the hash of all that decides what happens, and the seed."""

    hash: str
    seed: int


def _keys(scenario: Scenario, tokens: bool) -> list[Any]:
    """What differs from the defaults, so that a new key puts no block out of date.

    Scientists who follow rules say the same whatever their pages say, so that the pages count only
    where tokens are printed.
    """
    keys = scenario.identity() | {"until": scenario.to_data()["until"], "seed": None}
    novelty = {} if scenario.novelty is None else differing_keys(scenario.novelty)
    return [keys, novelty, *([prompt_hashes(scenario)] if tokens else [])]


def scenario(*names: str, tokens: bool = False, **settings: Any) -> Callable[[], Source]:
    """One run of each of these scenarios."""

    def source() -> Source:
        found = [load_scenario(name, **settings) for name in names]
        return Source(hash_json([_keys(one, tokens) for one in found]), found[0].seed)

    return source


def study(*names: str, settings: Sequence[str] = (), tokens: bool = False) -> Callable[[], Source]:
    """All runs of these studies: every arm with its seeds."""

    def source() -> Source:
        designs = [read_study(name, settings) for name in names]
        runs = [
            [*_keys(one, tokens), design.seeds(arm.name)]
            for design in designs
            for arm, one in zip(design.arms, design.scenarios, strict=True)
        ]
        return Source(hash_json(runs), designs[0].file.seed)

    return source


def content(path: Path) -> Callable[[], Source]:
    """A file of the repository, which a command of its own writes."""
    return lambda: Source(hash_json(path.read_text(encoding="utf-8")), 0)


def society(*arguments: str, folder: Path = ROOT) -> str:
    """What a command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "virsci_society", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


@cache
def probe(kind: str) -> str:
    """The hash of all measures of a small run, which a change of the program's rules moves."""
    with tempfile.TemporaryDirectory() as folder:
        made = load_scenario(PROBED[kind], **PROBES[kind])
        run = vs.Run.open(vs.run_scenario(made, Path(folder) / "run", page=False))
        found = vs.measure_run(run, [name for name in MEASURES if name not in ADDED])
    # Six digits: the last ones belong to the machine's linear algebra.
    return str(hash_json({k: f"{v:.6g}" for k, v in found.items() if not math.isnan(v)}))[:LENGTH]


def marks_of(source: Source) -> str:
    """What tells a folder of these runs from one of other scenarios or of other rules."""
    return f"{source.hash[:LENGTH]}-{probe('words')}-{probe('no words')}"


@cache
def kept(kind: str, name: str, *settings: str) -> Path:
    """The folder of a finished run or study, which an earlier call may have left.

    Its name bears what was run and what the program did, so that nothing is taken from a folder
    of other rules.
    """
    pairs = dict(one.split("=", 1) for one in settings)
    source = study(name, settings=settings)() if kind == "study" else scenario(name, **pairs)()
    seed = f"-{pairs['seed']}" if "seed" in pairs else ""
    folder = KEPT / f"{name.replace('/', '-')}-{marks_of(source)}{seed}"
    given = [part for one in settings for part in ("--set", one)]
    society(*(["study"] * (kind == "study")), "run", name, *given, "--out", str(folder))
    return folder


def measured(name: str, *settings: str) -> pd.DataFrame:
    """The table ``measures`` of a study, with the varied keys of each arm; their last parts."""
    folder = kept("study", name, *settings)
    arms = pd.read_parquet(folder / "runs.parquet").drop_duplicates("arm")
    keys = arms.drop(columns=["run", "replicate", "seed", "state", "digest"])
    found = pd.read_csv(folder / "report" / "measures.csv").merge(keys, on="arm")
    found = found.rename(columns=lambda column: column.rpartition(".")[2])
    return found.loc[:, ~found.columns.duplicated()]


def table(heads: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown."""
    lines = [[str(cell) for cell in row] for row in (heads, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)


def interval(row: Any) -> str:
    """A mean with its 95 % interval, and how many papers there are where some are missing."""
    if pd.isna(row["low"]):
        return f"{row['mean']:.2f}"
    return f"{row['mean']:.2f} ({row['low']:.2f} to {row['high']:.2f})"


def cell(found: pd.DataFrame, measure: str, digits: int | None = None, **keys: object) -> str:
    """One measure of the arm with these keys: with its interval, or with so many digits."""
    rows = found[found["measure"] == measure]
    for key, value in keys.items():
        rows = rows[rows[key] == value]
    (row,) = rows.to_dict("records")
    return interval(row) if digits is None else f"{row['mean']:.{digits}f}"


# ------------------------------------------------------------------ docs/reproduction.md


def plan_of_one_run() -> str:
    """Two sizes of a team with a language model, as planned."""
    rows = []
    for size in (4, 8):
        sets = (*MODEL, "protocol.topic.leaving=off", f"protocol.team_size={size}")
        given = [part for one in sets for part in ("--set", one)]
        found = json.loads(society("plan", "virsci/paper", *given, "--json"))
        counts = (f"{found[key]['likely']:,}" for key in ("calls", *TOKENS))
        rows.append((f"{size} members, 5 turns", *counts, _wall(found["seconds"])))
    return table(("team", "calls", *TOKENS.values(), WALL), rows)


TOKENS = {"prompt_tokens": "tokens of prompts", "completion_tokens": "tokens of replies"}
WALL = "wall time, likely (low to high)"


def _wall(seconds: dict[str, float]) -> str:
    from virsci_society.scenarios.terminal.plan_tables import duration

    low, likely, high = (duration(seconds[end]) for end in ("low", "likely", "high"))
    return f"{likely} ({low} to {high})"


def plans_of_studies() -> str:
    """What every study of the paper takes with a language model."""
    from virsci_society.scenarios.runs.progress import Progress
    from virsci_society.scenarios.study.forecast import study_forecast

    rows = []
    for name in PLANNED:
        found = study_forecast(read_study(name, MODEL), Progress())
        prompts, replies = (found.total(key)["likely"] / 1e6 for key in TOKENS)
        calls = f"{found.total('calls')['likely']:,.0f}"
        parts = (f"{prompts:.2g}" if prompts < 10 else f"{prompts:.0f}", f"{replies:.2g}")
        design = (len(found.design.arms), found.design.runs)
        rows.append((f"`{name}`", *design, calls, *parts, _wall(found.wall_time())))
    return table(("study", "arms", "runs", "calls", "prompts", "replies", WALL), rows)


NOVELTY = ("ON", "HD", "CD", "CI")


def table_1() -> str:
    """A team beside two systems of other papers and one scientist."""
    found = measured("virsci/table-1")
    arms = {
        "hypogen": "HypoGen, 12 rounds",
        "ai_scientist": "AI Scientist, 50 reflections",
        "team": "VirSci, 4 x 5",
        "alone": "VirSci alone, 1 x 20",
    }
    rows = [
        (
            label,
            *(cell(found, one, arm=arm) for one in NOVELTY),
            *(cell(found, one, 0, arm=arm) for one in ("words", "calls")),
        )
        for arm, label in arms.items()
    ]
    return table(("offline", *NOVELTY, "words", "calls"), rows)


COST = "inference_cost"
TURNS = range(1, 8)
SKETCH = ("replicates=3",)
"""Of the grids of many arms, which would take long with 20."""


def by_turns(found: pd.DataFrame, **keys: object) -> list[str]:
    """Mean ON of the arm with these keys at every number of turns."""
    return [cell(found, "ON", 2, turns=turns, **keys) for turns in TURNS]


def table_2() -> str:
    """ON by turns."""
    row = ("ON, three replicates", *by_turns(measured("virsci/table-2", *SKETCH)))
    return table(("offline", *TURNS), [row])


def tables_3_and_4() -> str:
    """ON by the stages that see papers, in one field and in twelve."""
    rows = []
    for number, label in ((3, "one field"), (4, "twelve fields")):
        found = measured(f"virsci/table-{number}")
        pairs = (("off", "off"), ("on", "off"), ("off", "on"), ("on", "on"))
        rows.append((label, *(cell(found, "ON", ideas=i, assessment=a) for i, a in pairs)))
    return table(("offline, ON", "none", "idea generation", "assessment", "both"), rows)


SWITCHES = {
    5: ("invitation", "off", "no invitation mechanism"),
    6: ("novelty_assessment", "off", "no novelty assessment"),
    7: ("self_review", "on", "self-review"),
    8: ("speaking_order", "random", "random speakers"),
}


def tables_5_to_8() -> str:
    """ON by turns with each switch turned."""
    found = {number: measured(f"virsci/table-{number}", *SKETCH) for number in SWITCHES}
    rows = []
    for size in (4, 8):
        rows.append(("all", size, "as it is", *by_turns(found[5], team_size=size, invitation="on")))
        for number, (key, value, label) in SWITCHES.items():
            values = by_turns(found[number], team_size=size, **{key: value})
            rows.append((number, size, label, *values))
    return table(("table", "n", "arm", *TURNS), rows)


def table_9() -> str:
    """Turns of each stage, cost and ON with fixed and adaptive turns."""
    found = measured("virsci/table-9")
    stages = ("topic", "ideas", "novelty", "abstract")
    rows = []
    for size in (4, 8):
        for pacing in ("fixed", "adaptive"):
            arm = {"team_size": size, "pacing": pacing}
            turns = (cell(found, f"turns_{stage}", 2, **arm) for stage in stages)
            ends = (cell(found, COST, 1, **arm), cell(found, "ON", **arm))
            rows.append((size, pacing, *turns, *ends))
    return table(("n", "turns", "topic", "ideas", "assessment", "abstract", "cost", "ON"), rows)


def figure_4() -> str:
    """ON by size and turns."""
    found = measured("virsci/figure-4", *SKETCH)
    rows = [(size, *by_turns(found, team_size=size)) for size in (1, 2, 4, 6, 8, 10)]
    return table(("n", *TURNS), rows)


def figures_5_6_and_8() -> str:
    """Novelty by freshness, by diversity and by how leaders explore."""
    rows = []
    for number, key in ((5, "freshness"), (6, "diversity"), (8, "exploring")):
        found = measured(f"virsci/figure-{number}")
        head = f"{number}, {key}"
        for arm in found["arm"].unique():
            of = found[found["arm"] == arm]
            size, value = of[["team_size", "explore" if number == 8 else key]].iloc[0]
            # A law of its own in place of a share: leaders draw from a half-normal distribution.
            drawn = pd.isna(value) or "half_normal" in str(value)
            shown = "half normal" if drawn else f"{float(value):g}"
            papers = of[of["measure"] == "ON"]["n"].iloc[0]
            if papers < 20:
                shown += f" ({papers:g} papers)"
            others = (cell(of, one, 2) for one in NOVELTY[1:])
            rows.append((head, f"{size:g}", shown, cell(of, "ON"), *others))
            head = ""
    return table(("figure", "n", "value", *NOVELTY), rows)


def paper_and_code() -> str:
    """ON of each departure of the released code, beside the paper's."""
    folder = kept("study", "paper-vs-code")
    found = measured("paper-vs-code")
    apart = pd.read_csv(folder / "report" / "differences.csv").query("measure == 'ON'")
    rows = [("paper", cell(found, "ON", 2, arm="paper"), "", "")]
    for one in apart.to_dict("records"):
        ends = f"{one['low']:.2f} to {one['high']:.2f}"
        mean = cell(found, "ON", 2, arm=one["second"])
        rows.append((one["second"], mean, f"{one['difference']:.2f}", ends))
    missing = ((apart["low"] > 0) | (apart["high"] < 0)).sum()
    corrected = (apart["holm"] < 0.05).sum()
    said = (
        f"Of {len(apart)} intervals {missing} leave out 0; by Holm's correction "
        f"{corrected} of {len(apart)} differ."
    )
    return table(("arm", "ON", "difference", "95 % interval"), rows) + f"\n\n{said}"


# ------------------------------------------------------------------ other pages


def delays() -> str:
    """Where days go between meetings, by people and by teams of a member."""
    run = vs.Run.open(kept("run", "community/closed"))
    found = vs.measure(run, "delays")
    parts = {
        "waiting": "waiting",
        "of that at the desk": "desk_queue",
        "for team-mates": "teammates",
        "notice": "notice",
    }
    tables = []
    for by, head in (("size", "people"), ("memberships", "teams of the member")):
        of = found[found["by"] == by].sort_values("value")
        rows = [
            (label, *(f"{value:.2f}" for value in of[column])) for label, column in parts.items()
        ]
        tables.append(table((head, *(f"{value:g}" for value in of["value"])), rows))
    (idle,) = vs.measure(run, "held_attention")["idle_share"]
    said = f"Of all attention held, {100 * idle:.2g} % sat in a room that was not complete yet."
    return "\n\n".join((*tables, said))


def waiting() -> str:
    """Days of waiting with attention on and unlimited."""
    found = measured("waiting").query("measure == 'waiting_round' or measure == 'memberships'")
    tables = []
    for head, label, values in (
        ("team size", "size", (2, 3, 4, 6, 8)),
        ("limit of teams", "limit", (1, 2, 3, 4)),
    ):
        arms = {at: [f"{label} {one}, {at}" for one in values] for at in ("on", "unlimited")}
        rows = [
            (at, *(cell(found, "waiting_round", arm=arm) for arm in names))
            for at, names in arms.items()
        ]
        if label == "limit":
            members = (cell(found, "memberships", 2, arm=arm) for arm in arms["on"])
            rows.insert(0, ("teams of a member, on", *members))
        tables.append(table((head, *values), rows))
    folder = kept("study", "waiting")
    rho = pd.read_csv(folder / "report" / "rank_correlations.csv")["rho"]
    said = (
        "Spearman's rho of waiting, within seeds: with team size {:.2f} where attention is on and "
        "{:.2f} where it is unlimited, with the limit of teams {:.2f} and {:.2f}."
    ).format(*rho)
    return "\n\n".join((*tables, said))


FOUND = {
    "discovery.drop.mean": "drop from rating to outcome",
    "discovery.foresight.mean": "correlation of both",
    "discovery.attempts.mean": "ideas carried out",
    "discovery.claims.mean": "claims",
    "discovery.false_on_record.mean": "false, of those on record",
    "discovery.worth_published.mean": "worth of what was published",
    "discovery.duplicated.mean": "had been carried out before",
    "discovery.per_scientist_year.mean": "discoveries per 1,000 people and year",
    "consensus.right.mean": "share of communities that are right",
    "consensus.agreed.mean": "days until they are",
    "epistemic_progress.progress.mean": "share of significant patches visited",
    "epistemic_progress.peaks.mean": "share of peaks found",
}
"""Measures of what is found out, with the heads of their columns."""


def found_out(name: str) -> str:
    """What was found out in each arm of a study that measures it."""
    found = measured(name)
    per_thousand = found["measure"] == "discovery.per_scientist_year.mean"
    found.loc[per_thousand, ["mean", "low", "high"]] *= 1000
    told = {key: head for key, head in FOUND.items() if key in set(found["measure"])}
    return by_arm(found, told)


ASSISTED = {
    "papers": "papers",
    "topic_extent": "extent of topics",
    "citations.inside.share": "engagement",
}
"""Measures of the study ``assistance``, with the heads of their columns."""


def by_arm(found: pd.DataFrame, heads: Mapping[str, str]) -> str:
    """Means of measures with intervals, an arm a row."""
    arms = dict.fromkeys(found["arm"])
    rows = [(arm, *(cell(found, measure, arm=arm) for measure in heads)) for arm in arms]
    return table(("arm", *heads.values()), rows)


def coverage() -> str:
    """How often intervals hold, as benchmarks/coverage.py has kept it."""
    with COVERAGE.open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    rows = [
        (
            MEANINGS[one["family"]],
            one["n"],
            f"{float(one['skewness']):.2f}",
            *(_share(one[kind]) for kind in ("t", "bca", "log")),
        )
        for one in cells
    ]
    return table(("data", "n", "skewness", "t", "BCa", "log scale"), rows)


def _share(value: str) -> str:
    if not value:
        return "–"
    shown = f"{100 * float(value):.1f}"
    return f"**{shown}**" if float(value) < POOR_COVERAGE else shown


def giant_component() -> str:
    """Share of the giant component, and half the width of its interval below."""
    found = measured("guimera", "replicates=20").query("measure == 'giant_component'")
    shares = sorted(found["p"].unique())
    rows = []
    for q in sorted(found["q"].unique()):
        of = found[found["q"] == q].sort_values("p")
        rows.append((f"q = {q:g}", *(f"{mean:.3f}" for mean in of["mean"])))
        rows.append(("", *(f"{half:.3f}" for half in (of["high"] - of["low"]) / 2)))
    return table(("p", *(f"{p:g}" for p in shares)), rows)


SURVEY = "--at 180d --who degree:12 --form examples/survey.yaml"
ASKED = "--plan --set backend.use=litellm --set backend.model=gpt-4o-mini"


def survey(*more: str) -> str:
    """What the survey of the page prints, after a run of the quickstart."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        shutil.copytree(kept("run", "quickstart"), here / "runs" / "quickstart-1")
        (here / "examples").symlink_to(ROOT / "examples")
        arguments = shlex.split(f"ask runs/quickstart-1 {SURVEY}")
        return f"```\n{society(*arguments, *more, folder=here)}```"


def systems() -> str:
    """What each system is matched to."""
    from virsci_society.scenarios.study.budget_matching import UNITS, match_budgets
    from virsci_society.scenarios.study.forecast import matched_row

    design = match_budgets(read_study("systems"))
    wanted, matching = design.file.match, design.matching
    assert wanted is not None
    assert matching is not None
    rows = [matched_row(one) for one in matching]
    return table(("arm", "key", "value", UNITS[wanted.by], "off"), rows)


def tokens() -> str:
    """Tokens of every page by profile."""
    from benchmarks.profile_tokens import page_text

    return page_text()


def page_code(page: Path, *bases: str) -> Callable[[], Source]:
    """The files, commands and Python that a page shows, and the scenarios that they are of."""

    def source() -> Source:
        code = [text for language, text in _blocks(page) if language != "text"]
        return Source(hash_json([code, scenario(*bases)().hash]), 1)

    return source


def _blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of the blocks of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def _command_once(line: str, folder: Path) -> None:
    """A command of a page (``$ society ... > FILE``), unless it has ended in this folder."""
    noted = folder / "commands.txt"
    ended = noted.read_text(encoding="utf-8") if noted.exists() else ""
    if line in ended.splitlines():
        return
    command, _, file = line.partition(" > ")
    told = society(*shlex.split(command)[2:], folder=folder)
    if file:
        (folder / file).write_text(told, encoding="utf-8")
    noted.write_text(f"{ended}{line}\n", encoding="utf-8")


def printed_by(page: Path, which: int, source: Callable[[], Source]) -> Callable[[], str]:
    """What block number ``which`` of the page's own Python prints, after its own commands.

    A block that begins with its own name in a comment is a file that is saved, and is not counted.
    """

    def text() -> str:
        folder = KEPT / f"{page.stem}-{marks_of(source())}"
        folder.mkdir(parents=True, exist_ok=True)
        begun = 0
        for language, lines in _blocks(page):
            if name := re.match(r"# (\w+\.(?:py|yaml))\n", lines):
                (folder / name[1]).write_text(lines, encoding="utf-8")
            elif language == "console":
                for line in lines.splitlines():
                    _command_once(line, folder)
            elif language == "python":
                done = subprocess.run(
                    [sys.executable, "-c", lines],
                    cwd=folder,
                    env={**os.environ, "PYTHONPATH": str(ROOT)},
                    stdout=subprocess.PIPE,
                    text=True,
                    check=True,
                )
                if begun == which:
                    return f"```text\n{done.stdout}```"
                begun += 1
        raise ValueError(f"{page} has no block {which} of Python")

    return text
