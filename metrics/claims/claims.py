"""Counts of unsupported figures, unknown references and copied passages in a run's papers.

Both papers of VirSci name fabricated claims and misuse as limits of such systems. Everything here
is found by rules over words and is a reason to look, not a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from virsci_society.metrics.claims.named_references import named_references, unknown_references
from virsci_society.metrics.claims.result_figures import result_figures
from virsci_society.metrics.novelty.novelty import Database
from virsci_society.metrics.novelty.training_leaks import longest_run, tokenise
from virsci_society.society.results.dataframes import has_columns_of
from virsci_society.society.results.run import Run

COLUMNS = {
    "paper": "string",
    "figures": "Int64",
    "figures_text": "string",
    "references": "Int64",
    "unknown_references": "Int64",
    "unknown_text": "string",
    "copied": "Int64",
    "copied_from": "string",
    "copied_text": "string",
}
_BETWEEN = " | "
_KEY = re.compile(r"P(\d{1,9})")
_Copied = tuple[int | None, str | None, str | None]


def run_claims(run: Run) -> pd.DataFrame:
    """Figures, references and copied passages of every paper of a run (this project).

    Returns:
        One row per paper: ``paper``; ``figures`` (sentences that state a figure as a result) and
        ``figures_text`` (those sentences); ``references`` (named in the text) and
        ``unknown_references`` (of those, known neither in the literature nor in the society), with
        ``unknown_text``; ``copied`` (words of the longest run shared with a paper that it cites),
        ``copied_from`` (its id) and ``copied_text``, all three missing where there is no
        abstract. What needs the literature is missing where the run was opened without databases
        and was written without this measure.
    """
    nothing = _table([])
    held = run.measure("claims") if "claims" in run.measure_names() else None
    if held is not None and has_columns_of(held, nothing):
        return held
    papers = run.table("papers")
    cited = run.table("citations").groupby("citing")["cited"].agg(list).to_dict()
    library = _Library(run)
    rows = []
    for paper, title, abstract in papers[["paper", "title", "abstract"]].fillna("").values:
        text = f"{title}\n{abstract}"
        figures = result_figures(abstract)
        unknown = library.unknown(text)
        named = len(named_references(text))
        # Papers of a wordless society have nothing in which a passage could be copied.
        copied = library.copied(text, cited.get(paper, []) if abstract else [])
        rows.append(
            (
                paper,
                len(figures),
                _BETWEEN.join(figures),
                named,
                None if unknown is None else len(unknown),
                None if unknown is None else _BETWEEN.join(unknown),
                *copied,
            )
        )
    return _table(rows)


class _Library:
    """The papers that a run's texts can refer to: those of the past and the society's own."""

    def __init__(self, run: Run) -> None:
        papers = run.table("papers")
        self._own = {
            str(paper): f"{title} {abstract}"
            for paper, title, abstract in papers[["paper", "title", "abstract"]].fillna("").values
        }
        self._past: Database | None = None if run.databases is None else run.databases.past
        ids = [] if self._past is None else [str(id_) for id_ in self._past.ids]
        self._row = {id_: row for row, id_ in enumerate(ids)}
        people = run.table("scientists")["scientist"].dropna().astype(str)
        self._known = {id_.casefold() for id_ in (*ids, *self._own)} | set(people)
        # Pages number the papers of the past and then the society's own, in order of publication.
        self._keys = len(ids) + int(papers["published"].notna().sum())
        self._words: dict[str, list[str]] = {}

    def unknown(self, text: str) -> list[str] | None:
        """References of a text that do not exist; None where the literature is not at hand."""
        if self._past is None and named_references(text):
            return None
        return unknown_references(text, self._is_known)

    def _is_known(self, name: str) -> bool:
        key = _KEY.fullmatch(name)
        return 1 <= int(key[1]) <= self._keys if key else name in self._known

    def copied(self, text: str, cited: Sequence[str]) -> _Copied:
        """The longest run of words shared with a cited paper whose text is at hand."""
        own = tokenise(text)
        runs = [
            (*longest_run(own, words), id_)
            for id_ in sorted(map(str, cited))
            if (words := self._words_of(id_)) is not None
        ]
        if not runs:
            return None, None, None
        length, start, whose = max(runs, key=lambda found: found[0])
        return length, whose, " ".join(own[start : start + length])

    def _words_of(self, id_: str) -> list[str] | None:
        if id_ not in self._words:
            if id_ in self._own:
                self._words[id_] = tokenise(self._own[id_])
            elif self._past is not None and self._past.text is not None and id_ in self._row:
                self._words[id_] = tokenise(self._past.text(self._row[id_]))
            else:
                return None
        return self._words[id_]


def _table(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for place, (name, dtype) in enumerate(COLUMNS.items()):
        build: Any = pd.array
        columns[name] = build([row[place] for row in rows], dtype=dtype)
    return pd.DataFrame(columns)
