"""The rules by which the offline scientist drafts an abstract and revises another's.

An abstract is taken apart into sentences. A reviser sees nothing but the draft, so the part that a
sentence belongs to is read from its mark (see ``templates``); a sentence without a known mark
counts with the part before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.decisions import ask_outsider
from virsci_society.agents.offline.random_choice import bernoulli, pick, rank_with_noise
from virsci_society.agents.offline.templates import (
    FRAMES,
    MARKED,
    MARKS,
    PARTS,
    UNTITLED,
    fill,
    frame_mark,
)
from virsci_society.agents.offline.terms import (
    NEUTRAL,
    as_list,
    exclude_terms,
    expertise,
    paper_terms,
    sentence_terms,
    split_terms,
    title_head,
    unique_terms,
    utterance_terms,
)
from virsci_society.agents.offline.text import (
    affinity,
    as_sentence,
    capitalise,
    clean,
    count_words,
    join_list,
    shared_fraction,
    split_sentences,
    stems,
    truncate_words,
    with_article,
)
from virsci_society.agents.offline.topics import draw_interest

_ORDER = {part: i for i, part in enumerate(PARTS)}
_LONGEST = 60


class AbstractText:
    """An abstract under revision.

    Args:
        lines: its sentences.
        part: part of the first sentences, until one has a known mark.

    Attributes:
        lines: its sentences.
        parts: the part of each sentence.
    """

    def __init__(self, lines: Sequence[str], part: str = PARTS[0]) -> None:
        self.lines: list[str] = []
        self.parts: list[str] = []
        for line in lines:
            short = as_sentence(
                line if count_words(line) <= _LONGEST else truncate_words(line, _LONGEST)
            )
            part = MARKS.get(frame_mark(short), part)
            self.lines.append(short)
            self.parts.append(part)

    def __str__(self) -> str:
        return " ".join(self.lines)

    @property
    def words(self) -> int:
        """Number of words."""
        return sum(map(count_words, self.lines))

    def marks(self) -> frozenset[str]:
        """The marks of its sentences; a set to look up, never to iterate."""
        return frozenset(map(frame_mark, self.lines))

    def add(self, part: str, line: str) -> None:
        """Insert a sentence behind the last one of its part or of the parts before it."""
        ends = [i + 1 for i, other in enumerate(self.parts) if _ORDER[other] <= _ORDER[part]]
        at = max(ends, default=0)
        self.lines.insert(at, line)
        self.parts.insert(at, part)

    def drop(self, at: int) -> None:
        """Remove the sentence at this index."""
        del self.lines[at], self.parts[at]

    def open_to_change(self) -> list[int]:
        """Indices of all sentences but the one that carries the idea."""
        core = self.parts.index("objective") if "objective" in self.parts else 0
        return [i for i in range(len(self.lines)) if i != core]


class SentenceWriter:
    """Writes sentences from frames, and uses none twice while others are left.

    Args:
        theme: terms of the title.
        terms: terms of the material.
        own: terms of the writer; at least one.
        rng: generator of this call.
    """

    def __init__(
        self,
        theme: Sequence[str],
        terms: Sequence[str],
        own: Sequence[str],
        rng: np.random.Generator,
    ) -> None:
        self.theme, self.terms, self.own, self.rng = theme, terms, own, rng
        self.turn = int(rng.random() * 8)

    def write(self, part: str, text: AbstractText, must: str | None = None) -> str:
        """A new sentence for a part of an abstract.

        Args:
            part: one of ``PARTS``.
            text: the abstract so far.
            must: a term that the sentence has to contain; None: any term.
        """
        used = text.marks()
        fresh = [frame for marked, frame in MARKED[part] if marked not in used]
        frame = pick(fresh or FRAMES[part], self.rng)
        self.turn += 1
        o = must or self.own[self.turn % len(self.own)]
        fresh_terms = exclude_terms(self.terms, [o])
        rest = [*fresh_terms, *exclude_terms(NEUTRAL, [o, *fresh_terms])]
        a = rest[self.turn % max(1, len(fresh_terms))]
        left = exclude_terms(rest, [a])
        b = left[self.turn % max(1, len(fresh_terms) - 1)]
        t = [*exclude_terms(self.theme, [a, b, o]), *exclude_terms(left, [b])][0]
        slots = {"t": t, "a": a, "b": b, "o": o}
        if must is not None and "{o}" not in frame:
            slots["a" if "{a}" in frame else "b"] = must
        return as_sentence(fill(frame, **slots))


Slots = Mapping[str, Any]

CRITERIA = (
    "Clarity",
    "Relevance",
    "Structure",
    "Conciseness",
    "Technical Accuracy",
    "Engagement",
    "Originality",
    "Overall Score",
)
FURTHER = 2
"""Terms that a draft or a revision brings in beyond those of the idea, or of the draft."""
LAYOUT = {"introduction": 2, "objective": 1, "methods": 4, "results": 2, "conclusion": 2}


def _own(slots: Slots, text: str, rng: np.random.Generator) -> list[str]:
    """The writer's interests; those that the text does not hold yet come first."""
    first = draw_interest(slots, text, rng)
    low = text.casefold()
    rest = exclude_terms(expertise(slots.get("me")), [first])
    terms = [first, *rest]
    return [t for t in terms if t.casefold() not in low] + [t for t in terms if t.casefold() in low]


def draft_abstract(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """The leader's first abstract, in five parts, from the idea and its references.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    candidate = slots.get("idea")
    idea = getattr(candidate, "idea", candidate)
    title = _title(getattr(idea, "title", ""))
    body = split_sentences(str(getattr(idea, "idea", "")))
    references = tuple(getattr(candidate, "references", ()) or ())[:4]
    cited = [term for paper in references for term in paper_terms(paper)[:1]]
    theme = list(split_terms(title)) or [pick(NEUTRAL, rng)]
    given = list(unique_terms([*theme, *sentence_terms(body)]))
    own = _own(slots, f"{title} {' '.join(body)}", rng)[:1]
    further = exclude_terms(unique_terms([*own, *_known(slots, rng), *cited]), given)[:FURTHER]
    terms = [*given[1:], *further]
    writer = SentenceWriter(theme, terms or list(NEUTRAL), [*own, *given[1:]], rng)
    text = AbstractText(body[:1], "objective")
    for part in PARTS:
        while text.parts.count(part) < LAYOUT[part]:
            text.add(part, writer.write(part, text))
    _adjust_length(text, writer, rng)
    reply: dict[str, Any] = {"Reason": _plan(theme), "Title": title, "Abstract": str(text)}
    ask = ask_outsider(slots, f"{title} {text}", RULES.ask_abstract, rng)
    return {**reply, "Ask": ask} if ask else reply


def _plan(theme: Sequence[str]) -> str:
    """What the five parts of the abstract have to say."""
    named = join_list(map(with_article, theme[:2]))
    return as_sentence(f"The {join_list(PARTS)} all have to speak of {named}")


def _title(title: object) -> str:
    words = truncate_words(" ".join(str(title).split()), 22)
    return capitalise(words) if clean(words) else UNTITLED


def _known(slots: Slots, rng: np.random.Generator) -> list[str]:
    """Now and then an interest of a scientist whom the knowledge bank shows."""
    people = as_list(slots.get("knowledge"))
    if not people or not bernoulli(RULES.take_up_known, rng):
        return []
    return list(expertise(pick(people, rng))[:1])


def _adjust_length(
    text: AbstractText, writer: SentenceWriter, rng: np.random.Generator, kept: Sequence[str] = ()
) -> None:
    """Add sentences to the thinnest part, or drop some of the fullest, until the length is right.

    Args:
        text: the abstract; it is changed.
        writer: writes the new sentences.
        rng: generator of this call.
        kept: terms whose sentences are the last to be dropped.
    """
    while text.words < RULES.abstract_least:
        part = rank_with_noise(PARTS, [-text.parts.count(p) / LAYOUT[p] for p in PARTS], 0.0, rng)[
            0
        ]
        text.add(part, writer.write(part, text))
    while text.words > RULES.abstract_most and len(text.lines) > 1:
        free = text.open_to_change()
        free = [i for i in free if not any(term in text.lines[i] for term in kept)] or free
        full = max(text.parts.count(text.parts[i]) / LAYOUT[text.parts[i]] for i in free)
        crowded = [
            i for i in free if text.parts.count(text.parts[i]) / LAYOUT[text.parts[i]] == full
        ]
        text.drop(pick(crowded, rng))


def revise_abstract(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Score the draft and change it, towards what the reviser knows.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    before = slots["draft"]
    text = AbstractText(split_sentences(str(before.abstract)))
    scores = _scores(slots, str(text), rng)
    near = tuple(as_list(slots.get("near")))
    own = _away_from(_own(slots, str(text), rng), near)
    heard = _new_guest_terms(slots.get("guest"), str(text))[: FURTHER - 1]
    title = _title(before.title)
    theme = list(split_terms(title)) or [pick(NEUTRAL, rng)]
    present = list(sentence_terms(text.lines))
    present = rank_with_noise(present, [0.0] * len(present), 0.0, rng)
    present = _away_from(present, near)[:6]
    # One further term beside the reviser's own: a guest's, or else one of a known scientist.
    further = (heard or _known(slots, rng))[: FURTHER - 1]
    terms = unique_terms([*further, *theme[1:], *present])
    writer = SentenceWriter(theme, terms or NEUTRAL, [own[0], *present[:2]], rng)
    many = 1 + bernoulli(RULES.rewrite_two, rng)
    if near or slots.get("review") is not None:
        many = int(RULES.rewrite_review)
    musts = [own[0], *heard[:1]]
    changed = _rewrite(text, writer, musts, _vocabulary(near), many, rng)
    _adjust_length(text, writer, rng, musts)
    title, renamed = _retitled(title, own[0], rng)
    reply: dict[str, Any] = {
        "Title": title,
        "Abstract": str(text),
        "Scores": scores,
        "Modifications": _modifications(changed, own[0], heard, near, renamed),
    }
    ask = ask_outsider(slots, f"{title} {text}", RULES.ask_abstract, rng)
    return {**reply, "Ask": ask} if ask else reply


def _new_guest_terms(guest: Any, text: str) -> list[str]:
    """Terms of a guest's answer that the text does not hold, at most two."""
    heard = [term for item in as_list(guest) for term in utterance_terms(item)]
    return [term for term in unique_terms(heard) if term.casefold() not in text.casefold()][:2]


def _vocabulary(near: Sequence[Any]) -> frozenset[str]:
    """The stems of the near abstracts; a set to measure with, never to iterate."""
    return frozenset().union(*(stems(f"{paper.title} {paper.abstract}") for paper in near))


def _away_from(terms: Sequence[str], near: Sequence[Any]) -> list[str]:
    """Terms, with those that the near abstracts use last."""
    taken = _vocabulary(near)
    return sorted(terms, key=lambda term: shared_fraction(stems(term), taken))


def _rewrite(
    text: AbstractText,
    writer: SentenceWriter,
    musts: Sequence[str],
    taken: frozenset[str],
    many: int,
    rng: np.random.Generator,
) -> list[str]:
    """Replace the sentences that are nearest to the taken words.

    Args:
        text: the abstract; it is changed.
        writer: writes the new sentences.
        musts: terms that the first new sentences have to contain.
        taken: stems of the near abstracts.
        many: number of sentences to replace.
        rng: generator of this call.

    Returns:
        The parts that changed, in their order.
    """
    free = text.open_to_change()
    alike = [shared_fraction(stems(text.lines[i]), taken) for i in free]
    order = rank_with_noise(free, alike, 0.0, rng)[:many]
    changed = []
    for i, at in enumerate(order):
        text.lines[at] = writer.write(text.parts[at], text, musts[i] if i < len(musts) else None)
        changed.append(text.parts[at])
    for must in musts[len(order) :]:
        text.add("methods", writer.write("methods", text, must))
        changed.append("methods")
    if bernoulli(RULES.rewrite_add, rng):
        part = pick(PARTS[2:], rng)
        text.add(part, writer.write(part, text))
        changed.append(part)
    return sorted(changed, key=PARTS.index)


def _scores(slots: Slots, text: str, rng: np.random.Generator) -> dict[str, float]:
    me = slots.get("me")
    near = affinity(tuple(me.interests), text) if me is not None else 0.0
    mean = RULES.score_base + RULES.score_affinity * near
    drawn = mean + RULES.score_noise * rng.standard_normal(len(CRITERIA) - 1)
    scores = {
        name: round(min(10.0, max(1.0, float(value))), 1)
        for name, value in zip(CRITERIA[:-1], drawn, strict=True)
    }
    return {**scores, CRITERIA[-1]: round(sum(scores.values()) / len(scores), 1)}


def _retitled(title: str, own: str, rng: np.random.Generator) -> tuple[str, bool]:
    """Now and then a title whose last part names the reviser's own term; and whether it is one."""
    if not bernoulli(RULES.retitle, rng) or own.casefold() in title.casefold():
        return title, False
    return capitalise(f"{title_head(title)} with {with_article(own)}"), True


def _modifications(
    changed: Sequence[str],
    own: str,
    heard: Sequence[str],
    near: Sequence[Any],
    renamed: bool,
) -> str:
    parts = [f"the {part}" for part in dict.fromkeys(changed)]
    lines = [f"I rewrote parts of {join_list(parts)} and brought in {with_article(own)}"]
    if heard:
        lines.append(f"The guest's remark on {with_article(heard[0])} is taken up")
    if near:
        lines.append("Wording close to the near abstracts was replaced")
    if renamed:
        lines.append("The title now names the new element")
    return " ".join(map(as_sentence, lines))
