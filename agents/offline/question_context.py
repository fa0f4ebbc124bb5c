"""The question that an offline scientist answers, and the draws that answer it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.text import (
    FRAMES,
    NEUTRAL,
    affinity,
    as_list,
    as_sentence,
    exclude_terms,
    expertise,
    fill,
    finite_number,
    full_text,
    headline,
    is_guest,
    join_list,
    unique_terms,
    utterance_terms,
    with_article,
)

T = TypeVar("T")


class Asked:
    """What a rule is given: the slots of the question, and the generator of this call."""

    def __init__(self, slots: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.slots, self.rng = slots, rng
        self.me = slots.get("me")
        self.interests: tuple[str, ...] = tuple(self.me.interests) if self.me is not None else ()
        self.terms = expertise(self.me)

    def all(self, name: str) -> list[Any]:
        """A slot as a list; of utterances and advice, what was said."""
        return as_list(self.slots.get(name))

    def text(self, name: str) -> str:
        """The words of a slot."""
        return full_text(self.slots.get(name))

    def number(self, name: str, default: float = 0.0) -> float:
        """A slot as a finite number."""
        return finite_number(self.slots.get(name), default)

    def count(self, name: str) -> float:
        """A slot as a number that is not negative."""
        return max(0.0, self.number(name))

    @property
    def extras(self) -> tuple[str, ...]:
        """Names of the optional fields that are asked for."""
        return tuple(self.slots.get("extras", ()))

    @property
    def idea(self) -> Any:
        """The idea at hand, without what was found for it; None where there is none."""
        candidate = self.slots.get("idea")
        return getattr(candidate, "idea", candidate)

    @property
    def idea_title(self) -> str:
        """The title of the idea at hand; empty where there is none."""
        return str(getattr(self.idea, "title", ""))

    @property
    def heard(self) -> list[Any]:
        """Summaries of earlier turns, then what was said in this one."""
        return [*self.all("summaries"), *self.all("said")]

    @property
    def talk(self) -> str:
        """Everything said so far, as one text."""
        texts = [f"{headline(item)} {full_text(item)}" for item in self.heard]
        return " ".join([str(self.slots.get("start") or ""), *texts])

    @property
    def guest_terms(self) -> tuple[str, ...]:
        """The terms that consulted guests brought into this turn."""
        answers = filter(is_guest, self.all("said"))
        return unique_terms(term for item in answers for term in utterance_terms(item)[:1])

    def affinity(self, text: str) -> float:
        """How near a text is to the scientist's interests, 0 to 1."""
        return affinity(self.interests, text)

    def nearest(self, text: str) -> str:
        """The scientist's interest that is nearest to a text; empty if it has none."""
        return max(self.terms, key=lambda term: affinity((term,), text), default="")

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return bool(self.rng.random() < probability)

    def pick(self, items: Sequence[T]) -> T:
        """One item, all equally likely."""
        # One number a draw, which rng.integers does not promise; near 1 the product may round up.
        return items[min(int(self.rng.random() * len(items)), len(items) - 1)]

    def ranked(self, items: Sequence[T], scores: Sequence[float]) -> list[T]:
        """Items by falling score; chance breaks ties."""
        # A number for each item, tied or not: later draws must not hang on how scores fall.
        order = sorted((-score, self.rng.random(), i) for i, score in enumerate(scores))
        return [items[i] for _, _, i in order]

    def weighted(self, items: Sequence[T], weights: Sequence[float]) -> T:
        """One item with a probability proportional to its weight (>= 0); all zero: any."""
        total = math.fsum(weights)
        if not total > 0.0:
            return self.pick(items)
        left = self.rng.random() * total
        for item, weight in zip(items, weights, strict=True):
            left -= weight
            if left < 0.0:
                return item
        # Only rounding leads here.
        return items[-1]

    def say(self, kind: str, **terms: str) -> str:
        """A sentence from one of the frames of a kind, with its terms by slot."""
        return fill(self.pick(FRAMES[kind]), **terms)

    def draw_interest(self, text: str) -> str:
        """One of the scientist's interests; the first ones and those near a text are likelier."""
        if not self.terms:
            return self.pick(NEUTRAL)
        weights = [
            RULES.interest_decay**i * (1.0 + RULES.interest_relevance * affinity((term,), text))
            for i, term in enumerate(self.terms)
        ]
        return self.weighted(self.terms, weights)

    def known_person(self, but: Any = None) -> Any:
        """Now and then one of the scientists whom the knowledge bank shows; else None."""
        people = [person for person in self.all("knowledge") if but is None or person.id != but.id]
        return self.pick(people) if people and self.chance(RULES.take_up_known) else None

    def ask_outsider(self, text: str, probability: float) -> dict[str, Any]:
        """A question to the outsider who knows most about the talk that the speaker does not."""
        outsiders = self.all("outsiders")
        if not outsiders or not self.chance(probability):
            return {}
        scores = []
        for person in outsiders:
            terms = expertise(person)
            # What the speaker knows as well needs no guest.
            new = exclude_terms(terms, self.terms)
            matching = sum(affinity((term,), text) for term in new)
            scores.append(matching - RULES.ask_own * (len(terms) - len(new)))
        person = self.ranked(outsiders, scores)[0]
        theirs = exclude_terms(expertise(person), self.terms) or list(expertise(person))
        question = "What would you advise us to look at first?"
        if theirs:
            named = max(theirs, key=lambda term: affinity((term,), text))
            question = self.say("questions", x=named)
        return {"Ask": {"Scientist": person.id, "Question": question}}


Rule = Callable[[Asked], Mapping[str, Any]]
"""Answers one form: the reply under the names of the prompt."""


def list_terms(terms: Iterable[str]) -> str:
    """Terms as an English list, with their articles."""
    return join_list(map(with_article, terms))


def rating(value: float) -> float:
    """A score on the scale from 1 to 10, to one decimal."""
    return round(min(10.0, max(1.0, value)), 1)


def missed(asked: Asked, text: str, otherwise: str) -> str:
    """What a reviewer asks for: an interest of its own that the text does not name."""
    named = [term for term in asked.terms if term.casefold() not in text.casefold()]
    return as_sentence(f'It should be related to "{named[0]}"' if named else otherwise)
