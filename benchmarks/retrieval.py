"""Which embedding finds what belongs together: retrieval among the past papers of an ecosystem.

    python -m benchmarks.retrieval ECOSYSTEM lsa lsa+NAME NAME

For every past paper all others are ranked by their cosine with it. Relevant are those that it
cites, or that share an author with it. Printed are means over papers with a relevant one: the share
of these among the first ten (recall), the reciprocal rank of the first (MRR), and the chance that a
relevant paper stands before another one (AUC). The last columns are differences of MRR from the
embedding named first, with 1.96 standard errors over papers, as if these were independent.
"""

from __future__ import annotations

import sys

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.society.ecosystem.build import paper_texts
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.literature.embedding.registry import make_embedding
from virsci_society.society.literature.papers import Papers

FIRST = 10


def cited(papers: Papers) -> dict[int, IntArray]:
    """The papers that each paper cites."""
    starts, rows = papers.cites
    return {n: rows[starts[n] : starts[n + 1]] for n in range(len(papers))}


def by_same_authors(papers: Papers) -> dict[int, IntArray]:
    """The other papers of the authors of each paper."""
    found = {}
    for row, paper in enumerate(papers):
        rows = np.unique(np.concatenate([papers.written_by(one) for one in paper.authors]))
        found[row] = rows[rows != row]
    return found


def scores(ranks: IntArray, relevant: dict[int, IntArray]) -> FloatArray:
    """Recall, reciprocal rank and AUC of each paper that has a relevant one (papers x 3)."""
    rows = []
    for row, wanted in relevant.items():
        if not len(wanted):
            continue
        places = np.sort(ranks[row, wanted])
        hits, others = len(places), len(ranks) - 1 - len(places)
        before = places.sum() - hits * (hits - 1) / 2
        auc = 1.0 - before / (hits * others) if others else np.nan
        rows.append(((places < FIRST).mean(), 1.0 / (places[0] + 1), auc))
    return np.array(rows).reshape(-1, 3)


def main() -> None:
    """Print one line per embedding and kind of relevance."""
    folder, *names = sys.argv[1:]
    papers = Ecosystem.load(folder).past
    texts = paper_texts(papers)
    relevant = {"cited": cited(papers), "author": by_same_authors(papers)}
    first: dict[str, FloatArray] = {}
    print(f"{folder}: {len(papers):,} papers\nrelevant  embedding  papers  recall  MRR  AUC  dMRR")
    for name in names:
        with make_progress() as progress:
            progress.begin(f"embedding with {name}")
            rows = make_embedding(name, texts=texts).encode(texts, progress.texts)
        cosines = rows.astype(np.float64) @ rows.astype(np.float64).T
        np.fill_diagonal(cosines, -np.inf)
        ranks = np.argsort(np.argsort(-cosines, axis=1, kind="stable"), axis=1)
        for kind, wanted in relevant.items():
            found = scores(ranks, wanted)
            if not len(found):
                continue
            gain = (found - first.setdefault(kind, found))[:, 1]
            means = "  ".join(f"{one:.3f}" for one in np.nanmean(found, axis=0))
            error = 1.96 * gain.std() / np.sqrt(len(gain))
            print(f"{kind}  {name}  {len(found):,}  {means}  {gain.mean():+.3f} +- {error:.3f}")


if __name__ == "__main__":
    main()
