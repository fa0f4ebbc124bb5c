"""What stands in the slots of a prompt, as data and as the text that a page shows of it.

Every line that somebody wrote begins with ``>``, so that none can pass for a line of the page.
"""

from __future__ import annotations

import re
import string
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from virsci_society.agents.profile import Profile

MARK = ">"
"""The beginning of a line that others have written."""
LEFT_OUT = "[…]"
"""Stands where the rest of an abstract is left out."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9(\"'])")
_OWN_WORK = re.compile(
    r"(?i)\b(?:we|our|(?:this|the present) (?:paper|article|work|study|thesis))\b"
)
BRIEF = 5
"""Most interests of a scientist who is introduced on one line."""


class Utterance(NamedTuple):
    """What one member said."""

    speaker: str
    reply: Any

    def words(self) -> str:
        """The words of the reply."""
        return str(self.reply.words())


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer of a scientist outside the team to a question of one of its members."""

    guest: str
    asker: str
    question: str
    reply: Any

    def words(self) -> str:
        """The words of the guest's reply."""
        return str(self.reply.words())


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of what somebody said, where the rest of it is not shown."""

    text: str
    title: str = ""

    def words(self) -> str:
        """The words that are shown."""
        return self.text


@dataclass(frozen=True, slots=True)
class TurnPosition:
    """Where in the work of a team a question is asked."""

    stage: str
    round: int
    rounds: int
    seat: int = 0
    seats: int = 0
    adaptive: bool = False
    attempt: int = 1
    begun: bool = False

    @property
    def opens(self) -> bool:
        """True if nobody has spoken in this attempt at the stage before."""
        return self.round == 1 and self.seat == 1 and not self.begun

    @property
    def closes(self) -> bool:
        """True if nobody speaks in this stage afterwards."""
        return self.round == self.rounds and self.seat == self.seats


@dataclass(frozen=True, slots=True)
class Reference:
    """A result of a literature search.

    Attributes:
        abstract: may be empty.
        distance: Euclidean distance of the paper's vector to the query's (>= 0).
        key: the key by which pages name the paper, ``P`` and its place in order of publication
            from 1; the same in every prompt of a run. Empty: the paper has none.
        authors: masked names of the first few of its authors who were scientists of the society on
            the date of the search, in author order; nobody else is named.

    Example:
        >>> hit = vs.Reference("p7", "Networks", "Who knows whom.", 2009, distance=0.4, key="P3")
        >>> f"[{hit.key}] {hit.title} ({hit.year})"
        '[P3] Networks (2009)'
    """

    id: str
    title: str
    abstract: str
    year: int
    keywords: tuple[str, ...] = ()
    distance: float = 0.0
    key: str = ""
    authors: tuple[str, ...] = ()


def quote(text: str) -> str:
    """A text that others wrote, every line of it marked."""
    # Not at line feeds alone: a model may take any break of Unicode for the end of a line.
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(f"{MARK} {line}".rstrip() for line in lines) or MARK


def words_of(value: Any) -> str:
    """The text of a slot: of a form its words, of a text the text itself."""
    return value if isinstance(value, str) else str(value.words())


def fit_words(context: Mapping[str, Any], words: int, least: int = 0) -> str:
    """The number, or range, of words that a page asks for, or fewer where replies are shorter."""
    most = context.get("most_words") or words
    asked = [number * min(1.0, most / words) for number in ([least] if least else []) + [words]]
    return " to ".join(
        str(round(goal) if most >= words else round(goal / 10) * 10) for goal in asked
    )


def flatten(text: str) -> str:
    """A text as one line, for lists in which each entry is one line."""
    return " ".join(text.split())


def describe_position(position: TurnPosition) -> str:
    """The place in the team's work on one line."""
    most = "at most " if position.adaptive else ""
    again = f", attempt {position.attempt}" if position.attempt > 1 else ""
    counted = f", round {position.round} of {most}{position.rounds}" if position.rounds > 1 else ""
    parts = [f"Stage: {position.stage}{again}{counted}"]
    if position.seat == 0 or position.seats == 1:
        return parts[0] + "."
    if position.opens:
        here = " in this attempt" if again else ""
        parts.append(f"you are the first of {position.seats} speakers: nobody has spoken yet{here}")
    elif position.seat == 1:
        parts.append(f"you are the first of {position.seats} speakers in this round")
    elif position.seat == position.seats:
        parts.append(f"you are the last of {position.seats} speakers")
    else:
        parts.append(f"you are speaker {position.seat} of {position.seats}")
    return "; ".join(parts) + "."


def list_names(members: Sequence[Profile | str], me: Profile) -> str:
    """The names of a team, the leader first, with the mark of who is asked."""
    names = [getattr(member, "id", member) for member in members]
    parts = []
    for index, name in enumerate(names):
        notes = [note for note, true in (("leader", index == 0), ("you", name == me.id)) if true]
        parts.append(f"{name} ({', '.join(notes)})" if notes else str(name))
    return ", ".join(parts)


def write_transcript(said: Iterable[Utterance | Advice], me: Profile) -> str:
    """A dialogue with its speakers, in the order of speaking."""
    blocks = []
    for item in said:
        words = quote(item.words()) if item.words().strip() else "(nothing that could be read)"
        if isinstance(item, Advice):
            asker = "You" if item.asker == me.id else item.asker
            blocks.append(
                f"{asker} asked {item.guest}, who is not in the team:\n{quote(item.question)}\n"
                f"{item.guest} answered:\n{words}"
            )
        else:
            blocks.append(f"{name_of(item.speaker, me)}:\n{words}")
    return "\n\n".join(blocks)


def name_of(who: str, me: Profile) -> str:
    """A masked name, marked where it is the reader's own."""
    return f"{who} (you)" if who == me.id else who


def list_references(
    context: Mapping[str, Any], references: Sequence[Reference], sentences: int | None = None
) -> str:
    """Papers with key, title, year, those authors who stand on the page, and abstract."""
    # One line each, because every title is flattened.
    titles = list_titles(context, references).splitlines()
    return "\n".join(
        f"{line} {own_sentences(reference.abstract, sentences)}".rstrip()
        for line, reference in zip(titles, references, strict=True)
    )


@lru_cache(maxsize=4096)
def own_sentences(abstract: str, count: int | None) -> str:
    """The sentences in which an abstract says what its paper does, on one line."""
    flat = flatten(abstract)
    parts = _SENTENCE.split(flat)
    if count is None or not flat or len(parts) <= count:
        return flat
    own = next((at for at, part in enumerate(parts) if _OWN_WORK.search(part)), 0)
    # As many sentences as asked for, also where the own work is told only at the end.
    start = min(own, len(parts) - count)
    shown = parts[start : start + count]
    before, after = start > 0, start + count < len(parts)
    return " ".join([*[LEFT_OUT] * before, *shown, *[LEFT_OUT] * after])


def list_titles(context: Mapping[str, Any], references: Sequence[Reference]) -> str:
    """Papers as in ``list_references`` without abstracts; one line each."""
    named = context["people_listed"]
    return "\n".join(
        f"{MARK} [{paper_key(reference, number)}] {_describe(reference, named)}"
        for number, reference in enumerate(references, 1)
    )


def list_lettered(references: Sequence[Reference]) -> str:
    """Papers under the letters A, B, C and so on; one line each."""
    return "\n".join(
        f"{MARK} {letter(index)}: {_describe(reference)} {flatten(reference.abstract)}".rstrip()
        for index, reference in enumerate(references)
    )


def paper_key(reference: Reference, number: int) -> str:
    """The key of a paper on a page: its own, or its number in the list where it has none."""
    return reference.key or f"P{number}"


def letter(place: int) -> str:
    """The letter of a place, from 0: A to Z, then AA, AB and so on."""
    letters = string.ascii_uppercase
    return letters[place] if place < 26 else letter(place // 26 - 1) + letters[place % 26]


def pair_name(place: int) -> str:
    """The name under which a written abstract is compared with the paper at a place, from 0."""
    return f"Written Abstract vs {letter(place)}"


def _describe(reference: Reference, named: Container[str] = ()) -> str:
    names = [name for name in reference.authors if name in named]
    authors = f"; by {', '.join(names)}" if names else ""
    return flatten(f"{reference.title} ({reference.year}{authors}).")


def list_keys(references: Sequence[Reference]) -> str:
    """The keys of papers, separated by commas."""
    return ", ".join(paper_key(reference, n) for n, reference in enumerate(references, 1))


def introduce(context: Mapping[str, Any], profile: Profile) -> str:
    """A profile on one line (Figure 16), with those collaborators whom the reader knows."""
    interests = _shown_interests(context, profile)
    parts = []
    if profile.affiliations:
        parts.append(f"Affiliations: {'; '.join(profile.affiliations)}.")
    if interests:
        parts.append(f"Research interests: {'; '.join(interests)}.")
    cited = "" if profile.citations is None else f", cited {profile.citations} times"
    parts.append(f"Published papers: {profile.papers}{cited}.")
    me, listed = context.get("me"), context["people_listed"]
    if me is not None:
        listed = listed.union((me.id,) if profile == me else (me.id, *me.collaborators))
    names = [name_of(name, me) if me else name for name in profile.collaborators if name in listed]
    if names:
        parts.append(f"Has written with: {', '.join(names)}.")
    return flatten(" ".join(parts))


def introduce_briefly(context: Mapping[str, Any], profile: Profile) -> str:
    """What a profile says of somebody's work: main interests and number of papers, on one line."""
    interests = _shown_interests(context, profile)[:BRIEF]
    papers = "1 paper" if profile.papers == 1 else f"{profile.papers} papers"
    return flatten(f"{'; '.join(interests) or 'no stated interests'} ({papers})")


def _shown_interests(context: Mapping[str, Any], profile: Profile) -> Sequence[str]:
    choose = context.get("shown_interests")
    return profile.interests if choose is None else choose(profile)


def introduce_outsiders(
    context: Mapping[str, Any], knowledge: Sequence[Profile], outsiders: Sequence[Profile]
) -> str:
    """Scientists outside the team, one line each, and which of them may be asked."""
    listed = [*knowledge, *(outsider for outsider in outsiders if outsider not in knowledge)]
    lines = [f"- {person.id}: {introduce_briefly(context, person)}" for person in listed]
    if outsiders:
        names = ", ".join(outsider.id for outsider in outsiders)
        whom = "one of them" if len(listed) == len(outsiders) else f"one of these: {names}"
        lines.append(f"If an answer would help, you may put one question to {whom}.")
    return "\n".join(["Scientists outside the team with related work:", *lines])


def people_listed(slots: Mapping[str, Any]) -> frozenset[str]:
    """Masked names of the people whom the page lists."""
    people: list[Any] = []
    for slot in ("team", "members", "knowledge", "outsiders"):
        content = slots.get(slot)
        # Pages of others may use these slots for something else.
        people += content if isinstance(content, list | tuple) else []
    return frozenset([getattr(person, "id", person) for person in people])
