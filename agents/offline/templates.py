"""The sentence frames of the offline scientist, and the terms read back out of them.

Slots of talk: ``{o}`` the speaker's own term, ``{x}`` one of the discussion, ``{a}`` and ``{b}``
of the material, ``{r}`` of a reference, ``{g}`` the guest's own, ``{d}`` a direction. In abstracts
``{t}`` is the theme. No verb depends on a slot, since a term may be singular or plural; ``fill``
adds the article. No two slots are joined by "and" alone, since a term may hold it itself ("focus
and context") and could not be read back.

The first two words of a frame are its mark. They tell a later reviser which part of an abstract a
sentence belongs to, so no two parts share one. Offline scientists understand each other by reading
the slots back out of the sentences; for anybody else's sentence there is no frame.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache, lru_cache
from typing import Final

from virsci_society.agents.offline.text import with_article

DIRECTIONS: Final = ("{o} for {x}", "{o} with {x}", "{x} through {o}", "{x} with {o}")
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
    "We want to connect {a} with {b} so that each can be tested with the means of the other.",
    "We suggest a common account of {a} together with {b}, built on {o}.",
    "Instead of treating {a} apart from {b}, we look at both through {o}.",
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
TITLES: Final = ("{a} for {b} through {o}", "{o} for {a} with {b}", "{b} for {a} through {o}")
EXPERIMENTS: Final = (
    "Compare the approach with current practice in {a} on published material about {b}, and "
    "measure what {o} can add.",
    "Build a prototype around {o}, vary {a} in steps, and record the effect on {b}.",
    "Repeat a known result on {b}, then add first {o}, after it {a}, and report every difference.",
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
        "This study asks how {a} can be brought together with {b} in one account of {t}.",
        "The objective is to find out under which conditions {a} can improve on what is "
        "known about {t}.",
        "Our aim is a precise and testable statement of the link from {t} to {o}.",
        "This paper sets out to show that {t} can profit from {o} without losing what {a} "
        "already offers.",
        "Specifically, we ask whether an approach built on {o} changes the picture that earlier "
        "work has drawn of {a}.",
        "At the centre of this work stands the question of what {o} can tell us about {t}.",
    ),
    "methods": (
        "First, we collect published cases of {a} and describe each of them with measures taken "
        "from {o}.",
        "We then build a working prototype that offers {o} beside {a} on the same input, so that "
        "each can be switched on alone.",
        "To separate the two effects, we compare {t} with and without {o} on otherwise identical "
        "material.",
        "A baseline from current practice in {b} is run beside the new approach, with the same "
        "budget of time and data.",
        "Using methods from {o}, we estimate how strongly each step depends on {a}.",
        "Every comparison is repeated on at least three sources, so that results on {a} do not "
        "rest on one lucky choice.",
        "Experts in {o} review a blinded sample of outcomes and state where they would have "
        "decided otherwise.",
        "We model the relation of {a} to {b} explicitly and fit it on one half of the "
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
        "In cases where {a} would suggest another answer than {b}, we expect {o} to show which of "
        "the two is closer to the material.",
    ),
    "conclusion": (
        "Taken together, the study would give {t} a firmer basis and offer {o} a new field of use.",
        "In the long run, the same route could be taken from {a} to other questions that share "
        "its structure.",
        "Beyond the immediate findings, we provide material with which others can test {o} on "
        "their own cases.",
        "The work thereby connects communities around {a} with those around {b}, which seldom "
        "read each other's papers.",
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


def fill(frame: str, **terms: str) -> str:
    """A frame with its terms, each with the article that it wants.

    Args:
        frame: one of the frames above.
        terms: by slot; names (``who``) and directions (``d``) stand as they are.
    """
    return frame.format_map(
        {slot: term if slot in ("who", "d") else with_article(term) for slot, term in terms.items()}
    )


def frame_mark(text: str) -> str:
    """The first two words of a sentence or frame, by which its frame is recognised."""
    return " ".join(text.split(" ", 2)[:2]).lower().rstrip(",")


MARKED: Final = {part: tuple((frame_mark(f), f) for f in FRAMES[part]) for part in PARTS}
"""Frames with their marks, by part."""

MARKS: Final[dict[str, str]] = {
    **{frame_mark(frame): "objective" for frame in CORES},
    **{frame_mark(frame): part for part in PARTS for frame in FRAMES[part]},
}
"""The part that each mark belongs to; an idea's own sentence counts as the objective."""


_SLOT = re.compile(r"\{(\w+)\}")
_TERMS = frozenset("abdgortx")
_BY_MARK: dict[str, list[str]] = defaultdict(list)
for _frame in (*HEARD, *(frame for frames in FRAMES.values() for frame in frames)):
    _BY_MARK[frame_mark(_frame)].append(_frame)


@cache
def _pattern(frame: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """A pattern that reads the slots of a frame, and their names."""
    parts = _SLOT.split(frame)
    literal = [re.escape(part) for part in parts[::2]]
    return re.compile("(.+?)".join(literal)), tuple(parts[1::2])


@lru_cache(maxsize=4096)
def frame_terms(sentence: str) -> tuple[str, ...] | None:
    """The terms in a sentence made from a known frame, in order; None for other sentences."""
    for frame in _BY_MARK.get(frame_mark(sentence), ()):
        pattern, names = _pattern(frame)
        match = pattern.fullmatch(sentence)
        if match:
            pairs = zip(names, match.groups(), strict=True)
            return tuple(value for name, value in pairs if name in _TERMS)
    return None
