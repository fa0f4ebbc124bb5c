"""Phrases: what profiles, papers and utterances bring into the talk."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given

from tests.agents.offline.offline_examples import an_idea, any_text, person, profiles, references
from virsci_society.agents.offline import terms
from virsci_society.agents.offline.asked import Asked
from virsci_society.agents.offline.grammar import FRAMES, UNTITLED
from virsci_society.agents.offline.terms import (
    NEUTRAL,
    as_list,
    exclude_terms,
    expertise,
    full_text,
    headline,
    is_guest,
    noun_phrases,
    paper_terms,
    sentence_terms,
    split_terms,
    text_without_frames,
    title_head,
    unique_terms,
    utterance_terms,
)
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.slots import Advice, Reference, Utterance
from virsci_society.protocols.forms import GuestReply, Remark, Summary


def test_expertise_is_cleaned_and_unique():
    me = Profile("S", interests=("Volume Rendering", "volume rendering", "and GPU", "…", "the"))
    assert expertise(me) == ("volume rendering", "GPU")
    assert expertise(None) == ()
    assert expertise(Profile("S")) == ()


def test_expertise_keeps_the_order_of_frequency():
    assert expertise(person(0))[0] == "volume rendering"


@given(profiles)
def test_expertise_has_no_empty_term(profile):
    terms = expertise(profile)
    assert all(term.strip() == term and term for term in terms)
    assert len({term.casefold() for term in terms}) == len(terms)


def test_runs_are_noun_phrases_between_common_words():
    assert noun_phrases("A Study of Volume Rendering for Large Graph Layouts") == (
        "volume rendering",
        "graph layouts",
    )
    assert noun_phrases("the of and") == ()
    assert noun_phrases("") == ()


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Focus and context in graph drawing", ("focus-and-context", "graph drawing")),
        ("Focus+Context Metro Maps", ("focus-and-context metro maps",)),
        ("What Scientist40 did for Scientist2's kelp forests", ("kelp forests",)),
        ("One high resolution brain image segmentation", ("resolution brain image segmentation",)),
    ],
)
def test_a_phrase_is_no_half_of_an_expression_and_no_name(title, expected):
    assert noun_phrases(title) == expected


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("Focus and context techniques", "focus and context techniques"),
        ("structure prediction by deep networks", "structure prediction by deep networks"),
        ("structure prediction by very deep neural networks", "structure prediction"),
        (
            "large scale multiple sequence alignment search",
            "scale multiple sequence alignment search",
        ),
        ("A priori bounds", "a priori bounds"),
        ("A bound", "bound"),
        ("Scientist12", ""),
        ("kelp of Scientist12", "kelp of"),
    ],
)
def test_a_term_keeps_its_head(phrase, expected):
    assert unique_terms([phrase]) == ((expected,) if expected else ())


def test_runs_stop_at_punctuation_and_length():
    assert noun_phrases("isosurfaces, streamlines: vortices") == (
        "isosurfaces",
        "streamlines",
        "vortices",
    )
    assert all(
        len(term.split()) <= 4 for term in noun_phrases("alpha beta gamma delta epsilon zeta")
    )


def test_paper_terms_prefer_keywords():
    terms = paper_terms(Reference("p", "Seeing Streams", "", 2000, ("Flow Fields",), 0.1))
    assert terms[0] == "flow fields"


def test_paper_terms_take_repeated_pairs_of_the_abstract():
    text = "Vortex cores are hard. We find vortex cores fast and once see pressure waves."
    terms = paper_terms(Reference("p", "Seeing", text, 2000))
    assert "vortex cores" in terms
    assert "pressure waves" not in terms


@given(references)
def test_paper_terms_never_fail(reference):
    assert len(paper_terms(reference)) <= 8


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("volume rendering for graph drawing", ("volume rendering", "graph drawing")),
        ("From star maps to city maps through CAD", ("star maps", "city maps", "CAD")),
        ("Graphs, informed by text", ("graphs", "text")),
        ("Focus and context for a graph", ("focus and context", "graph")),
        ("Sequence to sequence with GPU", ("sequence to sequence", "GPU")),
        ("", ()),
        ("…", ()),
    ],
)
def test_pieces_are_the_terms_that_a_direction_joins(direction, expected):
    assert split_terms(direction) == expected


def test_headed_takes_the_means_off():
    assert title_head("Maps for graphs with GPU") == "Maps for graphs"
    assert title_head("Maps for graphs through GPU with text") == "Maps for graphs"
    assert title_head("…") == UNTITLED
    long = "one two three four five six for seven eight nine ten eleven twelve and some more with x"
    assert len(title_head(long).split()) <= 13


def test_headline_and_spoken():
    assert headline(Remark(response="x", direction="A for B")) == "A for B"
    assert headline(an_idea()) == an_idea().title
    assert headline(GuestReply(answer="x")) == ""
    assert full_text(Summary(summary="all of it")) == "all of it"
    assert full_text("a line") == "a line"
    assert full_text(object()) == ""


def test_raised_reads_directions_quotes_frames_and_plain_prose():
    assert utterance_terms(Remark(response="", direction="maps for graphs")) == ("maps", "graphs")
    assert utterance_terms(Summary(summary='The team put forward "maps for graphs".')) == (
        "maps",
        "graphs",
    )
    assert utterance_terms(
        GuestReply(answer=FRAMES["guest"][0].format(g="eye tracking", x="maps"))
    ) == (
        "eye tracking",
        "maps",
    )
    assert utterance_terms(GuestReply(answer="You should try simulated annealing.")) == (
        "simulated annealing",
    )
    assert utterance_terms(FRAMES["later"][0].format(x="quantum maps")) == ("quantum maps",)
    assert utterance_terms(Remark(response="", direction="")) == ()


@pytest.mark.parametrize("frame", FRAMES["guest"])
def test_the_first_term_of_a_guest_is_its_own(frame):
    reply = GuestReply(answer=frame.format(g="eye tracking", x="graph drawing"))
    assert utterance_terms(reply)[0] == "eye tracking"


def test_guests_are_told_from_members():
    said = (Remark(response="x", direction="A for B"), GuestReply(answer="Try wavelet trees."))
    assert [is_guest(item) for item in said] == [False, True]
    assert Asked({"said": said}, None).guest_terms == ("wavelet trees",)
    assert Asked({}, None).guest_terms == ()


def test_listed_takes_nothing_one_or_several():
    assert as_list(None) == []
    assert as_list(()) == []
    assert as_list("x") == ["x"]
    assert as_list((None, "x")) == ["x"]
    reply = Remark(response="x")
    said, advice = Utterance("Scientist2", reply), Advice("Scientist7", "Scientist2", "?", reply)
    for value in (said, advice):
        assert as_list(value) == [reply]
        assert as_list((value, None, value)) == [reply, reply]


def test_traced_reads_slots_or_runs():
    assert sentence_terms([FRAMES["later"][0].format(x="maps")]) == ("maps",)
    assert sentence_terms(["A paper on graph drawing."]) == ("graph drawing",)


def test_substance_drops_the_wording_of_frames():
    assert text_without_frames(FRAMES["later"][0].format(x="quantum maps")) == "quantum maps"
    assert text_without_frames("Plain prose stays.") == "Plain prose stays."


def test_without_ignores_case():
    assert exclude_terms(["Maps", "graphs"], ["maps"]) == ["graphs"]


def test_unique_trims_long_phrases():
    assert unique_terms(["a of one two-fold three four five six seven"]) != ()
    assert all(
        len(term.split()) <= 5 for term in unique_terms(["alpha beta gamma delta eps zeta eta"])
    )


def test_neutral_terms_survive_their_own_cleaning():
    assert unique_terms(NEUTRAL) == NEUTRAL


@given(any_text)
def test_nothing_readable_is_ever_an_empty_term(text):
    for found in (noun_phrases(text), split_terms(text), utterance_terms(text)):
        assert all(found)


def test_the_layer_knows_no_protocol():
    for source in sorted(Path(terms.__file__).parent.glob("*.py")):
        found = re.findall(r"^\s*(?:from|import) (\w+)", source.read_text(), re.MULTILINE)
        assert not {"protocols", "society", "metrics", "scenarios"} & set(found), source.name
