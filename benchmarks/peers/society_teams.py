"""This project: teams of one leader who makes all calls in one meeting, or teams of VirSci.

The protocol ``Turns`` is written as docs/extend.md shows it. Calls go through the openai backend,
the gateway and a journal on disk; a restart with the same folder replays the journal. Teams of
VirSci (``--protocol virsci``) have several members, whose calls wait for one another as the
protocol says; the wall time that this allows at best is reported as ``ideal``.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[2]))

from benchmarks.critical_path import lower_bound  # noqa: E402
from benchmarks.peers.work import Work, measured, read_work  # noqa: E402
from virsci_society import (  # noqa: E402  # noqa: E402
    Form,
    Lab,
    Manuscript,
    Process,
    Prompt,
    Society,
    Team,
    TeamProtocol,
    Times,
)
from virsci_society.agents.backends.openai import OpenAI  # noqa: E402
from virsci_society.agents.gateway.gateway import Gateway  # noqa: E402
from virsci_society.agents.journal.journal import Journal  # noqa: E402
from virsci_society.protocols.virsci.protocol import VirSci  # noqa: E402
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic  # noqa: E402
from virsci_society.society.formation.founding import Once  # noqa: E402

LATENCY = 0.2
PAGE = Prompt(HERE.parent / "prompts" / "turn.txt")
VIRSCI_DAYS = 400.0


class Statement(Form):
    """What a scientist says in one turn; the last one is handed in."""

    title: str
    abstract: str

    def words(self) -> str:
        """The statement as text, for the prompt of the next turn."""
        return f"{self.title}\n{self.abstract}"


class Turns(TeamProtocol):
    """One scientist speaks so many times; each prompt holds the statement before."""

    turns: int = 10

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """One meeting with all turns."""
        last = yield from lab.stage("talking", self.talk(team, lab))
        return Manuscript(text=last)

    def talk(self, team: Team, lab: Lab) -> Process[Any]:
        """All turns, one after another."""
        yield from lab.notice()
        with lab.convene(turn=1) as everybody:
            yield everybody
            said: Any = "nothing"
            for turn in range(self.turns):
                slots = {"agent": team.leader, "call": turn, "before": said}
                said = yield from lab.ask(team.leader, PAGE, Statement, seat=turn, **slots)
        return said


def make_society(work: Work, journal: Journal | None) -> Society:
    """The society that does the work: as many teams as there are agents."""
    backend = OpenAI(model="bench", api_base=work.url, structured="on")
    virsci = work.protocol == "virsci"
    people = max(400 if virsci else work.agents, 100)
    return Society(
        Synthetic(scientists=people, papers=3 * people).generate(1),
        protocol=VirSci() if virsci else Turns(turns=work.calls),
        founding=Once(count=work.agents, every=14.0 / work.agents if virsci else 0.0),
        times=Times(),
        backend=backend,
        gateway=Gateway(backend, work.slots, journal),
        until=VIRSCI_DAYS if virsci else 100.0,
        seed=1,
    )


def main() -> None:
    """Warm up without a journal, then do the work with one."""
    work = read_work()
    work.folder.mkdir(parents=True, exist_ok=True)
    make_society(replace(work, agents=1, calls=1, protocol="chain"), None).run_to_end()
    journal = Journal(work.folder / "journal.sqlite")
    society = make_society(work, journal)
    with measured(work) as figures:
        society.run_to_end()
        journal.close()
        if work.protocol == "virsci":
            rows = society.log.rows
            waited = dict.fromkeys((row[0] for row in rows["calls"]), LATENCY)
            figures["ideal"] = lower_bound(rows, waited, work.slots)[0]


if __name__ == "__main__":
    main()
