"""The page of measures, printed from ``metrics/registry.py``.

``python -m tests.metrics.measures_page > docs/measures.md`` renews it.
"""

from __future__ import annotations

from virsci_society.metrics.registry import MEASURES

HEAD = """# Measures

A *measure* is one number of a run. `society list measures` prints this table; studies, the pages of
runs and studies, `society compare` and `society calibrate` read the same registry
(`metrics/registry.py`). A value that a run does not determine (no citation count is known, nobody
wrote a paper) is missing and never zero; a study reports how many are missing. A share ranges from
0 to 1, a number with another unit from 0; of pure numbers the range takes the place of the unit.

A study names measures under `measures`; in Python they are
`vs.measure_run(run, ["papers", "modularity"])`. A *link* is a pair of authors of one paper, a
*newcomer* an author without an earlier paper, an *incumbent* one with an earlier paper. A run dates
papers to the moment; `society compare` and `society calibrate` date them by the year, as real
papers are dated, so that newcomers and repeated pairs of one year count as simultaneous. The
measures of the family *comparison* exist only beside real papers.

Any other number is `table.column.statistic`: a table of the run or a [metric](metrics.md) (also
[one of your own](extend.md)), one of its columns, and `mean`, `median`, `sum`, `count` (known
values), `share` (of a column of yes and no), `gini` or `last`. `teams.meetings.median` is the
median number of meetings of a team; where a metric and a table share a name and a column, the
metric's is used.
"""


def measures_page() -> str:
    """The page as Markdown."""
    lines = []
    for family in dict.fromkeys(one.family for one in MEASURES.values()):
        lines += ["", f"## {family.capitalize()}", ""]
        lines += ["| measure | definition | unit | source |", "|---|---|---|---|"]
        for name, one in MEASURES.items():
            if one.family == family:
                extent = f"{one.low:g} to {one.high:g}".replace("-inf to inf", "any")
                unit = one.unit or extent.replace("0 to inf", "from 0")
                lines.append(f"| `{name}` | {one.definition} | {unit} | {one.source} |")
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(measures_page(), end="")
