"""Replies shaped like those of the VirSci paper's figures are read without asking again."""

from __future__ import annotations

import pytest

from virsci_society.agents.errors import ReplyError
from virsci_society.agents.replies.parser import read_reply
from virsci_society.protocols.forms import Choice, Draft, Remark, Topic
from virsci_society.protocols.ideas import Ballot, Idea
from virsci_society.protocols.virsci.forms import Revision, SelfReview

JOINS = """Selected Action: [Action 1].

Reasoning: I would like to work with Scientist3, and there are two reasons.

First, tide gauges are what I know best: they need the models that this team has.

Second, we have shared students before, Scientist9 and Scientist12 among them."""

DECLINES = """Selected Action: [Action 2].

Reasoning: My own work has moved from tides to ice, and 2 other teams wait for me."""

TALK = """Good to meet you all! Scientist3 asked about gauges, and I wonder if they could be
combined with satellites. I propose "Tides seen twice" as our direction. What do you think?"""

THOUGHT = """Here is what I propose:

Thought:

Tides are measured at few places, and the "gaps" are filled by hand.

High-level plan: three things have to be done:

1. Collect the gauges.
2. Fit one model, with weights {w1, w2}.

JSON:

"""

FIRST_IDEA = (
    THOUGHT
    + """```
```json{
  "Idea": "Filling the gaps between tide gauges: one model for all coasts",
  "Title": "One model for all coasts",
  "Experiment":
  {
    "Description": "Fit the model to half of the gauges.",
    "Implementation":
    [
      "Draw the half by region.",
      "Predict the other half."
    ],
    "Metrics": ["Mean error", "Share of storms foreseen"]
  },
  "Clarity": 8, "Feasibility": 7, "Novelty": 9
}```
```"""
)

NEXT_IDEA = """Thought:

Papers 1-6 treat one coast each.

* I want to bring them together
* and to test the result

New Idea:

```json
{
 "Idea": "A shared language for tide models (SLT)",
 "Title": "A shared language for tide models",
 "Experiment":
 {
 "Step 1: Reading":
 [
 "Read papers 1-6 and list what they assume"
],
 "Step 2: Trial":
 [
 "Translate two models",
 "Compare them"
]
 },
 "Clarity": 8,
 "Feasibility": 7,
 "Novelty": 9
}
```

With SLT I plan to:

* read the papers,
* try it out.

Its clarity is high (8/10), its feasibility moderate (7/10), and its novelty high (9/10)."""

STANDING = (
    '{"Idea": "Tides from sounds - hearing the water rise.", "Title": "Hearing tides", '
    '"Experiment": {"Sites": ["Brest", "Bergen"], "Language": "Python", '
    '"Measures": ["Error", "Delay"]}, "Clarity": 8, "Feasibility": 7, "Novelty": 9}'
)

VOTE = """THOUGHT:

Of the papers, Paper 5 is nearest to Idea 0, and none is near to Idea 2.

RESPONSE:

```json
{
 "Decision Made": "Idea 2"
}
```

I take Idea 2 and not Idea 0 because nobody has listened to water before. -----"""

FIRST_DRAFT = """Here is a draft of the abstract:

```json
{
 Title: "Hearing tides (HT): microphones as gauges"

 Abstract: "Coasts without gauges are many. We present HT, which listens. It needs 6 microphones.

 Our objective was to know, hour by hour, the level of the water: (1) we record; (2) we fit; and
(3) we compare.

 Our results show an error of 4%, compared to 9% before. They hold in storms, too.

 We conclude that listening is enough, with uses in ports, rivers, and lakes."

}
```

As Scientist3, I have worked on gauges, microphones, and ports. The abstract is concise."""

NEXT_DRAFT = """As Scientist7, I evaluate the abstract and revise it.

Evaluation:

1. Clarity: 8/10 (clear, but some terms are unfamiliar.)
2. Relevance: 9/10 (it says why tides matter.)
3. Overall Score: 8/10

Revised Abstract:

```json
{

Title: "Hearing tides (HT): microphones as gauges"

Abstract: Coasts without gauges are many, and that has a price. We present HT, which listens.

Our aim was to know the water: we took three steps: (1) recording; (2) fitting; and (3)
comparing "blind" with others.

Moreover, HT has uses in ports, rivers, and lakes, and is cheap.

}
```

I made the abstract clearer: it now names its price."""

NEAR = """To compare the abstract with A to C, I read each of them. This is an estimate (70% sure).

```json
{
 "similarity_scores": {
 "Written Abstract vs A": 85,
 "Written Abstract vs B": 62,
 "Written Abstract vs C": 90
 },
 "high_overlap_pairs": [
 {
 "pair": "Written Abstract vs A",
 "score": 85,
 "reason": "Both listen to water, with a focus on ports."
 },
 {
 "pair": "Written Abstract vs C",
 "score": 90,
 "reason": "The same three steps."
 }
]
}
```

The `high_overlap_pairs` are these:

* **Written Abstract vs A:** they share the ports.
* **Written Abstract vs C:** they share the steps."""


HEARING = "Hearing tides (HT): microphones as gauges"
READ = {
    "19": (
        Topic,
        'Thought: Tides came up twice.\n\nTopic: ```json{"Selected Topic": "Tides by ear"}```',
        "found",
        {"topic": "Tides by ear"},
    ),
    "26, accepted": (
        *(Choice, JOINS, "repaired"),
        {"accepted": True, "reasoning": JOINS.partition("Reasoning: ")[2]},
    ),
    "26, declined": (
        *(Choice, DECLINES, "repaired"),
        {"accepted": False, "reasoning": DECLINES.partition("Reasoning: ")[2]},
    ),
    "27": (
        Remark,
        f"Response: {TALK}\n\nDirection: Tides seen twice.",
        "repaired",
        {"response": TALK},
    ),
    "29": (
        *(Idea, FIRST_IDEA, "found"),
        {
            "title": "One model for all coasts",
            "experiment": "Description: Fit the model to half of the gauges. Implementation: Draw "
            "the half by region. Predict the other half. Metrics: Mean error; Share of storms "
            "foreseen",
            **{"clarity": 8, "feasibility": 7, "novelty": 9},
        },
    ),
    "30": (
        *(Idea, NEXT_IDEA, "found"),
        {
            "idea": "A shared language for tide models (SLT)",
            "experiment": "Step 1: Reading: Read papers 1-6 and list what they assume; "
            "Step 2: Trial: Translate two models; Compare them",
            "novelty": 9,
        },
    ),
    "31": (
        *(Idea, f"Idea 0:\n\n```\n{STANDING}\n```", "found"),
        {"experiment": "Sites: Brest; Bergen; Language: Python; Measures: Error; Delay"},
    ),
    "32": (Ballot, VOTE, "found", {"choice": 2}),
    "32, in brackets": (Ballot, VOTE.replace('"Idea 2"', "[Idea 1]"), "repaired", {"choice": 1}),
    "33": (Draft, FIRST_DRAFT, "repaired", {"title": HEARING}),
    "34": (Revision, NEXT_DRAFT, "repaired", {"title": HEARING, "scores": {}}),
    "35": (SelfReview, NEAR, "found", {"highest": 90}),
}
"""Form, reply, the way in which it is read, and what is read."""


@pytest.mark.parametrize("figure", READ)
def test_what_a_figure_says_is_read(figure):
    form, text, rung, wanted = READ[figure]
    read = read_reply(form, text)
    assert read.rung == rung
    assert {name: getattr(read.form, name) for name in wanted} == wanted


def test_figures_27_and_28_plain_talk_cannot_be_told_from_a_refusal():
    with pytest.raises(ReplyError):
        read_reply(Remark, TALK)


@pytest.mark.parametrize("fence", ["```json", "```json\n```\n\n```"])
def test_figure_33_a_draft_without_quotes_around_its_names_and_without_commas(fence):
    abstract = read_reply(Draft, FIRST_DRAFT.replace("```json", fence, 1)).form.abstract
    assert abstract.startswith("Coasts without gauges are many. We present HT,")
    assert abstract.endswith("with uses in ports, rivers, and lakes.")
    assert len(abstract.split("\n\n")) == 4


def test_figure_34_a_revision_without_quotes_around_its_text():
    abstract = read_reply(Revision, NEXT_DRAFT).form.abstract
    assert abstract.startswith("Coasts without gauges are many, and that has a price.")
    assert abstract.endswith("rivers, and lakes, and is cheap.")
    assert '(3)\ncomparing "blind" with others.' in abstract


@pytest.mark.parametrize("text", [FIRST_DRAFT, NEXT_DRAFT], ids=["figure 33", "figure 34"])
def test_figures_33_and_34_cut_off_anywhere_are_asked_for_again(text):
    for end in range(text.index("Abstract: "), text.index("\n}") - 2):
        with pytest.raises(ReplyError):
            read_reply(Draft, text[:end])
