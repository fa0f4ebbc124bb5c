"""What stands on the pages of each system, under which heading: a table after the originals.

A row names a page by its form and number, then what stands under each heading, in the order of the
page. Of a reply its form is named, with ``why`` where its reasons are shown too; ``abstracts`` and
``titles`` are papers. ``@`` is what the page tells of the place in the work, ``+`` are some of its
words, ``!`` words that it does not hold.
"""

import re
from typing import NamedTuple

import pytest

from tests.protocols.systems.conftest import make

KEPT = {"Choice", "Ballot"}
"""Forms whose replies are left as they are."""
MARK = re.compile(r"zq([A-Za-z]+?)(why)?x(\d+t\d+s\d+)z")


def planted(schema, mark, name=""):
    """A value for a part of a form whose texts bear a mark; None: the value of the rule stays."""
    if "enum" in schema or name in ("References", "Uses"):
        return None
    kind = schema.get("type")
    if kind == "string":
        return f"{mark} of a graph"
    if kind == "array":
        one = planted(schema["items"], mark)
        return None if one is None else [one] * schema.get("minItems", 1)
    if kind == "object":
        parts = {key: planted(part, mark) for key, part in schema.get("properties", {}).items()}
        return None if None in parts.values() or not parts else parts
    return None


DECIDED = {"Done": False, "Approve": False, "Decision": "search again", "Score": 4}
"""Nothing is finished."""


def plant(call, request):
    """Every text of every reply bears the name of its form and where in the work it was given."""
    form = request.form.__name__
    if form in KEPT:
        return {"Selected Action": "Action 1"} if form == "Choice" else None
    parts = request.form.schema_for(request.slots)["properties"]
    changed = {}
    for name, part in parts.items():
        why = "why" if name in ("Reason", "Rationale") else ""
        mark = f"zq{form}{why}x{call.visit}t{call.turn}s{call.seat}z"
        value = planted(part, mark, name)
        if value is not None:
            changed[name] = value
        elif name in DECIDED and DECIDED[name] in part.get("enum", [DECIDED[name]]):
            changed[name] = DECIDED[name]
    return changed


class Page(NamedTuple):
    """One row: which page, what stands on it, what it tells of the place, and some of its words."""

    form: str
    number: int
    sections: list[str]
    place: str
    words: list[str]
    never: list[str]


def rows_of(text):
    """The rows of a table; a line that begins with a bar belongs to the one before."""
    for name, part in PARTS.items():
        text = re.sub(rf"\${name}\b", part, text)
    for row in re.sub(r"\n *\|", " |", text.strip()).splitlines():
        page, *parts = row.strip().split(" | ")
        form, number = page.split()
        marked = {mark: [one[2:] for one in parts if one[:2] == f"{mark} "] for mark in "@+!"}
        sections = [one for one in parts if one[:2] not in ("@ ", "+ ", "! ")]
        yield Page(form, int(number), sections, "".join(marked["@"]), marked["+"], marked["!"])


def sections_of(page):
    """What stands under each heading of a page, named as in the table."""
    found, heading, at = {}, "", {}
    for line in page.split("\n"):
        if not line.startswith(">"):
            if line.endswith(":") and not re.fullmatch(r"Scientist\d+( \(you\))?:", line):
                heading = re.sub(r"Scientist\d+", "NAME", line).replace(" (you)", "")
            continue
        told = found.setdefault(heading, {})
        if line == "> Protein folding for graph drawing":
            told["topic"] = 1
        if paper := re.match(r"> \[P\d+\] .*?\(\d{4}.*?\)\.(.*)", line):
            told["abstracts" if paper[1] else "titles"] = 1
        for form, why, place in MARK.findall(line):
            replies = at.setdefault((heading, form), {})
            replies[place] = replies.get(place) or bool(why)
            shown = len(replies)
            told[form] = f"{form}{' why' if any(replies.values()) else ''}" + (
                f" x{shown}" if shown > 1 else ""
            )
    named = {
        heading: [name if value == 1 else value for name, value in told.items()]
        for heading, told in found.items()
    }
    return {heading: told for heading, told in named.items() if told}


def read(lived, row):
    """A page as a row of the table; of its words those that the row looks for."""
    asked = [request for _, request, _ in lived.asked if request.form.__name__ == row.form]
    page = asked[row.number].messages[1].content
    place = re.search(r"^Stage: .*?\.(?= |$)", page, re.MULTILINE)
    return row._replace(
        sections=[f"{heading} {', '.join(told)}" for heading, told in sections_of(page).items()],
        place=place[0] if place else "",
        words=[one for one in row.words if one in page],
        never=[one for one in row.never if one not in page],
    )


PARTS = {
    "TOPIC": "The topic: topic",
    "CORE": "The core paper, from which the plan starts: abstracts | Papers near to it: titles",
    "NEAR": "Published papers near to it: abstracts",
    "OF_USE": "Published papers that may be of use: abstracts",
    "RESTS": "The papers that it rests on: abstracts",
    "FOUND": "The papers that were found: abstracts",
    "REFINED": "The idea, by NAME: Idea | What made its author think of it: Idea why "
    "| It builds on: titles",
    "MERGED": "The idea, by NAME: MergedIdea | What made its author think of it: MergedIdea why",
    "SEARCHES": "1. You searched, because: NoveltyVerdict why "
    "| Papers that search 1 found: abstracts",
}
"""Sections that stand on many pages."""
PAGES = {
    # Reviewers see what they judge, what it rests on, and the papers; rationales are handed on.
    "research_agent": """
    StepReview 0 | $TOPIC | $CORE | The problem that you review: PlanStep why
    StepReview -1 | $TOPIC | $CORE | The problem, which stands: PlanStep why
      | The method, which stands: PlanStep why | The experiment that you review: PlanStep why
      | + against the steps before it | + from 1 (lowest) to 5 (highest)
    PlanStep 3 | $TOPIC | The problem: PlanStep why | The version at hand: PlanStep why
      | Remarks of reviewers, by criterion: StepReview x2
      | The core paper, from which the plan starts: abstracts | Papers near to it: abstracts
      | @ Stage: writing of the method, round 2 of 2. | + answers the problem below
    """,
    # Minutes under their own heading, an agenda, and a merging meeting with the critic.
    "virtual_lab": """
    Contribution 0 | $TOPIC | $OF_USE
      | @ Stage: team meeting, round 1 of 2; you are the first of 4 speakers: nobody has spoken yet.
      | + The meeting has to answer these questions: | + Open it
    Contribution -1 | $TOPIC | Said in this meeting so far: Contribution x3 | $OF_USE
      | @ Stage: team meeting, round 1 of 2; you are the last of 4 speakers.
      | + You are the critic | + pass | + Rules:
    MergedIdea 0 | $TOPIC | The minutes of the meeting: Contribution x4 | $OF_USE
      | @ Stage: team meeting, round 2 of 2. | + You close the meeting | + (critic)
      | + The meeting has to answer these questions: | ! What has been found in the literature
    MergedIdea -1 | $TOPIC | Meeting 1 recommends: MergedIdea
      | What led to it: MergedIdea why x2 | Meeting 2 recommends: MergedIdea
      | Published papers near to them: abstracts
      | @ Stage: merging of the meetings, round 1 of 2. | + Rules:
    RefinedIdea 0 | $TOPIC | $MERGED | It builds on: titles | Remarks on it: HypothesisReview
      | $NEAR | @ Stage: merging of the meetings, round 2 of 2. | ! call it done
    """,
    # Everybody reads the whole conversation, and the analyst answers the critic.
    "hypogen": """
    SearchQueries 0 | $TOPIC | @ Stage: formation of a hypothesis, round 1 of 2. | ! remarks
    ReadingNotes 0 | $TOPIC | The conversation so far: SearchQueries why | $FOUND
      | @ Stage: formation of a hypothesis, round 1 of 2. | + You are the engineer
    HypothesisReview 0 | $TOPIC
      | The conversation so far: SearchQueries why, ReadingNotes, Idea why
      | @ Stage: formation of a hypothesis, round 1 of 2.
      | + tell the analyst what to look at again | + The analyst is Scientist
    SearchQueries 1 | $TOPIC
      | The conversation so far: SearchQueries why, ReadingNotes, Idea why, HypothesisReview
      | @ Stage: formation of a hypothesis, round 2 of 2. | + answer its remarks
      | ! What earlier searches brought up
    Idea 1 | $TOPIC
      | The conversation so far: SearchQueries why x2, ReadingNotes x2, Idea why, HypothesisReview
      | $FOUND | @ Stage: formation of a hypothesis, round 2 of 2.
      | + meet what the critic and the analyst have said
    """,
    # Insights tied to the reader, shown to all authors; strengths, weaknesses, a score; a chair.
    "research_town": """
    ReadingNotes 0 | $TOPIC | The papers: abstracts
      | @ Stage: reading and writing, round 1 of 3. | + your own work | + Research interests:
      | ! who have not seen them | ! Report nothing
    Idea 2 | $TOPIC | Notes from reading, by everybody of the team: ReadingNotes x3 | $OF_USE
      | @ Stage: reading and writing, round 2 of 3.
    PaperReview 0 | $TOPIC | $RESTS | The work that you review: MergedIdea | + - "Strengths":
      | + - "Weaknesses": | + - "Score": 1 to 10 | ! Scores
    ChairReview 0 | The work: MergedIdea | The reviews: PaperReview x2 | + You chair
      | + - "Decision": "accept" or "reject"
    """,
    # Papers are reviewed beside what they cite; no editor and no journal.
    "cycle_researcher": """
    ReadingNotes 0 | $TOPIC | The papers: abstracts | @ Stage: reading and ideas.
      | ! for the others
    PaperReview -1 | $TOPIC | $RESTS | The work that you review: Draft
      | + Soundness, Presentation, Contribution from 1 (poor) to 4 | ! editor | ! journal
    """,
    # The first search is worded by the model, and a verdict rests on all searches.
    "ai_scientist": """
    NoveltyVerdict 0 | $TOPIC | The idea, by NAME: RefinedIdea
      | @ Stage: check of novelty, round 1 of 3. | + Nothing has been searched for yet
    NoveltyVerdict 2 | $TOPIC | The idea, by NAME: RefinedIdea | $SEARCHES
      | 2. You searched, because: NoveltyVerdict why | Papers that search 2 found: abstracts
      | @ Stage: check of novelty, round 3 of 3. | + decide now
    RefinedIdea 0 | $TOPIC | $REFINED | $NEAR | @ Stage: reflection, round 1 of 2.
      | + keep to the spirit of the idea | + call it done | + - "Done": true or false
    RefinedIdea 1 | $TOPIC | The idea, by NAME: RefinedIdea
      | What made its author think of it: RefinedIdea why | It builds on: titles | $NEAR
      | @ Stage: reflection, round 2 of 2. | ! call it done | ! - "Done":
    """,
    # Rounds of search or finalise, worded by the model, with the archive in sight.
    "ai_scientist_v2": """
    SearchedIdea 2 | $TOPIC | Earlier ideas, which must not be repeated: SearchedIdea
      | @ Stage: working out of an idea, round 1 of 2. | + - "Search": | + - "Done":
      | + search at least once | ! Published papers that
    SearchedIdea 3 | $TOPIC | Earlier ideas, which must not be repeated: SearchedIdea
      | The version at hand: SearchedIdea why | 1. You searched for: SearchedIdea
      | Papers that search 1 found: abstracts | @ Stage: working out of an idea, round 2 of 2.
      | + what you give now stands | ! - "Search": | ! - "Done":
    """,
    # Several seeds from one reply; titles alone of earlier ones; pairs without papers.
    "ai_researcher": """
    Seeds 0 | $TOPIC | @ Stage: generation of seed ideas, round 1 of 2.
      | + Write 2 different seed ideas
    Seeds 1 | $TOPIC | Written already: Seeds
      | Published papers for inspiration, not to be copied: abstracts
      | @ Stage: generation of seed ideas, round 2 of 2. | + Give 2 seeds.
    """,
    # Alone first, then in sight of the others; no place is told among speakers that are not heard.
    "debate": """
    Idea 2 | $TOPIC | $OF_USE | @ Stage: debate, round 1 of 2.
    RefinedIdea 2 | $TOPIC | $REFINED | - by NAME: Idea x2 | $NEAR
      | @ Stage: debate, round 2 of 2. | ! call it done
    """,
    # Everybody hears the earlier rounds, and nobody is told a place among side-by-side speakers.
    "idea2proposal": """
    Contribution 5 | $TOPIC | Said so far: Contribution x3
      | Papers that the last searches found: abstracts
      | @ Stage: discussion towards a proposal, round 2 of 3.
    Proposal 0 | $TOPIC | The discussion: Contribution x6
      | Papers that were retrieved: abstracts
      | @ Stage: discussion towards a proposal, round 3 of 3.
    """,
}


def check(lived, table):
    rows = list(rows_of(table))
    assert [read(lived, row) for row in rows] == rows


@pytest.mark.parametrize("name", PAGES)
def test_pages_hold_what_the_original_shows(live, name):
    check(live(make(name), plant), PAGES[name])


def test_pairs_are_judged_without_papers_and_nobody_has_a_past_where_profiles_are_off(live):
    lived = live(make("ai_researcher", profiles="off"))
    pages = [r.messages[1].content for _, r, _ in lived.asked]
    assert not any("Research interests:" in page for page in pages)
    pairs = [page for page in pages if "Idea B:" in page]
    assert pairs
    assert not any(re.search(r"\[P\d+\]", page) for page in pairs)
    assert all("the other a paper that it rejected" in page for page in pairs)


def test_specialists_of_the_published_virtual_lab_are_told_their_fields(live):
    lived = live(make("virtual_lab", profile="published", parallel=1, rounds=1, team_size=4))
    pages = [r.messages[1].content for _, r, _ in lived.asked if r.page == "meeting"]
    specialists = [page for page in pages if "You are a specialist" in page]
    assert len(specialists) == 2
    fields = {re.search(r"Research interests: ([^.]*)\.", page)[1] for page in specialists}
    assert len(fields) == 2, "their pages differ by what each works on"
