"""The engine of systems that compare ideas and develop the best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from math import ceil
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from virsci_society.agents.arrays import FloatArray, VectorArray
from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.engines.forms import (
    DeepReview,
    IdeaScore,
    Lessons,
    PairChoice,
    PaperReview,
    RefinedIdea,
)
from virsci_society.protocols.engines.rounds import (
    Board,
    choose_reviewers,
    mean_of_reviews,
    papers_of_ideas,
    unit_vector,
)
from virsci_society.protocols.ideas import looks_of

if TYPE_CHECKING:
    from virsci_society.protocols.engines.card import Expansion, Search
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process

Match: TypeAlias = tuple[int, int, float]
"""Places of the two that met, and the score of the first: 1 won, 0.5 drawn, 0 lost."""
Pairs: TypeAlias = list[tuple[int, int]]
START = 1200.0
"""Elo rating before the first match. Source: Gottweis et al. 2025, section 3.3.3."""
SCALE = 400.0
"""Difference of ratings at which the better of two is expected to win ten of eleven matches."""
PAGES = {"points": "pair", "elo": "match"}


def grow_tree(board: Board, search: Search) -> Process[Answer[CandidateIdea]]:
    """Mark every idea, and make new versions of the best that has none until there are enough."""
    work, lab, leader = board.work, board.lab, board.work.team.leader
    ideas, expanded = [*board.ideas], set[int]()
    marks: list[Answer[IdeaScore]] = []
    breadth, budget = 1, len(ideas)
    if search.expand is not None:
        breadth, budget = board.number(search.expand.count), board.number(search.expand.budget)
    rounds = 1 + ceil((budget - len(ideas)) / breadth)
    for number in range(1, rounds + 1):
        with (yield from work.hold_round(search.judge.meeting, number, rounds)):
            if number > 1:
                leaves = [index for index in range(len(ideas)) if index not in expanded]
                best = max(leaves, key=lambda index: marks[index].read().score)
                expanded.add(best)
                parent, near = ideas[best], work.search(ideas[best])
                said = yield from work.ask_each(
                    [leader] * min(breadth, budget - len(ideas)),
                    "refinement",
                    RefinedIdea,
                    ends=False,
                    previous=parent,
                    references=near,
                    feedback=(Utterance(leader, marks[best]),),
                    others=(),
                )
                ideas += [work.candidate(leader, idea, near, parent) for idea in said]
            own = [{"idea": idea} for idea in ideas[len(marks) :]]
            page = search.judge.page or "score"
            marks += yield from work.ask_each([leader] * len(own), page, IdeaScore, "vote", own)
    scores = [lab.later(attrgetter("score"), mark) for mark in marks]
    return lab.later(best_of, tuple(ideas), tuple(scores))


def review_texts(board: Board, search: Search) -> Process[Answer[CandidateIdea]]:
    """Write the text of each idea, have all reviewed from outside, and hand in the best one."""
    work, lab, ideas, judge = board.work, board.lab, board.ideas, search.judge

    def write() -> Process[list[Answer[Any]]]:
        with (yield from work.hold_round("writing")):
            texts: list[Answer[Any]] = yield from board.system.write_texts(work, ideas)
        return texts

    def review() -> Process[list[Answer[PaperReview]]]:
        own: list[dict[str, Any]] = []
        for text, idea in zip(texts, ideas, strict=True):
            own += [{"text": text, "cited": lab.later(papers_of_ideas, idea)}] * len(reviewers)
        people, page = reviewers * len(texts), judge.page or "paper_review"
        with (yield from work.hold_round(judge.meeting)):
            steps = work.ask_each(people, page, PaperReview, "review", own, criteria=judge.criteria)
            return (yield from steps)

    texts = yield from lab.stage("abstract", write())
    yield from work.call_meeting()
    reviewers = choose_reviewers(work, int(board.number(judge.reviewers)))
    said = yield from lab.stage("review", review())
    count = len(reviewers)
    scores = tuple(
        lab.later(mean_of_reviews, *said[at : at + count]) for at in range(0, len(said), count)
    )
    work.text = lab.later(best_of, tuple(texts), scores)
    work.team.notes["review_score"] = lab.later(best_of, scores, scores)
    return lab.later(best_of, ideas, scores)


class Tournament:
    """The ideas of one team in the order of being put forward, and the pairs in which they met."""

    def __init__(self, board: Board, search: Search) -> None:
        self.board, self.work, self.lab, self.search = board, board.work, board.lab, search
        self.judge, self.elo = search.judge, search.judge.how == "elo"
        self.ideas: list[Answer[CandidateIdea]] = []
        self.looks: list[Answer[float]] = []
        self.units: list[FloatArray] = []
        self.reviews: list[Answer[DeepReview] | DeepReview] = []
        self.played: list[tuple[Pairs, Sequence[PairChoice]]] = []
        self.pairs: Pairs = []
        self.verdicts: list[Answer[PairChoice]] = []
        self.heard: list[tuple[tuple[int, int], Answer[PairChoice]]] = []
        self.lessons: Answer[Lessons] | tuple[()] = ()
        self.removed = 0

    def hold(self) -> Process[Answer[CandidateIdea]]:
        """Add ideas, compare them, learn from the result, and develop the best."""
        lab, expand, new = self.lab, self.search.expand, self.board.ideas
        rounds = 1 if expand is None else int(self.board.number(expand.rounds))
        for number in range(1, rounds + 1):
            count = len(self.ideas)
            if number > 1 and expand is not None:
                new = yield from lab.stage("ideas", self._evolve(expand, number, rounds))
            steps = self._take_in(new, number, rounds)
            yield from (lab.stage("novelty", steps) if self.search.review else steps)
            yield from lab.stage("novelty", self._compete(count))
            if number < rounds:
                yield from lab.stage("novelty", self._learn(number, rounds))
        ratings = lab.later(self.rate, *self.verdicts)
        if self.elo:
            self.work.team.notes["elo_ratings"] = ratings
        return lab.later(best_of, tuple(self.ideas), ratings)

    def rate(self, *verdicts: PairChoice) -> list[float]:
        """The ratings by all that is decided, and by verdicts on the last pairs."""
        played = [*self.played, (self.pairs, verdicts)]
        if self.elo:
            matches = [match for pairs, said in played for match in scored(pairs, said)]
            return elo_ratings(len(self.ideas), matches, float(self.board.number(self.judge.k)))
        points = [0.0] * len(self.ideas)
        for pairs, said in played:
            points = award_points(points, scored(pairs, said)) if pairs else points
        return points

    def _settle(self) -> None:
        """Read the verdicts on the last pairs; called on the date of the next meeting."""
        self.played.append((self.pairs, [verdict.read() for verdict in self.verdicts]))
        self.pairs, self.verdicts = [], []

    def _evolve(
        self, expand: Expansion, number: int, rounds: int
    ) -> Process[tuple[Answer[CandidateIdea], ...]]:
        """Further ideas from the best rated ones, which stay as they are."""
        lab, work = self.lab, self.work
        yield from work.call_meeting()
        self._settle()
        best, ways = rank(self.rate()), [*expand.ways]
        count = int(self.board.number(expand.count))
        with (yield from work.convene("evolution of hypotheses", number, rounds)):
            made = []
            for seat in range(count):
                way = ways[((number - 2) * count + seat) % len(ways)]
                parents = best[: expand.ways[way]]
                ideas = tuple(self.ideas[index] for index in parents)
                slots: dict[str, Any] = {
                    "way": way,
                    "previous": ideas[0],
                    "others": ideas,
                    "reviews": tuple(self.reviews[index] for index in parents),
                    "lessons": self.lessons,
                }
                near = lab.later(papers_of_ideas, *ideas)
                leader = [work.team.leader]
                made.append(work.propose(leader, near, page="evolution", seat=seat, **slots))
            return tuple(idea for (idea,) in (yield from lab.together(*made)))

    def _take_in(
        self, new: Sequence[Answer[CandidateIdea]], number: int, rounds: int
    ) -> Process[None]:
        """Take in the ideas that are like no earlier one, and review them."""
        old, page, distinct = len(self.ideas), self.search.review, self.search.distinct
        vectors = [self.lab.library.embed(idea) for idea in new]
        yield from self.work.call_meeting()
        units = [*self.units, *(unit_vector(vector.read()) for vector in vectors)]
        threshold = 2.0 if distinct is None else self.board.number(distinct)
        kept = [index for index in distinct_places(units, threshold) if index >= old]
        self.removed += len(new) - len(kept)
        self.work.team.notes["duplicates_removed"] = self.removed
        self.units += [units[index] for index in kept]
        self.ideas += [new[index - old] for index in kept]
        self.looks += looks_of(self.lab, self.ideas[old:], old)
        if not page:
            self.reviews += [DeepReview(weakness="")] * len(kept)
            return
        with (yield from self.work.convene("review of hypotheses", number, rounds)):
            people = [self.work.team.leader] * len(kept)
            own = [{"idea": idea} for idea in self.ideas[old:]]
            self.reviews += yield from self.work.ask_each(
                people, page, DeepReview, "critique", own, lessons=self.lessons
            )

    def _compete(self, known: int) -> Process[None]:
        """Rounds of pairs, in which by Elo each idea after those that were known plays once."""
        lab, judge, rounds = self.lab, self.judge, int(self.board.number(self.judge.rounds))
        self.heard = []
        if not self.elo and len(self.ideas) < 2:
            return
        for number in range(1, rounds + 1):
            yield from self.work.call_meeting()
            self._settle()
            with (yield from self.work.convene(judge.meeting, number, rounds)):
                ratings, rng = self.rate(), lab.rng("tournament", lab.visit, number)
                self.pairs = self._pair_up(known, ratings, rng)
                own = []
                for first, second in self.pairs:
                    # A debate is held if both have won more than they lost.
                    top = self.elo and min(ratings[first], ratings[second]) > START
                    looks = (self.looks[first], self.looks[second]) if self.looks else None
                    own.append(
                        {
                            "first": self.ideas[first],
                            "second": self.ideas[second],
                            "reviews": (self.reviews[first], self.reviews[second]),
                            "turns": int(self.board.number(judge.debate)) if top else 1,
                            "looks": looks,
                        }
                    )
                people, page = [self.work.team.leader] * len(own), judge.page or PAGES[judge.how]
                self.verdicts = yield from self.work.ask_each(
                    people, page, PairChoice, "vote", own, lessons=self.lessons
                )
                self.heard += zip(self.pairs, self.verdicts, strict=True)

    def _pair_up(self, known: int, ratings: list[float], rng: np.random.Generator) -> Pairs:
        """The pairs of the next round, in the order in which their page names the two."""
        if not self.elo:
            return pair_by_points(ratings, rng)
        matches = [match for pairs, said in self.played for match in scored(pairs, said)]
        new, likeness = range(known, len(self.ideas)), likeness_of(self.units)
        pairs = pair_by_rating(ratings, matches, likeness, new)
        # The order is drawn: a judge may prefer a position.
        turned = rng.random(len(pairs)) < 0.5
        return [(p[1], p[0]) if t else p for p, t in zip(pairs, turned, strict=True)]

    def _learn(self, number: int, rounds: int) -> Process[None]:
        """The meta-review: what recurs in all reviews and in the verdicts of this round."""
        with (yield from self.work.hold_round("meta-review", number, rounds - 1)):
            self.lessons = yield from self.work.ask(
                self.work.team.leader,
                "lessons",
                Lessons,
                reviews=tuple(self.reviews),
                verdicts=tuple(verdict for _, verdict in self.heard),
                firsts=tuple(self.ideas[first] for (first, _), _ in self.heard),
                seconds=tuple(self.ideas[second] for (_, second), _ in self.heard),
            )


def best_of(things: Sequence[Any], scores: Sequence[float | None]) -> Any:
    """What belongs to the highest score; of equal ones, and without any score, the earliest."""
    return things[max(range(len(things)), key=lambda place: (scores[place] or 0.0, -place))]


def scored(pairs: Pairs, verdicts: Sequence[PairChoice]) -> list[Match]:
    """The matches of some pairs: one without a readable verdict is drawn."""
    score = {"A": 1.0, "B": 0.0}
    said = zip(pairs, verdicts, strict=True)
    return [(first, second, score.get(choice.better, 0.5)) for (first, second), choice in said]


def pair_by_points(points: Sequence[float], rng: np.random.Generator) -> Pairs:
    """Pairs of neighbours in the order of points; ties are ordered at random."""
    drawn = rng.random(len(points))
    order = sorted(range(len(points)), key=lambda place: (-points[place], drawn[place]))
    pairs = [(order[at], order[at + 1]) for at in range(0, len(order) - 1, 2)]
    return [pair if rng.random() < 0.5 else (pair[1], pair[0]) for pair in pairs]


def award_points(points: Sequence[float], matches: Sequence[Match]) -> list[float]:
    """The points after a round: 1 for the better of a pair and for a pause, half for a tie."""
    met = {index for match in matches for index in match[:2]}
    after = [float(point) + (index not in met) for index, point in enumerate(points)]
    for first, second, won in matches:
        after[first] += won
        after[second] += 1.0 - won
    return after


def expected_score(rating: float, other: float) -> float:
    """The score that a rating lets expect against another one, 0 to 1."""
    return float(1.0 / (1.0 + 10.0 ** ((other - rating) / SCALE)))


def elo_ratings(count: int, matches: Sequence[Match], k: float) -> list[float]:
    """The ratings after some matches; half of ``k`` moves between two of equal ratings."""
    ratings = [START] * count
    for first, second, score in matches:
        gain = k * (score - expected_score(ratings[first], ratings[second]))
        # Rounded, so that the last digits of a power on another machine decide nothing.
        ratings[first] = round(ratings[first] + gain, 6)
        ratings[second] = round(ratings[second] - gain, 6)
    return ratings


def rank(ratings: Sequence[float]) -> list[int]:
    """Places by falling rating; of equal ones the earliest first."""
    return sorted(range(len(ratings)), key=lambda place: (-ratings[place], place))


def pair_by_rating(
    ratings: Sequence[float],
    matches: Sequence[Match],
    likeness: FloatArray,
    playing: Collection[int],
) -> Pairs:
    """Who meets whom in the next round; nothing is drawn."""
    # Those who have to play choose, the least tried first and of them the best rated. A partner is
    # one whom they have met least often, of those the best rated, and of equal ones the most alike:
    # so those without any match meet their likes, winners meet winners, and newcomers the best.
    met = Counter(frozenset(match[:2]) for match in matches)
    played = Counter(index for match in matches for index in match[:2])
    free = rank(ratings)
    pairs: Pairs = []
    for first in sorted((index for index in free if index in playing), key=played.__getitem__):
        others = [index for index in free if index != first]
        if first not in free or not others:
            continue
        other = min(
            others,
            key=lambda index: (
                met[frozenset((first, index))],
                -ratings[index],
                -float(likeness[first, index]),
            ),
        )
        free = [index for index in others if index != other]
        pairs.append((first, other))
    return pairs


def likeness_of(units: Sequence[FloatArray]) -> FloatArray:
    """The cosine of each with each, of shape (n, n); of vectors of length 1, or zero vectors."""
    stacked = np.stack(list(units)) if units else np.zeros((0, 1))
    # Rounded, so that the last digits of a sum on another machine decide nothing.
    return np.round(stacked @ stacked.T, 9)


def distinct_places(vectors: Sequence[VectorArray | FloatArray], threshold: float) -> list[int]:
    """The places of texts whose cosine with every earlier kept text is below a threshold."""
    kept: list[int] = []
    units = [unit_vector(vector) for vector in vectors]
    for index, unit in enumerate(units):
        if all(round(float(unit @ units[other]), 9) < threshold for other in kept):
            kept.append(index)
    return kept
