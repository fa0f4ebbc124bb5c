"""Frames: the sentences from which abstracts are composed, by part.

``{t}`` is the theme, ``{a}`` and ``{b}`` are terms of the idea, its references or the
discussion, ``{o}`` a term of the writer's own. Slots never govern a verb, since a term may
be singular or plural. The first two words of a frame are its mark: they tell a later
reviser which part a sentence belongs to, so no two parts share one.
"""

from __future__ import annotations

from typing import Final

from agents.offline.sayings import CORES

PARTS: Final = ("introduction", "objective", "methods", "results", "conclusion")

FRAMES: Final[dict[str, tuple[str, ...]]] = {
    "introduction": (
        "Work on {a} has grown quickly, yet its bearing on {t} is still poorly understood.",
        "Research on {a} and research on {b} have long moved on separate tracks, although both "
        "bear on {t}.",
        "Most studies of {t} leave aside what {a} could contribute to the same question.",
        "Recent papers on {a} raise questions about {t} that no single line of work can settle "
        "alone.",
        "Even though {t} can be approached from several sides, its relation to {a} has seldom been "
        "examined with care.",
        "Practitioners who rely on {t} have little guidance on when {a} can help and when not.",
        "Findings on {a} are scattered over many small studies, which makes it hard to carry "
        "them over to {t}.",
        "Interest in {a} has risen in several communities at once, but few of them have looked "
        "at {b} at the same time.",
        "Several groups have reached contradictory conclusions on {a}, and none of them looked at "
        "{t}.",
        "Open questions about {t} often turn out to be questions about {a} that were asked too "
        "narrowly.",
    ),
    "objective": (
        "This study asks how {a} and {b} can be brought together in one account of {t}.",
        "The objective is to find out under which conditions {a} can improve on what is "
        "known about {t}.",
        "Our aim is a precise and testable statement of the link between {t} and {o}.",
        "This paper sets out to show that {t} can profit from {o} without losing what {a} "
        "already offers.",
        "Specifically, we ask whether an approach built on {o} changes the picture that earlier "
        "work has drawn of {a}.",
        "At the centre of this work stands the question of what {o} can tell us about {t}.",
    ),
    "methods": (
        "First, we collect published cases of {a} and describe each of them with measures taken "
        "from {o}.",
        "We then build a working prototype in which {o} and {a} share the same input and can be "
        "switched on one by one.",
        "To separate the two effects, we compare {t} with and without {o} on otherwise identical "
        "material.",
        "A baseline from current practice in {b} is run beside the new approach, with the same "
        "budget of time and data.",
        "Using methods from {o}, we estimate how strongly each step depends on {a}.",
        "Every comparison is repeated on at least three sources, so that results on {a} do not "
        "rest on one lucky choice.",
        "Experts in {o} review a blinded sample of outcomes and state where they would have "
        "decided otherwise.",
        "We model the relation between {a} and {b} explicitly and fit it on one half of the "
        "material only.",
        "Borrowing from {o}, we define in advance which outcomes would count against our own "
        "hypothesis.",
        "In a second phase, the procedure is carried over to {b}, where the assumptions behind "
        "{a} are known to be weaker.",
        "Sensitivity to the choice of settings is checked by varying {o} over its whole useful "
        "range.",
        "All material on {a} is prepared by the same documented steps before any result is looked "
        "at.",
        "For each case we record the cost of adding {o}, since a gain that nobody can afford is "
        "of little use.",
        "Interviews with people who work on {b} help us to choose cases that matter in practice.",
    ),
    "results": (
        "We expect clear gains in work on {a} that has so far stood alone, and small ones "
        "elsewhere.",
        "If the hypothesis holds, adding {o} should reduce the errors that current approaches to "
        "{t} make most often.",
        "Initial considerations suggest that {b} will profit less, which would itself be a useful "
        "limit to know.",
        "The results should show how much of the effect is due to {o} and how much to the choice "
        "of material.",
        "We anticipate that the combination with {o} remains stable when the amount of data on "
        "{a} is halved.",
        "A negative outcome would be informative too, because it would rule out {o} as an "
        "explanation for differences in {t}.",
        "Among the outcomes, we expect the ranking of known approaches to {a} to change once we "
        "take {o} into account.",
        "Gains of this kind would be visible both in {a} and in the judgement of those who rely "
        "on {o}.",
        "In cases where {a} and {b} disagree, we expect {o} to show which of the two accounts is "
        "closer to the material.",
    ),
    "conclusion": (
        "Taken together, the study would give {t} a firmer basis and offer {o} a new field of use.",
        "In the long run, the same route could be taken from {a} to other questions that share "
        "its structure.",
        "Beyond the immediate findings, we provide material with which others can test {o} on "
        "their own cases.",
        "The work thereby connects communities around {a} and {b} that seldom read each other's "
        "papers.",
        "Should the approach fail, the reasons will still tell future work on {t} where not to "
        "look.",
        "It follows that further progress on {t} need not wait for larger studies of {a}.",
        "For practice, the outcome would be a short list of conditions under which adding {o} is "
        "worth its cost.",
        "Whatever the outcome, all measurements on {a} and the steps that led to them will be "
        "published.",
        "Finally, the comparison may encourage others to bring {o} into the study of {t}.",
    ),
}
"""Sentence frames of each part."""


def mark(text: str) -> str:
    """The first two words of a sentence or frame, by which its frame is known again."""
    return " ".join(text.split(" ", 2)[:2]).lower().rstrip(",")


MARKED: Final = {part: tuple((mark(f), f) for f in FRAMES[part]) for part in PARTS}
"""Frames with their marks, by part."""

MARKS: Final[dict[str, str]] = {
    **{mark(frame): "objective" for frame in CORES},
    **{mark(frame): part for part in PARTS for frame in FRAMES[part]},
}
"""The part that each mark belongs to; an idea's own sentence counts as the objective."""
