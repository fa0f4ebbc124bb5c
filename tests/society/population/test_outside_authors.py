"""Outside authors: what is counted on past papers, who is drawn, and that nothing else changes."""

import numpy as np
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.formation.founding import Yearly
from virsci_society.society.formation.leaders import Anybody
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Paper, Papers
from virsci_society.society.population.outside_authors import (
    LEAST,
    CountedSeats,
    OutsideAuthors,
    PastSeats,
    PoissonSeats,
    all_authorships,
    count_past_seats,
    member_places,
)
from virsci_society.society.results.dataframes import build_tables
from virsci_society.society.results.digest import digest_content, digest_tables

ROWS = {"Scientist0": 0, "Scientist1": 1, "Scientist2": 2}


def papers(*listed):
    """Past papers of (years before day 0, authors: S0.. inside, others outside)."""
    made = [
        Paper(
            f"p{number}",
            "On graphs",
            "",
            -DAYS_PER_YEAR * years,
            2020 - years,
            tuple(one.replace("S", "Scientist") for one in authors.split()),
        )
        for number, (years, authors) in enumerate(sorted(listed, reverse=True))
    ]
    return Papers.of(sorted(made, key=lambda one: (one.date, one.id)))


PAST = papers((9, "S0 A B"), (4, "A D"), (2, "S1 S0 A"), (2, "S0 D E"), (1, "S2 C A"), (1, "S2"))


def outside(rule, past=PAST, rows=ROWS):
    return OutsideAuthors(rule, past, rows)


def draws(authors, members, times, day=1.0, name="p"):
    """The outside authors of papers of the same members, each a day after the last."""
    return [
        authors.draw(f"{name}{n}", members, day + n, Streams(n).stream("outside"))
        for n in range(times)
    ]


def test_past_papers_are_counted_with_what_was_known_on_their_date():
    whole, names = all_authorships(PAST, ROWS)
    assert names == ["A", "B", "D", "E", "C"]
    seats = count_past_seats(whole, 3, None)
    assert list(zip(seats.inside, seats.outside, strict=True)) == [
        (1, 2), (2, 1), (1, 2), (1, 2), (1, 0),
    ]  # fmt: skip
    # Seats: A, B, A, D, E, C, A. A (twice) and D had published; A had with S0 on the second alone.
    assert seats.p == pytest.approx(3 / 7)
    assert seats.q == pytest.approx(1 / 3)
    lately = count_past_seats(whole, 3, 2 * DAYS_PER_YEAR)
    assert lately.inside.tolist() == [2, 1, 1, 1]
    assert lately.p == pytest.approx(3 / 5)


def test_papers_of_one_date_know_nothing_of_each_other():
    whole, _ = all_authorships(papers((2, "S0 A"), (2, "S0 A"), (1, "S0 A")), ROWS)
    seats = count_past_seats(whole, 3, None)
    assert (seats.p, seats.q) == (pytest.approx(1 / 3), 1.0)


def test_numbers_are_those_of_papers_with_as_many_members_or_the_nearest():
    inside = np.array([1] * LEAST + [2] * 3 + [4] * LEAST)
    past = PastSeats(inside, np.arange(len(inside)), 0.0, 0.0)
    assert past.outside_beside(1).tolist() == [*range(LEAST)]
    # Three papers are too few: those one off count too, and no others.
    assert past.outside_beside(2).tolist() == [*range(LEAST + 3)]
    assert past.outside_beside(9).tolist() == [*range(LEAST + 3, 2 * LEAST + 3)]
    few = PastSeats(np.array([1, 3]), np.array([5, 7]), 0.0, 0.0)
    assert few.outside_beside(3).tolist() == [5, 7]
    rng = Streams(1).stream("x")
    drawn = {CountedSeats().number(2, past, rng) for _ in range(400)}
    assert drawn == {*range(LEAST + 3)}


def test_poisson_numbers_do_not_depend_on_the_members():
    rule, rng = PoissonSeats(mean=1.5), Streams(1).stream("x")
    past = PastSeats(np.array([1]), np.array([0]), 0.0, 0.0)
    drawn = np.array([rule.number(members, past, rng) for members in (1, 5) for _ in range(3000)])
    assert drawn.mean() == pytest.approx(1.5, abs=0.06)
    assert drawn.var() == pytest.approx(1.5, rel=0.1)


def test_former_coauthors_are_drawn_by_joint_papers_that_fade():
    # Of S0: two papers with A, the last two years ago; one with B, nine years ago; D, E: two.
    rule = PoissonSeats(mean=1.0, p=1.0, q=1.0, memory=DAYS_PER_YEAR)
    found = [
        name
        for n in range(400)
        for name in outside(rule).draw("p", [0], 0.0, Streams(n).stream("x"))[:1]
    ]
    shares = {name: found.count(name) / len(found) for name in "ABDE"}
    assert shares["A"] == pytest.approx(2 / 4, abs=0.09)
    assert shares["D"] == pytest.approx(1 / 4, abs=0.08)
    assert shares["B"] < 0.02
    assert sum(shares.values()) == 1.0


def test_others_who_have_published_are_no_former_coauthors_of_the_members():
    rule = PoissonSeats(mean=3.0, p=1.0, q=0.0, memory=None)
    found = {name for one in draws(outside(rule), [2], 1) for name in one}
    assert found
    assert found <= {"B", "D", "E", *(f"p0/Outside{n}" for n in (1, 2, 3, 4, 5, 6))}
    assert not found & {"A", "C"}


def test_who_never_published_is_new_on_every_paper():
    named = draws(outside(PoissonSeats(mean=2.0, p=0.0)), [0], 6)
    everybody = [name for one in named for name in one]
    assert len({*everybody}) == len(everybody) > 5
    assert all(one == tuple(f"p{n}/Outside{k + 1}" for k in range(len(one)))
               for n, one in enumerate(named))  # fmt: skip


def test_who_was_new_is_a_former_coauthor_from_the_next_date_on():
    def repeated(step):
        authors = outside(PoissonSeats(mean=2.0, p=0.6, q=1.0))
        return [
            name
            for n in range(30)
            for name in authors.draw(f"p{n}", [1], n * step, Streams(n).stream("x"))
            if "/" in name and not name.startswith(f"p{n}/")
        ]

    assert len(repeated(1.0)) > 5
    assert repeated(0.0) == []


def test_nobody_is_named_twice_on_a_paper_and_newcomers_of_the_society_are_no_outsiders():
    rule = PoissonSeats(mean=4.0, p=0.9, q=0.7)
    # Rows 3 and above came after day 0: their numbers must not be those of outside authors.
    named = draws(outside(rule), [0, 3, 7], 60)
    assert all(len({*one}) == len(one) for one in named)
    assert max(map(len, named)) > 4
    assert not {name for one in named for name in one} & set(ROWS)


def test_places_keep_the_leader_first_or_last_and_the_members_in_order():
    rng = Streams(1).stream("x")
    assert member_places(3, 0, True, rng) == [0, 1, 2]
    assert (member_places(1, 2, False, rng), member_places(1, 2, True, rng)) == ([0], [2])
    first = [member_places(2, 2, False, rng) for _ in range(300)]
    last = [member_places(2, 2, True, rng) for _ in range(300)]
    assert {tuple(one) for one in first} == {(0, 1), (0, 2), (0, 3)}
    assert {tuple(one) for one in last} == {(0, 3), (1, 3), (2, 3)}


@pytest.mark.parametrize(
    ("rule", "past", "told"),
    [
        (CountedSeats(), papers((1, "S0 S1")), "nobody is outside"),
        (PoissonSeats(mean=1), papers((1, "S0 S1")), "nobody is outside"),
        (CountedSeats(), papers((1, "S0"), (1, "A")), "of the last 5y has both"),
        (CountedSeats(p=0.2, q=0.5), papers((9, "S0 A"), (1, "S0")), "give a longer since"),
        (PoissonSeats(mean=1, p=0.3), papers((9, "S0 A")), "nothing to count"),
    ],
)
def test_what_cannot_be_counted_is_an_error(rule, past, told):
    with pytest.raises(InputError, match=told) as caught:
        outside(rule, past)
    assert str(caught.value).startswith("population.outside_seats: ")
    assert caught.value.exit_code == 2


def test_what_is_stated_need_not_be_counted():
    nobody = papers((1, "S0 S1"))
    assert draws(outside(PoissonSeats(mean=3, p=0.0), nobody), [0], 1)[0][0] == "p0/Outside1"
    apart = papers((1, "S0"), (1, "A"))
    assert draws(outside(PoissonSeats(mean=3, p=1.0, q=0.5), apart), [0], 1)[0][0] == "A"


def society(found, **settings):
    rule = Yearly(teams_per_year=80, leaders=Anybody(), max_teams=4)
    talking = VirSci(team_size=3, turns=1, author_order="leader_last")
    made = found(talking, founding=rule, until=150.0, **settings)
    made.run_to_end()
    return build_tables(made.log.rows)


@pytest.mark.slow
def test_they_are_named_on_papers_and_change_nothing_else_and_no_prompt(found):
    off, on = society(found), society(found, outside_seats=CountedSeats())
    assert off["papers"]["outside_authors"].isna().all()
    assert "outside_authors" not in digest_content(off)["papers"]
    assert on["papers"]["outside_authors"].notna().sum() > 2
    assert len(on["calls"]) > 100
    assert digest_tables(digest_content(off)) != digest_tables(digest_content(on))
    # The leader stands last of all members and the others.
    places = on["authorships"].groupby("paper")["position"]
    others = on["papers"].set_index("paper")["outside_authors"].str.count("; ").fillna(-1) + 1
    assert (places.max() + 1 == places.count() + others.sort_index()).all()
    on["papers"]["outside_authors"] = off["papers"]["outside_authors"]
    on["authorships"]["position"] = off["authorships"]["position"]
    assert digest_tables(digest_content(off)) == digest_tables(digest_content(on))
