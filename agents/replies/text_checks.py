"""Formal checks of the text of a reply, whose content is not judged.

Only the words of the form and of the page file are compared, never those of people and papers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from virsci_society.agents.errors import UnfitReply
from virsci_society.agents.replies.form import FIELDS, PATTERN, Form

NOTICED = ("echoed", "short", "loop", "cut")
"""Values of the column ``noticed`` of the table ``calls``; ``cut``: by the length limit."""
WARN_AT = 0.05
"""Share of copies and defaults above which a run warns first."""
SHOWS_THE_FORM = "This run shows the form and not the model"
RUN = 4
"""Words in a row that count as copied."""
MOSTLY = 0.5
"""Share of copied words from which a text is an echo."""
LONG_RUN = 12
"""Words in a row of a page by which any text is an echo."""
LONGEST_PHRASE = 20
"""Words of the longest phrase that is looked for directly behind itself."""
PHRASE = 8
"""Words of a phrase that may not occur three times in a text."""
ASKED_AGAIN, SHORT = 1 / 2, 1 / 3
"""Shares of the requested words below which one field is requested again, or all are short."""
_WORD = re.compile(r"[^\W_]+")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Noticed:
    """What was noticed about one reply; ``short`` names fields, "" all together."""

    echoed: str = ""
    short: tuple[str, ...] = ()
    loop: bool = False


def check_text(reply: Form, schema: str, instructions: str, most_words: int = 0) -> Noticed:
    """Notice copies, loops and shortness in a reply by its schema; ``most_words`` 0: any."""
    asked, described = _read_schema(schema)
    texts = [
        (name, split_words(text), text)
        for name, text in _texts(asked, reply.model_dump(by_alias=True, mode="json"))
    ]
    phrases, copied, long_runs = _words_of_page(described, instructions)
    echoed = ""
    for name, words, text in texts:
        if (not words and text.strip()) or (words and _is_echo(words, phrases, copied, long_runs)):
            echoed = name
            break
    short = []
    for field, number in type(reply).words_asked.items():
        said = sum(len(words) for name, words, _ in texts if field in (name, ""))
        least = min(number, most_words or number) * (ASKED_AGAIN if field else SHORT)
        short += [field] if said < least else []
    return Noticed(echoed, tuple(short), any(is_loop(words) for _, words, _ in texts))


def copied(field: str) -> UnfitReply:
    """The error for a reply with a field copied from the prompt, which is requested again."""
    return UnfitReply(f'"{field}" repeats the words of the form or of the task. Write your own.')


def split_words(text: str) -> Words:
    """The words of a text, without case and punctuation."""
    return tuple(_WORD.findall(text.casefold()))


def is_loop(words: Words) -> bool:
    """Does a phrase occur three times in a row (counting up: five), or a long one anywhere?"""
    if max(Counter(words).values(), default=0) < 3:
        return False
    counted = tuple("0" if word.isdigit() else word for word in words)
    return (
        _stands_in_a_row(words, 3)
        or (counted != words and _stands_in_a_row(counted, 5))
        or max(Counter(_windows(words, PHRASE)).values(), default=0) >= 3
    )


def _stands_in_a_row(words: Words, times: int) -> bool:
    """Is a phrase repeated ``times`` times in a row? A row of numbers ("0") does not count."""
    places: dict[str, list[int]] = {}
    often = {word for word, count in Counter(words).items() if count >= times}
    # By the length of a phrase: words in a row that stand that far behind the same word.
    alike, ended = [0] * (LONGEST_PHRASE + 1), [-1] * (LONGEST_PHRASE + 1)
    for index, word in ((at, word) for at, word in enumerate(words) if word in often):
        earlier = places.setdefault(word, [])
        for position in reversed(earlier):
            if (length := index - position) > LONGEST_PHRASE:
                break
            alike[length] = alike[length] + 1 if ended[length] == index - 1 else 1
            ended[length] = index
            # A single word said three times may be meant.
            if alike[length] < max((times - 1) * length, 4):
                continue
            if {*words[index - length + 1 : index + 1]} != {"0"}:
                return True
        earlier.append(index)
    return False


def _is_echo(words: Words, phrases: set[Words], copied: set[Words], long_runs: set[Words]) -> bool:
    if words in phrases:
        return True
    places = [at for at, window in enumerate(_windows(words, RUN)) if window in copied]
    # A long run consists of copied shorter ones.
    if places and any(window in long_runs for window in _windows(words, LONG_RUN)):
        return True
    begun = max((len(phrase) for phrase in phrases if words[: len(phrase)] == phrase), default=0)
    # What follows a description that is repeated may be the answer to it.
    if begun >= RUN and len(words) <= 2 * begun:
        return True
    covered = {word for place in places for word in range(place, place + RUN)}
    return len(covered) > MOSTLY * len(words)


def _texts(schema: Mapping[str, Any], value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Name and text of each field in which the model writes freely."""
    if "anyOf" in schema:
        kinds = (("object", dict), ("array", list), ("string", str))
        wanted = next((kind for kind, made in kinds if isinstance(value, made)), None)
        for part in schema["anyOf"]:
            if part.get("type") == wanted:
                yield from _texts(part, value, name)
    elif isinstance(value, dict):
        members, each = schema.get("properties", {}), schema.get("additionalProperties")
        for key, part in value.items():
            inner = members.get(key, each)
            if isinstance(inner, dict):
                yield from _texts(inner, part, name or key)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(schema.get("items", {}), part, name)
    elif isinstance(value, str) and schema.get("type") == "string" and "enum" not in schema:
        yield name, value


@lru_cache(maxsize=256)
def _read_schema(schema: str) -> tuple[Any, tuple[str, ...]]:
    """A schema, which nobody may change, and its phrases."""
    asked = json.loads(schema)
    return asked, tuple(_phrases(asked))


def _phrases(schema: Any) -> Iterator[str]:
    """Descriptions of a schema, and names of its fields."""
    if isinstance(schema, dict):
        if isinstance(described := schema.get("description"), str):
            yield described
        yield from schema.get("properties", ())
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, dict | list):
            yield from _phrases(part)


@lru_cache(maxsize=256)
def _words_of_page(
    described: tuple[str, ...], instructions: str
) -> tuple[set[Words], set[Words], set[Words]]:
    """Phrases of a form, runs of words that count as copied from the page, and long runs of it."""
    phrases = {split_words(phrase) for phrase in described} - {()}
    page = [split_words(text) for text in (instructions, FIELDS, PATTERN)]
    return phrases, _runs((*phrases, *page), RUN), _runs(page, LONG_RUN)


def _runs(texts: Iterable[Words], length: int) -> set[Words]:
    return {window for words in texts for window in _windows(words, length)}


def _windows(words: Sequence[str], length: int) -> Iterator[Words]:
    return zip(*(words[at:] for at in range(length)), strict=False)
