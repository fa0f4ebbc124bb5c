"""Reads the text of a model as the form that was asked for, in bounded work.

Strict: the whole text is JSON. Found: a JSON block in it is. Repaired: a broken block can be
repaired without guessing, or the fields stand in labelled lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from virsci_society.agents.errors import ReplyError
from virsci_society.agents.replies.coercion import coerce_to_form, reject_constant, unique_members
from virsci_society.agents.replies.repair import (
    Unfinished,
    opening_pattern,
    read_lines,
    repair_json,
)

FormT = TypeVar("FormT", bound=BaseModel)

RUNGS = ("strict", "found", "repaired", "re-asked", "default")
"""How a reply was read, the best first; callers of ``read_reply`` add the last two."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TROUBLE = (ValueError, RecursionError, OverflowError)
_LONGEST = 1_000_000
"""Most characters of a reply that is read as a whole."""
_MOST_SHOWN = 300
"""Most characters of the message about an unreadable reply."""
REACH = 262_144
"""Characters at the end of a reply that are searched for blocks: the answer comes last."""
STARTS = 256
"""Opening braces tried, the last ones."""
EFFORT = 2_000_000
"""Characters read over all beginnings that turn out to be no JSON."""

_THOUGHT_NAMES = (
    r"(?:seed:|ant)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis|scratchpad"
    r"|chain[_-]of[_-]thought)"
)
THOUGHT_MARKS = (
    # Qwen, DeepSeek, EXAONE, Seed and others: tags, with or without attributes.
    (rf"<\s*{_THOUGHT_NAMES}(?:\s[^<>]*)?>", rf"<\s*/\s*{_THOUGHT_NAMES}\s*>"),
    # Magistral.
    (r"\[(?:think(?:ing)?|thought|reasoning)\]", r"\[/(?:think(?:ing)?|thought|reasoning)\]"),
    # Kimi.
    ("◁think▷", "◁/think▷"),
    # Command A; OpenThinker and Sky-T1, which mark the solution as well.
    (r"<\|start_thinking\|>", r"<\|end_thinking\|>"),
    (r"<\|begin_of_thought\|>", r"<\|(?:end_of_thought|begin_of_solution)\|>"),
    # gpt-oss: every channel but the final one. Tokens of its format may have been dropped.
    (
        r"<\|channel\|>\s*(?:analysis|commentary)\b[^<]*(?:<\|message\|>)?",
        r"<\|channel\|>\s*final\b[^<]*(?:<\|message\|>)?",
    ),
    # MedGemma.
    (r"<unused94>(?:thought)?", r"<unused95>"),
)
"""Patterns of the marks before and after the thoughts of a model, whatever their case."""
_THOUGHT_BEGINS, _THOUGHT_ENDS = (
    re.compile("|".join(marks), re.IGNORECASE) for marks in zip(*THOUGHT_MARKS, strict=True)
)
_FENCED_THOUGHT = re.compile(
    rf"```[ \t]*{_THOUGHT_NAMES}\b.*?(?:```|\Z)", re.IGNORECASE | re.DOTALL
)
"""Thoughts in a fenced block, whose end is the mark of any fenced block."""
ENDED_THINKING = (
    "the reply ends inside its thinking; raise backend.max_tokens, or turn thinking off"
)
_OPENING = re.compile(r"\{(?=\s*[\"}])")
_FENCE = re.compile(r"```")
STRICT = json.JSONDecoder(object_pairs_hook=unique_members, parse_constant=reject_constant)
"""Reads JSON and nothing else; raises ValueError or RecursionError."""


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[FormT]):
    """A reply as a form."""

    form: FormT
    rung: str


def read_reply(form: type[FormT], text: str, *, cut: bool = False) -> ParsedReply[FormT]:
    """Read a reply of any length and content as a form."""
    text = strip_blank(text)
    long = len(text) > _LONGEST
    text = text[-REACH:] if long else text
    if not text.isascii() and _SURROGATE.search(text):
        text = _join_surrogates(text)
    try:
        # What is left of a long reply begins in the middle, so it is never JSON as a whole.
        if long:
            raise ValueError(f"longer than {_LONGEST} characters")
        return ParsedReply(_fit(form, STRICT.decode(text), text), "strict")
    except _TROUBLE as error:
        answer = strip_reasoning(text)
        if text and not answer:
            cut_off = ReplyError(f"{form.__name__}: {ENDED_THINKING}")
            cut_off.hint = ENDED_THINKING
            raise cut_off from None
        return _search(form, answer, cut, error)


def _fit(form: type[FormT], data: Any, text: str) -> FormT:
    # An escape in plain ASCII can stand for half of a surrogate pair.
    escaped = "\\u" in text and _ESCAPED_SURROGATE.search(text)
    return coerce_to_form(form, _join_surrogates(data) if escaped else data)


def _join_surrogates(data: Any) -> Any:
    """The data with halves of surrogate pairs joined, or replaced: no file can hold them."""
    if isinstance(data, str):
        return data.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(data, dict):
        return {_join_surrogates(name): _join_surrogates(part) for name, part in data.items()}
    return [_join_surrogates(part) for part in data] if isinstance(data, list) else data


def _search(form: type[FormT], text: str, cut: bool, trouble: Exception) -> ParsedReply[FormT]:
    """The last complete block that fills the form, else a repaired one, else labelled lines."""
    blocks = find_blocks(text)

    def attempt(read: Callable[..., Any], *given: Any) -> FormT | None:
        nonlocal trouble
        try:
            return _fit(form, read(*given), text)
        except Unfinished:
            # A ValueError too, but what was cut off is to be asked for again.
            raise
        except _TROUBLE as error:
            # The error that says most: a wrong field, or else the first one.
            trouble = error if isinstance(error, ValidationError) else trouble
            return None

    try:
        complete, behind = None, 0
        for block in blocks:
            complete = attempt(lambda one: one.data, block)
            if complete is not None:
                behind = block.end
                break
        for start in _broken_starts(form, text, blocks, behind):
            repaired = attempt(repair_json, text[start:], form, cut)
            if repaired is not None:
                return ParsedReply(repaired, "repaired")
        if complete is not None:
            return ParsedReply(complete, "found")
        # Lines have no closing mark: of a text that was cut, no line shows whether it is whole.
        if not cut and not opening_pattern(form).search(text):
            lines = attempt(read_lines, text, form)
            if lines is not None:
                return ParsedReply(lines, "repaired")
    except Unfinished as error:
        trouble = error
    if isinstance(trouble, ValidationError):
        first = trouble.errors(include_url=False, include_input=False)[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    elif isinstance(trouble, json.JSONDecodeError | RecursionError):
        reason = f"not JSON: {trouble}"
    else:
        reason = str(trouble)
    plain = "".join(mark if mark.isprintable() else " " for mark in reason[:_MOST_SHOWN])
    raise ReplyError(f"{form.__name__}: {plain}")


def _broken_starts(
    form: type[BaseModel], text: str, blocks: Sequence[JsonBlock], behind: int
) -> Iterator[int]:
    """Positions of braces before a name of the form, outside of JSON; else of any brace."""

    def is_json(place: int) -> bool:
        return any(block.start <= place < block.end for block in blocks)

    matches = opening_pattern(form).finditer(text, behind)
    named = [match.start() for match in matches if not is_json(match.start())]
    if named:
        yield named[-1]
        if named[0] != named[-1]:
            yield named[0]
    elif not behind:
        brace = text.find("{", max(0, text.rfind("```json")))
        if brace >= 0 and not is_json(brace):
            yield brace


class JsonBlock(NamedTuple):
    """One JSON object in a text."""

    data: dict[str, Any]
    start: int
    end: int


def strip_reasoning(text: str) -> str:
    """The last ``REACH`` characters of a reply without its thoughts, unless it ends in them."""
    text = _FENCED_THOUGHT.sub("", text[-REACH:])
    begins = max((mark.start() for mark in _THOUGHT_BEGINS.finditer(text)), default=-1)
    ends = max((mark.end() for mark in _THOUGHT_ENDS.finditer(text)), default=-1)
    if begins >= max(ends, 0):
        return ""
    return strip_blank(text if ends < 0 else text[ends:])


def strip_blank(text: str) -> str:
    """The text without white space and byte order marks around it."""
    return text.strip(" \t\r\n\ufeff")


def find_blocks(text: str) -> list[JsonBlock]:
    """The JSON objects of a text that lie in no other: fenced ones first, the last first."""
    found: list[JsonBlock] = []
    effort, end = EFFORT, 0
    for start in [match.start() for match in _OPENING.finditer(text)][-STARTS:]:
        if start < end or effort < 0:
            continue
        try:
            data, end = STRICT.raw_decode(text, start)
        except json.JSONDecodeError as error:
            effort -= error.pos - start
        except (ValueError, RecursionError):
            # These errors do not say how far the text was read, so a fixed share is charged.
            effort -= EFFORT // 16
        else:
            found.append(JsonBlock(data, start, end))
    marks = [mark.start() for mark in _FENCE.finditer(text)]
    # The last fence may end with the text.
    fences = list(zip(marks[::2], [*marks[1::2], len(text)], strict=False))[-STARTS:]

    def order(block: JsonBlock) -> tuple[bool, int]:
        fenced = any(start < block.start and block.end <= end for start, end in fences)
        return fenced, block.start

    return sorted(found, key=order, reverse=True)
