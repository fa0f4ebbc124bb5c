"""Leaking: what the page tells of what the model could have known of the society's future."""

from __future__ import annotations

from typing import Any

from metrics.leaks import LONG, cutoff_of
from metrics.table import measure
from society.run import Run

SHOWN = 10


def leaking(run: Run) -> dict[str, Any]:
    """The cut-off beside the boundary, and the abstracts that share most with later papers.

    Returns:
        ``told`` (cut-off and boundary in a sentence), ``measured`` (abstracts with a contemporary
        neighbour whose text is known), ``long`` (of those, with a run of ``LONG`` words or more;
        ``past_long`` the same among past papers), ``similarity`` and ``past_similarity`` (means),
        ``rows`` (the longest runs first).
    """
    table = measure(run, "leaks")
    known = table.dropna(subset=["shared"])
    order = known.sort_values(["shared", "similarity", "paper"], ascending=[False, False, True])
    titles = run.table("papers").set_index("paper")["title"]
    first = order.head(SHOWN).assign(title=lambda rows: rows["paper"].map(titles))
    return {
        "told": cutoff_of(run.manifest).told,
        "measured": len(known),
        "least": LONG,
        "long": int((known["shared"] >= LONG).sum()),
        "past_long": int((known["past_shared"] >= LONG).sum()),
        "similarity": known["similarity"].mean(),
        "past_similarity": known["past_similarity"].mean(),
        "rows": first.to_dict("records"),
    }
