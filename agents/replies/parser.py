"""Reads the text of a model as the form that was asked for, in bounded work."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, NamedTuple, SupportsIndex, TypeVar

from pydantic import BaseModel, ValidationError

from virsci_society.agents.errors import ReplyError
from virsci_society.agents.replies.coercion import (
    coerce_to_form,
    field_named,
    normalise_name,
    options_of,
    reject_constant,
    unique_members,
)

FormT = TypeVar("FormT", bound=BaseModel)

RUNGS = ("strict", "found", "repaired", "re-asked", "default")
"""How a reply was read, the best first; callers of ``read_reply`` add the last two."""

_BLANK = " \t\r\n\ufeff"
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TROUBLE = (ValueError, RecursionError, OverflowError)
_LONGEST = 1_000_000
"""Most characters of a reply that is read as a whole."""
_MOST_SHOWN = 300
"""Most characters of the message about an unreadable reply."""
REACH = 262_144
"""Characters at the end of a reply that are searched for blocks: the answer comes last."""
PREFACE = 300
"""Characters of the longest words before an answer that is followed by others, if they were cut."""
STARTS = 256
"""Opening braces tried, the last ones."""
EFFORT = 2_000_000
"""Characters read over all beginnings that turn out to be no JSON."""

_THOUGHT_NAMES = (
    r"(?:[\w:▁-]{0,24}(?:think|thought|reason(?:ing)?(?![a-z])|reflection|scratchpad|rationale"
    r"|monologue)[\w:▁-]{0,60}|(?<!\[)analysis|cot|chain[_-]of[_-]thought|\w{0,9}working_out"
    r"|details\s+type=.reasoning.)"
)
_OPENS, _CLOSES = r"(?:<|&lt;|\[|◁)[|｜]?\s*", r"\s*[|｜]?(?:>|&gt;|\]|▷)"
_ENDS = r"(?:/[|｜]?|[\w-]{0,24}?end(?:_of)?[_▁])"
THOUGHT_MARKS = (
    # Tags of most models, in any brackets: <think>, [THINK], ◁think▷, <|start_thinking|>. Only
    # those in <> have attributes.
    (
        rf"{_OPENS}(?!{_ENDS}){_THOUGHT_NAMES}(?<!_end)(?:{_CLOSES}|\s[^][<>&◁]*(?:>|&gt;))",
        rf"{_OPENS}(?:{_ENDS}\s*{_THOUGHT_NAMES}|{_THOUGHT_NAMES}(?<=_end)){_CLOSES}"
        r"(?:<\|start_(?:response|text)\|>)?|</details>|<\|begin_of_solution\|>|<\|content\|>",
    ),
    # gpt-oss: every channel but the final one.
    (
        r"<\|channel\|>\s*(?:analysis|commentary)\b[^<]*(?:<\|message\|>)?",
        r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?(?:<\|message\|>)?",
    ),
    # The same where the tokens of its format were dropped.
    (r"\A(?-i:analysis(?=[A-Z\W]))", r"assistant\n*final"),
    # MedGemma and Gemma; Apertus; s1; what Ollama prints.
    (r"<unused94>(?:thought)?|<\|channel>\s*thought", r"<unused95>|<channel\|>"),
    (r"<\|inner_prefix\|>|<\|im_start\|>think", r"<\|inner_suffix\|>|<\|im_start\|>answer"),
    (r"\AThinking\.\.\.\n", r"\.\.\.done thinking\."),
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
LOOSE = json.JSONDecoder(
    object_pairs_hook=unique_members, parse_constant=reject_constant, strict=False
)
"""Reads JSON in whose strings there may be line breaks."""


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[FormT]):
    """A reply as a form."""

    form: FormT
    rung: str


class JsonBlock(NamedTuple):
    """One JSON object in a text."""

    data: dict[str, Any]
    start: int
    end: int


class Unfinished(ValueError):
    """The text was truncated; the missing part must be requested again."""


def read_reply(form: type[FormT], text: str, *, cut: bool = False) -> ParsedReply[FormT]:
    """Read a reply of any length and content as a form."""
    text = text.strip(_BLANK)
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
    """The data with surrogate halves joined or replaced: files cannot contain them."""
    if isinstance(data, str):
        return data.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(data, dict):
        return {_join_surrogates(name): _join_surrogates(part) for name, part in data.items()}
    return [_join_surrogates(part) for part in data] if isinstance(data, list) else data


def strip_reasoning(text: str) -> str:
    """The last ``REACH`` characters of a reply without its thoughts, unless it ends in them."""
    text = _FENCED_THOUGHT.sub("", text[-REACH:])
    begins = max((mark.start() for mark in _THOUGHT_BEGINS.finditer(text)), default=-1)
    ends = max((mark.end() for mark in _THOUGHT_ENDS.finditer(text)), default=-1)
    if begins >= max(ends, 0):
        return ""
    return text[max(ends, 0) :].strip(_BLANK)


def without_thoughts(text: str) -> str:
    """A reply as its model is shown it again: without the thoughts before an answer."""
    text_only = text.strip(_BLANK)
    answer = "" if text_only.startswith("{") else strip_reasoning(text)
    return answer if 0 < len(answer) < len(text_only) else text


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

    def is_json(place: int) -> bool:
        return any(block.start <= place < block.end for block in blocks)

    try:
        complete, behind = None, 0
        for block in blocks:
            complete = attempt(lambda one: one.data, block)
            if complete is not None:
                behind = block.end
                # Of a reply that was cut, words in the midst of others may be a draft of thoughts
                # without marks: some templates hold the first mark.
                if cut and block.start > PREFACE and text[behind:].strip("`] \n"):
                    raise Unfinished(ENDED_THINKING)
                break
        # Braces before a name of the form, outside of JSON; where there is none, any brace.
        names = opening_pattern(form).finditer(text, behind)
        named = [name.start() for name in names if not is_json(name.start())]
        starts = list(dict.fromkeys([*named[-1:], *named[:1]]))
        if not named and not behind:
            brace = text.find("{", max(0, text.rfind("```json")))
            starts = [brace] if brace >= 0 and not is_json(brace) else []
        for start in starts:
            repaired = attempt(repair_json, text[start:], form, cut)
            if repaired is not None:
                return ParsedReply(repaired, "repaired")
        if complete is not None:
            return ParsedReply(complete, "found")
        # Lines have no closing mark: of a text that was cut, no line shows whether it is whole.
        if not cut and not opening_pattern(form).search(text):
            lines = attempt(read_labels, text, form, True)
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


def find_blocks(text: str) -> list[JsonBlock]:
    """The outermost JSON objects of a text: fenced first, the last first."""
    blocks: list[JsonBlock] = []
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
            blocks.append(JsonBlock(data, start, end))
    marks = [mark.start() for mark in _FENCE.finditer(text)]
    # The last fence may end with the text.
    fences = list(zip(marks[::2], [*marks[1::2], len(text)], strict=False))[-STARTS:]

    def order(block: JsonBlock) -> tuple[bool, int]:
        fenced = any(start < block.start and block.end <= end for start, end in fences)
        return fenced, block.start

    return sorted(blocks, key=order, reverse=True)


# Broken JSON is read only where nothing of it is lost or made up. ``json_repair`` guesses, and its
# guesses are checked against the text. Where a JSON reader is lost (names or prose without quotes,
# quotes inside quotes, lines without any brace) the names of the form are read as labels.

MAX_CHARACTERS = 65_536
"""Characters of a text that is repaired."""
MAX_DEPTH = 64
"""Levels of brackets in a text that is repaired."""
MAX_LOOKUPS = 400_000
"""Characters that json_repair may look at: for some texts it takes the square of their length."""
MAX_LOST = 1
"""Letters that a repair may drop, as the last one of ``7.50``."""
MAX_STRINGS = 1_000
"""Strings in a text that is repaired."""
MAX_BARE = 24
"""Characters of an unquoted value with digits, such as ``8/10``."""

OPENING, CLOSING = "\"'“‘„", "\"'”’“"
_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_MEANT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_LITERALS = {"None": None, "undefined": None, "NaN": None, "True": True, "False": False}
"""Python and JavaScript literals; NaN is read as missing."""
_MEMBER = re.compile(r"[\"'”’]\s*(?:,\s*)?[\"'“‘][^\"'“”‘’\n]{1,60}[\"'”’]\s*:")
_CHOICE = re.compile(r"\[[^][{}\"]*\]")
_ENDED = re.compile(r"(?<!\d\.)(?<=[.!?…。！？])[)\]\"'”’*_`]*\Z")
_RATIO = re.compile(r"\d\s*(?:/|of)\s*\d+\.?")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.?)*+(?P<closed>"?)|[][{}]', re.DOTALL)
_BRACKET = re.compile(r"[](){}[]")
_COMMENT = re.compile(r'("(?:[^"\\]|\\.?)*+"?)|(?<![:\w])//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_EMPTY = re.compile(r"[:,\[]\s*(?:\"\s*\"|'\s*')")


@cache
def name_pattern(form: type[BaseModel]) -> str:
    """A pattern for every name that a field of the form has."""
    names = {
        name
        for own, info in form.model_fields.items()
        for name in (own, info.alias or own)
        if re.search(r"\w", name)
    }
    # The longest first: a pattern takes the first alternative that fits, and not the longest.
    parts = [
        re.findall(r"[^\W_]+", name) for name in sorted(names, key=lambda name: (-len(name), name))
    ]
    return "|".join(r"[\s_-]?".join(map(re.escape, part)) for part in parts) or r"(?!)"


@cache
def opening_pattern(form: type[BaseModel]) -> re.Pattern[str]:
    """A pattern for a brace that is followed by a name of the form."""
    return re.compile(rf"\{{\s*[{OPENING}*]*(?:{name_pattern(form)})[{CLOSING}*]*\s*[:=]", re.I)


def read_labels(
    text: str, form: type[BaseModel], lines: bool, closed: bool = False
) -> dict[str, Any]:
    """The members of an object, or of lines, each from its name up to the next name."""
    names = name_pattern(form)
    if lines:
        mark = r"(?:\(?\d{1,2}[.)]|[-•#>]{1,6}|\*[ \t])?+[ \t]*+"
        before = rf"^[ \t]*+{mark}[*_{OPENING}]*+"
        label = rf"{before}({names})[*_{CLOSING}]*+[ \t]*+[:=][*_]*+[ \t]*+"
    else:
        before = rf"(?:\A\s*+|(?<=[\n{{,])[ \t]*+)[{OPENING}*]*+"
        label = rf"{before}({names})[{CLOSING}*]*+\s*+[:=]\s*+"
    marks = list(re.finditer(label, text, re.I | re.M))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    said = [
        (mark[1], text[mark.end() : end].strip().rstrip(", \t\r\n"))
        for mark, end in zip(marks, ends, strict=True)
    ]
    if not said:
        raise ValueError("no JSON object")
    for name, value in said:
        if not value:
            raise ValueError(f"{name}: nothing is said")
    if len({normalise_name(name) for name, _ in said}) < len(said):
        raise ValueError("a field appears twice")
    name, last = said[-1]
    field = field_named(form, name)
    # Of a field of few values none begins another.
    choice = field is not None and (field.wanted is bool or bool(options_of(field.wanted)))
    if lines:
        # The words end like a sentence, or are a number with its scale.
        ended = bool(_ENDED.search(last[-20:]) or _RATIO.fullmatch(last))
    else:
        ended = closed or _read_value(last) != last
    if not (ended or choice):
        raise Unfinished("cut off")
    members = {}
    for name, value in said:
        if not lines or value[0] in "[{":
            members[name] = _read_value(value)
            continue
        quoted = len(value) > 1 and value[-1] == _PAIRS.get(value[0])
        bare = quoted and not set(value[1:-1]) & set(OPENING)
        members[name] = value[1:-1] if bare else value
    return members


def _read_value(said: str) -> Any:
    """A value: JSON, a literal of Python, a text in quotes, or plain words."""
    if said in _LITERALS:
        return _LITERALS[said]
    try:
        return LOOSE.decode(said)
    except (ValueError, RecursionError):
        pass
    if said[0] in OPENING:
        inner = said[1:-1]
        if len(said) < 2 or said[-1] != _PAIRS[said[0]] or _MEMBER.search(inner):
            raise ValueError("a quote is not closed")
        return unescape(inner)
    if said[0] in "[{" and not _CHOICE.match(said):
        raise ValueError("broken JSON")
    return said


def unescape(text: str) -> str:
    """The text that a JSON string with these characters means."""

    def meant(escape: re.Match[str]) -> str:
        return chr(int(escape[1], 16)) if escape[1] else _MEANT.get(escape[2], escape[2])

    return _ESCAPE.sub(meant, text) if "\\" in text else text


def repair_json(text: str, form: type[BaseModel], cut: bool) -> Any:
    """The data of a broken JSON object."""
    # One character more than is allowed, so that a text which is too long can be told.
    text = text[: MAX_CHARACTERS + 1]
    end, depth, mid = _bracket_extent(text)
    if depth:
        # An object that is never closed ends with its fence; behind it stands other text.
        text = text[: text.find("```")] if "```" in text else text
        end, depth, mid = _bracket_extent(text)
    text = text[:end]
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"broken JSON of more than {MAX_CHARACTERS} characters")
    level = 0
    for bracket in _BRACKET.finditer(text):
        level = level + 1 if bracket[0] in "([{" else max(0, level - 1)
        if level > MAX_DEPTH:
            raise ValueError(f"broken JSON of more than {MAX_DEPTH} levels")
    if depth and not mid and not cut:
        # Nothing but the last brace may be missing.
        whole = text.rstrip()
        if text != whole or whole[-1] in ',"]}':
            try:
                return LOOSE.decode(whole.removesuffix(",") + "}")
            except (ValueError, RecursionError):
                pass
    # Quotes inside quotes can hide the closing brace, so a brace at the end may be it.
    if depth and (cut or not mid or not text.rstrip().endswith("}")):
        raise Unfinished("cut off")
    # Typographic quotes become plain ones where there are no others; comments go.
    if '"' not in text:
        text = re.sub("[“”„]", '"', text)
        if '"' not in text and "'" not in text:
            text = re.sub("[‘’]", "'", text)
    text = _COMMENT.sub(lambda part: part[1] or " ", text) if "/" in text else text
    text = text.strip()

    def labelled() -> dict[str, Any]:
        return read_labels(text[1:].removesuffix("}"), form, False, closed=not depth)

    readings: list[Callable[[], dict[str, Any]]] = [labelled, lambda: _repair_verified(text, form)]
    # A name of the form without quotes, where a member begins.
    if not re.search(rf"[\n{{,][ \t]*(?:{name_pattern(form)})[ \t]*[:=]", text, re.I):
        readings.reverse()
    try:
        return readings[0]()
    except Unfinished:
        # A ValueError too, but another reading must not fill in what was cut off.
        raise
    except ValueError:
        return readings[1]()


def _bracket_extent(text: str) -> tuple[int, int, bool]:
    """Where the first bracket of a text is closed, else how many are open, and if a string is."""
    depth = 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return token.end(), 0, False
        elif not token["closed"]:
            return len(text), depth, True
    return len(text), depth, False


class _CountedText(str):
    """A text that raises ValueError when it and its parts have been indexed too often."""

    lookups: list[int]

    def __getitem__(self, place: SupportsIndex | slice) -> str:
        self.lookups[0] -= 1
        if self.lookups[0] < 0:
            raise ValueError("too tangled to be repaired")
        part = str.__getitem__(self, place)
        return limit_lookups(part, self.lookups) if len(part) > 1 else part

    def __add__(self, other: str) -> str:
        return limit_lookups(str.__add__(self, other), self.lookups)


def limit_lookups(text: str, lookups: list[int]) -> str:
    """A text that raises ValueError after ``lookups[0]`` index operations."""
    counted = _CountedText(text)
    counted.lookups = lookups
    return counted


def _repair_verified(text: str, form: type[BaseModel]) -> dict[str, Any]:
    """The data that json_repair reads, if they have the content of the text."""
    from json_repair import loads

    try:
        data = LOOSE.decode(text)
    except (ValueError, RecursionError):
        try:
            # Plain JSON was tried already; here it would also accept NaN and repeated names.
            data = loads(limit_lookups(text, [MAX_LOOKUPS]), skip_json_loads=True)
        # Whatever the library raises becomes one error of ours where it enters (rule 4).
        except Exception as error:
            raise ValueError(f"not JSON: {type(error).__name__}") from error
        _check_nothing_lost(text, data, form)
    if not isinstance(data, dict):
        raise ValueError("no JSON object")
    return data


def _check_nothing_lost(text: str, data: Any, form: type[BaseModel]) -> None:
    """Check that the data have the content of the text."""
    written, meant = json.dumps(data, ensure_ascii=False), unescape(text)
    if abs(len(re.findall(r"\w", meant)) - len(re.findall(r"\w", unescape(written)))) > MAX_LOST:
        raise ValueError("broken JSON of which words would be lost")
    label = re.compile(rf"(?:{name_pattern(form)})[\"'”’]?\s*:", re.I)
    if len(label.findall(text)) != len(label.findall(written)):
        raise ValueError("broken JSON with a field that appears twice")
    strings = list(_strings(data))
    empty = sum(not string.strip() for string in strings)
    if len(strings) >= MAX_STRINGS or empty > len(_EMPTY.findall(text)):
        raise ValueError("broken JSON in which something is not said")
    plain, position = "".join(meant.split()), 0
    for string in filter(str.strip, strings):
        # As a value of its own, in the text without spaces.
        said = "".join(string.split())
        wanted = [f'"{said}"', f"'{said}'", f"“{said}”"]
        if len(said) <= MAX_BARE and any(map(str.isdigit, said)):
            wanted += [f":{said},", f":{said}}}"]
        places = [plain.find(quoted, start) for start in (position, 0) for quoted in wanted]
        position = next((start_of_value for start_of_value in places if start_of_value >= 0), -1)
        if position < 0:
            raise ValueError("broken JSON that could be read in more than one way")


def _strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _strings(part)
