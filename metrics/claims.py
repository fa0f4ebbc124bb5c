"""Claims of generated texts that nothing stands behind: no experiment is done in a society.

The rules are over words; ``python -m tests.metrics.claims.precision`` prints how often they err.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pandas as pd

from virsci_society.metrics.novelty.training_leaks import longest_shared, tokenise
from virsci_society.society.results.dataframes import typed_table
from virsci_society.society.results.run import Run

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
    """The references named by a text that do not exist."""
    return [one.text for one in named_references(text) if not is_known(one.known_by)]


_NUMBER = r"\d+(?:[.,]\d+)*"
_WORDS = r"(?:two|three|four|five|six|seven|eight|nine|ten|hundred)"
_SCORE = (
    r"(?:accurac(?:y|ies)|precision|recall|sensitivity|specificity|f1|auc|auroc|bleu|rouge|kappa|"
    r"correlations?|r2|r²|rmse|mae|errors?|scores?|coefficient)"
)
_FIGURES = re.compile(
    rf"{_NUMBER}\s?(?:%|per\s?cent\b|percentage points?\b|(?:\w+ )?points\b)"
    rf"|\b{_NUMBER}\s?(?:x|×|times|fold)(?![a-z])|\b{_NUMBER}-fold\b"
    rf"|\b{_WORDS}[- ]?fold\b|\b(?:twice|thrice)\b|\b{_WORDS} times\b"
    r"|\b(?:doubles|halves)\b|\bin half\b"
    rf"|\b{_SCORE}\b[^.,;]{{0,30}}?(?:of|to|=|at|is|was|with)\s{_NUMBER}"
    rf"|\bfrom {_NUMBER}(?:\s?%)? to {_NUMBER}\b|\bfactor of {_NUMBER}"
    rf"|\b{_NUMBER} (?:million |billion )?(?:euros?|dollars?|days?|hours?|minutes?|seconds?)\b"
    rf"|\b[pr]\s?[<>=]\s?{_NUMBER}"
    rf"|\b{_NUMBER} (?:out )?of (?:the )?{_NUMBER}\b",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"(?<!\bto )\b(?:reduc(?:es?|ed)|improv(?:es?|ed)|increas(?:es?|ed)|decreas(?:es?|ed)"
    r"|outperform(?:s|ed)?|achiev(?:es?|ed)|attain(?:s|ed)?|reach(?:es|ed)?|yield(?:s|ed)?"
    r"|gain(?:s|ed)?|cuts?|lower(?:s|ed)|rais(?:es?|ed)|exceed(?:s|ed)?|surpass(?:es|ed)?"
    r"|show(?:s|ed|n)?|demonstrat(?:es?|ed)|finds?|found|observ(?:es?|ed)|obtain(?:s|ed)?|record(?:s|ed)?"
    r"|measured|correlat(?:es?|ed)|explain(?:s|ed)|account(?:s|ed) for|doubl(?:es?|ed)"
    r"|halv(?:es?|ed)|beats?|beat|rises?|rose|falls?|fell|drop(?:s|ped)?|grows?|grew|scor(?:es?|ed)"
    r"|preferred|complet(?:es?|ed)|separat(?:es?|ed)|shrinks?|shrank|shrunk|predicted|agreed?|agrees|detect(?:s|ed)?|recover(?:s|ed)?|sav(?:es?|ed)|shorten(?:s|ed)?"
    r"|accelerat(?:es?|ed)|delivers?|delivered|identif(?:ies|ied)|perform(?:s|ed)?|was|were)\b",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"\b(?:expect(?:s|ed)?|anticipat(?:es?|ed)|would|will|shall|should|could|may|might|plan(?:s|ned)?"
    r"|aim(?:s|ed)?|intend(?:s|ed)?|hop(?:es?|ed)|hypothesi[sz](?:es?|ed)|hypothesis|predicts?"
    r"|assum(?:es?|ed|ing)|targets?|goals?|propos(?:es?|ed)|if|whether|unless|likely|suppos(?:es?|ed)"
    r"|conjectur(?:es?|ed)|until|criterion|threshold"
    r"|to (?:reduce|improve|increase|decrease|achieve|attain|reach|raise"
    r"|lower|cut|halve|double|gain|save))\b",
    re.IGNORECASE,
)
_SOURCED = re.compile(
    r"\[P?\d+\]|\bet al\b|\((?:19|20)\d\d\)|, (?:19|20)\d\d\)|\bprior work\b", re.I
)
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9“\"'(])")


def sentences(text: str) -> list[str]:
    """The sentences of a text, by their full stops."""
    return [one.strip() for one in _END.split(text) if one.strip()]


def is_result_figure(sentence: str) -> bool:
    """Whether a sentence states a figure as a result of the text's own work."""
    return (
        _FIGURES.search(sentence) is not None
        and _RESULT.search(sentence) is not None
        and _ANNOUNCED.search(sentence) is None
        and _SOURCED.search(sentence) is None
    )


def result_figures(text: str) -> list[str]:
    """The sentences of a text that state a figure as a result, in their order."""
    return [one for one in sentences(text) if is_result_figure(one)]


COLUMNS = {
    "paper": "string",
    "figures": "Int64",
    "figures_text": "string",
    "references": "Int64",
    "unknown_references": "Int64",
    "unknown_text": "string",
    "copied": "Int64",
    "copied_from": "string",
    "copied_text": "string",
}
_BETWEEN = " | "
_PAPER_NUMBER = re.compile(r"P(\d{1,9})")


def run_claims(run: Run) -> pd.DataFrame:
    """Figures, references and copied passages of every paper of a run (this project)."""
    if "claims" in run.metric_names():
        return run.metric("claims")
    papers = run.table("papers")
    cited = run.table("citations").groupby("citing")["cited"].agg(list).to_dict()
    texts = papers[["paper", "title", "abstract"]].fillna("").values
    own = {str(paper): f"{title} {abstract}" for paper, title, abstract in texts}
    past = None if run.databases is None else run.databases.past
    row_of = {str(id_): row for row, id_ in enumerate(() if past is None else past.ids)}
    people = run.table("scientists")["scientist"].dropna().astype(str)
    known = {id_.casefold() for id_ in (*row_of, *own)} | set(people)
    # Pages number the papers of the past and then the society's own, in order of publication.
    keys = len(row_of) + int(papers["published"].notna().sum())

    def is_known(name: str) -> bool:
        key = _PAPER_NUMBER.fullmatch(name)
        return 1 <= int(key[1]) <= keys if key else name in known

    @cache
    def words_of(id_: str) -> list[str] | None:
        """The words of a paper whose text is at hand."""
        if id_ in own:
            return tokenise(own[id_])
        at_hand = past is not None and past.text is not None and id_ in row_of
        return tokenise(past.text(row_of[id_])) if at_hand else None

    rows = []
    for paper, title, abstract in texts:
        text, figures = f"{title}\n{abstract}", result_figures(abstract)
        named = len(named_references(text))
        # Missing where the literature is not at hand.
        unknown = None if past is None and named else unknown_references(text, is_known)
        # Papers of a wordless society have nothing in which a passage could be copied.
        sources = sorted(map(str, cited.get(paper, []))) if abstract else []
        others = {id_: words for id_ in sources if (words := words_of(id_)) is not None}
        copied = longest_shared(tokenise(text), others) if others else (None, None, None)
        rows.append(
            (
                paper,
                len(figures),
                _BETWEEN.join(figures),
                named,
                None if unknown is None else len(unknown),
                None if unknown is None else _BETWEEN.join(unknown),
                *copied,
            )
        )
    return typed_table(rows, COLUMNS)
