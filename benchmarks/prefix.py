"""What share of its prompts a provider need not work out anew, because they begin like others.

Providers keep what they have worked out for a prompt in blocks of tokens and find a block again
by all that stands before it. Prints, by stage, the share of the prompts' bytes in such blocks for
two orders of the same words. ``now``: as they are asked. ``before``: as they first were, who is
asked in the system prompt and this turn's words behind the profiles; made from the prompts of
now, so what the pages have since stopped saying twice is not put back.

Kinds of caches (a token counts as four bytes), of unlimited room but for ``64k``:

- ``team``: blocks of 16 tokens (as in vLLM), a cache for each team. The mark is the kB that
  it does not find, of a team of the paper's size and turns.
- ``all``: one cache for all teams, whose calls come in the order of being asked.
- ``64k``: the same with room for 65,536 tokens; the blocks unused for longest give way.
- ``at once``: as ``all``, but calls that are put side by side find nothing of one another.
- ``1024+``: steps of 128 tokens, and nothing below 1,024 (as OpenAI says of its own), for all.

The words are those of the rule-based scientists, who are no language model and speak more briefly;
``worded`` has their words repeated to about the lengths that the pages ask for.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle, groupby, islice
from pathlib import Path
from typing import Any

from pydantic import Field, PrivateAttr

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.prompt import DEFINITION
from virsci_society.agents.prompts.request import Reply, Request
from virsci_society.protocols.team_sizes import ObservedSize
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import Times
from virsci_society.society.model import Society

TOKEN = 4
"""Bytes that count as one token."""
ROOM = 65_536
MARK = 335
"""Most kB of a team's prompts that its provider works out anew."""
SIDE_BY_SIDE = {"invite", "agree", "stay", "vote"}
"""Acts that several scientists are asked for in one instant."""
LENGTHS = {"Idea": 400, "Experiment": 200, "Abstract": 220, "Response": 120, "Summary": 110}
"""Words that a language model would about give, by field."""
SAID = re.compile(
    r"^Said in this round so far:\n\n(?:(?:(?!The |Published )\S.*:\n(?:> ?.*\n)+)+\n)+",
    re.MULTILINE,
)

Blocks = list[bytes]
Prompt = Callable[[Request], bytes]


class Recorder(Offline):
    """The rule-based scientist, who keeps what it is asked.

    Attributes:
        lengths: words that fields of its replies are repeated to; none: left as they are.
    """

    lengths: Mapping[str, int] = Field(default_factory=dict)
    _asked: list[Request] = PrivateAttr(default_factory=list)

    @property
    def asked(self) -> list[Request]:
        """All requests in the order of being asked."""
        return self._asked

    async def complete(self, request: Request) -> Reply:
        """Answer, at length if so wished."""
        self._asked.append(request)
        reply = await super().complete(request)
        if not self.lengths:
            return reply
        fields = json.loads(reply.text)
        for name, count in self.lengths.items():
            if words := (fields.get(name) or "").split():
                fields[name] = " ".join(islice(cycle(words), max(count, len(words))))
        return Reply(json.dumps(fields), reply.usage, reply.model)


class Cache:
    """Blocks of prompts, found again by all that stands before them.

    Args:
        block: tokens of one block.
        least: a shorter beginning counts as nothing (tokens).
        room: tokens kept at most; None: all.
    """

    def __init__(self, block: int, least: int = 0, room: int | None = None) -> None:
        self.block, self.least = block, least
        self._most = None if room is None else room // block
        self._kept: OrderedDict[bytes, None] = OrderedDict()

    def found(self, blocks: Blocks) -> int:
        """Bytes at the beginning of a prompt that are there already."""
        count = next((at for at, key in enumerate(blocks) if key not in self._kept), len(blocks))
        return count * self.block * TOKEN if count * self.block >= self.least else 0

    def keep(self, blocks: Blocks) -> None:
        """Keep a prompt, its beginning for longest, and give way to it where room is short."""
        for key in reversed(blocks):
            self._kept[key] = None
            self._kept.move_to_end(key)
        while self._most is not None and len(self._kept) > self._most:
            self._kept.popitem(last=False)


def blocks_of(prompt: bytes, block: int) -> Blocks:
    """The whole blocks of a prompt, each as a digest of all bytes up to its end."""
    size, digest, blocks = block * TOKEN, hashlib.blake2b(digest_size=16), []
    for start in range(0, len(prompt) - size + 1, size):
        digest.update(prompt[start : start + size])
        blocks.append(digest.digest())
    return blocks


def now(request: Request) -> bytes:
    """The prompt as it is asked, one message after another."""
    return _text(*(message.content for message in request.messages))


def before(request: Request) -> bytes:
    """The same words in their first order."""
    page, you = request.messages[-1].content, DEFINITION.render(request.slots)
    said = SAID.search(page)
    if said is not None:
        page = page.replace(said[0], "")
    return _text(you, page.replace(f"{you}\n\n", said[0] if said is not None else ""))


def _text(system: str, user: str) -> bytes:
    return f"<system>{system}<user>{user}".encode()


ORDERS: Mapping[str, Prompt] = {"before": before, "now": now}


def shares(asked: Sequence[Request], prompt: Prompt) -> Iterator[dict[str, Any]]:
    """Per call: its stage, its bytes, and those that each kind of cache finds again."""
    teams: dict[str, Cache] = defaultdict(lambda: Cache(16))
    shared = {"all": Cache(16), "64k": Cache(16, room=ROOM), "1024+": Cache(128, 1024)}
    apart = Cache(16)
    for _, calls in groupby(asked, _instant):
        unseen: list[Blocks] = []
        for request in calls:
            text = prompt(request)
            blocks = {size: blocks_of(text, size) for size in (16, 128)}
            row = {"stage": request.id.split("/")[2], "bytes": len(text)}
            for name, cache in {"team": teams[_team(request)], **shared}.items():
                row[name] = cache.found(blocks[cache.block])
                cache.keep(blocks[cache.block])
            row["at once"] = apart.found(blocks[16])
            unseen.append(blocks[16])
            yield row
        for seen in unseen:
            apart.keep(seen)


def _team(request: Request) -> str:
    return "/".join(request.id.split("/")[:2])


def _instant(request: Request) -> str:
    """The same for calls that were put side by side."""
    leader, ordinal, stage, visit, turn, _, act, *_ = request.id.split("/")
    together = "/".join((leader, ordinal, stage, visit, turn, act))
    return together if act in SIDE_BY_SIDE else request.id


CACHES = ("team", "all", "64k", "at once", "1024+")


def table(scene: str, asked: Sequence[Request]) -> list[dict[str, Any]]:
    """One row per order and stage, and one for all stages."""
    rows = []
    for order, prompt in ORDERS.items():
        sums: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for call in shares(asked, prompt):
            for stage in (call["stage"], "total"):
                sums[stage]["calls"] += 1
                for name in ("bytes", *CACHES):
                    sums[stage][name] += call[name]
        for stage in (*(name for name in sums if name != "total"), "total"):
            total = sums[stage]
            found = {name: round(total[name] / total["bytes"], 3) for name in CACHES}
            kilobytes = round(total["bytes"] / 1000)
            head = {"scene": scene, "order": order, "stage": stage}
            rows.append(head | {"calls": total["calls"], "kB": kilobytes} | found)
    return rows


def worked_out_anew(row: Mapping[str, Any]) -> int:
    """The kB of a row that the cache of its team does not find."""
    return round(row["kB"] * (1 - row["team"]))


def record(
    lengths: Mapping[str, int] | None = None, teams: int = 1, **protocol: Any
) -> list[Request]:
    """All that is asked in a society with these teams, in the order of being asked."""
    recorder = Recorder(lengths=lengths or {})
    Society(
        Synthetic(scientists=150, papers=1500).generate(1),
        protocol=VirSci(**protocol),
        founding=Once(count=teams, every=14.0 / teams),
        times=Times(),
        backend=recorder,
        until=900.0,
        seed=1,
    ).run_to_end()
    return recorder.asked


PAPER: dict[str, Any] = {"team_size": 4, "topic": {"leaving": "off"}}
COMMUNITY: dict[str, Any] = {"team_size": ObservedSize(), "memory": "own", "inviting": "at_once"}
SCENES: Mapping[str, Callable[[], list[Request]]] = {
    "one team": lambda: record(**PAPER),
    "worded": lambda: record(LENGTHS, **PAPER),
    "community": lambda: record(teams=16, **COMMUNITY),
    "two turns": lambda: record(teams=16, turns=2, **COMMUNITY),
}
"""A team as the paper has it; the same with longer words; 16 teams side by side, in every stage
of five turns (the default) and of two."""


def show(row: Mapping[str, Any]) -> None:
    """One line of the table."""
    print("  ".join(f"{value!s:>9}" for value in row.values()), flush=True)


def main() -> None:
    """All scenes, before and now."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", nargs="*", default=list(SCENES), choices=list(SCENES))
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in args.scenes:
        rows += (found := table(name, SCENES[name]()))
        show({column: column for column in found[0]})
        for row in found:
            show(row)
        anew = worked_out_anew(found[-1])
        if name == "one team" and anew > MARK:
            print(f"short of its mark: prefix: {anew} kB anew > {MARK}")
    args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
