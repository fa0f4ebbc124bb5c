"""The cleaning rules, which every record of every importer passes, and which are counted."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from virsci_society.agents.spelling import read_sections
from virsci_society.society.ecosystem.importers.fields import parse_text
from virsci_society.society.ecosystem.importers.records import (
    ImportReport,
    RawAuthor,
    RawRecord,
    SkippedRecord,
)

MARKUP = "text with markup, entities or misread letters, which were corrected"
COPYRIGHT = "abstract with a copyright line, which was removed"
NO_ABSTRACT = "placeholder in place of an abstract, removed"
NO_TEXT = "placeholder in place of a venue, keyword or affiliation, removed"
NO_AUTHOR = "placeholder in place of an author, removed"
NO_AUTHOR_ID = "placeholder in place of an author id, removed"
CUT_AUTHORS = "paper whose author list is cut off in the source"
MANY_AUTHORS = "paper with more authors than --max-authors, kept without authors"
NO_TITLE = "placeholder title"
FIRST_YEAR, LAST_YEAR = 1500, 2040
"""First and last year of publication that can be."""
NO_YEAR = f"year before {FIRST_YEAR} or after {LAST_YEAR}"

RULES = (
    *(MARKUP, COPYRIGHT, NO_ABSTRACT, NO_TEXT, NO_AUTHOR, NO_AUTHOR_ID, CUT_AUTHORS, MANY_AUTHORS),
    *(NO_TITLE, NO_YEAR),
)
"""All rules; the last two leave the record out."""

NULL_IDS = frozenset(("A9999999999", "A5317838346", "-1"))
"""Ids of nobody: OpenAlex's null author, that of deleted profiles, and a number in common use."""
_SECTIONS = read_sections(Path(__file__).with_name("placeholders.txt"))
NOTHING = frozenset(_SECTIONS["any field"]) | {""}
CUT_MARK, AUTHORLESS, TITLELESS, ABSTRACTLESS = (
    re.compile("|".join(_SECTIONS[name]))
    for name in ("further authors", "authors", "titles", "abstracts")
)
"""Placeholders by field; a mark for further authors is the last entry of a list of authors."""
CUT_TAIL = re.compile(
    r"(?:[\s,;&]*(?:[\s,;&([]+(?:et\.? al(?:ii)?|al|and others|y otros|u\. ?a|и др|\+ ?\d+ (?:more"
    r"|others)"
    r")|…|\.\.\.)|(?<=[\u4e00-\u9fff])\s*等)[\s.,;)\]]*$",
    re.I,
)
FOOTNOTES = re.compile(r"(?<=\w)[*∗†‡§¶¹²³]+(?:,[*∗†‡§¶¹²³]+)*$")
LONGEST_PLACEHOLDER = 120
"""Characters of the longest placeholder; longer texts are not looked at."""
EDGES = " \t.,:;!?…*_-–—/\\|()[]{}<>«»\"'`“”#"

RIGHTS = re.compile(r"(?:(?:©|\(c\)|copyright)[\s:]?){1,2}", re.I)
"""The beginning of a copyright line."""
YEAR = re.compile(r"(?:1[89]|20)\d\d")
HOLDER = re.compile(rf"\W*(?:[A-Z0-9©][^\s©]*|{'|'.join(_SECTIONS['rights'])})?\W*")
"""A word of a copyright line."""
GOES_ON = ("All", "Published", "Some", "This", "Reproduced", "Licensed", "Open")
LONGEST_LINE = 300
"""Characters of the longest copyright line."""


def _bare(text: str) -> str:
    return text.casefold().strip(EDGES)


def says_nothing(text: str, pattern: re.Pattern[str] | None = None) -> bool:
    """Whether a text is a placeholder, by the common list or the pattern of its field."""
    if len(text) > LONGEST_PLACEHOLDER:
        return False
    bare = _bare(text)
    return bare in NOTHING or bool(pattern and pattern.fullmatch(bare))


def _in_rights(word: str) -> bool:
    return len(word) < 60 and bool(HOLDER.fullmatch(word))


def without_rights(text: str) -> str:
    """Remove a copyright line at the beginning or the end of a text."""
    if first := RIGHTS.match(text):
        words, end = text[first.end() :].split(maxsplit=60), 0
        for number, word in enumerate(words, start=1):
            if not _in_rights(word):
                break
            if word.endswith(".") and len(word) > 2:
                end = number
                if words[number : number + 1] and words[number] not in GOES_ON:
                    break
        else:
            end = len(words)
        text = " ".join(words[end:]) if YEAR.search(" ".join(words[:end])) else text
    for last in reversed(list(RIGHTS.finditer(text, max(0, len(text) - LONGEST_LINE)))):
        line = text[last.end() :]
        if YEAR.search(line) and all(map(_in_rights, line.split())):
            text = text[: last.start()].rstrip()
    rights = len(text) < LONGEST_LINE and "rights reserved" in text.lower()
    return "" if rights and all(map(_in_rights, text.split())) else text


_BLOCKS = "|".join(_SECTIONS["blocks"])
_ATTRIBUTES = r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))*\s*/?"
TAG = re.compile(rf"</?((?:[A-Za-z][\w.-]*:)?[A-Za-z][\w.-]*){_ATTRIBUTES}>")
BLOCK = re.compile(rf"(?:\w+:)?(?:{_BLOCKS})", re.I)
LONE = re.compile(r"\w+:.+|p|br|hr|wbr|img|li|sub|sup|input|inf|italic|bold|tex|i|b|u|em", re.I)
DROPPED = re.compile(
    r"<!--.{0,5000}?-->"
    r"|<(?:\w{1,9}:)?(script|style|annotation|annotation-xml|tex-math)\b[^>]{0,200}>.{0,5000}?"
    r"</(?:\w{1,9}:)?\1\s*>|<(?:\w+:)?title\s*>\s*(?:abstract|summary)\s*</(?:\w+:)?title\s*>"
    r"|<!\[CDATA\[|\]\]>|<\?xml[^>]{0,200}\?>",
    re.I | re.S,
)
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
MATH = re.compile(
    r"\$\$?(?=[^$]*[\\^_{=])([^$]{1,300}?)\$\$?|\$([A-Za-z][^$\s]{0,10})\$"
    r"|\\\((.{1,300}?)\\\)|\\\[(.{1,300}?)\\\]"
)
ACCENT = re.compile(
    r"\{?\\(?:([`'^\"~=.])\s*|([cvuHkr])(?:\s+|(?=\{)))(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))\}?"
)
ACCENTS = dict(
    zip(
        "`'^\"~=.cvuHkr",
        "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0327\u030c\u0306\u030b\u0328\u030a",
        strict=True,
    )
)
LETTERS = {"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł"}
LETTERS |= {"L": "Ł", "aa": "å", "AA": "Å", "i": "i", "j": "j"}
LETTER = re.compile(r"\{?\\(ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j)(?![A-Za-z])(?:\{\}|\s)?\}?")
FORGOTTEN = re.compile(
    r"~?\\(?:cite\w*|ref|eqref|label|footnote|url|begin|end|vspace|hspace|footnotesize|input)\*?"
    r"(?:\[[^\]]{0,80}\])?\{[^{}]*\}"
)
WRAPPED = re.compile(
    r"\\(?:text\w*|emph|math\w*|underline|operatorname|mbox|hbox|sc|it|bf|tt|em|rm|uppercase"
    r"|textsuperscript"
    r"|ensuremath|href\{[^{}]*\})\*?\s*\{([^{}]*)\}"
)
SWITCH = re.compile(r"\{\\(?:em|it|bf|tt|sc|rm|sl|sf)\s+([^{}]*)\}")
ESCAPED = re.compile(r"\\([%&#_${}])")
SYMBOL = re.compile(r"\\([A-Za-z]+)\s?")
PROTECTED = re.compile(r"\{([A-Za-z][\w+/.'’ -]*)\}")
LONGEST_MARKUP = 100_000
"""Characters of the longest text whose markup is removed."""
KEPT = re.compile("|".join(_SECTIONS["mathematics"]), re.I)
"""Commands of mathematics whose name is kept."""


def _without_tags(text: str) -> str:
    text = DROPPED.sub(" ", text)
    # A name between angle brackets is a tag where it is a common one or is closed again.
    names = {tag[1] for tag in TAG.finditer(text)}
    markup = {name for name in names if LONE.fullmatch(name) or f"</{name}" in text}

    def replaced(tag: re.Match[str]) -> str:
        if tag[1] not in markup:
            return tag[0]
        return " " if BLOCK.fullmatch(tag[1]) else ""

    return TAG.sub(replaced, text) if markup else text


def _of_math(match: re.Match[str]) -> str:
    inner = next(part for part in match.groups() if part is not None)
    inner = re.sub(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", FORGOTTEN.sub("", inner))
    inner = WRAPPED.sub(r"\1", inner)
    inner = SYMBOL.sub(lambda one: f" {one[1]} " if KEPT.fullmatch(one[1]) else " ", inner)
    return re.sub(r"[{}\\]", "", inner).strip()


MISREAD = re.compile("Ã[ -¿ŒœŠšŸŽžƒˆ˜–-™]|â€|ï¬")
MISREAD_RUN = re.compile("[ÂÃÄÅ][ -¿ŒœŠšŸŽžƒˆ˜–-™]|[âï][€¬„ˆ][ -¿ŒœŠšŸŽžƒˆ˜–-™]")
"""Signs of UTF-8 decoded as Windows-1252, and the characters that are then decoded again."""
UNDECODED = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\[nrt](?![A-Za-z])")
"""Escapes of JSON that was encoded twice."""


def _read_anew(text: str) -> str:
    def reread(run: re.Match[str]) -> str:
        try:
            return run[0].encode("cp1252").decode("utf-8")
        except UnicodeError:
            return run[0]

    return MISREAD_RUN.sub(reread, text) if MISREAD.search(text) else text


def _without_latex(text: str) -> str:
    # Pairs of surrogates are decoded together; lone ones and control characters are replaced.
    text = parse_text(UNDECODED.sub(lambda one: json.loads(f'"{one[0]}"'), text), "text")

    def accented(found: re.Match[str]) -> str:
        accent = ACCENTS[found[1] or found[2]]
        return unicodedata.normalize("NFC", (found[3] or found[4]) + accent)

    text = ACCENT.sub(accented, text)
    text = LETTER.sub(lambda one: LETTERS[one[1]], text)
    text = MATH.sub(_of_math, FORGOTTEN.sub("", text))
    for _ in range(4):  # of nested commands
        text = SWITCH.sub(r"\1", WRAPPED.sub(r"\1", text))
    return PROTECTED.sub(r"\1", ESCAPED.sub(r"\1", text))


def plain(text: str) -> str:
    """Remove JATS, MathML, HTML and LaTeX markup from a text, and decode entities."""
    if len(text) > LONGEST_MARKUP:
        return text
    made = _read_anew(text)
    # Repeated: exports of exports contain escaped tags and entities.
    for _ in range(3):
        decoded = ENTITY.sub(lambda one: html.unescape(one[0]), made)
        decoded = _without_tags(decoded) if "<" in decoded else decoded
        if decoded == made:
            break
        made = decoded
    if "\\" in made or "$" in made or "{" in made:
        made = _without_latex(made)
    return text if made == text else " ".join(made.split())


def has_signs_of_markup(text: str) -> bool:
    """Whether a text contains the start of markup."""
    marks = "<" in text or "&" in text or "\\" in text or "$" in text or "{" in text
    return marks or "Ã" in text or "â€" in text


@lru_cache(65_536)
def _short(text: str) -> tuple[str, str]:
    """A venue, keyword or affiliation after the rules, and the rule that changed it."""
    if says_nothing(text):
        return "", NO_TEXT
    made = plain(text) if has_signs_of_markup(text) else text
    return made, "" if made == text else MARKUP


@lru_cache(65_536)
def _person(written: str) -> tuple[str, str]:
    """The cleaned name, empty if it is no name, and the rule that changed it."""
    name = plain(written) if has_signs_of_markup(written) else written
    name = FOOTNOTES.sub("", name)
    if not name:
        return "", ""
    cut = name in ("...", "…") or bool(CUT_MARK.fullmatch(_bare(name)))
    left = "" if cut else CUT_TAIL.sub("", name)
    if left != name:
        return left, CUT_AUTHORS
    if says_nothing(name, AUTHORLESS) or name == "nan nan":
        return "", NO_AUTHOR
    return name, "" if name == written else MARKUP


class Cleaning:
    """The rules, applied to one record after another and counted in a report."""

    def __init__(self, report: ImportReport, max_authors: int) -> None:
        self.report, self.max_authors = report, max_authors
        self._applied: list[tuple[str, str]] = []

    def clean(self, record: RawRecord) -> RawRecord:
        """Correct a record; SkippedRecord where a rule leaves it out. Nothing is counted yet."""
        self._applied.clear()
        if not FIRST_YEAR <= record.year <= LAST_YEAR:
            raise SkippedRecord(NO_YEAR)
        title = self._plain(record.title)
        if says_nothing(title, TITLELESS):
            raise SkippedRecord(NO_TITLE if record.title else "no title")
        keywords = record.keywords
        if keywords:
            keywords = tuple(filter(None, map(self._text, keywords)))
        abstract = self._abstract(record.abstract) if record.abstract else ""
        venue = self._text(record.venue) if record.venue else ""
        authors = self._authors(record.authors)
        if not self._applied:
            return record
        return replace(
            record, title=title, abstract=abstract, venue=venue, keywords=keywords, authors=authors
        )

    def count(self, place: Callable[[], str]) -> None:
        """Count what the latest ``clean`` has done, with the place of its record for examples."""
        report = self.report
        for rule, example in self._applied:
            report.changed[rule] = report.changed.get(rule, 0) + 1
            if rule not in report.examples:
                report.examples[rule] = f"{place()}: {example:.90}"

    def _note(self, rule: str, example: str) -> None:
        self._applied.append((rule, example))

    def _plain(self, text: str) -> str:
        if not has_signs_of_markup(text) or (made := plain(text)) == text:
            return text
        self._note(MARKUP, text)
        return made

    def _text(self, text: str) -> str:
        # Long ones are not remembered.
        made, rule = (_short if len(text) < LONGEST_LINE else _short.__wrapped__)(text)
        if rule:
            self._note(rule, text)
        return made

    def _abstract(self, text: str) -> str:
        made = self._plain(text)
        if "©" in made or "opyright" in made or "(c)" in made or "(C)" in made or "ights" in made:
            left = without_rights(made)
            if left != made:
                self._note(COPYRIGHT, text)
                return left
        if says_nothing(made, ABSTRACTLESS):
            self._note(NO_ABSTRACT, text)
            return ""
        return made

    def _authors(self, authors: tuple[RawAuthor, ...]) -> tuple[RawAuthor, ...]:
        kept, cut = [], False
        for author in authors:
            id_, written, place = author
            name, rule = _person(written) if len(written) < LONGEST_LINE else (written, "")
            if id_ and (id_ in NULL_IDS or says_nothing(id_)):
                self._note(NO_AUTHOR_ID, f"{id_} {written}")
                id_ = ""
            if rule == CUT_AUTHORS:
                cut = True
                if not name:
                    continue
            elif rule:
                self._note(rule, written)
                # Of somebody nameless an id is kept; "Anonymous" has one for all who are.
                if rule == NO_AUTHOR and (not id_ or AUTHORLESS.fullmatch(_bare(written))):
                    continue
            place = self._text(place) if place else place
            kept.append(RawAuthor(id_, name, place))
        if cut:
            self._note(CUT_AUTHORS, f"{len(kept)} authors are listed")
        if len(kept) > self.max_authors:
            self._note(MANY_AUTHORS, f"{len(kept):,} authors")
            return ()
        return tuple(kept)
