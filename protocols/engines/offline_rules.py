"""The rules by which the offline scientist answers the forms of the research systems.

No rule looks for quality: they go by distances of papers, nearness of interests, and chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from virsci_society.agents.offline.abstracts import AbstractText, SentenceWriter
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.question_context import Asked, Rule, list_terms, missed, rating
from virsci_society.agents.offline.text import (
    NEUTRAL,
    as_sentence,
    capitalise,
    exclude_terms,
    finite_number,
    gumbel_noise,
    join_list,
    paper_terms,
    sigmoid,
    split_terms,
    truncate_words,
    unique_terms,
    utterance_terms,
    with_article,
)
from virsci_society.agents.prompts.slots import paper_key
from virsci_society.agents.replies.form import Form
from virsci_society.protocols.engines import forms
from virsci_society.protocols.engines.forms import BEST_OF_PART, BEST_OF_STEP
from virsci_society.protocols.offline_rules import (
    count_support,
    criticise_idea,
    make_remark,
    mean_distance,
    propose_idea,
)

QUERIES = 3
"""Queries that are put at most."""
NOTED = 4
"""Papers whose terms are noted at most."""
CITED = 3
"""Papers that a proposal cites at most."""
SECTIONS = {
    "Problem Statement": ("introduction", 3),
    "Motivation and Hypothesis": ("objective", 2),
    "Proposed Method": ("methods", 5),
}
"""The first parts of a proposal: of which part of an abstract their sentences are, how many."""
TITLE_WORDS = 15
"""Most words of the title of a step, as its form asks."""
_STEP = {"problem": "introduction", "experiment": "results"}


def refine_idea(asked: Asked) -> dict[str, Any]:
    """An idea as in a turn of idea generation; it is finished with a fixed probability."""
    reply, done = propose_idea(asked), asked.chance(RULES.reflection_done)
    return {**reply, "Done": done} if asked.slots.get("ends") else reply


def work_out_idea(asked: Asked) -> dict[str, Any]:
    """A refined idea, and its title as what to search for."""
    reply = refine_idea(asked)
    return {**reply, "Search": reply["Title"]} if asked.slots.get("searching") else reply


def write_seeds(asked: Asked) -> dict[str, Any]:
    """As many ideas as are asked for, each as in a turn of idea generation."""
    ideas = [propose_idea(asked) for _ in range(max(1, int(asked.count("count"))))]
    return {
        "Seeds": [{name: idea[name] for name in ("Title", "Idea", "Experiment")} for idea in ideas]
    }


def _subject_terms(asked: Asked) -> tuple[str, ...]:
    """Terms of the idea at hand, or else of the topic."""
    return split_terms(asked.idea_title or asked.text("topic"))


def choose_queries(asked: Asked) -> dict[str, Any]:
    """Queries: each term of the subject, beside an own interest."""
    terms = _subject_terms(asked) or [asked.pick(NEUTRAL)]
    own = asked.draw_interest(" ".join(terms))
    queries = [f"{term} {own}" for term in exclude_terms(terms, [own])[:QUERIES]] or [own]
    reason = f"What is known about {list_terms(terms[:2])} has to be looked up"
    return {"Reason": as_sentence(reason), "Queries": queries}


def take_notes(asked: Asked) -> dict[str, Any]:
    """Notes: the terms of the first papers, and an own interest that they do not name."""
    terms = unique_terms(_first_terms(asked.all("references")[:NOTED]))
    own = asked.draw_interest(asked.text("topic"))
    left = exclude_terms(terms, [own])
    if not left:
        return {"Findings": asked.say("opening", x=own), "Directions": "Everything is open."}
    named = join_list(f'"{term}"' for term in left)
    direction = asked.say("grounds", r=left[0], a=own)
    return {"Findings": as_sentence(f"The papers deal with {named}"), "Directions": direction}


def _first_terms(papers: Iterable[Any]) -> list[str]:
    return [term for paper in papers for term in paper_terms(paper)[:1]]


def contribute(asked: Asked) -> dict[str, Any]:
    """A contribution: a remark as in the search for a topic, and its direction as a query."""
    heard = {**asked.slots, "start": asked.text("topic"), "outsiders": ()}
    remark = make_remark(Asked(heard, asked.rng))
    reply = {"Response": remark["Response"], "Point": remark["Direction"]}
    return {**reply, "Search": remark["Direction"]} if asked.slots.get("searching") else reply


def judge_novelty(asked: Asked) -> dict[str, Any]:
    """Novel the likelier, the farther the nearest paper is; undecided before any search."""
    distances = [finite_number(paper.distance) for paper in asked.all("references")]
    far = min(distances, default=RULES.distance_middle)
    novel = asked.chance(sigmoid(RULES.distance_slope * (far - RULES.distance_middle)))
    again = asked.chance(RULES.search_again) or not asked.all("found")
    reason = as_sentence(f"The nearest paper lies at a distance of {far:.2f}")
    decision = "novel" if novel else "not novel"
    if asked.slots.get("final"):
        return {"Reason": reason, "Decision": decision}
    query = choose_queries(asked)["Queries"][0]
    return {"Reason": reason, "Decision": "search again" if again else decision, "Query": query}


def _distance(candidate: Any) -> float:
    """Mean distance of the papers near an idea; the middle where there are none."""
    far = mean_distance(getattr(candidate, "references", None) or ())
    return RULES.distance_middle if far is None else far


def score_idea(asked: Asked) -> dict[str, Any]:
    """A score that rises with the mean distance of the papers near the idea."""
    far = _distance(asked.slots.get("idea"))
    rise = sigmoid(RULES.distance_slope * (far - RULES.distance_middle))
    noise = RULES.rating_noise * float(asked.rng.standard_normal())
    score = RULES.novelty_low + RULES.novelty_span * rise + noise
    reason = as_sentence(f"Its papers are {rise:.0%} of the way to being far")
    return {"Reason": reason, "Score": rating(score)}


def choose_of_pair(asked: Asked) -> dict[str, Any]:
    """The idea that looks better, or else whose papers are farther, with noise as on a ballot."""
    if looks := asked.all("looks"):
        better = "A" if looks[0] >= looks[1] else "B"
        reply = {"Reason": f"Idea {better} looks better.", "Better": better}
        return reply if asked.count("turns") <= 1 else {"Debate": [reply["Reason"]], **reply}
    first, second = (
        _distance(asked.slots.get(name)) + gumbel_noise(asked.rng, RULES.ballot_noise)
        for name in ("first", "second")
    )
    better = "A" if first >= second else "B"
    reply = {"Reason": f"Idea {better} lies farther from its papers.", "Better": better}
    if asked.count("turns") <= 1:
        return reply
    return {"Debate": [f"The distances are {first:.2f} and {second:.2f}."], **reply}


def review_hypothesis(asked: Asked) -> dict[str, Any]:
    """The objection to an idea; it stands with the probability that a reflection is the last."""
    reply, stands = criticise_idea(asked), asked.chance(RULES.reflection_done)
    return {**reply, "Approve": stands} if asked.slots.get("ends") else reply


def review_deeply(asked: Asked) -> dict[str, Any]:
    """The objection to an idea, the term that it rests on, and the nearest paper's first term."""
    said = criticise_idea(asked)
    papers = getattr(asked.slots.get("idea"), "references", None) or ()
    near = _first_terms(papers[:1])
    prior_art = f"{near[0]} is known" if near else "Nothing near it is known"
    return {
        "Assumptions": said["Soundness"],
        "Novelty": as_sentence(prior_art),
        "Weakness": said["Objection"],
        "Advice": said["Advice"],
    }


def draw_lessons(asked: Asked) -> dict[str, Any]:
    """The first weakness that was named, and an own interest that the topic does not name."""
    weak = next(
        (said.weakness for said in asked.all("reviews") if said.weakness), "Nobody named any."
    )
    return {"Patterns": weak, "Advice": missed(asked, asked.text("topic"), "More detail is needed")}


def _marks(asked: Asked, names: Sequence[str], best: int) -> dict[str, float]:
    """Marks as of a manuscript, which go to 10, on a scale that goes to another best one."""
    mean = RULES.mark_base + RULES.mark_affinity * asked.affinity(asked.text("text"))
    drawn = mean + RULES.mark_noise * asked.rng.standard_normal(len(names))
    marks = [max(1.0, round(rating(float(mark)) / 10 * best, 1)) for mark in drawn]
    return dict(zip(names, marks, strict=True))


def review_step(asked: Asked) -> dict[str, Any]:
    """A score for each criterion as of a manuscript, and an interest that the step leaves out."""
    names = [str(name) for name in asked.all("criteria")] or ["Overall"]
    remark = missed(asked, asked.text("text"), "It needs more detail")
    return {"Feedback": dict.fromkeys(names, remark), "Scores": _marks(asked, names, BEST_OF_STEP)}


def review_paper(asked: Asked) -> dict[str, Any]:
    """Scores as of a manuscript, an interest that the text meets, and one that it leaves out."""
    text = asked.text("text")
    near = asked.nearest(text)
    parts = _marks(asked, [str(name) for name in asked.all("criteria")], BEST_OF_PART)
    return {
        "Strengths": as_sentence(f'It bears on "{near}"' if near else "Its question is clear"),
        "Weaknesses": missed(asked, text, "It needs more detail"),
        **({"Scores": parts} if parts else {}),
        "Score": _marks(asked, ("Score",), 10)["Score"],
    }


def join_reviews(asked: Asked) -> dict[str, Any]:
    """The first strength and weakness; accepted from the mean score of accepted manuscripts on."""
    said = [review for item in asked.all("reviews") if (review := getattr(item, "reply", item))]
    scores = [finite_number(getattr(item, "score", None)) for item in said]
    mean = sum(scores) / len(scores) if scores else 0.0
    return {
        "Strengths": next((item.strengths for item in said), "Nobody named any."),
        "Weaknesses": next((item.weaknesses for item in said), "Nobody named any."),
        "Decision": "accept" if mean >= RULES.mark_accept else "reject",
    }


def write_proposal(asked: Asked) -> dict[str, Any]:
    """A proposal from the idea at hand, or from the terms most brought up in the discussion."""
    references = asked.all("references")[:CITED]
    heard = [term for term, _ in count_support(asked.all("said")).most_common(6)]
    theme = unique_terms([*_subject_terms(asked), *heard])
    own = asked.draw_interest(" ".join(theme))
    material = _material(theme, _first_terms(references), own)
    writer = _writer(asked, theme, material, own)
    parts = {name: _sentences(writer, part, most) for name, (part, most) in SECTIONS.items()}
    a, b = material[:2]
    test = asked.say("experiments", a=a, b=b, o=own)
    outcome = _sentences(writer, "results", 2)
    return {
        "Reason": as_sentence(f"The parts all speak of {list_terms((a, b))}"),
        "Title": _title(asked, a, b, own),
        **parts,
        "Experiment Plan": f"{test} {outcome}",
        "References": [paper_key(reference, n) for n, reference in enumerate(references, 1)],
    }


def write_step(asked: Asked) -> dict[str, Any]:
    """One step of a plan from the papers, the entities, earlier steps and what reviewers name."""
    topic = asked.text("topic")
    earlier = [term for item in asked.all("earlier") for term in split_terms(item.title)]
    named = [term for item in asked.all("feedback") for term in utterance_terms(item)[:1]]
    own = asked.draw_interest(topic)
    papers = _first_terms(asked.all("references")[:CITED])
    entities = [str(item) for item in asked.all("entities")[:2]]
    theme = unique_terms([*named, *earlier, *split_terms(topic)])
    material = _material(theme, [*entities, *papers], own)
    writer = _writer(asked, theme, material, own)
    text = _sentences(writer, _STEP.get(str(asked.slots.get("step", "problem")), "methods"), 3)
    a, b = material[:2]
    previous = asked.slots.get("previous")
    return {
        # Bounded: a model's own title may be long, and each version would be as long again.
        "Title": truncate_words(
            _title(asked, a, b, own) if previous is None else previous.title, TITLE_WORDS
        ),
        "Text": text,
        "Rationale": as_sentence(f"It takes up {with_article(a)}"),
    }


def _material(theme: Sequence[str], papers: Sequence[str], own: str) -> list[str]:
    """At least two terms to write about, none of them the writer's own."""
    terms = exclude_terms(unique_terms([*theme, *papers]), [own])
    return [*terms, *exclude_terms(NEUTRAL, [*terms, own])][: max(2, len(terms))]


def _writer(asked: Asked, theme: Sequence[str], material: list[str], own: str) -> SentenceWriter:
    return SentenceWriter(asked, AbstractText(), theme or material, material, [own, *material[:1]])


def _sentences(writer: SentenceWriter, part: str, most: int) -> str:
    """Sentences for one part; they are kept in the writer's text, so that none returns."""
    return " ".join([writer.add(part) for _ in range(most)])


def _title(asked: Asked, a: str, b: str, own: str) -> str:
    """The title of the idea at hand, or a new one."""
    return asked.idea_title or capitalise(asked.say("titles", a=a, b=b, o=own))


OFFLINE_RULES: dict[type[Form], Rule] = {
    forms.RefinedIdea: refine_idea,
    forms.SearchedIdea: work_out_idea,
    forms.Seeds: write_seeds,
    forms.SearchQueries: choose_queries,
    forms.ReadingNotes: take_notes,
    forms.NoveltyVerdict: judge_novelty,
    forms.IdeaScore: score_idea,
    forms.PairChoice: choose_of_pair,
    forms.Proposal: write_proposal,
    forms.Contribution: contribute,
    forms.PlanStep: write_step,
    forms.StepReview: review_step,
    forms.PaperReview: review_paper,
    forms.ChairReview: join_reviews,
    forms.HypothesisReview: review_hypothesis,
    forms.DeepReview: review_deeply,
    forms.Lessons: draw_lessons,
}
"""The rule of each form of ``forms``."""
