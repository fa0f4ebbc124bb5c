"""The data dictionary of a run, printed from ``society/results/tables.py``.

``python -m tests.metrics.data_dictionary > docs/data-dictionary.md`` renews the page.
"""

from __future__ import annotations

from virsci_society.society.results.dataframes import SORT_COLUMNS
from virsci_society.society.results.tables import TABLES

ABOUT = {
    "scientists": "everybody at day 0 (of more than 20,000 who took part), and who has come since",
    "teams": "one row per team, also those that dissolved or were still at work",
    "members": "who was in which team, and when",
    "invitations": "every invitation and what became of it",
    "consultations": "questions put to scientists outside the team",
    "meetings": "when a team was in one room, and whom it waited for",
    "homework": "work between meetings, and how long it queued",
    "calls": "every question put to the model",
    "reads": "where the simulated world waited for words",
    "papers": "what the society published",
    "authorships": "who wrote it",
    "citations": "what it cites",
    "outcomes": "ideas that were carried out, their hidden worth, and what came of them",
    "submissions": "manuscripts in review, round by round, and what was decided",
    "referees": "who was asked to review what, and what came of it",
    "interests": "whose interests changed with a paper, and how",
    "interventions": "what the scenario changed in mid-run, and when",
    "careers": "who came and left, and when",
    "ties": "dated joint papers, those before day 0 included",
}

HEAD = """# Data dictionary

The tables of a run, in `tables/*.parquet` of its folder. This page is printed from
`society/results/tables.py` by `python -m tests.metrics.data_dictionary`; a test fails
when it is not current.

Dates are days since 1 January of the boundary year; those before day 0 are negative. `Int64`,
`Float64` and `boolean` are nullable: a missing value is missing, never zero. Every table always
has all its columns. The metadata `speaker` of each file says who spoke: rule-based scientists or
which model. Metrics computed from these tables are in `tables/metrics/*.parquet` and
described in [metrics.md](metrics.md).
"""

NETWORKS = """
## Network files

`network.graphml` contains the co-authorship network at the end, made from the tables above.

| file | of | attribute | meaning |
| --- | --- | --- | --- |
| `network` | node | `topic` | main topic of the scientist |
| `network` | node | `papers_in_run` | papers in the run; `scientists.papers`: before day 0 |
| `network` | edge | `weight` | joint papers; `before` and `since`: those before and since day 0 |
| `network` | edge | `start` | date of the first |
"""


def data_dictionary() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for name, columns in TABLES.items():
        order = ", ".join(f"`{column}`" for column in SORT_COLUMNS[name])
        parts.append(f"\n## {name}\n\n{ABOUT[name].capitalize()}. Rows in order of {order}.\n\n")
        parts.append("| column | type | meaning |\n| --- | --- | --- |\n")
        for column in columns:
            meaning = column.meaning.replace("|", "\\|")
            parts.append(f"| `{column.name}` | {column.dtype} | {meaning} |\n")
    parts.append(NETWORKS)
    return "".join(parts)


if __name__ == "__main__":
    print(data_dictionary(), end="")
