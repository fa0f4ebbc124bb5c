"""What share of a team's prompts a provider need not work out anew (H16).

Providers keep what they have worked out for a prompt in blocks of tokens and find a block again by
all that precedes it. Printed are, by stage, the kB of the prompts of one team of the paper's size
and turns, and the share found in a cache of the team's own, of unlimited room, in blocks of 16
tokens of four bytes (as in vLLM). The scientists follow rules and speak more briefly than a
language model.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Reply, Request
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import Times
from virsci_society.society.model import Society

BLOCK = 16 * 4
"""Bytes of one block."""
MARK = 335
"""Most kB of a team's prompts that its provider works out anew."""


class Recorder(Offline):
    """The rule-based scientist, who keeps what it is asked."""

    _asked: list[Request] = PrivateAttr(default_factory=list)

    @property
    def asked(self) -> list[Request]:
        """All requests in the order of being asked."""
        return self._asked

    async def complete(self, request: Request) -> Reply:
        """Keep the request and answer."""
        self._asked.append(request)
        return await super().complete(request)


def record() -> list[Request]:
    """All that a team of the paper's size and turns is asked, in order."""
    recorder = Recorder()
    Society(
        Synthetic(scientists=150, papers=1500).generate(1),
        protocol=VirSci(team_size=4, topic={"leaving": "off"}),
        founding=Once(count=1),
        times=Times(),
        backend=recorder,
        until=900.0,
        seed=1,
    ).run_to_end()
    return recorder.asked


def table(asked: Sequence[Request]) -> list[dict[str, Any]]:
    """One row per stage, and one for all: calls, bytes, and the share that is found again."""
    kept: set[bytes] = set()
    sums: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for request in asked:
        system, *rest = (message.content for message in request.messages)
        prompt = f"<system>{system}<user>{''.join(rest)}".encode()
        starts = [prompt[:end] for end in range(BLOCK, len(prompt) + 1, BLOCK)]
        found = next((at for at, start in enumerate(starts) if start not in kept), len(starts))
        kept |= set(starts)
        for stage in (request.id.split("/")[2], "total"):
            sums[stage]["calls"] += 1
            sums[stage]["bytes"] += len(prompt)
            sums[stage]["found"] += found * BLOCK
    return [
        {
            "stage": stage,
            "calls": one["calls"],
            "kB": round(one["bytes"] / 1000),
            "found again": round(one["found"] / one["bytes"], 3),
            "kB anew": round((one["bytes"] - one["found"]) / 1000),
        }
        for stage, one in sorted(sums.items(), key=lambda pair: pair[0] == "total")
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    rows = table(record())
    for row in [{name: name for name in rows[0]}, *rows]:
        print("  ".join(f"{value!s:>11}" for value in row.values()))
    args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
