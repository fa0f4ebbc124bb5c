"""Chance and time: streams, durations, foundings (rules 7, 9, 11)."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.society.tiny_society import name, only, run, talk
from virsci_society.society import model
from virsci_society.society.formation.founding import Once, Poisson
from virsci_society.society.kernel.durations import (
    TICK,
    FixedDuration,
    Gamma,
    Lognormal,
    parse_days,
    to_ticks,
    write_days,
)
from virsci_society.society.kernel.streams import Streams


def test_a_stream_is_named_and_starts_again_from_its_beginning():
    streams = Streams(7)
    one = streams.stream("utterance", "a").random(3)
    streams.stream("utterance", "b").random(100)
    assert np.array_equal(streams.stream("utterance", "a").random(3), one)
    assert np.array_equal(Streams(7).stream("utterance", "a").random(3), one)


@pytest.mark.parametrize(
    "other",
    [
        Streams(8).stream("utterance", "a"),
        Streams(7).stream("homework", "a"),
        Streams(7).stream("utterance", "b"),
        Streams(7).stream("utterancea"),
        Streams(7).stream("utterance", "a", ""),
    ],
)
def test_seed_purpose_and_act_all_count(other):
    assert other.random() != Streams(7).stream("utterance", "a").random()


def test_streams_are_what_they_were():
    """A change here changes every published run."""
    assert Streams(7).key("utterance", "Scientist0/1/topic/1/1/0/utter/Scientist0") == KEY


KEY = 10572632804274446702


def test_no_two_acts_of_a_society_share_a_seed(monkeypatch):
    drawn = []

    class Noting(Streams):
        def key(self, *names):
            drawn.append((names, super().key(*names)))
            return drawn[-1][1]

    monkeypatch.setattr(model, "Streams", Noting)
    run(talk(), *((float(day), day % 10) for day in range(30)))
    assert len(drawn) > 300
    assert len({names for names, _ in drawn}) == len(drawn), "an act has drawn twice"
    assert len({key for _, key in drawn}) == len(drawn)


LENGTHS = st.integers(0, int(999_000 / TICK)).map(lambda ticks: ticks * TICK)


@given(LENGTHS)
def test_a_written_duration_is_read_back_exactly(days):
    assert parse_days(write_days(days)) == days
    assert parse_days(days) == days


@given(st.integers(0, 2000), st.sampled_from(["s", "m", "h", "d", "w", "mo", "y"]))
def test_what_people_write_is_written_back_the_same_length(count, unit):
    days = parse_days(f"{count}{unit}")
    assert parse_days(write_days(days)) == days
    assert days == to_ticks(days)


@given(st.text(max_size=8))
def test_any_text_is_a_duration_or_an_error(text):
    try:
        days = parse_days(text)
    except ValueError as error:
        assert "write 10m, 2h, 3d" in str(error) or "outside" in str(error)  # noqa: PT017
    else:
        assert days == to_ticks(days) >= 0


@pytest.mark.parametrize(
    ("text", "days", "written"),
    [
        *(("3d", 3.0, "3d"), (" 1 w ", 7.0, "1w"), ("12h", 0.5, "12h"), ("18m", 0.0125, "18m")),
        *(
            ("18mo", 547.5, "13140h"),
            ("2y", 730.0, "2y"),
            ("3 years", 1095.0, "3y"),
            ("1 month", 365 / 12, "730h"),
            ("10 minutes", 10 / 1440, "10m"),
            ("0.5d", 0.5, "12h"),
            ("0d", 0.0, "0.0d"),
        ),
        *(("90s", 1 / 960, "0.001041412353515625d"), (5, 5.0, "5d"), (0.25, 0.25, "6h")),
    ],
)
def test_durations_are_read_as_people_write_them_and_written_in_their_largest_unit(
    text, days, written
):
    assert parse_days(text) == pytest.approx(days, abs=TICK / 2)
    assert write_days(parse_days(text)) == written


WRONG = ["3", "d", "", "-3d", "3 das", "1d 2h", "1e3d", True, None, -1, -0.5, 1e6, [3]]
WRONG += [999_999.9999999, float("inf"), float("nan"), "1000000d"]


@pytest.mark.parametrize("value", WRONG)
def test_other_values_are_refused_with_a_hint(value):
    with pytest.raises(ValueError, match=r"is not a duration; write|is outside 0 to"):
        parse_days(value)


@given(st.lists(st.floats(0, 10_000), min_size=1, max_size=30), st.randoms())
def test_sums_of_ticks_are_exact_in_any_order(lengths, rng):
    ticks = [to_ticks(length) for length in lengths]
    total = sum(ticks)
    rng.shuffle(ticks)
    assert sum(ticks) == total
    assert total / TICK == int(total / TICK)
    start = ticks[0]
    assert (start + total) - start == total


@pytest.mark.parametrize(
    ("duration", "mean"),
    [
        (FixedDuration(length="2d"), 2.0),
        (Gamma(mean="10m"), parse_days("10m")),
        (Gamma(mean=3.0, shape=1.0), 3.0),
        (Lognormal(median=2.0, sigma=0.5), 2.0 * np.exp(0.125)),
    ],
)
def test_durations_are_drawn_on_the_grid_around_their_mean(duration, mean):
    rng = np.random.default_rng(1)
    draws = np.array([duration.draw(rng) for _ in range(4000)])
    assert (draws >= 0).all()
    assert (draws / TICK == np.round(draws / TICK)).all()
    assert draws.mean() == pytest.approx(mean, abs=5 * draws.std() / 60 + TICK)


def foundings(rule, scientists, days, seed=0):
    teams = rule.foundings(scientists, Streams(seed))
    return list(itertools.takewhile(lambda team: team[0] < days, teams))


def test_teams_are_founded_at_the_stated_rate():
    counts = [len(foundings(Poisson(teams_per_year=1.5), 20, 730.0, seed)) for seed in range(60)]
    expected = 1.5 * 20 * 2
    assert np.mean(counts) == pytest.approx(expected, abs=4 * np.sqrt(expected / 60))
    # A Poisson count has a variance equal to its mean.
    assert 0.5 * expected < np.var(counts) < 1.7 * expected


def test_once_founds_a_stated_number_of_teams():
    teams = foundings(Once(count=5, every="2d"), 3, 1e6)
    assert [date for date, _ in teams] == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert sorted(row for _, row in teams[:3]) == [0, 1, 2], "everybody leads once at first"
    assert foundings(Once(count=5), 3, 1e6) == [(0.0, row) for _, row in teams]
    leaders = {foundings(Once(), 10, 1.0, seed)[0][1] for seed in range(40)}
    assert len(leaders) > 5, "a single leader is drawn at random"


def test_a_society_founds_what_its_rule_says():
    rule = Poisson(teams_per_year=4.0)
    society = run(talk(rounds=0), founding=rule, until=60.0)
    wanted = [(date, name(row)) for date, row in foundings(rule, 10, 60.0)]
    founded = [(e["date"], e["leader"]) for e in society.log.events if e["kind"] == "founded"]
    assert founded == wanted
    assert len(founded) > 2
    assert {team["team"] for team in only(society, "teams")} == {
        f"{leader}/{[who for _, who in wanted[: place + 1]].count(leader)}"
        for place, (_, leader) in enumerate(wanted)
    }
