"""What a team carries from stage to stage, and what it says of its failed attempts."""

import re

import pytest

from tests.protocols.paper_equations import Past, check, may_be_asked, quoted
from tests.protocols.scripted_backend import LENGTH, play, strike_at
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.protocols.virsci.searches import ReferenceUse
from virsci_society.protocols.virsci.settings import FULL
from virsci_society.protocols.virsci.team_memory import PromptSwitches

SMALL = {"team_size": 3, "turns": 3}
TRIED = "What this team has tried before:"


def disagree_once(call, request):
    return {"Agree": False} if call.act == "agree" and call.visit == 1 else None


def first(played, stage, visit):
    return played.of(stage=stage, visit=visit, turn=1, seat=0, act="utter", guest=None)[0]


def tried(said):
    return [line for heading, lines in quoted(said.user) if heading == TRIED for line in lines]


@pytest.mark.parametrize("profile", ["paper", "full"])
def test_after_a_failure_the_first_prompt_says_what_fell_and_why(synthetic, profile):
    played = play(synthetic, VirSci(profile=profile, **SMALL), disagree_once)
    dropped = played.of_form("Topic")[0].reply["Selected Topic"]
    assert not tried(first(played, "topic", 1))
    line = f'> The topic "{dropped}" was dropped: 0 of 3 agreed to it.'
    assert tried(first(played, "topic", 2)) == [line]
    told = {said.form for said in played.said if tried(said)}
    assert told == {"Remark", "Topic", "Agreement", "Stay"}
    protocol = VirSci(profile=profile, **SMALL, abstract={"self_review": "on"})
    played = play(synthetic, protocol, strike_at(1, 2, score=91))
    title = played.of_form("Draft")[0].request.slots["idea"].idea.title
    assert not tried(first(played, "ideas", 1))
    (line,) = tried(first(played, "ideas", 2))
    assert line.startswith(f'> The idea "{title}" was given up')
    assert "(similarity 91 of 100)" in line
    assert {said.form for said in played.said if tried(said)} == {"Idea", "Draft"}


def the_same_words(call, request):
    """Everybody always says the same, nobody agrees at first, and two abstracts fall."""
    same = {
        "Remark": {"Response": "yes", "Direction": "tides"},
        "GuestReply": {"Answer": "yes"},
        "Summary": {"Summary": "yes"},
        "Topic": {"Selected Topic": "tides of the far northern sea", "Reason": "yes"},
        "Idea": dict.fromkeys(("Reason", "Idea", "Title", "Experiment", "In Short"), "tides")
        | {"Novelty": 5},
        "Critique": dict.fromkeys(("Soundness", "Objection", "Advice"), "yes"),
        "Draft": {"Title": "tides", "Abstract": LENGTH},
        "Revision": {"Title": "tides", "Abstract": LENGTH, "Modifications": "none"},
    }
    if isinstance(question := request.slots.get("outsiders"), tuple) and question:
        same[request.form.__name__]["Ask"] = {"Scientist": question[0].id, "Question": "why?"}
    struck = strike_at(1, 2)(call, request)
    if struck is not None:
        struck["high_overlap_pairs"] = []
    return struck or disagree_once(call, request) or same.get(request.form.__name__)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("script", [disagree_once, the_same_words])
@pytest.mark.parametrize("order", ["round_table", "random"])
@pytest.mark.parametrize("profile", ["paper", "full"])
def test_nobody_is_sent_the_same_prompt_twice(synthetic, profile, order, script):
    protocol = VirSci(
        profile=profile,
        **SMALL,
        discussion={"speaking_order": order},
        abstract={"self_review": "on"},
    )
    played = play(synthetic, protocol, script, consults=True)
    assert played.team["state"] == "published"
    sent = {}
    for said in played.said:
        # Guests, critics and reviewers are asked about one text, whenever it is put forward again.
        if said.form not in ("GuestReply", "Critique", "SelfReview"):
            sent.setdefault((said.request.who.id, said.user), []).append(said.request.id)
    assert [ids for ids in sent.values() if len(ids) > 1] == []


@pytest.mark.parametrize("carry", ["off", "on"])
def test_the_last_speaker_on_ideas_may_ask_only_if_the_answer_is_carried_on(synthetic, carry):
    played = play(synthetic, VirSci(**SMALL, prompts={"carry": carry}), consults=True)
    *others, last = played.of_form("Idea")
    assert all(may_be_asked(said) for said in others)
    assert all('"Ask"' in said.user for said in others)
    assert bool(may_be_asked(last)) is ('"Ask"' in last.user) is (carry == "on")
    (draft,) = played.of_form("Draft")
    answers = {s.word("Answer") for s in played.of_form("GuestReply") if s.call.stage == "ideas"}
    assert len(answers) == (9 if carry == "on" else 8)
    assert {answer for answer in answers if answer in draft.user} == (
        answers if carry == "on" else set()
    )


def uses_the_first(call, request):
    if request.form.__name__ != "Idea" or not request.slots["references"]:
        return None
    return {"Uses": [request.slots["references"][0].key]}


@pytest.mark.parametrize("carry", ["off", "on"])
def test_what_the_idea_on_the_table_builds_on_stays_listed(synthetic, carry):
    played = play(synthetic, VirSci(**SMALL, prompts={"carry": carry}), uses_the_first)
    ideas = played.of_form("Idea")
    used = {s.reply["Title"]: s.request.slots["references"][0] for s in ideas}
    for said in (*ideas, *played.of_form("Draft")):
        keys = [
            re.match(r"> \[(P\d+)\]", line)[1]
            for heading, lines in quoted(said.user)
            if heading == "It builds on:"
            for line in lines
        ]
        table = Past(played, said).ideas(1)[-1:]
        if said.form == "Draft":
            table = Past(played, said).winner()
        wanted = [used[s.reply["Title"]].key for s in table]
        assert keys == (wanted if carry == "on" else []), said.request.id


# ---- each switch alone --------------------------------------------------------------------

ALONE = {
    "prompts.carry": (
        "on",
        {"Agreement", "Stay", "Idea", "Ballot", "GuestReply", "Draft", "Revision"},
    ),
    # Besides what is asked for: the ratings of their authors do not stand beside the ideas.
    "prompts.marks": ("on", {"Idea", "Summary"}),
    "prompts.critique": ("on", {"Critique", "Draft"}),
    "prompts.comparisons": ("on", {"Ballot"}),
    "prompts.idea_order": ("permuted", {"Ballot"}),
    "prompts.profiles_in_abstract": ("on", {"Draft", "Revision"}),
    "references.topic": ("on", {"Remark"}),
    "references.draft": ("on", {"Draft"}),
    "references.guest": ("on", {"GuestReply"}),
    "references.count": (5, {"Idea", "SelfReview"}),
    "references.per_idea": (2, {"Ballot"}),
    "references.sentences": (1, {"Idea", "Ballot"}),
    "references.queries": ("several", {"Idea"}),
    "references.diversity": (0.3, {"Idea"}),
    "prompts.ratings": ("on", {"Idea", "Ballot", "Draft"}),
    "prompts.choices": ("coded", {"Choice"}),
    # Titles and texts are about the same interest here, and three ideas are on every ballot.
    "references.query": ("title", set()),
    "released_code.ballot": ("pooled", {"Ballot"}),
    "released_code.few_ideas": (5, set()),
    "references.self_review": (4, {"SelfReview"}),
}
"""By key: a value other than the paper's, and the pages that may change with it."""
WIDE = {
    "team_size": 3,
    "turns": 2,
    "discussion": {"profiles": 5, "outsiders": 3},
    "abstract": {"self_review": "on"},
}


def settled(call, request):
    """The first three ideas are liked by all and the second one is chosen, whatever is shown."""
    if request.form.__name__ == "Idea":
        place = (call.turn - 1) * 3 + call.seat
        own, other = (9 if place < 3 else 1), (9 if place - 1 < 3 else 1)
        names = ("Clarity", "Feasibility", "Novelty")
        return dict.fromkeys(names, own) | {"Marks": dict.fromkeys(names, other)}
    if call.act == "vote":
        titles = [standing.idea.title for standing in request.slots["ideas"]]
        (place,) = (n for n, title in enumerate(titles) if "xideasxbxbxbx" in title)
        return {"Decision Made": f"Idea {place}"}
    return None


@pytest.fixture(scope="module")
def as_the_paper(synthetic):
    played = play(synthetic, VirSci(**WIDE), settled, consults=True)
    return {said.request.id: said.user for said in played.said}


def test_every_difference_of_the_full_profile_is_tried_alone():
    keys = {f"{section}.{key}" for section, values in FULL.items() for key in values}
    assert keys <= set(ALONE)
    known = {f"prompts.{key}" for key in PromptSwitches.model_fields}
    known |= {f"references.{key}" for key in ReferenceUse.model_fields}
    assert known - set(ALONE) == {"prompts.folder", "references.ideas", "references.assessment"}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("key", ALONE)
def test_each_switch_alone_changes_its_own_pages_and_no_others(synthetic, as_the_paper, key):
    value, forms = ALONE[key]
    section, _, name = key.partition(".")
    played = play(synthetic, VirSci(**WIDE, **{section: {name: value}}), settled, consults=True)
    check(played)
    changed = {s.form for s in played.said if s.user != as_the_paper.get(s.request.id)}
    assert changed == forms
    assert set(as_the_paper) <= {said.request.id for said in played.said}


def test_the_critic_is_not_the_author(synthetic):
    for title in ("xideasxbxbxax", "xideasxbxbxbx", "xideasxbxbxcx"):

        def script(call, request, title=title):
            if call.act != "vote":
                return settled(call, request)
            titles = [standing.idea.title for standing in request.slots["ideas"]]
            (place,) = (n for n, one in enumerate(titles) if title in one)
            return {"Decision Made": f"Idea {place}"}

        protocol = VirSci(team_size=3, turns=2, prompts={"critique": "on"})
        played = play(synthetic, protocol, script)
        (critique,) = played.of_form("Critique")
        author = critique.request.slots["idea"].author
        assert critique.request.who.id != author
        assert played.of_form("Idea")["abc".index(title[-2])].call.who == author
    alone = play(synthetic, VirSci(team_size=1, turns=1, prompts={"critique": "on"}))
    assert alone.team["state"] == "published"
    assert not alone.of_form("Critique")
