"""Figures that a text states as results, such as "reduces errors by 42 %".

No experiment is done in a society of virtual scientists, so a figure that an abstract states as a
result was made up. A sentence is counted if it holds a figure of a result (a percentage, a factor,
a score, a p value, a count of cases) and a verb of a result, and neither announces it ("we expect",
"would", "to reduce") nor gives a source for it. These are rules over words: they miss what is
phrased otherwise, and ``python -m tests.metrics.claims.precision`` prints how often they err.
"""

from __future__ import annotations

import re

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
