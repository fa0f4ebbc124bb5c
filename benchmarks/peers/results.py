"""What a row of the table says, and how it is worked out from what was measured."""

from __future__ import annotations

from typing import Any, NamedTuple

HEADS = (
    *("system", "work", "calls", "share of ideal", "ms of CPU a call", "peak MB"),
    "calls paid again after a kill",
)


class Row(NamedTuple):
    """One line of the table.

    Attributes:
        system: name and version.
        work: agents x calls.
        calls: answered calls; None where there is a reason instead of figures.
        share: share of the ideal throughput.
        cpu: milliseconds of CPU a call.
        memory: most memory of the process, in MB.
        again: calls that were paid for again after a kill, of those answered before it; None: not
            tried with this work.
        before: calls that were answered before the kill.
        reason: why there are no figures.
    """

    system: str
    work: str
    calls: int | None = None
    share: float | None = None
    cpu: float | None = None
    memory: float | None = None
    again: int | None = None
    before: int | None = None
    reason: str = ""


def ideal_seconds(calls: int, chain: int, latency: float, slots: int) -> float:
    """The least wall time: all work over all slots, or the longest chain of calls.

    Args:
        calls: answered calls.
        chain: calls that one agent makes one after another.
        latency: seconds that each call takes.
        slots: most calls at a time.
    """
    return latency * max(calls / slots, chain)


def row_of(
    system: str, agents: int, slots: int, latency: float, calls: int, figures: dict[str, Any]
) -> Row:
    """The row of one run that came to its end.

    Args:
        system: name and version.
        agents: agents that called.
        slots: most calls at a time.
        latency: seconds that each call takes.
        calls: calls that the server has answered.
        figures: what the adapter printed; its own ``ideal`` seconds count where it states them.
    """
    chain = round(calls / agents)
    ideal = figures.get("ideal") or ideal_seconds(calls, chain, latency, slots)
    return Row(
        system,
        f"{agents} x {chain}",
        calls,
        ideal / figures["wall"],
        1000 * figures["cpu"] / calls,
        figures["MB peak"],
    )


def paid_again(before: int, after: int, whole: int) -> int:
    """Calls that were paid for twice because of a kill.

    Args:
        before: calls answered before the kill.
        after: calls answered to the restarted run.
        whole: calls of a run that nobody kills.
    """
    return max(before + after - whole, 0)


def cells(row: Row) -> tuple[str, ...]:
    """A row as text."""
    if row.reason:
        return (row.system, row.work, row.reason, *[""] * (len(HEADS) - 3))
    again = "" if row.again is None else f"{row.again:,} of {row.before:,}"
    return (
        *(row.system, row.work, f"{row.calls:,}", f"{row.share:.2f}"),
        *(f"{row.cpu:.2f}", f"{row.memory:.0f}", again),
    )


def lines(rows: list[Row]) -> list[str]:
    """The table in Markdown, its columns as wide as their cells."""
    table = [HEADS, *map(cells, rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEADS))]
    padded = [
        " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in table
    ]
    rule = " | ".join("-" * width for width in widths)
    return [f"| {line} |" for line in (padded[0], rule, *padded[1:])]
