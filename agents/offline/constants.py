"""Every number that the offline rules use; they are assumptions, none fitted to data."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any


def _constant(value: float, meaning: str) -> Any:
    return field(default=value, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class Constants:
    """The table of constants; the fields' meanings are their metadata."""

    invite_base: float = _constant(-0.25, "invitation: intercept (log odds)")
    invite_similarity: float = _constant(1.6, "invitation: per unit of profile similarity")
    invite_ties: float = _constant(0.5, "invitation: per log(1 + joint papers)")
    invite_papers: float = _constant(0.08, "invitation: per log(1 + inviter's papers)")
    invite_citations: float = _constant(0.03, "invitation: per log(1 + inviter's citations)")
    invite_load: float = _constant(0.6, "invitation: fall per team the invitee is in")
    invite_floor: float = _constant(0.03, "invitation: smallest probability of accepting")

    agree_base: float = _constant(-0.1, "agreement: log odds without affinity")
    agree_affinity: float = _constant(3.2, "agreement: per unit of affinity with the topic")
    leave_base: float = _constant(-4.3, "leaving: intercept (log odds)")
    leave_distance: float = _constant(1.5, "leaving: per unit of 1 - affinity")
    leave_load: float = _constant(0.25, "leaving: per team the member is in")

    referee_base: float = _constant(0.7, "review: intercept (log odds)")
    referee_affinity: float = _constant(1.2, "review: per unit of affinity with the manuscript")
    referee_load: float = _constant(0.3, "review: fall per team the scientist is in")
    referee_open: float = _constant(0.8, "review: fall per review already promised")
    mark_base: float = _constant(4.6, "review: mean score without affinity")
    mark_affinity: float = _constant(1.5, "review: score gained per unit of affinity")
    mark_round: float = _constant(0.6, "review: score gained per round after the first")
    mark_noise: float = _constant(1.4, "review: standard deviation of a score")
    mark_agreement: float = _constant(0.33, "review: share of that variance by appearance")
    mark_accept: float = _constant(6.5, "review: score from which acceptance is recommended")
    mark_reject: float = _constant(5.0, "review: score below which rejection is recommended")

    ballot_noise: float = _constant(0.05, "ballot: scale of the Gumbel noise on mean distance")

    another_base: float = _constant(2.85, "pacing: log odds of another turn before the first")
    another_turn: float = _constant(0.45, "pacing: fall per turn held")
    another_settled: float = _constant(1.8, "pacing: fall per unit of settledness, 0 to 1")
    another_unknown: float = _constant(0.5, "pacing: settledness of a draft, which shows none")

    interest_decay: float = _constant(0.6, "topics: weight of an interest per rank of the list")
    interest_relevance: float = _constant(1.0, "topics: weight added when the talk is near it")
    take_up_guest: float = _constant(3.0, "topics: weight of a guest's term against another's")
    take_up_memory: float = _constant(0.25, "all talk: probability that a memory line is used")
    take_up_known: float = _constant(0.2, "all talk: probability that a known scientist is used")
    ask_topic: float = _constant(0.15, "consultation: probability in a topic turn")
    ask_idea: float = _constant(0.08, "consultation: probability in an idea turn")
    ask_abstract: float = _constant(0.08, "consultation: probability in an abstract turn")
    ask_own: float = _constant(0.5, "consultation: penalty per interest that the asker shares")

    refine_base: float = _constant(0.1, "ideas: log odds of refining the previous idea")
    refine_affinity: float = _constant(1.6, "ideas: per unit of affinity with that idea")
    reference_rank: float = _constant(0.25, "ideas: fall in a reference's score per rank")
    reference_affinity: float = _constant(1.5, "ideas: rise per unit of affinity with it")
    reference_noise: float = _constant(0.5, "ideas: scale of the Gumbel noise on that score")
    guest_in_idea: float = _constant(0.7, "ideas: probability that a guest's term enters")
    distance_middle: float = _constant(0.8, "ratings: distance at half the range")
    distance_slope: float = _constant(3.0, "ratings: steepness of the rating in distance")
    novelty_low: float = _constant(2.5, "ratings: novelty at distance zero (approximate)")
    novelty_span: float = _constant(6.0, "ratings: novelty gained over all distances")
    novelty_reach: float = _constant(1.5, "ratings: novelty gained by words not in references")
    feasible_high: float = _constant(9.0, "ratings: feasibility of the nearest idea")
    feasible_span: float = _constant(4.0, "ratings: feasibility lost over all distances")
    feasible_concept: float = _constant(0.3, "ratings: feasibility lost per concept after two")
    clear_high: float = _constant(8.6, "ratings: clarity of an idea of two concepts")
    clear_concept: float = _constant(0.55, "ratings: clarity lost per concept after two")
    rating_noise: float = _constant(0.5, "ratings: standard deviation of the noise")

    abstract_least: int = _constant(212, "abstracts: words below which a sentence is added")
    abstract_most: int = _constant(330, "abstracts: words above which a sentence is removed")
    rewrite_two: float = _constant(0.5, "revision: probability of two rewritten sentences")
    rewrite_add: float = _constant(0.3, "revision: probability of one more sentence")
    rewrite_review: int = _constant(3, "revision: sentences rewritten after a self-review")
    retitle: float = _constant(0.15, "revision: probability of a changed title")
    score_base: float = _constant(6.4, "revision: mean score of a draft")
    score_affinity: float = _constant(1.5, "revision: score gained per unit of affinity")
    score_noise: float = _constant(0.7, "revision: standard deviation of the scores")

    overlap_words: float = _constant(0.6, "self-review: weight of shared content words")
    overlap_least: int = _constant(20, "self-review: words that a text counts for at least")
    overlap_listed: float = _constant(70.0, "self-review: score from which a pair is listed")

    reflection_done: float = _constant(0.25, "reflection: probability that an idea is finished")
    search_again: float = _constant(0.35, "novelty check: probability of one more search")


RULES = Constants()
"""The values in force."""


def table() -> str:
    """The constants as a Markdown table, one row each."""
    rows = ["| Constant | Value | Meaning |", "|---|---|---|"]
    for item in fields(RULES):
        value = getattr(RULES, item.name)
        rows.append(f"| `{item.name}` | {value:g} | {item.metadata['meaning']} |")
    return "\n".join(rows)
