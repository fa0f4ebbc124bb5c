"""External authors: their number as on past papers, and that nothing else changes."""

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.formation.founding import Yearly
from virsci_society.society.formation.leaders import Anybody
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Paper, Papers
from virsci_society.society.population.external_authors import LEAST, CountedExternalAuthors
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


def drawn(rule, past, members, times=400):
    """The numbers that come up for papers with as many members."""
    draw, rng = rule.counted_on(past, ROWS), Streams(1).stream("x")
    return {draw(members, rng) for _ in range(times)}


def test_numbers_are_those_of_papers_with_as_many_members_or_the_nearest():
    alone = [(1, " ".join(["S0", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: n % 4]])) for n in range(LEAST)]
    pairs, nobody = [(1, "S0 S1 A B C D E F G")] * 3, [(1, "A B C D E F G H I J")]
    past = papers(*alone, *pairs, *nobody)
    assert drawn(CountedExternalAuthors(), past, 1) == {0, 1, 2, 3}
    # Three papers are too few: those one off count too; papers without members never do.
    assert drawn(CountedExternalAuthors(), past, 2) == {0, 1, 2, 3, 7}
    few = papers((1, "S0 A B C D E"), (1, "S0 S1 S2 A B"))
    assert drawn(CountedExternalAuthors(), few, 3) == {5, 2}


def test_only_papers_since_a_date_are_counted():
    past = papers((9, "S0 A B"), (2, "S0 A"))
    assert drawn(CountedExternalAuthors(since=3 * DAYS_PER_YEAR), past, 1) == {1}
    assert drawn(CountedExternalAuthors(since=None), past, 1) == {1, 2}


@pytest.mark.parametrize(
    ("past", "told"),
    [
        (papers((1, "S0 S1")), "there are no external authors"),
        (papers((1, "S0"), (1, "A")), "of the last 5y has both"),
        (papers((9, "S0 A"), (1, "S0")), "give a longer since"),
    ],
)
def test_what_cannot_be_counted_is_an_error(past, told):
    with pytest.raises(InputError, match=told) as caught:
        CountedExternalAuthors().counted_on(past, ROWS)
    assert str(caught.value).startswith("population.external_authors: ")
    assert caught.value.exit_code == 2


def society(found, **settings):
    rule = Yearly(teams_per_year=80, leaders=Anybody(), max_teams=4)
    talking = VirSci(team_size=3, turns=1, author_order="leader_last")
    made = found(talking, founding=rule, until=150.0, **settings)
    made.run_to_end()
    return build_tables(made.log.rows)


@pytest.mark.slow
def test_their_number_stands_on_papers_and_changes_nothing_else_and_no_prompt(found):
    off, on = society(found), society(found, external_authors=CountedExternalAuthors())
    without, counted = (one["papers"]["external_authors"] for one in (off, on))
    assert without.null_count == len(without)
    assert "external_authors" not in digest_content(off)["papers"].column_names
    assert counted.null_count < len(counted) - 2
    assert len(on["calls"]) > 100
    assert digest_tables(digest_content(off)) != digest_tables(digest_content(on))
    place = off["papers"].column_names.index("external_authors")
    on["papers"] = on["papers"].set_column(place, "external_authors", without)
    assert digest_tables(digest_content(off)) == digest_tables(digest_content(on))
