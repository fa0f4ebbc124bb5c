"""Lists of papers on a page: keys, letters, authors, abstracts cut short, one line each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from virsci_society.agents.prompts.dialogue import MARK
from virsci_society.agents.prompts.paper_lists import (
    LEFT_OUT,
    letter,
    list_keys,
    list_lettered,
    list_references,
    list_titles,
    own_sentences,
    pair_name,
    paper_key,
)
from virsci_society.agents.reference import Reference

GRAPHS = Reference(
    "p1", "On graphs", "All of it. And more.", 2019, key="P17", authors=("Scientist2", "Scientist5")
)
BARE = Reference("p2", "Bare", "", 2020, key="P203")
KEYLESS = Reference("p3", "No key", "Some.", 2021)
PAPERS = (GRAPHS, BARE, KEYLESS)


def test_a_paper_stands_under_its_key_with_those_authors_who_are_known():
    assert list_references(PAPERS, named=("Scientist2", "Scientist5")).splitlines() == [
        "> [P17] On graphs (2019; by Scientist2, Scientist5). All of it. And more.",
        "> [P203] Bare (2020).",
        "> [P3] No key (2021). Some.",
    ]
    assert list_references(()) == ""


def test_titles_are_listed_without_abstracts():
    assert list_titles(PAPERS).splitlines() == [
        "> [P17] On graphs (2019).",
        "> [P203] Bare (2020).",
        "> [P3] No key (2021).",
    ]


def test_a_key_stays_whatever_the_place_in_the_list():
    assert list_keys(PAPERS) == "P17, P203, P3"
    assert list_keys((BARE, GRAPHS)) == "P203, P17"
    assert (paper_key(GRAPHS, 9), paper_key(KEYLESS, 9)) == ("P17", "P9")


def test_papers_of_one_comparison_have_letters():
    assert list_lettered(PAPERS).splitlines() == [
        "> A: On graphs (2019). All of it. And more.",
        "> B: Bare (2020).",
        "> C: No key (2021). Some.",
    ]
    assert [letter(place) for place in (0, 25, 26, 27, 51, 52, 701, 702)] == [
        *("A", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA")
    ]
    assert pair_name(1) == "Written Abstract vs B"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (None, "One is here. Two (2 of them) is there! 3 is last? Yes."),
        (9, "One is here. Two (2 of them) is there! 3 is last? Yes."),
        (4, "One is here. Two (2 of them) is there! 3 is last? Yes."),
        (2, f"One is here. Two (2 of them) is there! {LEFT_OUT}"),
        (1, f"One is here. {LEFT_OUT}"),
        (0, LEFT_OUT),
    ],
)
def test_an_abstract_is_shown_up_to_a_sentence_and_says_where_it_ends(count, shown):
    text = "One is here.\nTwo (2 of them) is there!  3 is last? Yes."
    assert own_sentences(text, count) == shown
    assert own_sentences(" \n", count) == ""


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (1, f"{LEFT_OUT} In this paper a map is drawn. {LEFT_OUT}"),
        (2, f"{LEFT_OUT} In this paper a map is drawn. It is tested. {LEFT_OUT}"),
        (4, f"{LEFT_OUT} Nobody maps them. In this paper a map is drawn. It is tested. We win."),
        (5, "Graphs grow. Nobody maps them. In this paper a map is drawn. It is tested. We win."),
    ],
)
def test_of_an_abstract_those_sentences_are_shown_that_say_what_the_paper_does(count, shown):
    text = "Graphs grow. Nobody maps them. In this paper a map is drawn. It is tested. We win."
    assert own_sentences(text, count) == shown


def test_abstracts_in_a_list_are_cut_as_asked():
    assert list_references(PAPERS, 1).splitlines()[0].endswith(f" All of it. {LEFT_OUT}")
    assert list_references(PAPERS, 0).splitlines()[1:] == [
        "> [P203] Bare (2020).",
        f"> [P3] No key (2021). {LEFT_OUT}",
    ]


odd = st.text(
    st.sampled_from("aB.>:[]\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029 ") | st.characters(codec="utf-8"),
    max_size=40,
)


@given(st.lists(st.builds(Reference, st.just("p"), odd, odd, st.just(2000)), max_size=4))
def test_each_paper_is_one_marked_line_whatever_it_says(papers):
    for write in (list_references, list_titles, list_lettered):
        lines = write(papers).splitlines()
        assert len(lines) == len(papers)
        assert all(line.startswith(f"{MARK} ") for line in lines)
    for count in (0, 1, 2):
        assert len(list_references(papers, count).splitlines()) == len(papers)
