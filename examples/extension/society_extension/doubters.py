from pydantic import Field

import virsci_society as vs


class Doubt(vs.Form):
    reason: str
    doubt: float = Field(ge=1, le=10)


class Doubters(vs.ResearchSystem):
    """One scientist puts forward several ideas and keeps the one it doubts least (an example)."""

    citation = "An example, after nobody."
    system = "doubters"

    ideas: int = Field(default=3, ge=1)

    def find_idea(self, work):
        return (yield from work.lab.stage("ideas", self.propose_and_doubt(work)))

    def propose_and_doubt(self, work):
        authors = [work.team.leader] * self.ideas
        with (yield from work.hold_round("ideas", 1, 2)):
            ideas = yield from work.propose(authors)

        def ask(seat, who):
            return work.pose(who, "doubt", Doubt, seat=seat, idea=ideas[seat])

        with (yield from work.hold_round("doubts", 2, 2)):
            doubts = yield from work.lab.ask_each(authors, ask)
        return work.lab.later(least_doubted, ideas, tuple(doubts))


def least_doubted(ideas, doubts):
    best = min(range(len(ideas)), key=lambda seat: doubts[seat].doubt)
    return ideas[best]
