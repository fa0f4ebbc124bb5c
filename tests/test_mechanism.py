"""With rule-based scientists, what is written depends on who is in the team, and on nothing hidden.

Teams of eight are built for a diversity of 1/8 and of 1, by the same leaders. The negative control
shuffles interests among scientists while team building still believes the true ones: its teams are
the same people, seat by seat, and only whose interests they speak of is left to chance.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.offline.text import text_without_frames
from virsci_society.metrics.novelty.novelty import novelty_scores
from virsci_society.metrics.novelty.other_papers import databases_of
from virsci_society.metrics.teams.teams import diversity
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.ecosystem.knowledge_bank import KnowledgeBank
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import Times
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.model import Society

pytestmark = pytest.mark.slow
N = 8
LEAST, MOST = 1 / N, 1.0
ARMS = [(share, shuffled) for shuffled in (False, True) for share in (LEAST, MOST)]
AT_ONCE = Times(homework=None, meeting_notice=0, reply_window=0, publication_delay=0)


class Shuffled(Society):
    """A society whose team building believes the true profiles, and whose words do not."""

    def __init__(self, true, *, seed, **more):
        order = Streams(seed).stream("shuffled profiles").permutation(len(true.profiles))
        profiles = tuple(
            replace(profile, interests=true.profiles[row].interests)
            for profile, row in zip(true.profiles, order, strict=True)
        )
        super().__init__(replace(true, profiles=profiles), seed=seed, **more)
        believed = KnowledgeBank(true.profiles, true.embedding)
        acquaintance = self.world.acquaintance

        def true_acquaintance(one, other):
            similarity = believed.similarity(one, other, believed.visible(self.day))
            return acquaintance(one, other) | {"similarity": similarity}

        # Team building asks the world; only these two of its answers come from the true profiles.
        self.world.topic = lambda row: true.profiles[row].topic
        self.world.acquaintance = true_acquaintance


def measure(ecosystem, seed, wanted, shuffled):
    """What one team was and wrote, in numbers; None if it wrote nothing."""
    society = (Shuffled if shuffled else Society)(
        ecosystem,
        protocol=VirSci(
            team_size=N,
            min_size="all",
            max_invitations=len(ecosystem.profiles),
            turns=1,
            topic={"leaving": "off", "restarts": 20},
            diversity=wanted,
        ),
        founding=Once(count=1),
        times=AT_ONCE,
        attention="unlimited",
        backend=Offline(),
        until=60.0,
        seed=seed,
    )
    society.run_to_end()
    paper = next((one for one in society.literature.papers if one.date >= 0), None)
    if paper is None:
        return None
    rows, profiles = society.population.rows, society.ecosystem.profiles
    texts = [paper_text(paper.title, paper.abstract), text_without_frames(paper.abstract)]
    databases = databases_of(ecosystem)
    vectors = ecosystem.embedding.encode(texts)
    scores = novelty_scores(vectors, databases.past, databases.contemporary)["HD"]
    return {
        "HD": float(scores[0]),
        "HD terms only": float(scores[1]),
        "size": len(paper.authors),
        "diversity": diversity([ecosystem.profiles[rows[one]].topic for one in paper.authors]),
        "spoken": diversity([profiles[rows[one]].interests[0] for one in paper.authors]),
    }


@pytest.fixture(scope="module")
def found():
    """Values of every arm for eight seeds in two ecosystems, whose leaders can build every team."""
    pairs = []
    for number in (0, 1):
        ecosystem = Synthetic(scientists=80, papers=300).generate(number)
        leaders = iter(range(40))
        while len(pairs) < 4 * (number + 1):
            seed = next(leaders)
            values = {arm: measure(ecosystem, seed, *arm) for arm in ARMS}
            if all(values.values()):
                pairs.append(values)
    return pairs


def gaps(found, name, shuffled=False):
    """Diversity 1 less 1/8, one number a seed."""
    return np.array([at[MOST, shuffled][name] - at[LEAST, shuffled][name] for at in found])


@pytest.mark.parametrize("name", ["HD", "HD terms only"])
def test_diverse_teams_write_farther_from_the_past(found, name):
    gap = gaps(found, name)
    assert len(gap) == 8
    assert gap.mean() > 0
    assert stats.ttest_1samp(gap, 0).pvalue < 0.01


def test_it_vanishes_when_profiles_are_shuffled(found):
    true, control = gaps(found, "HD"), gaps(found, "HD", shuffled=True)
    assert stats.ttest_1samp(control, 0).pvalue > 0.01
    assert abs(control.mean()) < true.mean() / 2
    assert stats.ttest_1samp(true - control, 0).pvalue < 0.05


def test_teams_are_what_was_asked_for(found):
    for values in found:
        for (share, shuffled), row in values.items():
            assert (row["size"], row["diversity"]) == (N, share)
            assert (row["spoken"] == share) is not shuffled
