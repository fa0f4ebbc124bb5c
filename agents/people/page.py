"""The page of an inbox, which shows open questions first, then answered ones, with their texts.

It is one self-contained file without scripts or requests. Every text on it was written by others
and is escaped; should an escape ever fail, the page itself forbids whatever is not its own style.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import jinja2


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """One question as the page shows it.

    Attributes:
        stem: name of its file without the ending.
        state: open: the run waits for the answer; answered; idle: no answer, and no run that waits.
        text: the file of the question; empty: only a link is shown.
        answer: the file of the answer; empty: none, or only a link is shown.
        answer_name: name of the answer's file; empty: none.
        refusal: why a file that is there is not taken for the answer; empty: there is no such file.
    """

    stem: str
    state: Literal["open", "answered", "idle"]
    text: str = ""
    answer: str = ""
    answer_name: str = ""
    refusal: str = ""


def render_index(questions: Sequence[ShownQuestion]) -> str:
    """The page as HTML text.

    Args:
        questions: in the order in which they are shown, within those of one state.
    """
    groups = {
        state: [one for one in questions if one.state == state]
        for state in ("open", "idle", "answered")
    }
    # The oldest open question first: it is the one that has waited longest.
    groups["open"].reverse()
    groups["idle"].reverse()
    return page_template("virsci_society.agents.people", "index.html").render(**groups)


@cache
def page_template(package: str, name: str) -> jinja2.Template:
    """A template of a page beside a package's modules; what is put into it is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["grouped"] = "{:,}".format
    return environment.get_template(name)
