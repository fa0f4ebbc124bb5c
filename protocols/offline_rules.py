"""The rules by which the offline scientist answers the forms that any protocol may use."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.offline.abstracts import draft_abstract
from virsci_society.agents.offline.backend import DEFAULT_ACCEPTANCE, Acceptance, InvitationFacts
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.question_context import Asked, Rule, list_terms, rating
from virsci_society.agents.offline.text import (
    FRAMES,
    NEUTRAL,
    QUOTED,
    as_sentence,
    capitalise,
    exclude_terms,
    expertise,
    fill,
    finite_number,
    frame_mark,
    full_text,
    gumbel_noise,
    headline,
    join_list,
    paper_terms,
    shared_fraction,
    sigmoid,
    split_sentences,
    split_terms,
    stems,
    title_head,
    truncate_words,
    unique_terms,
    utterance_terms,
    with_article,
)
from virsci_society.agents.prompts.slots import paper_key
from virsci_society.agents.replies.form import Form
from virsci_society.protocols import forms
from virsci_society.protocols.ideas import Ballot, Idea

_HEADLINE = 20
"""Words of a direction or title that a summary repeats; those made of frames are shorter."""
_CONTEXT_HEARD = 600
"""Characters at the end of a context in which a guest looks for what it is asked about."""


def acceptance_probability(asked: Asked) -> float:
    """The probability, 0 to 1, that an invitation is accepted, by the acceptance rule."""
    rule: Acceptance = asked.slots.get("acceptance", DEFAULT_ACCEPTANCE)
    probability = rule.probability(
        InvitationFacts(
            load=asked.count("load"),
            joint_papers=asked.count("ties"),
            similarity=asked.number("similarity"),
            inviter=asked.slots.get("inviter"),
            invitee=asked.me,
        )
    )
    if not 0.0 <= probability <= 1.0:
        raise ProtocolError(
            f"{type(rule).__name__}.probability gave {probability!r}, expected 0 to 1"
        )
    return probability


def answer_invitation(asked: Asked) -> dict[str, Any]:
    """Accept an invitation with the probability of the acceptance rule, or decline."""
    accepted = asked.chance(acceptance_probability(asked))
    load = int(asked.count("load"))
    inviter_terms = {term.casefold() for term in expertise(asked.slots.get("inviter"))}
    shared = [term for term in asked.terms if term.casefold() in inviter_terms][:2]
    if accepted:
        why = (
            f"We both work on {list_terms(shared)}" if shared else "The team would broaden my work"
        )
        if asked.number("ties") > 0:
            why += ", and we have published together before"
        return {"Selected Action": "join", "Reasoning": as_sentence(why + ", so I join")}
    if load > 0:
        teams = "another team" if load == 1 else f"{load} other teams"
        why = f"I already work in {teams} and could not give this one its due"
    elif shared:
        why = "The theme is close to mine, but the time does not suit me"
    else:
        why = "The theme lies too far from my own work"
    return {"Selected Action": "decline", "Reasoning": as_sentence(why)}


def cast_ballot(asked: Asked) -> dict[str, Any]:
    """Vote for the idea that looks best, or else whose references are farthest, with noise."""
    ideas = asked.all("ideas")[:3]
    if not ideas:
        return {"Reason": "No other idea is shown.", "Decision Made": "Idea 0"}
    reply: dict[str, Any] = {}
    if "comparisons" in asked.extras:
        reply["Comparisons"] = [_comparison(index, idea) for index, idea in enumerate(ideas)]
    if looks := asked.all("looks"):
        best = looks.index(max(looks))
        return {**reply, "Reason": "It looks best.", "Decision Made": f"Idea {best}"}
    means = [mean_distance(getattr(idea, "references", ()) or ()) for idea in ideas]
    measured = [mean for mean in means if mean is not None]
    if not measured:
        reason = "No papers are shown, so chance decides."
        best = asked.pick(range(len(ideas)))
    else:
        reason = "Its papers lie farthest from it, as far as distances tell."
        middle = math.fsum(measured) / len(measured)
        scores = [
            (middle if mean is None else mean) + gumbel_noise(asked.rng, RULES.ballot_noise)
            for mean in means
        ]
        best = max(range(len(scores)), key=scores.__getitem__)
    return {**reply, "Reason": reason, "Decision Made": f"Idea {best}"}


def _comparison(place: int, idea: Any) -> dict[str, str]:
    """The idea's nearest paper, and a concept of the idea that the paper's title does not hold."""
    row = {"Idea": f"Idea {place}", "Nearest": "none", "Difference": "No papers are shown."}
    papers = getattr(idea, "references", ()) or ()
    if not papers:
        return row
    near = min(range(len(papers)), key=lambda i: finite_number(papers[i].distance))
    title = str(papers[near].title)
    terms = split_terms(str(getattr(idea.idea, "title", "")))
    new = next((term for term in terms if term.casefold() not in title.casefold()), "")
    named = f"The paper's title does not name {with_article(new)}" if new else ""
    difference = as_sentence(named or "The titles name the same")
    return {**row, "Nearest": paper_key(papers[near], near + 1), "Difference": difference}


def mean_distance(references: Sequence[Any]) -> float | None:
    """Mean distance of the references; None if there are none."""
    if not references:
        return None
    return math.fsum(finite_number(r.distance) for r in references) / len(references)


def settledness(progress: Sequence[Any]) -> float:
    """How far the outcome of a turn has settled, from 0 (open) to 1 (settled)."""
    choices = [item.choice for item in progress if isinstance(getattr(item, "choice", None), int)]
    votes = [choice for choice in choices if choice >= 0]
    if votes:
        top = Counter(votes).most_common(1)[0][1] / len(votes)
        return max(0.0, (top - 1.0 / 3.0) * 1.5)
    if any(hasattr(item, "abstract") for item in progress):
        return RULES.another_unknown
    parts = [part for item in progress for part in QUOTED.findall(full_text(item))]
    counts = Counter(term.casefold() for part in parts for term in split_terms(part))
    if not counts:
        return RULES.another_unknown
    return sum(n for n in counts.values() if n > 1) / counts.total()


def decide_another_turn(asked: Asked) -> dict[str, Any]:
    """Stop the likelier, the more the outcome has settled; stop where no turn is left."""
    if asked.number("turns_left", 1.0) < 1.0:
        return {"Reason": "No round is left.", "Another Turn": False}
    settled = settledness(asked.all("progress"))
    odds = (
        RULES.another_base
        - RULES.another_turn * asked.number("turn", 1.0)
        - RULES.another_settled * settled
    )
    reason = f"Of what was put forward, {settled:.0%} was named more than once."
    return {"Reason": reason, "Another Turn": asked.chance(sigmoid(odds))}


def make_remark(asked: Asked) -> dict[str, Any]:
    """One turn of the topic discussion: take a term up, bring one in, propose a direction."""
    own = asked.draw_interest(asked.talk)
    other = _taken_up(asked, own)
    lines: list[str] = []
    side = _side_remark(asked, own)
    if side is not None:
        lines.append(side[1])
        other = other or side[0]
    elif other is not None:
        lines.append(asked.say("later" if asked.heard else "opening", x=other))
    if other is None:
        other = next(iter(exclude_terms(asked.terms, [own])), None)
        lines.append(asked.say("opening", x=own))
    direction = with_article(own) if other is None else asked.say("directions", o=own, x=other)
    if other is not None:
        lines.append(asked.say("own", o=own))
    lines.append(asked.say("proposing", d=direction))
    return {
        "Response": " ".join(lines),
        "Direction": capitalise(direction),
        **asked.ask_outsider(asked.talk, RULES.ask_topic),
    }


def _taken_up(asked: Asked, own: str) -> str | None:
    """A term of the discussion, drawn by how often it was brought up; None if there is none."""
    start = split_terms(str(asked.slots.get("start") or ""))[:2]
    weights: Counter[str] = Counter(dict.fromkeys(start, 2))
    for item in asked.heard:
        weights.update(dict.fromkeys(utterance_terms(item)[:6], 1))
    for term in asked.guest_terms:
        weights[term] += int(RULES.take_up_guest)
    left = exclude_terms(weights, [own])
    return asked.weighted(left, [weights[term] for term in left]) if left else None


def _side_remark(asked: Asked, own: str) -> tuple[str, str] | None:
    """A term from memory or of a known scientist, and the sentence on it, if one is used."""
    memory = [term for line in asked.all("memory") for term in utterance_terms(line)[:3]]
    recalled = exclude_terms(memory, [own])
    if recalled and asked.chance(RULES.take_up_memory):
        term = asked.pick(recalled)
        return term, fill(*FRAMES["remembered"], x=term)
    person = asked.known_person(but=asked.me)
    terms = exclude_terms(expertise(person), [own])
    return (terms[0], fill(*FRAMES["known"], who=person.id, x=terms[0])) if terms else None


def answer_as_guest(asked: Asked) -> dict[str, Any]:
    """Answer as a consulted outsider: an own interest, related to a term of the asker's talk."""
    context = str(asked.slots.get("context") or "")
    own = asked.draw_interest(f"{asked.slots.get('question') or ''} {context}")
    named = [
        term
        for term in expertise(asked.slots.get("asker"))
        if term.casefold() in context.casefold()
    ]
    heard = exclude_terms([*named, *utterance_terms(_end_of(context))], [own, *asked.terms])
    if heard:
        return {"Answer": asked.say("guest", g=own, x=heard[0])}
    return {"Answer": asked.say("guest only", g=own)}


def _end_of(text: str) -> str:
    """The last sentences of a text, none of them cut."""
    kept: list[str] = []
    for line in reversed(split_sentences(text)):
        if kept and len(" ".join((line, *kept))) > _CONTEXT_HEARD:
            break
        kept.insert(0, line)
    return " ".join(kept)


def count_support(items: Sequence[Any]) -> Counter[str]:
    """Number of utterances that bring up each term, written as it was first."""
    return _count(term for item in items for term in utterance_terms(item)[:8])


def _count(texts: Iterable[str]) -> Counter[str]:
    """How often each text stands there, written as it was first; case does not matter."""
    first: dict[str, str] = {}
    return Counter(first.setdefault(text.casefold(), text) for text in texts)


def choose_topic(asked: Asked) -> dict[str, Any]:
    """Choose the topic that joins the terms with the most support."""
    counts = count_support(asked.heard)
    for term in asked.terms[:2]:
        counts.setdefault(term, 0)
    if not counts:
        counts[asked.pick(NEUTRAL)] = 0
    terms = list(counts)
    best = asked.ranked(terms, [float(counts[term]) for term in terms])[:3]
    reason = "Nothing was brought up, so the choice is the leader's own."
    if named := counts[best[0]]:
        times = "once" if named == 1 else f"{named} times"
        reason = as_sentence(f"The discussion came to {with_article(best[0])} {times}")
    text = " for ".join(map(with_article, best[:2]))
    if len(best) > 2 and counts[best[2]] > 0:
        text += f", informed by {with_article(best[2])}"
    return {"Reason": reason, "Selected Topic": capitalise(text)}


def summarise_turn(asked: Asked) -> dict[str, Any]:
    """Summarise the turn: directions or titles, the most frequent first, and what guests added."""
    said = asked.all("said")
    heads = [truncate_words(headline(item).replace('"', ""), _HEADLINE) for item in said]
    counts = _count(head for head in heads if head)
    if not counts:
        return {"Summary": "Nothing was put forward in this turn; the floor stays open."}
    headlines = [
        f'"{head}"' + (f" ({n} times)" if n > 1 else "") for head, n in counts.most_common(5)
    ]
    lines = [f"The team put forward {join_list(headlines)}"]
    added = exclude_terms(asked.guest_terms, counts)[:2]
    if added:
        lines.append("A guest pointed to " + join_list(f'"{term}"' for term in added))
    common = count_support([item for item in said if headline(item)]).most_common(1)
    if common and common[0][1] > 1:
        lines.append(f'Most of the talk turned on "{common[0][0]}"')
    return {"Summary": " ".join(map(as_sentence, lines))}


def propose_idea(asked: Asked) -> dict[str, Any]:
    """One turn of idea generation: refine the previous idea or propose a new one."""
    references = asked.all("references")
    previous = getattr(asked.slots.get("previous"), "idea", None)
    first = asked.draw_interest(asked.text("topic"))
    own = [first, *exclude_terms(asked.terms, [first])]
    near = 0.0 if previous is None else asked.affinity(full_text(previous))
    odds = RULES.refine_base + RULES.refine_affinity * near
    if previous is not None and asked.chance(sigmoid(odds)):
        sketch = _refined(asked, previous, references, own)
    else:
        sketch = _proposed(asked, references, own)
    others = list_terms(exclude_terms(sketch.concepts, [sketch.own])[:2])
    reply: dict[str, Any] = {
        "Reason": as_sentence(f"It brings {with_article(sketch.own)} to {others}"),
        "Idea": sketch.idea,
        "Title": sketch.title,
        "Experiment": sketch.experiment,
        **_ratings(asked, sketch, references),
        "Uses": [paper_key(references[i], i + 1) for i in sketch.used],
    }
    if "gist" in asked.extras:
        reply["In Short"] = " ".join(split_sentences(sketch.idea)[:2])
    if "marks" in asked.extras and previous is not None:
        reply |= _judgement(previous, references)
    return reply | asked.ask_outsider(f"{asked.talk} {sketch.title}", RULES.ask_idea)


@dataclass(frozen=True, slots=True)
class _Sketch:
    """An idea before it is rated; ``own`` is the speaker's term among ``concepts``."""

    title: str
    idea: str
    experiment: str
    used: tuple[int, ...]
    concepts: tuple[str, ...]
    own: str


def _proposed(asked: Asked, references: Sequence[Any], own: Sequence[str]) -> _Sketch:
    used = _choose_references(asked, references, 2 + int(asked.rng.random() * 2))
    material = exclude_terms(_material(asked, references, used), own[:1])
    material += exclude_terms(own[1:], material)
    material += exclude_terms(NEUTRAL, [*material, *own])
    a, b, r = material[:3]
    o = own[0]
    lines = [asked.say("cores", a=a, b=b, o=o)]
    if used:
        lines.append(asked.say("grounds", r=r, a=a))
    # The frame is drawn before the term that stands in it.
    frame = asked.pick(FRAMES["supports"])
    lines.append(fill(frame, o=asked.pick(own[:2])))
    title = asked.say("titles", a=a, b=b, o=o)
    test = asked.say("experiments", a=a, b=b, o=o)
    concepts = (a, b, o, r) if used else (a, b, o)
    return _Sketch(capitalise(title), " ".join(lines), test, used, concepts, o)


def _refined(asked: Asked, previous: Any, references: Sequence[Any], own: Sequence[str]) -> _Sketch:
    used = _choose_references(asked, references, 1 + int(asked.rng.random() * 2))
    before = str(previous.idea)
    present = split_terms(str(previous.title))
    o = next((term for term in own if term.casefold() not in before.casefold()), own[0])
    material = exclude_terms(_material(asked, references, used), [o])
    x = (material or exclude_terms(present, [o]) or exclude_terms(NEUTRAL, [o]))[0]
    kept = split_sentences(before)
    lines = [truncate_words(line, 45) for line in kept[:2] + kept[2:][-1:]]
    used_before = [frame_mark(line) for line in lines]
    fresh = [frame for frame in FRAMES["additions"] if frame_mark(frame) not in used_before]
    lines.append(fill(asked.pick(fresh), o=o, x=x))
    a = (exclude_terms(present, [o, x]) or exclude_terms(NEUTRAL, [o, x]))[0]
    return _Sketch(
        capitalise(f"{title_head(str(previous.title))} with {with_article(o)}"),
        " ".join(map(as_sentence, lines)),
        asked.say("experiments", a=a, b=x, o=o),
        used,
        unique_terms([*present[:3], o, x]),
        o,
    )


def _choose_references(asked: Asked, references: Sequence[Any], most: int) -> tuple[int, ...]:
    """Indices of the references to build on: near the query, near the speaker, by chance."""
    scored = []
    for i, paper in enumerate(references):
        near = asked.affinity(f"{paper.title} {' '.join(paper.keywords)}")
        score = RULES.reference_affinity * near - RULES.reference_rank * i
        scored.append((-(score + gumbel_noise(asked.rng, RULES.reference_noise)), i))
    return tuple(sorted(i for _, i in sorted(scored)[:most]))


def _material(asked: Asked, references: Sequence[Any], used: Sequence[int]) -> list[str]:
    """What guests, memory and known scientists add, then terms of the references and the topic."""
    lists = [paper_terms(references[i]) for i in used]
    terms: list[str] = []
    heard, memory = asked.guest_terms, asked.all("memory")
    if heard and asked.chance(RULES.guest_in_idea):
        terms.append(heard[0])
    if memory and asked.chance(RULES.take_up_memory):
        terms.extend(utterance_terms(asked.pick(memory))[:1])
    terms.extend(expertise(asked.known_person())[:1])
    for items in filter(None, lists):
        terms.append(items[min(int(asked.rng.random() * 3), len(items) - 1)])
    theme = split_terms(asked.text("topic"))
    at = min(int(asked.rng.random() * 2), len(terms))
    terms[at:at] = theme[:1]
    return list(unique_terms([*terms, *(term for items in lists for term in items[:2]), *theme]))


def _ratings(asked: Asked, sketch: _Sketch, references: Sequence[Any]) -> dict[str, float]:
    """Clarity, feasibility and novelty from measured distances and counted concepts."""
    nearest = sorted(max(0.0, finite_number(paper.distance)) for paper in references)[:3]
    far = math.fsum(nearest) / len(nearest) if nearest else RULES.distance_middle
    rise = sigmoid(RULES.distance_slope * (far - RULES.distance_middle))
    extra = max(0, len(sketch.concepts) - 2)
    read = stems(" ".join(str(references[i].title) for i in sketch.used))
    reach = 1.0 - shared_fraction(stems(" ".join(sketch.concepts)), read) if read else 0.5
    means = {
        "Clarity": RULES.clear_high - RULES.clear_concept * extra,
        "Feasibility": RULES.feasible_high
        - RULES.feasible_span * rise
        - RULES.feasible_concept * extra,
        "Novelty": RULES.novelty_low
        + RULES.novelty_span * rise
        + RULES.novelty_reach * (reach - 0.5),
    }
    noise = asked.rng.standard_normal(3) * RULES.rating_noise
    return {
        name: rating(mean + float(n)) for (name, mean), n in zip(means.items(), noise, strict=True)
    }


def _judgement(previous: Any, references: Sequence[Any]) -> dict[str, Any]:
    """What the speaker says of the idea on the table: an objection and marks, without chance."""
    concepts = split_terms(str(previous.title))
    read = stems(" ".join(str(paper.title) for paper in references))
    overlap = shared_fraction(stems(" ".join(concepts)), read) if read else 0.5
    marks = {
        "Clarity": RULES.clear_high - RULES.clear_concept * max(0, len(concepts) - 2),
        "Feasibility": RULES.feasible_high - RULES.feasible_concept * len(concepts),
        "Novelty": RULES.novelty_low + RULES.novelty_span * (1.0 - overlap),
    }
    rated = {name: rating(mark) for name, mark in marks.items()}
    return {"Objection": _objection(concepts), "Marks": rated}


def _objection(concepts: Sequence[str]) -> str:
    if not concepts:
        return "It does not say what would count against it."
    last = with_article(concepts[-1])
    return as_sentence(f"It does not say what could be measured to show the gain from {last}")


def criticise_idea(asked: Asked) -> dict[str, Any]:
    """The objection to the chosen idea: its last concept is the weakest; nothing is drawn."""
    concepts = split_terms(asked.idea_title)
    weakest = with_article(concepts[-1]) if concepts else "the outcome"
    return {
        "Soundness": as_sentence(f"The step that rests on {weakest} is the weakest"),
        "Objection": _objection(concepts),
        "Advice": as_sentence(f"State which result would show that nothing is gained by {weakest}"),
    }


OFFLINE_RULES: dict[type[Form], Rule] = {
    forms.Choice: answer_invitation,
    forms.Remark: make_remark,
    forms.GuestReply: answer_as_guest,
    forms.Summary: summarise_turn,
    forms.AnotherTurn: decide_another_turn,
    forms.Topic: choose_topic,
    forms.Critique: criticise_idea,
    forms.Draft: draft_abstract,
    Idea: propose_idea,
    Ballot: cast_ballot,
}
"""The rule of each form of ``forms`` and ``ideas``."""
