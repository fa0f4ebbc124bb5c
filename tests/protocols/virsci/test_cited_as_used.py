"""What is cited was chosen by the team among what it was shown; being found is no citation."""

import json

from pydantic import PrivateAttr

from virsci_society.agents.offline.backend import Offline
from virsci_society.protocols.ideas import Idea
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.formation.founding import Poisson
from virsci_society.society.kernel.durations import Times
from virsci_society.society.model import Society


class Noted(Offline):
    """Rule-based scientists; notes the papers that each idea was shown, and those it names."""

    _ideas: dict = PrivateAttr(default_factory=dict)

    async def complete(self, request):
        reply = await super().complete(request)
        if request.form is Idea:
            shown = [reference.id for reference in request.slots["references"]]
            keys = {paper.key: paper.id for paper in request.slots["references"]}
            named = [keys[key] for key in json.loads(reply.text).get("Uses", [])]
            team = "/".join(request.id.split("/")[:2])
            self._ideas.setdefault(team, []).append((shown, list(dict.fromkeys(named))))
        return reply


def test_each_paper_of_a_society_cites_what_one_idea_of_its_team_used(synthetic):
    backend = Noted()
    society = Society(
        synthetic,
        protocol=VirSci(team_size=3, turns=2),
        founding=Poisson(teams_per_year=2.0),
        times=Times(publication_delay=5.0, reply_window=3.0, meeting_notice=1.0),
        backend=backend,
        until=110.0,
        seed=4,
    )
    society.run_to_end()
    ideas, cited = backend._ideas, {row[0]: [] for row in society.log.rows["papers"]}
    for citing, one, *_ in society.log.rows["citations"]:
        cited[citing].append(one)
    assert len(cited) > 3
    found = 0
    for paper, works in cited.items():
        assert works in [named for _, named in ideas[paper]], paper
        shown = {one for listed, _ in ideas[paper] for one in listed}
        assert set(works) < shown, "more was retrieved than is cited"
        found += len(works)
        assert all(
            society.literature.paper(one).date < society.literature.paper(paper).date
            for one in works
        )
    assert found > len(cited)
