"""Founding rules: when teams start, who leads them, and that nobody else's draws are moved."""

from itertools import islice

import numpy as np
import pytest

from tests.society import tiny_society
from virsci_society.agents.errors import InputError
from virsci_society.society.formation.founding import (
    CallsForProposals,
    Once,
    Poisson,
    Yearly,
    counted_years,
)
from virsci_society.society.formation.leaders import ByPreferentialAttachment, Named, Productive
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.authorships import Authorships
from virsci_society.society.population.event_counts import DatedCounts, cumulative_counts


def dates(rule, scientists=100, until=None, count=None, seed=1):
    """Dates of the foundings before a day, or of the first so many."""
    found = []
    for date, _ in islice(rule.foundings(scientists, Streams(seed)), count):
        if until is not None and date >= until:
            break
        found.append(date)
    return np.array(found)


def founded(rule, steps=None, **settings):
    """Leaders by date, of a little society whose teams do nothing but talk."""
    society = tiny_society.found(steps or tiny_society.talk(1), founding=rule, **settings)
    society.run_to_end()
    return [(e["date"], e["leader"]) for e in society.log.events if e["kind"] == "founded"], society


# Dates


def test_yearly_foundings_have_the_stated_rate_and_growth():
    rule = Yearly(teams_per_year=80, growth=0.3)
    found = dates(rule, until=4 * 365.0)
    counts = np.histogram(found, np.arange(0, 5 * 365.0, 365.0))[0]
    expected = [80 / 0.3 * (np.exp(0.3 * (y + 1)) - np.exp(0.3 * y)) for y in range(4)]
    assert (np.abs(counts - expected) < 4 * np.sqrt(expected)).all()
    # Whatever the number of people, and the end does not move the beginning.
    np.testing.assert_array_equal(found[:50], dates(rule, scientists=7, count=50))


def past_papers(*years):
    """So many papers in each of the last years before day 0, the oldest first."""
    first = -len(years)
    return Authorships.of(
        [((first + place) * 365.0, [0]) for place, many in enumerate(years) for _ in range(many)]
    )


@pytest.mark.parametrize(
    ("papers", "growth", "expected", "years"),
    [
        ((500, 123, 147, 130, 160), 0.0, 140, 4),
        # IEEE VIS before 2012 with the growth that was fitted on it.
        ((114, 130, 123, 147, 130, 160), 0.012, 143, 4),
        # With the growth of the papers themselves the count goes on where they end.
        ((100, 110, 121, 133), np.log(1.1), 140, 4),
        ((30, 40), 0.0, 35, 2),
        ((0, 0, 0, 1), 0.0, 1, 1),
    ],
)
def test_the_number_of_teams_is_counted_on_the_last_past_papers(papers, growth, expected, years):
    past = past_papers(*papers)
    rule = Yearly(teams_per_year="counted", growth=growth).counted_on(lambda: past)
    assert rule.teams_per_year == expected
    assert rule.growth == growth
    assert counted_years(past) == years


def test_a_stated_number_of_teams_looks_at_no_past_paper():
    def never():
        raise AssertionError

    for rule in (Yearly(teams_per_year=80), Poisson(), Once()):
        assert rule.counted_on(never) is rule


def test_no_recent_paper_leaves_nothing_to_count():
    with pytest.raises(InputError, match="nobody in the population has a paper in the last 4"):
        Yearly(teams_per_year="counted").counted_on(lambda: past_papers(7, 0, 0, 0, 0))
    with pytest.raises(InputError, match="counted needs past papers"):
        next(Yearly(teams_per_year="counted").foundings(5, Streams(1)))


def test_a_society_founds_as_many_teams_as_are_counted_on_its_ecosystem():
    counted, society = founded(Yearly(teams_per_year="counted"))
    number = Yearly(teams_per_year="counted").counted_on(lambda: society.world.history.past)
    assert number.teams_per_year != "counted"
    assert counted == founded(number)[0]


def test_yearly_foundings_end_where_their_rate_falls_to_nothing():
    found = dates(Yearly(teams_per_year=10, growth=-5), until=1e9)
    assert len(found) < 12
    assert len(dates(Yearly(teams_per_year=10, growth=-5), until=1e9, seed=2)) < 12


def test_calls_come_on_their_dates_and_then_again_and_again():
    rule = CallsForProposals(dates=(10.0, 40.0), every=100.0, teams_per_call=2)
    assert dates(rule, until=300.0).tolist() == [10, 10, 40, 40, 140, 140, 240, 240]
    assert dates(CallsForProposals(dates=(5.0,), teams_per_call=3)).tolist() == [5.0] * 3


def test_dates_of_calls_are_in_order():
    with pytest.raises(ValueError, match="dates are listed in order"):
        CallsForProposals(dates=(40.0, 10.0))


@pytest.mark.parametrize("rule", [Poisson(), Once(count=9, every=3.0)])
def test_who_leads_by_a_rule_moves_no_date(rule):
    other = rule.model_copy(update={"leaders": Productive()})
    assert dates(rule, count=9).tolist() == dates(other, count=9).tolist()


# Leaders


def test_a_call_is_answered_by_different_leaders_and_everybody_once():
    leaders, _ = founded(CallsForProposals(dates=(3.0,), teams_per_call=50), most=1)
    assert {date for date, _ in leaders} == {3.0}
    assert len(leaders) <= tiny_society.PEOPLE
    assert len({who for _, who in leaders}) == len(leaders)


def test_nobody_at_the_limit_leads():
    """Two of three lead from day 0 for a month, so on day 1 only the third is left."""
    rule = CallsForProposals(
        dates=(0.0, 1.0), teams_per_call=2, max_teams=1, leaders=Named(people=NAMED)
    )
    leaders, society = founded(rule, tiny_society.talk(30), until=20.0)
    assert [date for date, _ in leaders] == [0.0, 0.0, 1.0]
    assert {who for _, who in leaders} == set(NAMED)
    assert [date for date, _ in tiny_society.kinds(society, "founding_skipped")] == [1.0]


ZERO = "Scientist0"
NAMED = ("Scientist2", "Scientist5", "Scientist8")


def test_whoever_has_published_leads_from_then_on():
    """Scientist0 has no paper before day 0, so by papers alone it leads after its first one."""
    rule = Once(count=80, every=1.0, leaders=Productive(floor=0))
    leaders, society = founded(rule, most=30)
    published = {row["paper"]: row["published"] for row in tiny_society.only(society, "papers")}
    own = [r["paper"] for r in tiny_society.only(society, "authorships") if r["scientist"] == ZERO]
    first = min(date for date, who in leaders if who == ZERO)
    assert first > min(published[paper] for paper in own)


def test_where_nobody_may_lead_no_team_is_founded():
    rule = CallsForProposals(
        teams_per_call=4, leaders=ByPreferentialAttachment(by="coauthors", floor=0)
    )
    leaders, society = founded(rule, most=3)
    assert {who for _, who in leaders} <= {f"Scientist{n}" for n in range(5)}
    nobody = Once(count=3, leaders=Named(people=NAMED[:1]))
    leaders, society = founded(nobody)
    assert len(leaders) == 1
    skipped = [e for e in society.log.events if e["kind"] == "founding_skipped"]
    assert [e["scientist"] for e in skipped] == [None, None]


def test_a_rule_of_its_own_gets_leaders_by_any_rule():
    """Whoever writes a founding rule need not know of leaders."""
    rule = tiny_society.Stated(teams_at=((1.0, 3), (2.0, 3)), leaders=Named(people=NAMED))
    assert {who for _, who in founded(rule)[0]} <= set(NAMED)


def test_drawing_by_standing_at_a_million_people_takes_no_scan(monkeypatch):
    """What is done once per society is paid before; a draw touches a few numbers."""

    class Everybody:
        papers = DatedCounts(lambda: cumulative_counts(np.arange(1_000_000)), lambda: 1.0)

        def __len__(self):
            return 1_000_000

    class Million:
        population = Everybody()

    def refuse(*_):
        raise AssertionError("the dense weights are computed")

    rule, rng = Productive(floor=1.0), Streams(1).stream("many")
    rule.choose(frozenset(), Million(), rng)
    monkeypatch.setattr("virsci_society.society.formation.sampling.count_weights", refuse)
    monkeypatch.setattr("virsci_society.society.formation.sampling.sample_exactly", refuse)
    rows = [rule.choose(frozenset({3}), Million(), rng) for _ in range(2000)]
    assert np.mean(rows) == pytest.approx(2 / 3 * 1_000_000, rel=0.05)
