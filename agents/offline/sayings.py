"""Sayings: the sentence frames of talk and of ideas; wording only, no rule.

Slots: ``{o}`` the speaker's own term, ``{x}`` one of the discussion, ``{a}`` and ``{b}`` of
the material, ``{r}`` of a reference, ``{g}`` the guest's own, ``{d}`` a direction. A slot is
never governed by a verb or an article, since a term may be singular or plural.
"""

from __future__ import annotations

from typing import Final

DIRECTIONS: Final = ("{o} for {x}", "{o} with {x}", "{x} through {o}", "{o} and {x}")
LATER: Final = (
    "I would like to build on what was said about {x}.",
    "The point about {x} is the one that I find most promising.",
    "What we have heard about {x} leaves one question open.",
    "Let me take up {x} from a different side.",
    "I keep coming back to the remark on {x}.",
    "Perhaps we have not yet looked closely enough at {x}.",
)
OPENING: Final = (
    "Let me begin with {x}.",
    "I suggest that we start from {x}.",
    "One place to start is {x}.",
)
OWN: Final = (
    "In my own work on {o} I have seen that the two can inform each other.",
    "My experience with {o} could supply what is missing there.",
    "We could borrow both the methods and the measures from {o}.",
    "Seen from {o}, the problem looks more tractable than it is usually taken to be.",
    "People who work on {o} have met this question before under another name.",
    "There are data on {o} that nobody has yet used for this purpose.",
)
PROPOSING: Final = (
    "We could join them as {d}.",
    "I therefore put forward {d}.",
    "A direction worth our time is {d}.",
    "So my proposal is {d}.",
)
KNOWN: Final = "Remember that {who} has worked on {x}, which we should keep in view."
REMEMBERED: Final = "Something related came up in another team of mine, about {x}."
GUEST: Final = (
    "Seen from {g}, the question about {x} is mainly one of how it can be tested.",
    "When we worked on {g}, we met a similar problem, and it helped us to look at {x} from there.",
    "I would bring {g} to bear on {x}, because most open points there are shared.",
    "My advice is to let {g} guide the choice of a method for {x}.",
)
GUEST_ONLY: Final = (
    "What I can add comes from {g}, where we have met similar questions.",
    "Before settling on a method, I would look at this from {g}.",
)
QUESTIONS: Final = (
    "What would {x} suggest for the question we are discussing?",
    "How would you approach this from {x}?",
    "Which findings on {x} should we know before we go on?",
    "Where do you see the main difficulty, given your work on {x}?",
)

CORES: Final = (
    "We propose to join {a} with {b} by way of {o}.",
    "The idea is to rethink {a} in terms of {o}, with {b} as the first case.",
    "Our plan is to carry {o} over to {a}, where {b} could so far be used only in part.",
    "We want to connect {a} and {b} so that each can be tested with the means of the other.",
    "We suggest a common account of {a} and {b}, built on {o}.",
    "Instead of treating {a} and {b} apart, we look at both through {o}.",
    "Starting from {a}, we develop a way to decide when {b} can be improved by {o}.",
)
GROUNDS: Final = (
    "Earlier work on {r} leaves open how far its results depend on {a}.",
    "Published results on {r} give a starting point, but they do not reach {a}.",
    "What is known about {r} makes such a step possible.",
    "Papers on {r} report gains that have never been checked against {a}.",
    "Tools made for {r} can be reused here once their assumptions are stated.",
)
SUPPORTS: Final = (
    "Experience with {o} tells us which effects to expect and which to rule out.",
    "Methods from {o} supply the measures that are missing so far.",
    "The contribution of {o} is a way to compare the outcomes fairly.",
    "With the help of {o} we can tell a real effect from an accident of the material.",
    "Knowledge of {o} keeps the comparison honest.",
)
ADDITIONS: Final = (
    "This version adds {o}, so that {x} can be examined under realistic conditions.",
    "We extend it by {o} and ask whether the effect on {x} persists.",
    "To sharpen the claim, we bring in {o} as a second view on {x}.",
    "A further step uses {o} to separate the role of {x} from chance.",
    "An addition from {o} opens the question to work on {x}.",
)
TITLES: Final = ("{a} for {b} through {o}", "{o} for {a} and {b}", "{a} and {b} through {o}")
EXPERIMENTS: Final = (
    "Compare the approach with current practice in {a} on published material about {b}, and "
    "measure what {o} can add.",
    "Build a prototype around {o}, vary {a} in steps, and record the effect on {b}.",
    "Repeat a known result on {b}, then add {o} and {a} one after the other and report every "
    "difference.",
    "Run a controlled study with and without {o}, using cases from {a} and from {b}.",
    "Ask two groups to solve the same tasks on {a}, one of them supported by {o}, and compare "
    "their errors with those known from {b}.",
)
UNTITLED: Final = "A joint study of an open question"

HEARD: Final = (
    *LATER,
    *OPENING,
    *OWN,
    *PROPOSING,
    KNOWN,
    REMEMBERED,
    *GUEST,
    *GUEST_ONLY,
    *QUESTIONS,
    *CORES,
    *GROUNDS,
    *SUPPORTS,
    *ADDITIONS,
    *EXPERIMENTS,
)
"""Every frame whose sentences others may hear and take terms from."""
