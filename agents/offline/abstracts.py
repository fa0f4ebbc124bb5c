"""The rules by which the offline scientist drafts an abstract and revises another's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.question_context import Asked, list_terms, rating
from virsci_society.agents.offline.text import (
    FRAMES,
    MARKS,
    NEUTRAL,
    PARTS,
    UNTITLED,
    as_list,
    as_sentence,
    capitalise,
    clean,
    count_words,
    exclude_terms,
    expertise,
    fill,
    frame_mark,
    join_list,
    paper_terms,
    sentence_terms,
    shared_fraction,
    split_sentences,
    split_terms,
    stems,
    title_head,
    truncate_words,
    unique_terms,
    utterance_terms,
    with_article,
)

CRITERIA = (
    *("Clarity", "Relevance", "Structure", "Conciseness"),
    *("Technical Accuracy", "Engagement", "Originality", "Overall Score"),
)
FURTHER = 2
"""Terms that a draft or a revision brings in beyond those of the idea, or of the draft."""
LAYOUT = {"introduction": 2, "objective": 1, "methods": 4, "results": 2, "conclusion": 2}
"""Sentences of each part of a draft."""
_LONGEST = 60


class AbstractText:
    """An abstract under revision."""

    def __init__(self, lines: Sequence[str] = (), part: str = PARTS[0]) -> None:
        # Bounded: in a hybrid run a model may have written the draft.
        self.lines = [as_sentence(truncate_words(line, _LONGEST)) for line in lines]
        self.parts: list[str] = []
        for line in self.lines:
            part = MARKS.get(frame_mark(line), part)
            self.parts.append(part)

    def __str__(self) -> str:
        return " ".join(self.lines)

    @property
    def words(self) -> int:
        """Number of words."""
        return sum(map(count_words, self.lines))

    def add(self, part: str, line: str) -> None:
        """Insert a sentence behind the last one of its part or of the parts before it."""
        before = PARTS[: PARTS.index(part) + 1]
        at = max((i for i, other in enumerate(self.parts, 1) if other in before), default=0)
        self.lines.insert(at, line)
        self.parts.insert(at, part)

    def open_to_change(self) -> list[int]:
        """Indices of all sentences but the one that carries the idea."""
        core = self.parts.index("objective") if "objective" in self.parts else 0
        return [i for i in range(len(self.lines)) if i != core]

    def share(self, part: str) -> float:
        """How many sentences a part has, as a share of those of a draft."""
        return self.parts.count(part) / LAYOUT[part]


class SentenceWriter:
    """Writes sentences from frames into a text, and uses none twice while others are left."""

    def __init__(
        self,
        asked: Asked,
        text: AbstractText,
        theme: Sequence[str],
        terms: Sequence[str],
        own: Sequence[str],
    ) -> None:
        self.asked, self.text = asked, text
        self.theme, self.terms, self.own = theme, terms, own
        self.turn = int(asked.rng.random() * 8)

    def write(self, part: str, must: str | None = None) -> str:
        """A new sentence for a part of an abstract."""
        used = {frame_mark(line) for line in self.text.lines}
        fresh = [frame for frame in FRAMES[part] if frame_mark(frame) not in used]
        frame = self.asked.pick(fresh or FRAMES[part])
        self.turn += 1
        o = must or self.own[self.turn % len(self.own)]
        fresh_terms = exclude_terms(self.terms, [o])
        rest = [*fresh_terms, *exclude_terms(NEUTRAL, [o, *fresh_terms])]
        # Fresh terms take turns; where there are none, the first neutral one stands in.
        a = rest[self.turn % max(1, len(fresh_terms))]
        left = exclude_terms(rest, [a])
        b = left[self.turn % max(1, len(fresh_terms) - 1)]
        # Never empty: there are more neutral terms than slots.
        t = [*exclude_terms(self.theme, [a, b, o]), *exclude_terms(left, [b])][0]
        slots = {"t": t, "a": a, "b": b, "o": o}
        # A frame without the writer's slot takes the term in another one.
        if must is not None and "{o}" not in frame:
            slots["a" if "{a}" in frame else "b"] = must
        return as_sentence(fill(frame, **slots))

    def add(self, part: str, must: str | None = None) -> str:
        """Write a sentence, and insert it where its part ends."""
        line = self.write(part, must)
        self.text.add(part, line)
        return line

    def adjust_length(self, kept: Sequence[str] = ()) -> None:
        """Add to the thinnest part, or drop from the fullest, until the length is right."""
        text = self.text
        while text.words < RULES.abstract_least:
            self.add(self.asked.ranked(PARTS, [-text.share(part) for part in PARTS])[0])
        while text.words > RULES.abstract_most and len(text.lines) > 1:
            free = text.open_to_change()
            free = [i for i in free if not any(term in text.lines[i] for term in kept)] or free
            full = max(text.share(text.parts[i]) for i in free)
            at = self.asked.pick([i for i in free if text.share(text.parts[i]) == full])
            del text.lines[at], text.parts[at]


def _own(asked: Asked, text: str) -> list[str]:
    """The writer's interests; those that the text does not hold yet come first."""
    first = asked.draw_interest(text)
    terms = [first, *exclude_terms(asked.terms, [first])]
    return sorted(terms, key=lambda term: term.casefold() in text.casefold())


def _title(title: object) -> str:
    words = truncate_words(" ".join(str(title).split()), 22)
    return capitalise(words) if clean(words) else UNTITLED


def draft_abstract(asked: Asked) -> dict[str, Any]:
    """The leader's first abstract, in five parts, from the idea and its references."""
    title = _title(getattr(asked.idea, "title", ""))
    body = split_sentences(str(getattr(asked.idea, "idea", "")))
    references = tuple(getattr(asked.slots.get("idea"), "references", ()) or ())[:4]
    cited = [term for paper in references for term in paper_terms(paper)[:1]]
    theme = list(split_terms(title)) or [asked.pick(NEUTRAL)]
    all_terms = list(unique_terms([*theme, *sentence_terms(body)]))
    own = _own(asked, f"{title} {' '.join(body)}")[:1]
    expert_terms = expertise(asked.known_person())[:1]
    further = exclude_terms(unique_terms([*own, *expert_terms, *cited]), all_terms)[:FURTHER]
    terms = [*all_terms[1:], *further]
    text = AbstractText(body[:1], "objective")
    writer = SentenceWriter(asked, text, theme, terms or NEUTRAL, [*own, *all_terms[1:]])
    for part in PARTS:
        while text.parts.count(part) < LAYOUT[part]:
            writer.add(part)
    writer.adjust_length()
    plan = as_sentence(f"The {join_list(PARTS)} all have to speak of {list_terms(theme[:2])}")
    return {
        "Reason": plan,
        "Title": title,
        "Abstract": str(text),
        **asked.ask_outsider(f"{title} {text}", RULES.ask_abstract),
    }


def revise_abstract(asked: Asked) -> dict[str, Any]:
    """Score the draft and change it, towards what the reviser knows."""
    before = asked.slots["draft"]
    text = AbstractText(split_sentences(str(before.abstract)))
    whole = str(text)
    mean = RULES.score_base + RULES.score_affinity * asked.affinity(whole)
    drawn = mean + RULES.score_noise * asked.rng.standard_normal(len(CRITERIA) - 1)
    scores = {name: rating(float(value)) for name, value in zip(CRITERIA[:-1], drawn, strict=True)}
    scores[CRITERIA[-1]] = round(sum(scores.values()) / len(scores), 1)
    near = asked.all("near")
    # A set to measure with, never to iterate.
    taken = frozenset().union(*(stems(f"{paper.title} {paper.abstract}") for paper in near))
    own = _away_from(_own(asked, whole), taken)[0]
    heard = [term for item in as_list(asked.slots.get("guest")) for term in utterance_terms(item)]
    heard = [term for term in unique_terms(heard) if term.casefold() not in whole.casefold()]
    # One further term beside the reviser's own: a guest's, or else one of a known scientist.
    heard = heard[: FURTHER - 1]
    title = _title(before.title)
    theme = list(split_terms(title)) or [asked.pick(NEUTRAL)]
    named = sentence_terms(text.lines)
    # Shuffled by equal scores: the sort keeps this order among terms that are equally far.
    present = _away_from(asked.ranked(named, [0.0] * len(named)), taken)[:6]
    further = heard or expertise(asked.known_person())[: FURTHER - 1]
    terms = unique_terms([*further, *theme[1:], *present]) or NEUTRAL
    writer = SentenceWriter(asked, text, theme, terms, [own, *present[:2]])
    # Drawn in any case: a review changes how much is rewritten, and no later draw.
    many = 1 + asked.chance(RULES.rewrite_two)
    if near or asked.slots.get("review") is not None:
        many = int(RULES.rewrite_review)
    musts = [own, *heard]
    # The sentences that are nearest to the taken words are replaced, and now and then one is added.
    free = text.open_to_change()
    alike = [shared_fraction(stems(text.lines[i]), taken) for i in free]
    order = asked.ranked(free, alike)[:many]
    parts = []
    for i, at in enumerate(order):
        text.lines[at] = writer.write(text.parts[at], musts[i] if i < len(musts) else None)
        parts.append(text.parts[at])
    for must in musts[len(order) :]:
        writer.add("methods", must)
        parts.append("methods")
    if asked.chance(RULES.rewrite_add):
        parts.append(asked.pick(PARTS[2:]))
        writer.add(parts[-1])
    changed = [f"the {part}" for part in PARTS if part in parts]
    writer.adjust_length(musts)
    # The draw first, so that it is made whatever the title says.
    retitled = asked.chance(RULES.retitle) and own.casefold() not in title.casefold()
    said = [f"I rewrote parts of {join_list(changed)} and brought in {with_article(own)}"]
    if heard:
        said.append(f"The guest's remark on {with_article(heard[0])} is taken up")
    if near:
        said.append("Wording close to the near abstracts was replaced")
    if retitled:
        said.append("The title now names the new element")
        title = capitalise(f"{title_head(title)} with {with_article(own)}")
    return {
        "Title": title,
        "Abstract": str(text),
        "Scores": scores,
        "Modifications": " ".join(map(as_sentence, said)),
        **asked.ask_outsider(f"{title} {text}", RULES.ask_abstract),
    }


def _away_from(terms: Sequence[str], taken: frozenset[str]) -> list[str]:
    """Terms, with those that the near abstracts use last."""
    return sorted(terms, key=lambda term: shared_fraction(stems(term), taken))
