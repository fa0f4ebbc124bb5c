"""Phrases: what profiles, papers and utterances bring into the talk."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from offline_material import an_idea, any_text, person, profiles, references

from agents.offline import phrases
from agents.offline.phrases import (
    NEUTRAL,
    expertise,
    guests,
    headed,
    headline,
    is_guest,
    listed,
    paper_terms,
    pieces,
    raised,
    runs,
    spoken,
    substance,
    traced,
    unique,
    without,
)
from agents.offline.sayings import GUEST, LATER, UNTITLED
from agents.profile import Profile
from agents.reference import Reference
from protocols.forms import GuestReply, Remark, Summary


def test_expertise_is_cleaned_and_unique():
    me = Profile("S", interests=("Volume Rendering", "volume rendering", "and GPU", "…", "the"))
    assert expertise(me) == ("volume rendering", "GPU")
    assert expertise(None) == ()
    assert expertise(Profile("S")) == ()


def test_expertise_keeps_the_order_of_frequency():
    assert expertise(person(0))[0] == "volume rendering"


@given(profiles)
@settings(max_examples=60, deadline=None)
def test_expertise_has_no_empty_term(profile):
    terms = expertise(profile)
    assert all(term.strip() == term and term for term in terms)
    assert len({term.casefold() for term in terms}) == len(terms)


def test_runs_are_noun_phrases_between_common_words():
    assert runs("A Study of Volume Rendering for Large Graph Layouts") == (
        "volume rendering",
        "graph layouts",
    )
    assert runs("the of and") == ()
    assert runs("") == ()


def test_runs_stop_at_punctuation_and_length():
    assert runs("isosurfaces, streamlines: vortices") == ("isosurfaces", "streamlines", "vortices")
    assert all(len(term.split()) <= 4 for term in runs("alpha beta gamma delta epsilon zeta"))


def test_paper_terms_prefer_keywords():
    terms = paper_terms(Reference("p", "Seeing Streams", "", 2000, ("Flow Fields",), 0.1))
    assert terms[0] == "flow fields"


def test_paper_terms_take_repeated_pairs_of_the_abstract():
    text = "Vortex cores are hard. We find vortex cores fast and once see pressure waves."
    terms = paper_terms(Reference("p", "Seeing", text, 2000))
    assert "vortex cores" in terms
    assert "pressure waves" not in terms


@given(references)
@settings(max_examples=60, deadline=None)
def test_paper_terms_never_fail(reference):
    assert len(paper_terms(reference)) <= 8


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("volume rendering for graph drawing", ("volume rendering", "graph drawing")),
        ("From star maps to city maps through CAD", ("star maps", "city maps", "CAD")),
        ("Graphs, informed by text", ("graphs", "text")),
        ("", ()),
        ("…", ()),
    ],
)
def test_pieces_are_the_terms_that_a_direction_joins(direction, expected):
    assert pieces(direction) == expected


def test_headed_takes_the_means_off():
    assert headed("Maps for graphs with GPU") == "Maps for graphs"
    assert headed("Maps for graphs through GPU with text") == "Maps for graphs"
    assert headed("…") == UNTITLED
    long = "one two three four five six for seven eight nine ten eleven twelve with x"
    assert len(headed(long).split()) <= 11


def test_headline_and_spoken():
    assert headline(Remark(response="x", direction="A for B")) == "A for B"
    assert headline(an_idea()) == an_idea().title
    assert headline(GuestReply(answer="x")) == ""
    assert spoken(Summary(summary="all of it")) == "all of it"
    assert spoken("a line") == "a line"
    assert spoken(object()) == ""


def test_raised_reads_directions_quotes_frames_and_plain_prose():
    assert raised(Remark(response="", direction="maps for graphs")) == ("maps", "graphs")
    assert raised(Summary(summary='The team put forward "maps for graphs".')) == ("maps", "graphs")
    assert raised(GuestReply(answer=GUEST[0].format(g="eye tracking", x="maps"))) == (
        "eye tracking",
        "maps",
    )
    assert raised(GuestReply(answer="You should try simulated annealing.")) == (
        "simulated annealing",
    )
    assert raised(LATER[0].format(x="quantum maps")) == ("quantum maps",)
    assert raised(Remark(response="", direction="")) == ()


@pytest.mark.parametrize("frame", GUEST)
def test_the_first_term_of_a_guest_is_its_own(frame):
    reply = GuestReply(answer=frame.format(g="eye tracking", x="graph drawing"))
    assert raised(reply)[0] == "eye tracking"


def test_guests_are_told_from_members():
    said = (Remark(response="x", direction="A for B"), GuestReply(answer="Try wavelet trees."))
    assert [is_guest(item) for item in said] == [False, True]
    assert guests({"said": said}) == ("wavelet trees",)
    assert guests({}) == ()


def test_listed_takes_nothing_one_or_several():
    assert listed(None) == []
    assert listed(()) == []
    assert listed("x") == ["x"]
    assert listed((None, "x")) == ["x"]


def test_traced_reads_slots_or_runs():
    assert traced([LATER[0].format(x="maps")]) == ("maps",)
    assert traced(["A paper on graph drawing."]) == ("graph drawing",)


def test_substance_drops_the_wording_of_frames():
    assert substance(LATER[0].format(x="quantum maps")) == "quantum maps"
    assert substance("Plain prose stays.") == "Plain prose stays."


def test_without_ignores_case():
    assert without(["Maps", "graphs"], ["maps"]) == ["graphs"]


def test_unique_trims_long_phrases():
    assert unique(["a of one two-fold three four five six seven"]) != ()
    assert all(len(term.split()) <= 5 for term in unique(["alpha beta gamma delta eps zeta eta"]))


def test_neutral_terms_survive_their_own_cleaning():
    assert unique(NEUTRAL) == NEUTRAL


@given(any_text)
@settings(max_examples=100, deadline=None)
def test_nothing_readable_is_ever_an_empty_term(text):
    for terms in (runs(text), pieces(text), raised(text)):
        assert all(terms)


def test_the_layer_knows_no_protocol():
    for source in sorted(Path(phrases.__file__).parent.glob("*.py")):
        found = re.findall(r"^\s*(?:from|import) (\w+)", source.read_text(), re.MULTILINE)
        assert not {"protocols", "society", "metrics", "scenarios"} & set(found), source.name
