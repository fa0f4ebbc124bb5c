"""The cards of known facts of two societies and of real fields, side by side (docs/facts.md).

Runs `community/assembly` and, from the first of the fields, `community/vis`, whose words are made
by rules; builds every field; judges all of them as ``society facts`` does. Prints the card, its
counts, and what is published of a community of agents, beside near-duplicate papers of all and of
the first arm of a study, as one archive. Runs are kept in ``runs/benchmarks``.

    python -m benchmarks.facts vis=FILE@1995-2023 nlp=FILE@2000-2021 SmolLM2=STUDY
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from virsci_society.metrics.facts.fact import judge_facts
from virsci_society.metrics.novelty import near_duplicates as copies
from virsci_society.scenarios.analysis.compare_with_corpus import open_compared
from virsci_society.scenarios.analysis.facts import chosen_facts, opened_sides
from virsci_society.scenarios.analysis.facts_page import Card, size_text
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.results.run import Run

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "runs" / "benchmarks"
AGENTS = {"lotka": 2.21, "one_paper_authors": 0.70}
"""clawRxiv, 17 to 31 March 2026 without spam, counted from ``outputs/scored_papers.csv`` of the
audit ``andamanopal/clawrxiv-quality-audit``; the archive has no licence and is not here."""
MARKS = {"inconclusive": "?", "inside the corpus": "", "not measurable": "-"}
FIELD = ("--boundary", "2012", "--active-years", "6", "--last-year", "2023")
"""Of the field in which `community/vis` starts, as its file says; of all, for near-duplicates."""
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
        given = (*settings, f"until={YEARS[name]}", f"seed={seed}")
        options = [part for one in given for part in ("--set", one)]
        society("run", name, *options, "--out", str(folders[-1]))
    return folders


def field(name: str, file: str, *options: str) -> Path:
    """The folder of an ecosystem, which an earlier call may have left."""
    folder = KEPT / "eco" / f"{name}-{options[1]}"
    if not folder.is_dir():
        source = ("jsonl", str(Path(file).resolve()), "--no-abstract-required")
        society("ecosystem", "build", *source, *options, "--out", str(folder))
    return folder


def card(runs: list[Path], with_: Path | None = None) -> Card:
    """The first card of ``society facts``."""
    name, sides = opened_sides(runs, with_)[0]
    return Card(name, sides, tuple(judge_facts(chosen_facts(()), sides)))


def side_by_side(found: pd.DataFrame) -> str:
    """The card: value/chance, size and verdict; facts of our own range last."""
    societies = list(dict.fromkeys(found["society"]))
    cells = {(row["fact"], row["society"]): row for row in found.to_dict("records")}
    valued = found.groupby("fact", sort=False)["value"].any()
    right = found["verdict"].eq("reproduced").groupby(found["fact"]).sum()
    inside = found[found["verdict"].eq("inside the corpus")]
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


def agents_and_people(found: pd.DataFrame, copied: Mapping[str, pd.DataFrame]) -> str:
    """What is published of clawRxiv's first fortnight, beside societies, fields and a study."""
    values = found.pivot(index="fact", columns="society", values="value").reindex(columns=copied)
    rows = [
        (f"`{name}`", given, *(f"{value:.3g}" for value in values.loc[name]))
        for name, given in AGENTS.items()
    ]
    for kind, given in {"by_words": 0.31, "by_vectors": "-"}.items():
        known = [part[kind].dropna() for part in copied.values()]
        cells = [f"{one.sum()} of {len(one):,}" if len(one) else "-" for one in known]
        rows.append((f"near-duplicates {kind.replace('_', ' ')}", given, *cells))
    alike = [part["resemblance"].median() for part in copied.values()]
    rows.append(("resemblance, median", "-", *(f"{one:.2g}" for one in alike)))
    made = table(("fact", "clawRxiv", *copied), rows)
    return made.replace(" nan ", " - ").replace(" <NA> ", " - ")


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
    given = [one.split("=") for one in sys.argv[1:]]
    fields, all_papers = [], []
    for name, (file, _, years) in ((name, one.rpartition("@")) for name, one in given):
        if file:
            first, _, last = years.partition("-")
            fields.append(field(name, file, "--boundary", first, "--last-year", last))
            all_papers.append(field(name, file, *FIELD))
    words = kept("community/vis", f"population.ecosystem.path={all_papers[0]}")
    cards = [card(kept("community/assembly")), card(words, all_papers[0])]
    cards += [card([], path) for path in fields]
    written = pd.concat([copies.near_duplicates(Run.open(one)) for one in words])
    # Wordless papers hold no words of their own.
    told = [written[:0], written]
    told += [copies.corpus_near_duplicates(Ecosystem.load(path)) for path in all_papers]
    copied = dict(zip([one.name for one in cards], told, strict=True))
    copied |= {name: one_archive(Path(one)) for name, one in given if "@" not in one}
    found = pd.DataFrame([row for one in cards for row in one.rows()])
    counts = "\n".join(f"- {one.name}: {one.summary}" for one in cards)
    print(f"{side_by_side(found)}\n\n{counts}\n\n{agents_and_people(found, copied)}")
