"""Which interests a prompt shows: neither scraps nor general language nor parts of others."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virsci_society.society.ecosystem.interest_vocabulary import cleaned_interests, general_terms


def lists(*texts):
    column = pa.array([text.split(", ") if text else [] for text in texts], pa.list_(pa.string()))
    return pa.chunked_array([column])


def shown(interests, general=""):
    return ", ".join(cleaned_interests(tuple(interests.split(", ")), frozenset(general.split())))


def test_terms_that_no_past_paper_has_as_a_keyword_are_general():
    interests = lists("Graphs, maps, work progress", "graphs, big")
    assert general_terms(interests, lists("maps", "GRAPHS")) == {"work progress", "big"}
    assert general_terms(lists(), lists("maps")) == frozenset()


def test_where_no_paper_has_keywords_words_that_many_state_are_general():
    interests = lists(*["machine translation, system"] * 3, "parsing", *["a b"] * 296)
    assert general_terms(interests, lists("", "")) == {"system"}
    assert general_terms(lists("system"), lists("")) == frozenset()


@pytest.mark.parametrize(
    ("interests", "expected"),
    [
        ("big, lic, maps, trees, 2d, old graphs", "maps, trees, old graphs"),
        ("big, lic, maps, vs", "big, lic, maps"),
        ("big, lic", "big, lic"),
        ("绘图, maps, trees, graphs", "绘图, maps, trees, graphs"),
        # Parts of other terms do not come back: they are shown already.
        ("maps, old maps, big", "old maps, big"),
        ("vector field, flow, vector field topology, overflow", "flow, vector field topology, "
         "overflow"),
        ("vector topology, vector field topology, maps", "vector topology, vector field topology, "
         "maps"),
        ("tensor fields, tensors field, maps, trees", "tensor fields, maps, trees"),
        ("Graphs, graph, maps, trees", "Graphs, maps, trees"),
    ],
)  # fmt: skip
def test_what_is_left_out(interests, expected):
    assert shown(interests, "big techniques") == expected


TERMS = ["big", "lic", "maps", "map", "old maps", "maps of trees", "trees", "techniques", "work"]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(TERMS), max_size=10), st.frozensets(st.sampled_from(TERMS)))
def test_what_is_shown_is_a_part_of_the_profile_in_its_order(interests, general):
    found = cleaned_interests(tuple(interests), general)
    left = iter(dict.fromkeys(interests))
    assert all(term in left for term in found)
    assert bool(found) == bool(interests)
