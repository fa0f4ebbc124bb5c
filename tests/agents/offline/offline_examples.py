"""Handmade and generated slots for the tests of the offline scientist."""

import numpy as np
from hypothesis import strategies as st

from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.slots import Advice, Reference, Utterance
from virsci_society.protocols.forms import Draft, GuestReply, Remark, Summary, Topic
from virsci_society.protocols.ideas import Ballot, CandidateIdea, Idea
from virsci_society.protocols.virsci.forms import SelfReview

FIELDS = (
    ("Volume Rendering", "Transfer Functions", "GPU", "Ray Casting"),
    ("Graph Drawing", "Edge Bundling", "Network Layout", "Matrix Views"),
    ("Uncertainty Visualization", "Bayesian Inference", "Ensemble Forecasts", "Box Plots"),
    ("Eye Tracking", "Colour Perception", "Reading Speed", "Change Blindness"),
    ("Text Mining", "Topic Models", "Word Embeddings", "Named Entities"),
    ("Flow Fields", "Vortex Cores", "Streamline Seeding", "Turbulence"),
    ("Treemaps", "Hierarchies", "Genealogy", "File Systems"),
    ("Medical Imaging", "Vessel Segmentation", "Surgical Planning", "MRI"),
)


def person(i, *interests, papers=12, citations=300):
    """A scientist with the interests given, or those of the i-th field."""
    stated = interests or FIELDS[i % len(FIELDS)]
    return Profile(f"Scientist{i}", ("Somewhere",), tuple(stated), papers, citations)


def team_of(n):
    """A team whose members all come from different fields (up to eight)."""
    return [person(i) for i in range(n)]


def paper(i, distance=0.8, title="", abstract=""):
    """A reference; its title speaks of the i-th field unless given."""
    a, b, *_ = FIELDS[i % len(FIELDS)]
    return Reference(
        f"p{i}",
        title or f"{a} for large {b}",
        abstract or f"We study {a.lower()} and {b.lower()}. Large data sets need {a.lower()}.",
        2001 + i % 10,
        (a, b) if i % 2 else (),
        distance,
    )


def papers(n=6, distance=0.8):
    """Some references, all at one distance."""
    return tuple(paper(i, distance) for i in range(n))


def rng_of(seed=1):
    """A fresh generator."""
    return np.random.Generator(np.random.Philox(key=seed))


def an_idea(**changes):
    """A plain idea."""
    fields = {
        "idea": "We propose to join edge bundling and ray casting by way of GPU.",
        "title": "Edge bundling for ray casting through GPU",
        "experiment": "Compare both.",
        "clarity": 7.0,
        "feasibility": 6.0,
        "novelty": 5.0,
    }
    return Idea(**{**fields, **changes})


def standing(distance=0.8, n=5, **changes):
    """An idea with references at one distance."""
    return CandidateIdea(an_idea(**changes), "Scientist1", papers(n, distance))


def slots_of_talk(me, team, **more):
    """The slots of a remark, with whatever a test changes."""
    return {
        "me": me,
        "members": team,
        "role": "member",
        "summaries": (),
        "said": (),
        "start": "",
        "memory": (),
        "knowledge": (),
        "outsiders": (),
        **more,
    }


def slots_of_idea(me, **more):
    """The slots of an idea."""
    return {
        "me": me,
        "topic": Topic(topic="Volume rendering for graph drawing, informed by text mining"),
        "references": papers(),
        "previous": None,
        "summaries": (),
        "said": (),
        "memory": (),
        "knowledge": (),
        "outsiders": (),
        **more,
    }


def slots_of_revision(me, draft, **more):
    """The slots of a revision."""
    return {
        "me": me,
        "draft": draft,
        "guest": None,
        "review": None,
        "near": (),
        "knowledge": (),
        "outsiders": (),
        **more,
    }


any_text = st.one_of(
    st.text(max_size=80),
    st.sampled_from(
        [
            "Volume Rendering",
            "GPU",
            "and decision making",
            "<i>k</i>-means",
            "$\\alpha$ {x} %s {0}",
            "…",
            "日本語の論文",
            "Ωmega (unbalanced",
            "A. B. c. d",
            '"quoted" text',
            "\x00\u202e\u0000",
            "design study",
            "the of and",
        ]
    ),
)
names = st.integers(0, 99).map(lambda i: f"Scientist{i}")
profiles = st.builds(
    Profile,
    id=names,
    interests=st.lists(any_text, max_size=5).map(tuple),
    papers=st.integers(0, 500),
    citations=st.none() | st.integers(0, 10**6),
)
references = st.builds(
    Reference,
    id=st.integers(0, 999).map(str),
    title=any_text.filter(bool),
    abstract=st.one_of(st.just(""), any_text),
    year=st.integers(1900, 2030),
    keywords=st.lists(any_text, max_size=3).map(tuple),
    distance=st.floats(0, 2),
    key=st.just("") | st.integers(1, 999).map(lambda number: f"P{number}"),
)
some_text = any_text.filter(bool)
ideas = st.builds(
    Idea,
    idea=some_text,
    title=some_text,
    experiment=any_text,
    clarity=st.floats(1, 10),
    feasibility=st.floats(1, 10),
    novelty=st.floats(1, 10),
)
standings = st.builds(CandidateIdea, ideas, references=st.lists(references, max_size=4).map(tuple))
drafts = st.builds(Draft, title=some_text, abstract=some_text)
replies = st.builds(GuestReply, answer=any_text)
remarks = st.builds(Remark, response=any_text, direction=any_text)


def said_by_member(replies):
    """Replies as a dialogue holds them, with the name of the speaker."""
    return st.builds(Utterance, speaker=names, reply=replies)


advice = st.builds(Advice, guest=names, asker=names, question=any_text, reply=replies)
ballots = st.builds(Ballot, decision=st.sampled_from(["Idea 0", "Idea 1", "Idea 2"]))


def few(strategy, most=3):
    """A tuple of at most a few."""
    return st.lists(strategy, max_size=most).map(tuple)


summaries = st.builds(Summary, summary=any_text)
topics = st.builds(Topic, topic=some_text)
reviews = st.builds(SelfReview, similarity_scores=st.just({"Written Abstract vs A": 90.0}))
