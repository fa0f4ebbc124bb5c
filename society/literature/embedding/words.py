"""The words of a text as the LSA reads them, without a library for it."""

from __future__ import annotations

import re
from itertools import pairwise

WORD = re.compile(r"[^\W_](?:[^\W_]|-)*[^\W_]")

# Small on purpose: words that carry no subject in any field, so that no library is needed
# to read a text the way the fit read it.
_FUNCTION_WORDS = """
about above across after again against all almost also although always among an and another
any are around as at based be became because been before being below between both but by can
could did do does doing done down due during each either et al etc even every few first for
from further given had has have having he hence her here him his how however if in into is it
its itself just less like made make many may me might more most much must my near need neither
new next no nor not now of off often on once one only onto or other our ours out over own per
quite rather same second several shall she should show shown since so some still such take
than that the their them then there therefore these they this those three through thus to too
toward towards two under until up upon us use used uses using very via was we well were what
when where whether which while who whom whose why will with within without would yet you your
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


def words_and_pairs(text: str) -> list[str]:
    """The terms of a text: its words without stop words, then the pairs of adjacent ones."""
    words = [word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]
    return words + [f"{left} {right}" for left, right in pairwise(words)]
