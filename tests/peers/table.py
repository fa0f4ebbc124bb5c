"""``python -m tests.peers.table``: the runs against the servers of others, as a table.

Fixed words answer, never a language model: what is shown is the machinery, and that it counts what
it reads. The times are those of one machine that does other things besides.
"""

import sys
import tempfile
from pathlib import Path

from tests.peers import litellm_proxy
from tests.peers.runs import RUNS, Peers, play
from virsci_society.metrics.cost import RUNGS

COLUMNS = ("what answers", "client", "questions", "prompts", *RUNGS, "papers", "exit", "ms a call")


def main():
    """Make every run that can be made here and print the table; 1 if a run did not end well."""
    rows, left_out, worst = [], [], 0
    with tempfile.TemporaryDirectory() as name, Peers(Path(name)) as peers:
        for key, run in RUNS.items():
            reason = litellm_proxy.missing()
            if reason is not None:
                left_out.append(f"{run.title}: not run, {reason}")
                continue
            outcome = play(peers.settings(run), Path(name) / key, peers.key)
            worst = max(worst, outcome.code)
            rows.append(row_of(run, outcome))
    print("\n".join([*lines_of(rows), *left_out]))
    return int(worst > 0)


def row_of(run, outcome):
    """The cells of one run."""
    summary = outcome.summary
    reading, teams = summary["reading"], summary["teams"]
    if reading is None:
        raise SystemExit(f"{run.title}: nothing was read; the run printed:\n{outcome.printed}")
    requests, seconds = outcome.requests()
    return (
        *(run.title, run.client, str(reading["asked"]), str(requests)),
        *(str(reading["rungs"].get(rung, 0)) for rung in RUNGS),
        *(f"{teams['published']} of {teams['founded']}", str(outcome.code)),
        f"{1000 * seconds / max(requests, 1):.0f}",
    )


def lines_of(rows):
    """The table in Markdown, its columns as wide as their cells."""
    widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]

    def line(cells):
        padded = [
            cell.rjust(width) if place > 1 else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = ["-" * (width - 1) + (":" if place > 1 else "-") for place, width in enumerate(widths)]
    return [line(COLUMNS), f"| {' | '.join(rule)} |", *map(line, rows)]


if __name__ == "__main__":
    sys.exit(main())
