"""The engine of systems that search: ideas are compared, and further ones made of the best."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.engines.card import Search
from virsci_society.protocols.engines.meetings import Board
from virsci_society.protocols.ideas import looks_of
from virsci_society.protocols.parts.forms import IdeaScore
from virsci_society.protocols.parts.steps import (
    choose_reviewers,
    distinct_places,
    mean_of_reviews,
    papers_of_ideas,
    pose_refinement,
    review,
    unit_vector,
)
from virsci_society.protocols.parts.tournament_forms import (
    START,
    DeepReview,
    Lessons,
    Match,
    PairChoice,
    elo_ratings,
    likeness_of,
    pair_by_rating,
    rank,
)

if TYPE_CHECKING:
    import numpy as np

    from virsci_society.agents.arrays import FloatArray
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.protocols.parts.forms import PaperReview
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process

Ideas = Sequence["Answer[CandidateIdea]"]
Pairs = Sequence[tuple[int, int]]


def search_on(board: Board, search: Search) -> Process[Answer[CandidateIdea]]:
    """Compare the ideas on the table, make further ones as the card says, and take the best."""
    how, lab = search.judge.how, board.lab
    if how == "elo":
        return (yield from EloSearch(board, search).hold())
    if how == "marks":
        return (yield from lab.stage("ideas", grow_tree(board, search)))
    if how == "reviews":
        texts = yield from lab.stage("abstract", write_all(board))
        yield from board.work.call_meeting()
        reviewers = choose_reviewers(board.work, int(board.number(search.judge.reviewers)))
        return (yield from lab.stage("review", review_all(board, search, texts, reviewers)))
    ideas: Ideas = board.ideas
    if search.distinct is not None:
        vectors = [lab.library.embed(idea) for idea in ideas]
        yield from board.work.call_meeting()
        threshold = board.number(search.distinct)
        places = distinct_places([vector.read() for vector in vectors], threshold)
        board.work.team.notes["duplicates_removed"] = len(ideas) - len(places)
        ideas = [ideas[place] for place in places]
    return (yield from lab.stage("novelty", hold_tournament(board, search, ideas)))


def best_of(things: Sequence[Any], scores: Sequence[float | None]) -> Any:
    """What belongs to the highest score; of equal ones, and without any score, the earliest."""
    return things[max(range(len(things)), key=lambda place: (scores[place] or 0.0, -place))]


def best_marked(marks: tuple[IdeaScore, ...], ideas: tuple[CandidateIdea, ...]) -> CandidateIdea:
    """The idea with the highest mark; of equal ones the earliest."""
    best: CandidateIdea = best_of(ideas, [mark.score for mark in marks])
    return best


def grow_tree(board: Board, search: Search) -> Process[Answer[CandidateIdea]]:
    """Mark every idea, and make new versions of the best that has none, until there are enough."""
    work, lab, leader = board.work, board.lab, board.work.team.leader
    ideas, marks, expanded = list(board.ideas), list[Any](), set[int]()
    expand, new, rounds = search.expand, list(board.ideas), 1
    breadth = budget = 0
    if expand is not None:
        breadth, budget = board.number(expand.count), board.number(expand.budget)
        rounds += ceil((budget - len(ideas)) / breadth)
    for number in range(1, rounds + 1):
        with (yield from work.hold_round(search.judge.meeting, number, rounds)):
            if number > 1:
                leaves = [place for place in range(len(ideas)) if place not in expanded]
                best = max(leaves, key=lambda place: marks[place].read().score)
                expanded.add(best)
                parent, near = ideas[best], work.search(ideas[best])
                feedback = (Utterance(leader, marks[best]),)
                children = min(breadth, budget - len(ideas))
                pose = partial(_pose_version, board, parent, near, feedback)
                said = yield from lab.ask_each([leader] * children, pose)
                new = [work.candidate(leader, idea, near, parent) for idea in said]
                ideas += new
            marks += yield from lab.ask_each([leader] * len(new), partial(_pose_mark, board, new))
    return lab.later(best_marked, tuple(marks), tuple(ideas))


def _pose_version(
    board: Board, parent: Any, near: Any, feedback: Any, seat: int, who: str
) -> Answer[Any]:
    return pose_refinement(board.work, who, parent, near, seat, feedback=feedback)


def _pose_mark(board: Board, new: Ideas, seat: int, who: str) -> Answer[IdeaScore]:
    return board.work.pose(who, "score", IdeaScore, "vote", seat=seat, idea=new[seat])


def write_all(board: Board) -> Process[list[Answer[Any]]]:
    """The text of each idea, side by side."""
    people = [board.work.team.leader] * len(board.ideas)
    with (yield from board.work.hold_round("writing")):
        return (
            yield from board.lab.ask_each(
                people, lambda seat, _: board.system.pose_text(board.work, board.ideas[seat], seat)
            )
        )


def review_all(
    board: Board, search: Search, texts: list[Answer[Any]], reviewers: tuple[str, ...]
) -> Process[Answer[CandidateIdea]]:
    """Reviews of all texts side by side; the best scored one is handed in."""
    work, lab, criteria = board.work, board.lab, search.judge.criteria
    with (yield from work.hold_round(search.judge.meeting)):
        reviews = yield from lab.together(
            *(
                review(
                    work,
                    reviewers,
                    text,
                    lab.later(papers_of_ideas, board.ideas[n]),
                    criteria,
                    n * len(reviewers),
                )
                for n, text in enumerate(texts)
            )
        )
    scores = tuple(lab.later(mean_of_reviews, *(one.reply for one in said)) for said in reviews)
    work.text = lab.later(best_of, tuple(texts), scores)
    work.team.notes["review_score"] = lab.later(best_score, scores)
    best: Answer[CandidateIdea] = lab.later(best_of, board.ideas, scores)
    return best


def best_score(scores: tuple[float | None, ...]) -> float | None:
    """The highest score; None without any."""
    return max((score for score in scores if score is not None), default=None)


def pair_by_points(points: Sequence[float], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs of neighbours in the order of points; ties are ordered at random."""
    drawn = rng.random(len(points))
    order = sorted(range(len(points)), key=lambda place: (-points[place], drawn[place]))
    pairs = [(order[at], order[at + 1]) for at in range(0, len(order) - 1, 2)]
    return [pair if rng.random() < 0.5 else (pair[1], pair[0]) for pair in pairs]


def scored(pairs: Pairs, verdicts: Sequence[PairChoice]) -> list[Match]:
    """The matches of some pairs: one without a readable verdict is drawn."""
    score = {"A": 1.0, "B": 0.0}
    return [
        (first, second, score.get(verdict.better, 0.5))
        for (first, second), verdict in zip(pairs, verdicts, strict=True)
    ]


def award_points(
    points: Sequence[float], pairs: Pairs, choices: Sequence[PairChoice]
) -> list[float]:
    """The points after a round: 1 for the better idea of a pair and for a pause, half for a tie."""
    met = [place for pair in pairs for place in pair]
    after = [float(point) + (place not in met) for place, point in enumerate(points)]
    for first, second, won in scored(pairs, choices):
        after[first] += won
        after[second] += 1.0 - won
    return after


def hold_tournament(board: Board, search: Search, ideas: Ideas) -> Process[Answer[CandidateIdea]]:
    """Rank ideas by pairs; the choices of one round are read on the date of the next.

    Args:
        ideas: at least one.
    """
    work, lab = board.work, board.lab
    if len(ideas) < 2:
        return ideas[0]
    looks = looks_of(lab, ideas, lab.visit)
    points, rounds = [0.0] * len(ideas), board.number(search.judge.rounds)
    pairs: list[tuple[int, int]] = []
    choices: list[Answer[PairChoice]] = []

    def pose(seat: int, judge: str) -> Answer[PairChoice]:
        first, second = (ideas[place] for place in pairs[seat])
        shown = tuple(looks[place] for place in pairs[seat]) if looks else None
        slots = {"first": first, "second": second, "looks": shown}
        return work.pose(judge, "pair", PairChoice, "vote", seat=seat, **slots)

    for number in range(1, rounds + 1):
        yield from work.call_meeting()
        if number > 1:
            points = award_points(points, pairs, [choice.read() for choice in choices])
        with (yield from work.convene(search.judge.meeting, number, rounds)):
            pairs = pair_by_points(points, lab.rng("tournament", lab.visit, number))
            choices = yield from lab.ask_each([work.team.leader] * len(pairs), pose)
    end = partial(best_of_pairs, tuple(points), tuple(pairs))
    return lab.later(end, tuple(choices), tuple(ideas))


def best_of_pairs(
    points: tuple[float, ...], pairs: Pairs, choices: tuple[PairChoice, ...], ideas: tuple[Any, ...]
) -> Any:
    """The idea with most points after the last round; ``points`` are those before it.

    Of equal ones the earliest.
    """
    return best_of(ideas, award_points(points, pairs, choices))


class EloSearch:
    """Hypotheses of one team in the order of being put forward, their reviews and their matches."""

    def __init__(self, board: Board, search: Search) -> None:
        self.board, self.work, self.lab, self.search = board, board.work, board.lab, search
        self.leader = board.work.team.leader
        self.k = float(board.number(search.judge.k))
        self.debate = int(board.number(search.judge.debate))
        self.ideas: list[Answer[CandidateIdea]] = []
        self.looks: list[Answer[float]] = []
        self.units: list[FloatArray] = []
        self.reviews: list[Answer[DeepReview]] = []
        self.matches: list[Match] = []
        self.pairs: list[tuple[int, int]] = []
        self.verdicts: list[Answer[PairChoice]] = []
        self.heard: list[tuple[tuple[int, int], Answer[PairChoice]]] = []
        self.lessons: Answer[Lessons] | tuple[()] = ()
        self.removed = 0

    def settle(self) -> None:
        """Read the verdicts of the last matches; called on the date of the next meeting."""
        self.matches += scored(self.pairs, [verdict.read() for verdict in self.verdicts])
        self.pairs, self.verdicts = [], []

    def rate(self, *verdicts: PairChoice) -> list[float]:
        """Elo ratings by all matches that are decided, and by verdicts of the last pairs."""
        matches = [*self.matches, *scored(self.pairs, verdicts)]
        return elo_ratings(len(self.ideas), matches, self.k)

    def hold(self) -> Process[Answer[CandidateIdea]]:
        """Review and compare the hypotheses, learn from both, and make further ones of the best."""
        lab, expand = self.lab, self.search.expand
        rounds = 1 if expand is None else int(self.board.number(expand.rounds))
        new: Ideas = self.board.ideas
        for number in range(1, rounds + 1):
            known = len(self.ideas)
            if number > 1:
                new = yield from lab.stage("ideas", self._evolve(number, rounds))
            yield from lab.stage("novelty", self._review(new, number, rounds))
            yield from lab.stage("novelty", self._compete(known))
            if number < rounds:
                yield from lab.stage("novelty", self._learn(number, rounds))
        ratings = lab.later(self.rate, *self.verdicts)
        self.work.team.notes["duplicates_removed"] = self.removed
        self.work.team.notes["elo_ratings"] = ratings
        return lab.later(best_rated, ratings, tuple(self.ideas))

    def _evolve(self, number: int, rounds: int) -> Process[list[Answer[CandidateIdea]]]:
        """Further hypotheses from the best rated ones, which stay as they are."""
        expand = self.search.expand
        assert expand is not None  # noqa: S101 - there is one round without it
        yield from self.work.call_meeting()
        self.settle()
        best, count = rank(self.rate()), int(self.board.number(expand.count))
        ways = list(expand.ways)
        with (yield from self.work.convene("evolution of hypotheses", number, rounds)):
            made = []
            for seat in range(count):
                way = ways[((number - 2) * count + seat) % len(ways)]
                parents = best[: expand.ways[way]]
                ideas = tuple(self.ideas[place] for place in parents)
                slots: dict[str, Any] = {
                    "previous": ideas[0],
                    "others": ideas,
                    "reviews": tuple(self.reviews[place] for place in parents),
                    "lessons": self.lessons,
                }
                near = self.lab.later(papers_of_ideas, *ideas)
                one = [self.leader]
                made.append(
                    self.work.propose(one, near, page="evolution", seat=seat, way=way, **slots)
                )
            return [idea for (idea,) in (yield from self.lab.together(*made))]

    def _review(self, new: Ideas, number: int, rounds: int) -> Process[None]:
        """Take in the hypotheses that are like no earlier one, and review them."""
        vectors = [self.lab.library.embed(idea) for idea in new]
        yield from self.work.call_meeting()
        units = [*self.units, *(unit_vector(vector.read()) for vector in vectors)]
        old, threshold = len(self.ideas), self.board.number(self.search.distinct)
        kept = [place for place in distinct_places(units, threshold) if place >= old]
        self.removed += len(new) - len(kept)
        self.units += [units[place] for place in kept]
        self.ideas += [new[place - old] for place in kept]
        self.looks += looks_of(self.lab, self.ideas[old:], old)
        with (yield from self.work.convene("review of hypotheses", number, rounds)):

            def pose(seat: int, who: str) -> Answer[DeepReview]:
                slots = {"idea": self.ideas[old + seat], "lessons": self.lessons}
                return self.work.pose(who, "reflection", DeepReview, "critique", seat=seat, **slots)

            self.reviews += yield from self.lab.ask_each([self.leader] * len(kept), pose)

    def _compete(self, known: int) -> Process[None]:
        """Rounds of matches, in which each hypothesis after those that were known plays once."""
        rounds = int(self.board.number(self.search.judge.rounds))
        self.heard = []
        for number in range(1, rounds + 1):
            yield from self.work.call_meeting()
            self.settle()
            with (yield from self.work.convene(self.search.judge.meeting, number, rounds)):
                new, likeness = range(known, len(self.ideas)), likeness_of(self.units)
                ratings = self.rate()
                pairs = pair_by_rating(ratings, self.matches, likeness, new)
                rng = self.lab.rng("tournament", self.lab.visit, number)
                # Who stands first is drawn: a judge may prefer a place.
                self.pairs = [
                    pair[::-1] if turned else pair
                    for pair, turned in zip(pairs, rng.random(len(pairs)) < 0.5, strict=True)
                ]
                pose = partial(self._pose_match, ratings)
                self.verdicts = yield from self.lab.ask_each([self.leader] * len(pairs), pose)
                self.heard += zip(self.pairs, self.verdicts, strict=True)

    def _pose_match(self, ratings: list[float], seat: int, judge: str) -> Answer[PairChoice]:
        """Ask which of two is better: after a debate if both have won more than they lost."""
        first, second = self.pairs[seat]
        top = min(ratings[first], ratings[second]) > START
        return self.work.pose(
            judge,
            "match",
            PairChoice,
            "vote",
            seat=seat,
            first=self.ideas[first],
            second=self.ideas[second],
            reviews=(self.reviews[first], self.reviews[second]),
            turns=self.debate if top else 1,
            lessons=self.lessons,
            looks=(self.looks[first], self.looks[second]) if self.looks else None,
        )

    def _learn(self, number: int, rounds: int) -> Process[None]:
        """The meta-review: what recurs in all reviews and in the verdicts of this round."""
        with (yield from self.work.hold_round("meta-review", number, rounds - 1)):
            self.lessons = yield from self.work.ask(
                self.leader,
                "lessons",
                Lessons,
                reviews=tuple(self.reviews),
                verdicts=tuple(verdict for _, verdict in self.heard),
                firsts=tuple(self.ideas[first] for (first, _), _ in self.heard),
                seconds=tuple(self.ideas[second] for (_, second), _ in self.heard),
            )


def best_rated(ratings: list[float], ideas: tuple[CandidateIdea, ...]) -> CandidateIdea:
    """The hypothesis with the highest rating; of equal ones the earliest."""
    return ideas[rank(ratings)[0]]
