"""Who comes and leaves: by hand, and as often as the rates say."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import kstest

from tests.society import tiny_society
from virsci_society.agents.profile import Profile
from virsci_society.society.careers import Apprentices, Lengths, Rates
from virsci_society.society.ecosystem.knowledge_bank import People
from virsci_society.society.formation.founding import CallsForProposals, Once, Poisson
from virsci_society.society.formation.leaders import Productive
from virsci_society.society.interventions import Change, Removal
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.model import Society

NEVER = ((1e5, 0),)
YEAR = 365.0


def lived(careers, *leaders, steps=None, **settings):
    return tiny_society.run(
        steps or tiny_society.talk(), *(leaders or NEVER), careers=careers, **settings
    )


def changes(society, *wanted):
    """Rows of ``careers`` as dicts."""
    return [one for one in tiny_society.only(society, "careers") if one["change"] in wanted]


def society_of(ecosystem, **settings):
    quiet = {
        "protocol": tiny_society.Written(steps=tiny_society.talk()),
        "founding": tiny_society.Stated(teams_at=NEVER),
        "times": tiny_society.times(),
        "backend": tiny_society.Scripted(),
        "step_days": 10.0,
    }
    return Society(ecosystem, **(quiet | settings))


def test_an_apprentice_begins_with_the_mentor():
    society = lived(Rates(newcomers=Apprentices(per_year=0.5)), until=YEAR)
    came = changes(society, "arrived")
    assert len(came) > 2
    arrivals = [event for event in society.log.events if event["kind"] == "arrived"]
    for row, event in zip(came, arrivals, strict=True):
        assert row["place"] == "University"
        own = society.population.profile(society.population.rows[row["scientist"]], YEAR)
        mentor = society.population.profile(society.population.rows[event["mentor"]], YEAR)
        assert own.affiliations == mentor.affiliations
        # The mentor has one interest: it is taken over, or replaced by another's.
        assert len(own.interests) == 1
        assert (own.papers, own.citations, own.collaborators) == (0, 0, ())
    people = tiny_society.only(society, "scientists")
    assert [one["arrived"] for one in people[:10]] == [None] * 10
    assert [one["arrived"] for one in people[10:]] == [one["date"] for one in came]
    assert [one["scientist"] for one in people[10:]] == [
        f"Scientist{10 + n}" for n in range(len(came))
    ]
    assert {(one["papers"], one["citations"], one["career_start"]) for one in people[10:]} == {
        (0, 0, None)
    }


@pytest.mark.parametrize("shared", [0.0, 0.25, 1.0])
def test_apprentices_share_interests_as_often_as_stated(shared):
    lists = [tuple(f"{who}{n}" for n in range(5)) for who in "abcdefghij"]
    profiles = [Profile(f"Scientist{n}", ("U",), list_) for n, list_ in enumerate(lists)]
    society = society_of(replace(tiny_society.ECOSYSTEM, profiles=People.of(profiles)))
    rule, rng = Apprentices(per_year=1.0, shared=shared), Streams(1).stream("apprentices")
    starts = [rule.starting_profile(society, 3, rng)[1] for _ in range(400)]
    assert {len(set(one)) for one in starts} == {5}
    taken = np.mean([len(set(one) & set(lists[3])) for one in starts]) / 5
    assert taken == pytest.approx(shared, abs=4 * (shared * (1 - shared) / 2000) ** 0.5 + 1e-12)
    others = Counter(one[0] for start in starts for one in start if one[0] != "d")
    assert len(others) == (0 if shared == 1 else 9)


def sums(careers, days, seeds=60, **settings):
    """Arrivals and retirements of many little societies."""
    found = []
    for seed in range(seeds):
        society = lived(careers, until=days, seed=seed, **settings)
        counts = Counter(row["change"] for row in changes(society, "arrived", "retired"))
        found.append((counts["arrived"], counts["retired"]))
    return np.array(found)


@pytest.mark.slow
def test_each_scientist_brings_newcomers_at_the_stated_rate():
    """A Yule process: of 10, mean 10 e^(rt) after t, and variance 10 e^(rt) (e^(rt) - 1)."""
    came = sums(Rates(newcomers=Apprentices(per_year=0.5)), YEAR)[:, 0]
    growth = np.exp(0.5)
    error = np.sqrt(10 * growth * (growth - 1) / len(came))
    assert came.mean() == pytest.approx(10 * (growth - 1), abs=4 * error)


@pytest.mark.slow
def test_a_stated_number_comes_however_many_are_here():
    came = sums(Rates(newcomers=Apprentices(number_per_year=6.0)), 2 * YEAR)[:, 0]
    assert came.mean() == pytest.approx(12.0, abs=4 * np.sqrt(12 / len(came)))
    assert came.var() == pytest.approx(12.0, abs=4 * 12 * np.sqrt(2 / len(came)))


def test_everybody_retires_at_the_stated_rate_newcomers_too():
    """Births and deaths at one rate: the mean number stays, and as many leave as come."""
    rule = Rates(
        newcomers=Apprentices(per_year=0.4), retirement=Lengths(mean=YEAR / 0.4, shape=1.0)
    )
    found = sums(rule, 2 * YEAR, seeds=40)
    here = 10 + found[:, 0] - found[:, 1]
    error = np.sqrt(10 * 2 * 0.4 * 2 / len(here))
    assert here.mean() == pytest.approx(10.0, abs=4 * error)
    assert found[:, 1].mean() == pytest.approx(8.0, abs=4 * found[:, 1].std() / np.sqrt(len(here)))


@pytest.mark.parametrize("age", [0.0, 10.0, 40.0])
@pytest.mark.parametrize("shape", [0.7, 1.0, 4.0])
def test_what_is_left_of_a_career_depends_on_how_long_it_has_lasted(age, shape):
    from math import gamma

    rule = Lengths(mean=30 * YEAR, shape=shape)
    left = rule.remaining_days(np.full(4000, age * YEAR), np.random.default_rng(3))
    scale = 30 / gamma(1 + 1 / shape)

    def survives(years):
        return np.exp(-((years / scale) ** shape))

    assert kstest(left / YEAR, lambda t: 1 - survives(age + t) / survives(age)).pvalue > 1e-4
    if shape == 1.0:
        # One rate, however long it has lasted.
        gaps = np.random.default_rng(3).standard_exponential(4000)
        assert np.allclose(left, 30 * YEAR * gaps)


def test_of_a_career_far_beyond_its_length_nothing_is_left():
    lasted = np.array([0.0, 10 * YEAR, 1e5])
    left = Lengths(mean=2.0**-20, shape=50.0).remaining_days(lasted, np.random.default_rng(3))
    assert left == pytest.approx(0.0, abs=1e-5)


def test_careers_last_from_the_first_paper_on():
    """First papers in 2010, day 0 in 2020: who has 10 years of about 12 behind has about 2 left."""
    society = lived(Rates(retirement=Lengths(mean=12 * YEAR, shape=50.0)), until=6 * YEAR)
    dates = [row["date"] / YEAR for row in changes(society, "retired")]
    assert len(dates) == 10
    assert np.mean(dates) == pytest.approx(2.0, abs=0.5)
    assert max(dates) < 3.0
    unknown = replace(tiny_society.ECOSYSTEM, career_starts=np.zeros(10, dtype=np.int64))
    late = lived(
        Rates(retirement=Lengths(mean=12 * YEAR, shape=50.0)), ecosystem=unknown, until=6 * YEAR
    )
    assert not changes(late, "retired")


def test_who_neither_writes_nor_works_leaves():
    """Two years after day 0, after the last paper, or after the end of the last team."""
    society = lived(
        Rates(inactivity=2 * YEAR), (100.0, 9), steps=tiny_society.talk(2), until=4 * YEAR
    )
    gone = {row["scientist"]: row["date"] for row in changes(society, "inactive")}
    (paper,) = tiny_society.only(society, "papers")
    ended = max(row["left"] for row in tiny_society.only(society, "members"))
    assert paper["published"] == ended + 10.0
    wrote = {row["scientist"] for row in tiny_society.only(society, "authorships")}
    assert wrote == {tiny_society.name(9), tiny_society.name(0)}
    for row in range(tiny_society.PEOPLE):
        last = paper["published"] if tiny_society.name(row) in wrote else 0.0
        assert gone[tiny_society.name(row)] == last + 2 * YEAR


def test_a_newcomer_has_as_long_as_everybody():
    rule = Rates(inactivity=100.0, newcomers=Apprentices(number_per_year=20.0))
    society = lived(rule, until=YEAR)
    came = {row["scientist"]: row["date"] for row in changes(society, "arrived")}
    gone = {row["scientist"]: row["date"] for row in changes(society, "inactive")}
    assert len(came) > 1
    assert gone == {tiny_society.name(row): 100.0 for row in range(10)} | {
        who: date + 100.0 for who, date in came.items() if date + 100.0 < YEAR
    }


def test_silence_is_counted_from_the_end_of_the_last_team():
    def long(team, lab):
        yield from lab.wait(500.0)

    society = lived(Rates(inactivity=2 * YEAR), (100.0, 8), steps=long, until=5 * YEAR)
    gone = {row["scientist"]: row["date"] for row in changes(society, "inactive")}
    assert gone[tiny_society.name(8)] == 600.0 + 2 * YEAR


@pytest.mark.parametrize("rates", [{}, {"per_year": 0.1, "number_per_year": 3}])
def test_newcomers_come_at_one_rate(rates):
    with pytest.raises(ValidationError, match="per_year or number_per_year, one of them"):
        Apprentices(**rates)


def foundings(society):
    return [
        (event["date"], event.get("leader") or event["scientist"])
        for event in society.log.events
        if event["kind"] in ("founded", "founding_skipped")
    ]


def brief(team, lab):
    return
    yield


TURNOVER = Rates(
    newcomers=Apprentices(per_year=0.6), retirement=Lengths(mean=YEAR / 0.3, shape=1.0)
)


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    "founding",
    [Poisson(teams_per_year=2.0), Poisson(teams_per_year=2.0, leaders=Productive())],
    ids=["poisson", "poisson by papers"],
)
def test_there_are_as_many_foundings_as_scientists_present(founding):
    seen, owed, by_newcomers, theirs = 0, 0.0, 0, 0.0
    for seed in range(15):
        society = lived(TURNOVER, steps=brief, founding=founding, until=2 * YEAR, seed=seed)
        people = society.population
        here = {
            row: people.departed.get(row, society.until) - people.present_since(row)
            for row in range(len(people))
        }
        dated = foundings(society)
        seen += len(dated)
        owed += 2.0 * sum(here.values()) / YEAR
        late = {people.names[row] for row in people.arrived}
        by_newcomers += sum(leader in late for _, leader in dated)
        theirs += 2.0 * sum(days for row, days in here.items() if row >= 10) / YEAR
        for date, leader in dated:
            row = people.rows[leader]
            assert people.present_since(row) <= date <= people.departed.get(row, society.until)
    assert seen == pytest.approx(owed, abs=4 * owed**0.5)
    if founding.leaders is None:
        assert by_newcomers == pytest.approx(theirs, abs=4 * theirs**0.5)


@pytest.mark.parametrize(
    "founding", [Once(count=12, every=30.0), CallsForProposals(teams_per_call=3, every=50.0)]
)
def test_a_stated_number_of_teams_stays_as_it_is(founding):
    society = lived(
        Rates(newcomers=Apprentices(per_year=2.0)), steps=brief, founding=founding, until=YEAR
    )
    alone = lived(None, steps=brief, founding=founding, until=YEAR)
    assert [date for date, _ in foundings(society)] == [date for date, _ in foundings(alone)]


def test_nothing_that_was_drawn_before_is_drawn_otherwise_because_people_come():
    """Until somebody has come, a living society is one in which nobody comes or goes."""
    founding = Poisson(teams_per_year=3.0)
    living = lived(Rates(newcomers=Apprentices(per_year=0.1)), founding=founding, until=YEAR)
    still = lived(None, founding=founding, until=YEAR)
    first = changes(living, "arrived")[0]["date"]
    before = [
        [{**event, "sequence": 0} for event in one.log.events if event["date"] < first]
        for one in (living, still)
    ]
    assert before[0] == before[1]
    assert len(before[0]) > 5


def test_another_rule_begins_on_its_date_and_another_seed_is_other_luck():
    founding = Poisson(teams_per_year=1.0)
    rule = Rates(newcomers=Apprentices(per_year=1.0))
    ended = lived(
        rule,
        founding=founding,
        interventions=[Change(100.0, settings={"careers": None})],
        until=YEAR,
    )
    whole = lived(rule, founding=founding, until=YEAR)
    early = [row for row in changes(whole, "arrived") if row["date"] < 100.0]
    assert changes(ended, "arrived") == early
    assert len(early) < len(changes(whole, "arrived"))
    began = lived(
        None,
        founding=founding,
        interventions=[
            Change(50.0, removal=Removal(count=2)),
            Change(100.0, settings={"careers": TURNOVER}),
        ],
        until=2 * YEAR,
    )
    dates = [row["date"] for row in changes(began, "arrived", "retired")]
    assert min(dates) > 100.0
    assert len(set(changes_of(began))) == len(changes_of(began))
    other = lived(
        rule, founding=founding, interventions=[Change(100.0, settings={"seed": 9})], until=YEAR
    )
    assert [row for row in changes(other, "arrived") if row["date"] < 100.0] == early
    assert changes(other, "arrived") != changes(whole, "arrived")


def changes_of(society):
    return [row["scientist"] for row in changes(society, "retired", "removed", "inactive")]
