"""What the tests of the research systems share: small settings, and a backend that is overheard."""

import json
from typing import Any

import pytest
from pydantic import PrivateAttr

from tests.protocols.scripted_backend import Call
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Reply
from virsci_society.protocols.given_topics import GivenTopic
from virsci_society.scenarios.config.reader import import_class
from virsci_society.scenarios.config.registry import PROTOCOLS
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import Times
from virsci_society.society.model import Society
from virsci_society.society.results.tables import TABLES

SMALL = {
    "ai_scientist": {"ideas": 2, "reflections": 2, "searches": 3},
    "ai_scientist_v2": {"roots": 2, "rounds": 2, "breadth": 2, "budget": 4},
    "hypogen": {"rounds": 2},
    "research_town": {},
    "ai_researcher": {"seeds": 4, "batch": 2, "rounds": 2, "similarity": 0.999},
    "research_agent": {"rounds": 1},
    "cycle_researcher": {"candidates": 2, "reviewers": 2},
    "idea2proposal": {"rounds": 3},
    "virtual_lab": {"rounds": 1, "parallel": 2},
    "debate": {"rounds": 1},
    "co_scientist": {"similarity": 1.0},
    "solo_virsci": {"turns": 1},
}
"""Every system with the settings under which each of its steps is taken at least once."""


class Overheard(Offline):
    """Rule-based scientists whose requests and replies are kept.

    ``script(call, request)`` may give fields that replace those of the usual reply.
    """

    script: Any = None
    _asked: list = PrivateAttr(default_factory=list)

    @property
    def asked(self):
        return self._asked

    async def complete(self, request):
        reply = await super().complete(request)
        call = Call.of(request.id)
        changed = self.script(call, request) if self.script else None
        if changed:
            data = json.loads(reply.text) | changed
            reply = Reply(json.dumps(data), reply.usage, reply.model)
        self._asked.append((call, request, reply))
        return reply


class Lived:
    """A society that has lived to its end, and what was asked in it."""

    def __init__(self, society, backend):
        self.society, self.backend = society, backend

    def rows(self, table):
        names = [column.name for column in TABLES[table]]
        return [dict(zip(names, row, strict=True)) for row in self.society.log.rows[table]]

    def events(self, kind):
        return [event for event in self.society.log.events if event["kind"] == kind]

    @property
    def asked(self):
        return self.backend.asked

    def order(self):
        """Stage, act, form and number of questions that follow each other, as short text."""
        steps = []
        for call, request, _ in self.asked:
            step = f"{call.stage} {request.form.__name__}"
            if steps and steps[-1][0] == step:
                steps[-1][1] += 1
            else:
                steps.append([step, 1])
        return [f"{step} x{count}" if count > 1 else step for step, count in steps]


def make(name, **settings):
    """A system by its name in the registry, small and with a given topic."""
    topic = GivenTopic(given="Protein folding for graph drawing")
    given = {"topic": topic} | SMALL.get(name, {}) | settings
    return import_class(PROTOCOLS[name])(**given)


@pytest.fixture
def live(synthetic):
    """A function that lets one team work under a protocol."""

    def run(protocol, script=None, *, backend=None, founding=None, until=2000.0, seed=1):
        backend = backend or Overheard(script=script)
        society = Society(
            synthetic,
            protocol=protocol,
            founding=founding or Once(),
            times=Times(),
            backend=backend,
            until=until,
            step_days=until,
            seed=seed,
        )
        society.run_to_end()
        return Lived(society, backend)

    return run
