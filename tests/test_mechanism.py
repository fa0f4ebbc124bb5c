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
from virsci_society.metrics.teams.teams import diversity, freshness
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.ecosystem.knowledge_bank import KnowledgeBank
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import Times
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.model import Society

N = 8
LEAST, MOST = 1 / N, 1.0
ARMS = [(share, shuffled) for shuffled in (False, True) for share in (LEAST, MOST)]
SMALL = Synthetic(scientists=80, papers=300)
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
        believed, acquaintance = (
            KnowledgeBank(true.profiles, true.embedding),
            self.world.acquaintance,
        )

        def true_acquaintance(one, other):
            similarity = believed.similarity(one, other, believed.visible(self.day))
            return acquaintance(one, other) | {"similarity": similarity}

        # Team building asks the world; only these two of its answers come from the true profiles.
        self.world.topic = lambda row: true.profiles[row].topic
        self.world.acquaintance = true_acquaintance


def work(ecosystem, seed, size=N, shuffled=False, **targets):
    """The society of one team, and its paper, if it wrote one."""
    society = (Shuffled if shuffled else Society)(
        ecosystem,
        protocol=VirSci(
            team_size=size,
            min_size="all",
            max_invitations=len(ecosystem.profiles),
            turns=1,
            topic={"leaving": "off", "restarts": 20},
            **targets,
        ),
        founding=Once(count=1),
        times=AT_ONCE,
        attention="unlimited",
        backend=Offline(),
        until=60.0,
        seed=seed,
    )
    society.run_to_end()
    return society, next((one for one in society.literature.papers if one.date >= 0), None)


def measure(ecosystem, seed, **team):
    """What one team was and wrote, in numbers; None if it wrote nothing."""
    society, paper = work(ecosystem, seed, **team)
    if paper is None:
        return None
    rows, names = society.population.rows, society.population.names
    spoken = [society.ecosystem.profiles[rows[author]].interests for author in paper.authors]
    texts = {
        "HD": paper_text(paper.title, paper.abstract),
        "HD terms only": text_without_frames(paper.abstract),
        "HD interests": "; ".join(term for interests in spoken for term in interests),
    }
    databases = databases_of(ecosystem)
    vectors = ecosystem.embedding.encode(list(texts.values()))
    table = novelty_scores(vectors, databases.past, databases.contemporary)
    ties = {tuple(sorted((names[i], names[j]))) for i, j, _ in society.network.ties_before_day_0()}
    return {
        **{name: float(table["HD"][row]) for row, name in enumerate(texts)},
        "size": len(paper.authors),
        "freshness": freshness(paper.authors, ties),
        "diversity": diversity([ecosystem.profiles[rows[one]].topic for one in paper.authors]),
        "spoken": diversity([interests[0] for interests in spoken]),
    }


@pytest.fixture(scope="module")
def small():
    return SMALL.generate(0)


@pytest.fixture(scope="module")
def found(small):
    """Values of every arm for eight seeds in two ecosystems, whose leaders can build every team."""
    pairs = []
    for ecosystem in (small, SMALL.generate(1)):
        leaders = iter(range(40))
        while sum(one is ecosystem for one, *_ in pairs) < 4:
            seed = next(leaders)
            values = {
                arm: measure(ecosystem, seed, diversity=arm[0], shuffled=arm[1]) for arm in ARMS
            }
            if all(values.values()):
                pairs.append((ecosystem, seed, values))
    return pairs


def gaps(found, name, shuffled=False):
    """Diversity 1 less 1/8, one number a seed."""
    return np.array([at[MOST, shuffled][name] - at[LEAST, shuffled][name] for *_, at in found])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["HD", "HD terms only", "HD interests"])
def test_diverse_teams_write_farther_from_the_past(found, name):
    gap = gaps(found, name)
    assert len(gap) == 8
    assert gap.mean() > 0
    assert stats.ttest_1samp(gap, 0).pvalue < 0.01


@pytest.mark.slow
def test_it_vanishes_when_profiles_are_shuffled(found):
    true, control = gaps(found, "HD"), gaps(found, "HD", shuffled=True)
    assert stats.ttest_1samp(control, 0).pvalue > 0.01
    assert abs(control.mean()) < true.mean() / 2
    assert stats.ttest_1samp(true - control, 0).pvalue < 0.05


@pytest.mark.slow
def test_teams_are_what_was_asked_for(found):
    for *_, values in found:
        for (share, shuffled), row in values.items():
            assert (row["size"], row["diversity"]) == (N, share)
            assert (row["spoken"] == share) is not shuffled


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_attained_freshness_is_counted_from_the_network(small, share):
    rows = (measure(small, seed, size=4, freshness=share) for seed in range(20))
    assert next(row["freshness"] for row in rows if row) == share
