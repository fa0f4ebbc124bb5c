"""The work that every system is given, and what is measured while it is done.

Only the standard library is imported: adapters run in environments of their own, and each begins
with ``read_work`` and does its calls inside ``measured``.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Work:
    """So many agents, each of which makes so many calls, one after another.

    Attributes:
        url: base address of the server, which ends with ``/v1``.
        agents: number of agents (or of teams that one scientist leads alone).
        calls: calls of each agent; every prompt but the first holds the answer before.
        slots: most calls at a time.
        folder: what a system keeps for a restart; the same folder after a kill.
        protocol: what the teams of this project do; other systems have no use for it.
    """

    url: str
    agents: int
    calls: int
    slots: int
    folder: Path
    protocol: str = "chain"


def read_work() -> Work:
    """The work that the command line states."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    for number in ("agents", "calls", "slots"):
        parser.add_argument(f"--{number}", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--protocol", choices=("chain", "virsci"), default="chain")
    return Work(**vars(parser.parse_args()))


def question(agent: int, call: int, before: str) -> str:
    """The prompt of one call.

    Args:
        agent: number of the agent, from 0.
        call: number of the call, from 0.
        before: the answer to the call before, or nothing.
    """
    return f"You are scientist {agent}. This is turn {call}. You said before: {before or 'nothing'}"


@contextmanager
def measured(work: Work) -> Iterator[dict[str, float]]:
    """Print, as one line of JSON, what the block has taken.

    The counts of the server begin anew with the block, so that calls made to warm up do not count.

    Yields:
        A dict to which further figures may be added.
    """
    figures: dict[str, float] = {}
    _reset(work.url)
    memory = peak_memory()
    began, cpu = time.perf_counter(), time.process_time()
    yield figures
    figures["wall"] = time.perf_counter() - began
    figures["cpu"] = time.process_time() - cpu
    figures["MB before"], figures["MB peak"] = memory, peak_memory()
    print(json.dumps(figures))


def peak_memory() -> float:
    """The most memory that this process has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _reset(url: str) -> None:
    address = url.removesuffix("/v1") + "/reset"
    urllib.request.urlopen(urllib.request.Request(address, method="POST"), timeout=60).close()
