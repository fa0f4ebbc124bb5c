"""What only the published program of VirSci does, where it departs from the paper.

``RELEASED_CODE`` holds the keys that ``profile: released-code`` sets. Each function takes the place
of a stage's own where such a key says so; the stages themselves do what the paper says.

The program is https://github.com/open-sciencelab/Virtual-Scientists. Its control flow was read in
the public copy srush1608/Virtual-Scientists (commit 3ac024a of 2024-12): ``sci_platform/sci_team/
SciTeam.py`` (stages), the saved ``sci_platform.py`` of a run in ``sci_platform/runs`` (invitations,
searches) and ``sci_platform/utils/scientist_utils.py`` (reading of replies); and in its authors'
working copy RenqiChen/Social_Science: ``sci_platform/utils/prompt.py`` (prompts),
``sci_platform/vector.py`` (embedding), ``agentscope-main/.../sci_agent.py`` (knowledge bank).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from virsci_society.agents.reference import Reference
from virsci_society.protocols.ideas import (
    SHORTLIST_SIZE,
    Ballot,
    CandidateIdea,
    Weights,
    confidence,
    plurality_winner,
    pool_references,
)

RELEASED_CODE: Mapping[str, Any] = {
    "consensus": "leader",
    "forced_after": 2,
    "replacement": "off",
    "leaving": "off",
    "confidence": {
        "clarity": 3.0,
        "feasibility": 0.0,
        "novelty": 0.0,
        "listed": "not_below_best",
        "ranked_by": "next",
    },
    "idea_dialogue": "off",
    "invitation": "topic",
    "guests": "join",
    "asking": "by_the_way",
    "knowledge": "topic",
    "profiles": 2,
    "prompts": {"ratings": "on"},
    "references": {
        "query": "title",
        "ballot": "pooled",
        "few_ideas": 5,
        "self_review": 4,
        "sentences": None,
    },
    "votes": "all_turns",
    "unreadable_votes": "first_idea",
    "tied_votes": "first_cast",
    "self_review": "recorded",
    "threshold": 70.0,
    "cites": "retrieved",
    "found_by": "abstract_only",
}
"""The departures of https://github.com/open-sciencelab/Virtual-Scientists from the paper."""


def ideas_not_below_best(weights: Weights, *ideas: CandidateIdea) -> tuple[CandidateIdea, ...]:
    """The first idea, and each whose confidence is at least that of the last one kept before it.

    Source: ``generate_idea`` of the published program (see above).
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

    Source: ``generate_idea`` of the published program (see above), whose list of marks
    begins with the second idea.
    """
    if len(ideas) <= SHORTLIST_SIZE:
        return ideas
    marks = [confidence(idea, weights) for idea in ideas[1:]]
    ranked = sorted(range(len(marks)), key=lambda index: -marks[index])
    return tuple(ideas[index] for index in ranked[:SHORTLIST_SIZE])


def first_to_most_votes(
    weights: Weights, ideas: Sequence[CandidateIdea], *ballots: Ballot
) -> CandidateIdea:
    """The idea with most votes; on a tie the one that was voted for first.

    Where nobody has voted for any, the most confident is taken.

    Args:
        weights: of the confidence.
        ideas: those on the ballot, at least one.
        ballots: all that are counted, in the order of being cast.

    Source: ``check_novelty`` of the published program (see above).
    """
    votes = Counter(ballot.choice for ballot in ballots if 0 <= ballot.choice < len(ideas))
    if not votes:
        return plurality_winner(weights, ideas)
    # Equal counts come in the order in which the first of each was counted.
    return ideas[votes.most_common(1)[0][0]]


def count_as_first(ballot: Ballot) -> Ballot:
    """A ballot, with an unreadable decision taken as a vote for the first idea that is listed."""
    return ballot if ballot.choice >= 0 else ballot.model_copy(update={"decision": "Idea 0"})


def pool_by_key(*ideas: CandidateIdea) -> tuple[Reference, ...]:
    """The papers beside several ideas, each once, in the order of their keys."""
    return tuple(sorted(pool_references(*ideas), key=_number_of_key))


def _number_of_key(paper: Reference) -> int:
    return int(paper.key[1:]) if paper.key else 0
