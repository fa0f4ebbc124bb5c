"""The cards of known facts of two societies and of real fields, side by side (docs/facts.md).

Builds every field, runs `community/assembly` and, from the first field, `community/vis` with
rule-based scientists, and judges all of them as ``society facts`` does. Prints the card, its
counts, the published values of a community of agents, and near-duplicate papers; the runs of a
study's first arm are compared as one archive. Runs are kept in ``runs/benchmarks``.

    python -m benchmarks.facts vis=FILE@1995-2023 nlp=FILE@2000-2021 SmolLM2=STUDY
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.metrics.facts.fact import judge_facts
from virsci_society.metrics.novelty import near_duplicates as copies
from virsci_society.scenarios.analysis.compare_with_corpus import open_compared
from virsci_society.scenarios.analysis.facts import chosen_facts, opened_sides
from virsci_society.scenarios.analysis.facts_page import Card, size_text
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.results.run import Run

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "runs" / "benchmarks"
AGENTS = {"lotka": 2.21, "one_paper_authors": 0.70}
"""clawRxiv, 17 to 31 March 2026 without spam, counted from ``outputs/scored_papers.csv`` of the
audit ``andamanopal/clawrxiv-quality-audit``; the archive has no licence and is not here."""
MARKS = {"inconclusive": "?", "inside the corpus": "", "not measurable": "-"}
FIELD = ("--boundary", "2012", "--active-years", "6", "--last-year", "2023")
"""Boundary and window of `community/vis`; every field has them for near-duplicates."""
YEARS = {"community/assembly": "20y", "community/vis": "5y"}
SEEDS = range(1, 6)


def society(*arguments: str) -> None:
    """Run a command."""
    command = [sys.executable, "-m", "virsci_society", *arguments]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)


def kept(name: str, *settings: str) -> list[Path]:
    """The folders of finished runs, one for each seed."""
    folders = []
    for seed in SEEDS:
        folders.append(KEPT / f"{name.replace('/', '-')}-{YEARS[name]}-{seed}")
        keys = (*settings, f"until={YEARS[name]}", f"seed={seed}")
        options = [word for key in keys for word in ("--set", key)]
        society("run", name, *options, "--out", str(folders[-1]))
    return folders


def field(name: str, file: str, *options: str) -> Path:
    """The folder of an ecosystem, built unless it exists."""
    folder = KEPT / "eco" / f"{name}-{options[1]}"
    if not folder.is_dir():
        source = ("jsonl", str(Path(file).resolve()), "--no-abstract-required")
        society("ecosystem", "build", *source, *options, "--out", str(folder))
    return folder


def card(runs: list[Path], with_: Path | None = None) -> Card:
    """The first card of ``society facts``."""
    name, sides = opened_sides(runs, with_)[0]
    return Card(name, sides, tuple(judge_facts(chosen_facts(()), sides)))


def side_by_side(judged: pd.DataFrame) -> str:
    """The card: value/chance, size and verdict; facts with a range of our own come last."""
    societies = list(dict.fromkeys(judged["society"]))
    cells = {(row["fact"], row["society"]): row for row in judged.to_dict("records")}
    valued = judged.groupby("fact", sort=False)["value"].any()
    right = judged["verdict"].eq("reproduced").groupby(judged["fact"]).sum()
    inside = judged[judged["verdict"].eq("inside the corpus")]
    rows = []
    for name in valued.index[valued & ~valued.index.isin(inside["fact"])]:
        own, low, high = (cells[name, societies[0]][key] for key in ("own_range", "from", "to"))
        shown = [_cell(cells[name, one]) for one in societies]
        rows.append((own, right[name], (f"`{name}`{'*' * own}", f"{low:g}..{high:g}", *shown)))
    rows.sort(key=lambda row: row[:2])
    never = ", ".join(f"`{name}`" for name in valued.index[~valued])
    heads = ("fact", "range", *societies)
    cited = [f"`{row['fact']}` {_cell(row)}" for row in inside.to_dict("records")]
    more = f"Inside the corpus: {', '.join(cited)}. Without a value: {never}."
    return f"{table(heads, [row[2] for row in rows])}\n\n{more}"


def one_archive(study: Path) -> pd.DataFrame:
    """The near-duplicates among the papers of all runs of a study's first arm."""
    papers = pd.concat([run.table("papers") for run in open_compared([study])[0].runs])
    texts = papers["title"].str.cat(papers["abstract"], "\n").dropna().tolist()
    return copies.compared_with_earlier([str(row) for row in range(len(texts))], texts)


def corpus_near_duplicates(ecosystem: Ecosystem) -> pd.DataFrame:
    """The near-duplicates among the papers of an ecosystem; by titles without any abstract."""
    both = (ecosystem.past, ecosystem.contemporary)
    dates = np.concatenate([side.dates for side in both])
    papers = [paper for side in both for paper in side]
    rows = [row for row, one in enumerate(papers) if one.abstract] or range(len(papers))
    rows = sorted(rows, key=lambda row: (dates[row], papers[row].id))
    texts = [paper_text(papers[row].title, papers[row].abstract) for row in rows]
    vectors = np.concatenate([ecosystem.past_vectors, ecosystem.contemporary_vectors])
    return copies.compared_with_earlier([papers[row].id for row in rows], texts, vectors[rows])


def agents_and_people(judged: pd.DataFrame, compared: Mapping[str, pd.DataFrame]) -> str:
    """The published values of clawRxiv's first fortnight, with societies, fields and a study."""
    values = judged.pivot(index="fact", columns="society", values="value").reindex(columns=compared)
    rows = [
        (f"`{name}`", published, *(f"{value:.3g}" for value in values.loc[name]))
        for name, published in AGENTS.items()
    ]
    for kind, published in {"by_words": 0.31, "by_vectors": "-"}.items():
        known = [papers[kind].dropna() for papers in compared.values()]
        cells = [f"{one.sum()} of {len(one):,}" if len(one) else "-" for one in known]
        rows.append((f"near-duplicates {kind.replace('_', ' ')}", published, *cells))
    medians = [papers["resemblance"].median() for papers in compared.values()]
    rows.append(("resemblance, median", "-", *(f"{one:.2g}" for one in medians)))
    text = table(("fact", "clawRxiv", *compared), rows)
    return text.replace(" nan ", " - ").replace(" <NA> ", " - ")


def table(heads: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Format a table in Markdown."""
    lines = [[str(cell) for cell in row] for row in (heads, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)


def _cell(row: Mapping[Any, Any]) -> str:
    verdict = str(MARKS.get(row["verdict"], row["verdict"]))
    if pd.isna(row["value"]):
        return verdict
    verdict = verdict if verdict in ("reproduced", *MARKS.values()) else f"**{verdict}**"
    chance = round(row["chance"], 4) + 0.0
    return f"{row['value']:.3g}/{chance:.2g}({size_text(row)}) {verdict}".rstrip()


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit(__doc__)
    named = [one.split("=") for one in sys.argv[1:]]
    fields, all_papers = [], []
    for name, (file, _, years) in ((name, one.rpartition("@")) for name, one in named):
        if file:
            first, _, last = years.partition("-")
            fields.append(field(name, file, "--boundary", first, "--last-year", last))
            all_papers.append(field(name, file, *FIELD))
    vis = kept("community/vis", f"population.ecosystem.path={all_papers[0]}")
    cards = [card(kept("community/assembly")), card(vis, all_papers[0])]
    cards += [card([], path) for path in fields]
    simulated = pd.concat([copies.near_duplicates(Run.open(folder)) for folder in vis])
    no_texts = simulated[:0]  # community/assembly is wordless
    fields_compared = [corpus_near_duplicates(Ecosystem.load(path)) for path in all_papers]
    names = [one.name for one in cards]
    compared = dict(zip(names, [no_texts, simulated, *fields_compared], strict=True))
    compared |= {name: one_archive(Path(one)) for name, one in named if "@" not in one}
    judged = pd.DataFrame([row for one in cards for row in one.rows()])
    counts = "\n".join(f"- {one.name}: {one.summary}" for one in cards)
    print(f"{side_by_side(judged)}\n\n{counts}\n\n{agents_and_people(judged, compared)}")
