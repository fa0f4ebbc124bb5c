"""Terms: what a paper is about: its keywords, or terms of its own text where it has none.

Terms of a text are those with the highest TF-IDF weight, told by an LSA that was fitted on the
kept past papers. What others call their papers by is preferred: it reads better than any other
term of the text.
"""

from __future__ import annotations

from collections.abc import Container

from society.ecosystem.records import RawRecord
from society.literature.embedding import Lsa, paper_text

TERMS_PER_PAPER = 4


class Terms:
    """Terms of records.

    Args:
        lsa: weighs the terms of a text; fitted on past papers only.
        used: keywords of known papers, in lower case.
    """

    def __init__(self, lsa: Lsa, used: Container[str] = frozenset()) -> None:
        self._lsa, self._used = lsa, used

    def of(self, record: RawRecord) -> tuple[str, ...]:
        """In lower case, the best first, each once."""
        if record.keywords:
            return tuple(dict.fromkeys(keyword.lower() for keyword in record.keywords))
        text = paper_text(record.title, record.abstract)
        return self._lsa.keywords(text, TERMS_PER_PAPER, self._used)
