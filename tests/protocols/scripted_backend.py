"""Players: a backend that answers every form with planted words, and a stage to put it on.

Every field of every reply carries a word of its own, derived from the call id, so that a test
can say of any later prompt whose words it holds. A ``script`` steers single answers.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import PrivateAttr

from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.prompts.request import Reply, Request, Usage
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import FixedDuration, Times
from virsci_society.society.model import Society
from virsci_society.society.results.tables import TABLES

STAGES = ("topic", "ideas", "novelty", "abstract")
PLANTED = re.compile(r"zq[a-z]+qz")
IDEA = ("Objection", "Reason", "Idea", "Title", "Experiment", "In Short")
"""Fields of an idea that hold text."""
LENGTH = " ".join(f"w{number}" for number in range(100))
_LETTERS = str.maketrans("0123456789/-_ ", "abcdefghijxxxx")


class Call(NamedTuple):
    """A call id taken apart; ``guest`` is the outsider of a consultation."""

    team: str
    stage: str
    visit: int
    turn: int
    seat: int
    act: str
    who: str
    guest: str | None

    @classmethod
    def of(cls, id_: str) -> "Call":
        leader, ordinal, stage, visit, turn, seat, act, who, *rest = id_.split("/")
        places = (int(visit), int(turn), int(seat))
        guest = rest[1] if "guest" in rest else None
        return cls(f"{leader}/{ordinal}", stage, *places, act, who, guest)


def word(id_, field):
    """The planted word of one field of one reply."""
    return f"zq{f'{id_}/{field}'.translate(_LETTERS).lower()}qz"


@dataclass(frozen=True)
class Said:
    call: Call
    request: Request
    reply: dict[str, Any]

    @property
    def form(self) -> str:
        return self.request.form.__name__

    @property
    def system(self) -> str:
        return self.request.messages[0].content

    @property
    def user(self) -> str:
        return self.request.messages[1].content

    def word(self, field):
        return word(self.request.id, field)


class Players(Backend):
    """Everybody accepts, agrees, stays and goes on until the script says otherwise.

    ``script(call, request)`` gives fields (by their names in the prompt) that replace those of
    the usual reply; ``consults`` lets every speaker ask the first outsider it is shown.
    """

    script: Any = None
    consults: bool = False
    _said: list[Said] = PrivateAttr(default_factory=list)

    @property
    def inline(self) -> bool:
        return True

    @property
    def said(self) -> list[Said]:
        return self._said

    async def complete(self, request):
        call = Call.of(request.id)
        reply = self._reply(call, request)
        reply |= (self.script(call, request) if self.script else None) or {}
        self._said.append(Said(call, request, reply))
        return Reply(json.dumps(reply), Usage(), "players")

    def _reply(self, call, request):
        def text(field):
            # An interest, so that searches have something to go by; a word that everybody uses,
            # so that there is something to recall.
            planted = f"{word(request.id, field)} on {request.who.topic} in earnest"
            # An abstract that is far too short is asked for again.
            return f"{planted} {LENGTH}" if field == "Abstract" else planted

        usual: dict[str, dict[str, Any]] = {
            "Willingness": {"Selected Action": "Action 1", "Reasoning": text("Reasoning")},
            "Review": {"Recommendation": "accept", "Comments": text("Comments")}
            | dict.fromkeys(("Originality", "Soundness", "Clarity", "Overall"), 7),
            "Rewrite": {field: text(field) for field in ("Title", "Abstract", "Response")},
            "Choice": {"Selected Action": "Action 1", "Reasoning": text("Reasoning")},
            "Remark": {"Response": text("Response"), "Direction": text("Direction")},
            "GuestReply": {"Answer": text("Answer")},
            "Summary": {"Summary": text("Summary")},
            "AnotherTurn": {"Another Turn": True, "Reason": text("Reason")},
            "Topic": {field: text(field) for field in ("Selected Topic", "Reason")},
            "Agreement": {"Agree": True, "Reason": text("Reason")},
            "Stay": {"Stay": True, "Reason": text("Reason")},
            "Idea": {field: text(field) for field in IDEA}
            | {"Clarity": 5, "Feasibility": 5, "Novelty": 1 + (3 * call.turn + 5 * call.seat) % 10}
            | {"Marks": {"Clarity": 4, "Feasibility": 6, "Novelty": 1 + (7 * call.seat) % 10}},
            "Ballot": {"Decision Made": f"Idea 0 {text('Decision Made')}", "Reason": text("Reason")}
            | {"Comparisons": [{"Idea": "Idea 0", "Difference": text("Difference")}]},
            "Critique": {field: text(field) for field in ("Soundness", "Objection", "Advice")},
            "Draft": {field: text(field) for field in ("Reason", "Title", "Abstract")},
            "Revision": {field: text(field) for field in ("Title", "Abstract", "Modifications")}
            | {"Scores": {"Clarity": 7}},
            "SelfReview": {
                "similarity_scores": {"Written Abstract vs A": 10},
                "high_overlap_pairs": [
                    {"pair": "Written Abstract vs A", "score": 10, "reason": text("reason")}
                ],
            },
        }
        reply = usual[request.form.__name__]
        outsiders = request.slots.get("outsiders")
        if self.consults and outsiders:
            question = {"Scientist": outsiders[0].id, "Question": text("Question")}
            reply["Ask"] = question
        return reply


@dataclass(frozen=True)
class Played:
    """A society that has been played to its end, and all that was said in it."""

    society: Society
    said: list[Said]

    def rows(self, table):
        names = [column.name for column in TABLES[table]]
        return [dict(zip(names, row, strict=True)) for row in self.society.log.rows[table]]

    @property
    def team(self) -> dict[str, Any]:
        (team,) = self.rows("teams")
        return team

    def count(self, **fields):
        """Rows of the table of calls with these values."""
        wanted = fields.items()
        return sum(all(row[name] == value for name, value in wanted) for row in self.rows("calls"))

    def events(self, kind):
        return [event for event in self.society.log.events if event["kind"] == kind]

    def of(self, **fields):
        """What was said in calls with these values, in order of asking."""
        return [
            said
            for said in self.said
            if all(getattr(said.call, name) == value for name, value in fields.items())
        ]

    def of_form(self, form):
        return [said for said in self.said if said.form == form]


def play(
    ecosystem,
    protocol,
    script=None,
    *,
    consults=False,
    founding=None,
    seed=1,
    until=5000.0,
    backend=None,
    times=None,
    publication=None,
    meanwhile=None,
):
    """Let one team (or the teams of ``founding``) live to its end.

    ``meanwhile`` may add to the society before it begins.
    """
    players = Players(script=script, consults=consults) if backend is None else backend
    society = Society(
        ecosystem,
        protocol=protocol,
        founding=founding or Once(),
        times=times
        or Times(utterance=FixedDuration(length="10m"), homework=FixedDuration(length="2d")),
        backend=players,
        until=until,
        step_days=until,
        seed=seed,
        publication=publication,
    )
    if meanwhile is not None:
        meanwhile(society)
    society.run_to_end()
    return Played(society, players.said if isinstance(players, Players) else [])


def spoken(played, stage, visit=1):
    act = "vote" if stage == "novelty" else "utter"
    return played.count(stage=stage, visit=visit, act=act)


def speakers(played, stage, visit=1):
    turns = {}
    for said in sorted(
        played.of(stage=stage, visit=visit, guest=None), key=lambda s: (s.call.turn, s.call.seat)
    ):
        if said.call.act in ("utter", "vote"):
            turns.setdefault(said.call.turn, []).append(said.call.who)
    return turns


def dissolved(played):
    """Why the only team has ended without a paper."""
    assert played.team["state"] == "dissolved"
    assert not played.rows("papers")
    (event,) = played.events("dissolved")
    assert event["reason"] == played.team["reason"]
    return played.team["reason"]


def strike_at(*visits, score=85.0):
    """Self-reviews that find this much overlap, at these visits of the abstract stage."""

    def script(call, request):
        if call.act == "review" and call.visit in visits:
            return {"similarity_scores": {"Written Abstract vs A": 3, "B": score}}
        return None

    return script
