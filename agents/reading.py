"""Reading: the words of a model as the form that was asked for.

A ladder, and the first rung that holds is told: the whole text is JSON (strict); a block in it
is (found); a broken block can be mended without guessing, or the fields stand in lines
(repaired). Whoever asked climbs on: it asks again, and then takes the form's default.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from agents.blocks import REACH, STRICT, Block, Unfinished, aloud, bare, blocks
from agents.errors import ReplyError
from agents.fitting import fit
from agents.labels import lines, opening
from agents.mending import mend

if TYPE_CHECKING:
    from agents.forms import Form

RUNGS = ("strict", "found", "repaired", "re-asked", "default")
"""How words were read, from the best; the last two are given by whoever asked."""

_HALF = re.compile("[\ud800-\udfff]")
_HALF_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")
_TROUBLE = (ValueError, RecursionError, OverflowError)
_LONGEST = 1_000_000
"""Characters of a reply that is read as a whole."""
_SAID = 300
"""Characters of what is told of an unreadable reply."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says, and the rung on which it was read."""

    words: Form
    rung: str


def read_reply(form: type[Form], text: str, *, cut: bool = False) -> Reading:
    """Read a reply of any length and content; nothing in it is run.

    Args:
        form: what the reply should be.
        text: the reply.
        cut: it is known to end because a limit of length was reached; then only what is
            closed is read.

    Raises:
        ReplyError: it does not fill the form without guessing; the message says why.
    """
    text = bare(text)
    long = len(text) > _LONGEST
    text = text[-REACH:] if long else text
    if not text.isascii() and _HALF.search(text):
        text = _whole(text)
    try:
        if long:
            raise ValueError(f"longer than {_LONGEST} characters")
        return Reading(_fit(form, STRICT.decode(text), text), "strict")
    except _TROUBLE as error:
        return _Search(form, aloud(text), cut, error).reading()


def _fit(form: type[Form], data: Any, text: str) -> Form:
    escaped = "\\u" in text and _HALF_ESCAPED.search(text)
    return fit(form, _whole(data) if escaped else data)


def _whole(data: Any) -> Any:
    """The data with halves of characters joined, or replaced: no file can hold them."""
    if isinstance(data, str):
        return data.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(data, dict):
        return {_whole(name): _whole(part) for name, part in data.items()}
    return [_whole(part) for part in data] if isinstance(data, list) else data


class _Search:
    """The reading of one text that is no JSON as a whole, and what stood in the way."""

    def __init__(self, form: type[Form], text: str, cut: bool, trouble: Exception) -> None:
        self._form, self._text, self._cut, self._trouble = form, text, cut, trouble
        self._blocks = blocks(text)

    def reading(self) -> Reading:
        """The last block that fills the form, a mended one, or lines.

        Raises:
            ReplyError: there is none of them, or the text was cut off in the middle of one.
        """
        try:
            found = self._found()
            words = self._mended(found[1].end if found else 0)
            if words is None and found is not None:
                return Reading(found[0], "found")
            words = words or self._listed()
        except Unfinished as error:
            raise self._unread(error) from None
        if words is None:
            raise self._unread(self._trouble)
        return Reading(words, "repaired")

    def _found(self) -> tuple[Form, Block] | None:
        for block in self._blocks:
            words = self._try(block.data)
            if words is not None:
                return words, block
        return None

    def _mended(self, behind: int) -> Form | None:
        """The last or else the first broken block behind a place."""
        for start in self._openings(behind):
            try:
                data = mend(self._text[start:], self._form, self._cut)
            except Unfinished:
                raise
            except _TROUBLE as error:
                self._note(error)
                continue
            words = self._try(data)
            if words is not None:
                return words
        return None

    def _openings(self, behind: int) -> Iterator[int]:
        """Braces before a name of the form, in no block that is JSON; else any brace."""
        found = opening(self._form).finditer(self._text, behind)
        named = [match.start() for match in found if not self._is_json(match.start())]
        if named:
            yield named[-1]
            if named[0] != named[-1]:
                yield named[0]
        elif not behind:
            brace = self._text.find("{", max(0, self._text.rfind("```json")))
            if brace >= 0 and not self._is_json(brace):
                yield brace

    def _is_json(self, place: int) -> bool:
        return any(block.start <= place < block.end for block in self._blocks)

    def _listed(self) -> Form | None:
        """What stands in lines, where no brace stands before a name of the form."""
        if self._cut or opening(self._form).search(self._text):
            return None
        try:
            return self._try(lines(self._text, self._form))
        except Unfinished:
            raise
        except _TROUBLE as error:
            self._note(error)
            return None

    def _try(self, data: Any) -> Form | None:
        try:
            return _fit(self._form, data, self._text)
        except _TROUBLE as error:
            self._note(error)
            return None

    def _note(self, error: Exception) -> None:
        """Keep what says most: which field was wrong, or else what was noticed first."""
        if isinstance(error, ValidationError):
            self._trouble = error

    def _unread(self, error: Exception) -> ReplyError:
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False)[0]
            said = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        elif isinstance(error, json.JSONDecodeError | RecursionError):
            said = f"not JSON: {error}"
        else:
            said = str(error)
        plain = "".join(mark if mark.isprintable() else " " for mark in said[:_SAID])
        return ReplyError(f"{self._form.__name__}: {plain}")
