"""Wordless teams: they gather, meet and publish, and nobody is asked a word."""

import numpy as np
import pytest

from virsci_society.agents.offline.backend import Offline
from virsci_society.protocols.policies.fixed import FixedTeam
from virsci_society.protocols.policies.uniform import Uniform
from virsci_society.protocols.wordless import Wordless
from virsci_society.society.formation.founding import Once, Poisson
from virsci_society.society.kernel.durations import FixedDuration as Always
from virsci_society.society.kernel.durations import Times
from virsci_society.society.model import Society
from virsci_society.society.results.run import Run

TIMES = Times(homework=Always(length=2.0), leader_effort=1.0, publication_delay=10.0)


@pytest.fixture
def ran(synthetic):
    """A function that runs wordless teams over the small ecosystem."""

    def run(protocol, founding=None, *, seed=1, until=200.0, times=TIMES):
        society = Society(
            synthetic,
            protocol=protocol,
            founding=founding or Once(),
            times=times,
            backend=Offline(),
            until=until,
            seed=seed,
        )
        society.run_to_end()
        return Run.from_rows(society.log.rows, {"seed": seed, "days": until}, {})

    return run


def test_a_team_meets_as_often_as_stated_and_publishes_without_a_call(ran):
    """Three notices of a week, two rounds of homework of two days, three meetings of half a day."""
    run = ran(Wordless(meetings=3, meeting=Always(length=0.5)))
    team = run.table("teams").iloc[0]
    assert team["state"] == "published"
    assert team["protocol"] == "wordless"
    assert team["finished"] == 3 * 7.0 + 2 * 2.0 + 3 * 0.5
    assert team["published"] == team["finished"] + 10.0
    assert len(run.table("meetings")) == 3
    assert len(run.table("calls")) == 0
    assert len(run.table("authorships")) == team["size"] == 4


def test_the_paper_is_made_of_interests_of_its_authors(ran, synthetic):
    run = ran(Wordless(team_size=3))
    paper = run.table("papers").iloc[0]
    people = {profile.id: profile for profile in synthetic.profiles}
    authors = run.table("authorships")["scientist"]
    interests = {word for who in authors for word in people[who].interests}
    keywords = paper["title"].removeprefix("A paper on ").split(", ")
    assert len(keywords) == 3
    assert set(keywords) <= interests
    assert set(paper["keywords"].split("; ")) >= set(keywords)


def test_it_cites_as_many_papers_as_stated_each_from_before(ran):
    run = ran(Wordless(references=4, meetings=0), Once(count=6, every=30.0))
    cited = run.table("citations")
    assert (cited.groupby("citing").size() == 4).all()
    assert cited["citing"].nunique() == 6
    dates = run.table("papers").set_index("paper")["published"]
    inside = cited[cited["inside"]]
    assert all(
        dates[old] < dates[new] for new, old in zip(inside["citing"], inside["cited"], strict=True)
    )


def test_who_is_drawn_is_a_matter_of_the_policy(ran):
    people = ("Scientist3", "Scientist7", "Scientist9")
    run = ran(Wordless(team_size=3, selection=FixedTeam(people=people)))
    authors = set(run.table("authorships")["scientist"])
    assert len(authors) == 3
    assert len(authors & set(people)) >= 2


def test_nobody_works_in_more_teams_than_allowed(ran):
    busy = Poisson(teams_per_year=20, max_teams=1)
    run = ran(Wordless(selection=Uniform()), busy, until=60.0)
    members = run.table("members").sort_values("joined")
    assert len(run.table("teams")) > 10
    for _, spells in members.groupby("scientist"):
        left = spells["left"].fillna(np.inf).to_numpy()
        assert (spells["joined"].to_numpy()[1:] >= left[:-1]).all()


def test_a_team_that_finds_too_few_is_dissolved(ran):
    alone = Wordless(team_size=4, selection=FixedTeam(people=("Scientist3",)), min_size=3)
    team = ran(alone).table("teams").iloc[0]
    assert (team["state"], team["reason"]) == ("dissolved", "too small")
    with pytest.raises(ValueError, match="min_size is larger than team_size"):
        Wordless(team_size=3, min_size=4)
