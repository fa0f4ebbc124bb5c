"""Candidate ideas, their confidence, the shortlist of three and the count of the ballots.

Pure functions of ideas and ballots that have settled. An Answer cannot be compared before it is
read (rule 10), so the stages hand these functions to ``lab.later`` instead of reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from virsci_society.agents.prompts.dialogue import Excerpt, Utterance
from virsci_society.agents.prompts.paper_lists import paper_key
from virsci_society.agents.reference import Reference
from virsci_society.protocols.virsci.forms import Ballot, Idea

SHORTLIST_SIZE = 3
"""Ideas that go on to the novelty assessment."""

Weights = tuple[float, float, float]
"""Weights of Clarity, Feasibility and Novelty in the confidence (each >= 0, sum > 0)."""


@dataclass(frozen=True, slots=True)
class RankingRules:
    """How the three ideas on the ballot are chosen.

    Attributes:
        weights: of the confidence.
        not_below_best: are only the first idea and those listed that are not below the last one
            listed before them?
        by_next: is each idea ranked by the confidence of the one listed after it?
    """

    weights: Weights
    not_below_best: bool = False
    by_next: bool = False


@dataclass(frozen=True, slots=True)
class CandidateIdea:
    """An idea with its references (Eq. 2 and 3).

    Attributes:
        idea: the idea as it was put forward.
        author: masked name of who put it forward.
        references: papers of B_past near the idea, nearest first; empty if switched off.
        used: ids of the papers that the idea says it builds on.
        retrieved: ids of all papers that were found for it, shown to its author or near it.
        scored: does its self-assessment count?
        builds_on: the papers that the idea says it builds on.
        marks: ratings of the idea by others (clarity, feasibility, novelty).
        objections: what others object to it, with their names.
    """

    idea: Idea
    author: str = ""
    references: tuple[Reference, ...] = ()
    used: tuple[str, ...] = ()
    retrieved: tuple[str, ...] = ()
    scored: bool = True
    builds_on: tuple[Reference, ...] = ()
    marks: tuple[tuple[float, float, float], ...] = ()
    objections: tuple[Utterance, ...] = ()

    @property
    def query(self) -> str:
        """The text by which papers near the idea are searched."""
        return self.idea.query

    def words(self) -> str:
        """Title, idea and experiment."""
        return self.idea.text


def make_candidate(
    author: str,
    scored: bool,
    idea: Idea,
    shown: Sequence[Reference],
    near: Sequence[Reference],
    previous: CandidateIdea | tuple[()] = (),
) -> CandidateIdea:
    """Join an idea with its references.

    Args:
        author: masked name of who put the idea forward.
        scored: does the idea's self-assessment count?
        idea: the idea; its ``uses`` are keys of papers on its author's page.
        shown: papers that its author was shown.
        near: papers found by the idea itself.
        previous: the idea on the table before; the papers that it builds on stood on the page too.
    """
    before = previous.builds_on if isinstance(previous, CandidateIdea) else ()
    # Of two papers with one key, which lists without keys of their own can have, the first counts.
    known = {paper_key(paper, n): paper for n, paper in reversed([*enumerate(before, 1)])}
    known |= {paper_key(paper, n): paper for n, paper in enumerate(shown, 1)}
    builds_on = tuple(known[key] for key in dict.fromkeys(idea.uses) if key in known)
    retrieved = dict.fromkeys(reference.id for reference in (*shown, *near))
    return CandidateIdea(
        idea=idea,
        author=author,
        references=tuple(near),
        used=tuple(dict.fromkeys(paper.id for paper in builds_on)),
        retrieved=tuple(retrieved),
        scored=scored,
        builds_on=builds_on,
    )


def add_judgement(speaker: str, candidate: CandidateIdea, said: Idea) -> CandidateIdea:
    """The idea on the table with what the next speaker thinks of it, unless that is its author.

    Args:
        speaker: masked name of the next speaker.
        candidate: the idea on the table.
        said: what the next speaker said; ``marks`` and ``objection`` are of the idea on the table.
    """
    if speaker == candidate.author:
        return candidate
    marks, objections = candidate.marks, candidate.objections
    if said.marks is not None:
        marks += ((said.marks.clarity, said.marks.feasibility, said.marks.novelty),)
    if said.objection.strip():
        objections += (Utterance(speaker, Excerpt(said.objection)),)
    return replace(candidate, marks=marks, objections=objections)


def without_ratings(idea: Idea) -> Excerpt:
    """An idea as the others hear it where they rate it too: its author's ratings are left out."""
    return Excerpt(idea.text_with_reason, idea.title)


def confidence(candidate: CandidateIdea, weights: Weights) -> float:
    """Weighted mean of Clarity, Feasibility and Novelty, 1 to 10; 0 of an idea not scored.

    Where others have rated the idea, it is the mean over its author's and their ratings.
    """
    if not candidate.scored:
        return 0.0
    idea = candidate.idea
    raters = ((idea.clarity, idea.feasibility, idea.novelty), *candidate.marks)
    total = sum(w * r for ratings in raters for w, r in zip(weights, ratings, strict=True))
    return total / (sum(weights) * len(raters))


def shortlist(weights: Weights, *ideas: CandidateIdea) -> tuple[CandidateIdea, ...]:
    """The three ideas with the highest confidence, in the order of being put forward.

    On a tie the later idea is taken.
    """
    ranked = sorted(
        range(len(ideas)), key=lambda index: (-confidence(ideas[index], weights), -index)
    )
    return tuple(ideas[index] for index in sorted(ranked[:SHORTLIST_SIZE]))


def count_ties(weights: Weights, *ideas: CandidateIdea) -> int:
    """Number of ideas on the shortlist that have the confidence of one that is not on it."""
    return _count_equal([confidence(idea, weights) for idea in ideas])


def ideas_not_below_best(weights: Weights, *ideas: CandidateIdea) -> tuple[CandidateIdea, ...]:
    """The first idea, and each whose confidence is at least that of the last one kept before it.

    Source: ``generate_idea`` of the published program (see ``settings``).
    """
    kept: list[CandidateIdea] = []
    for idea in ideas:
        if not kept or confidence(idea, weights) >= confidence(kept[-1], weights):
            kept.append(idea)
    return tuple(kept)


def shortlist_by_next(weights: Weights, *ideas: CandidateIdea) -> tuple[CandidateIdea, ...]:
    """Three ideas by the confidence of the idea after each, best first.

    Three ideas or fewer stay as they are. Of more, the last one has no idea after it and drops
    out; on a tie the earlier one is taken.

    Source: ``generate_idea`` of the published program (see ``settings``), whose list of marks
    begins with the second idea.
    """
    if len(ideas) <= SHORTLIST_SIZE:
        return ideas
    marks = [confidence(idea, weights) for idea in ideas[1:]]
    ranked = sorted(range(len(marks)), key=lambda index: -marks[index])
    return tuple(ideas[index] for index in ranked[:SHORTLIST_SIZE])


def choose_shortlist(rules: RankingRules, *ideas: CandidateIdea) -> tuple[CandidateIdea, ...]:
    """The ideas for the ballot, in the order in which it lists them.

    Args:
        rules: which ideas are listed, and by what they are ranked.
        ideas: all ideas of the team, in the order of being put forward.
    """
    listed = ideas_not_below_best(rules.weights, *ideas) if rules.not_below_best else ideas
    choose = shortlist_by_next if rules.by_next else shortlist
    return choose(rules.weights, *listed)


def count_shortlist_ties(rules: RankingRules, *ideas: CandidateIdea) -> int:
    """Number of ideas on the ballot that are ranked as high as one that is left out."""
    listed = ideas_not_below_best(rules.weights, *ideas) if rules.not_below_best else ideas
    if not rules.by_next:
        return count_ties(rules.weights, *listed)
    if len(listed) <= SHORTLIST_SIZE:
        return 0
    return _count_equal([confidence(idea, rules.weights) for idea in listed[1:]])


def _count_equal(values: Sequence[float]) -> int:
    """How many of the three highest values are equal to one that is not among them."""
    ranked = sorted(values, reverse=True)
    left_out = set(ranked[SHORTLIST_SIZE:])
    return sum(value in left_out for value in ranked[:SHORTLIST_SIZE])


def plurality_winner(
    weights: Weights, ideas: Sequence[CandidateIdea], *ballots: Ballot
) -> CandidateIdea:
    """The idea with most votes; ties are broken by confidence, then by order.

    Args:
        weights: of the confidence.
        ideas: those on the ballot, at least one.
        ballots: all that are counted; abstentions count for no idea.
    """
    votes = [ballot.choice for ballot in ballots]
    return min(
        enumerate(ideas),
        key=lambda item: (-votes.count(item[0]), -confidence(item[1], weights), item[0]),
    )[1]


def first_to_most_votes(
    weights: Weights, ideas: Sequence[CandidateIdea], *ballots: Ballot
) -> CandidateIdea:
    """The idea with most votes; on a tie the one that was voted for first.

    Where nobody has voted for any, the most confident is taken.

    Args:
        weights: of the confidence.
        ideas: those on the ballot, at least one.
        ballots: all that are counted, in the order of being cast.

    Source: ``check_novelty`` of the published program (see ``settings``).
    """
    votes = Counter(ballot.choice for ballot in ballots if 0 <= ballot.choice < len(ideas))
    if not votes:
        return plurality_winner(weights, ideas)
    # Equal counts come in the order in which the first of each was counted.
    return ideas[votes.most_common(1)[0][0]]


def count_as_first(ballot: Ballot) -> Ballot:
    """A ballot, with an unreadable decision taken as a vote for the first idea that is listed."""
    return ballot if ballot.choice >= 0 else ballot.model_copy(update={"decision": "Idea 0"})


def used_references(idea: CandidateIdea) -> tuple[str, ...]:
    """Ids of the papers that an idea says it builds on."""
    return idea.used


def retrieved_references(*ideas: CandidateIdea) -> tuple[str, ...]:
    """Ids of the papers that were found for any of the ideas, in the order of being found."""
    return tuple(dict.fromkeys(id_ for idea in ideas for id_ in idea.retrieved))


def idea_text(idea: CandidateIdea) -> str:
    """The text of an idea, for protocols that embed it as the paper."""
    return idea.query
