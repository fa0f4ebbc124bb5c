"""References that a text names, and which of them exist in a run.

Found are keys of papers in brackets (``[P17]``), DOIs, arXiv numbers, and an author with a year
("Chen et al. (2024)"). A scientist of a society sees papers by their keys and scientists under
their masked names, so a reference in another form cannot come from what it was shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_KEY = re.compile(r"\[(P\d{1,9})\]")
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>()]+[^\s\"<>().,;]")
_ARXIV = re.compile(r"\barxiv[:\s]\s?(\d{4}\.\d{4,5})", re.IGNORECASE)
_AUTHOR = re.compile(
    r"\b([A-Z][\w’'-]+)(?: et al\.?| (?:and|&) [A-Z][\w’'-]+)?,? \(?((?:19|20)\d\d)[a-z]?\)"
)


class NamedReference(NamedTuple):
    """A reference as a text names it, and what it may be known by (key, DOI, number or author)."""

    text: str
    known_by: str


def named_references(text: str) -> list[NamedReference]:
    """The references that a text names, each once, by kind and then by place."""
    found = [NamedReference(one[0], one[1]) for one in _KEY.finditer(text)]
    found += [NamedReference(one[0], one[0].casefold()) for one in _DOI.finditer(text)]
    found += [NamedReference(one[0], one[1]) for one in _ARXIV.finditer(text)]
    found += [NamedReference(one[0], one[1]) for one in _AUTHOR.finditer(text)]
    return list(dict.fromkeys(found))


def unknown_references(text: str, is_known: Callable[[str], bool]) -> list[str]:
    """The references named by a text that do not exist.

    Args:
        text: title and abstract.
        is_known: whether there is a paper or an author of this key, DOI (in lower case), arXiv
            number or name.
    """
    return [one.text for one in named_references(text) if not is_known(one.known_by)]
