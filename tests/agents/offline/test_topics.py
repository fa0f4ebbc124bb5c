"""Topics: what is said in a topic discussion depends on who speaks and what was heard."""

from __future__ import annotations

import pytest

from tests.agents.offline.offline_examples import FIELDS, person, rng_of, slots_of_talk, team_of
from virsci_society.agents.offline.backend import answer_by_rule
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.terms import expertise, split_terms, utterance_terms
from virsci_society.agents.offline.text import count_words, split_sentences
from virsci_society.agents.profile import Profile
from virsci_society.protocols.forms import GuestReply, Remark, Summary, Topic
from virsci_society.protocols.ideas import Idea


def remark_of(me, seed=1, team=(), **more):
    return answer_by_rule(Remark, slots_of_talk(me, list(team) or [me], **more), rng_of(seed))


def directions(me, n=200, **more):
    return [remark_of(me, seed, **more).direction for seed in range(n)]


@pytest.mark.parametrize("i", range(4))
def test_a_direction_holds_an_interest_of_the_speaker(i):
    me = person(i)
    for direction in directions(me, 40, said=(Remark(response="x", direction="kelp for tides"),)):
        named = {term.casefold() for term in split_terms(direction)}
        assert named & {term.casefold() for term in expertise(me)}
        assert count_words(direction) <= 10


def test_the_main_interest_is_brought_most_often():
    said = (Remark(response="x", direction="kelp for tides"),)
    found = [split_terms(d) for d in directions(person(0), 300, said=said)]
    named = [sum(term in d for d in found) for term in expertise(person(0))]
    assert named[0] == max(named)
    assert named[0] > 1.8 * named[-1]
    assert min(named) > 0


def test_a_direction_joins_what_was_said():
    said = (Remark(response="x", direction="kelp for tides"),)
    for direction in directions(person(1), 60, said=said):
        assert {"kelp", "tides"} & {term.lower() for term in split_terms(direction)}


def test_earlier_turns_are_heard_through_their_summaries():
    summaries = (Summary(summary='The team put forward "Kelp for tides".'),)
    assert all(
        {"kelp", "tides"} & {term.lower() for term in split_terms(d)}
        for d in directions(person(1), 40, summaries=summaries)
    )


def test_the_first_speaker_joins_two_interests_of_its_own():
    me = person(2)
    for direction in directions(me, 40):
        assert len({term.casefold() for term in split_terms(direction)}) == 2


def test_a_start_is_respected():
    found = directions(person(2), 60, start="Language Model Multi-Agents")
    assert sum("language model multi-agents" in d.lower() for d in found) == 60


def test_a_start_does_not_silence_the_others():
    said = (Remark(response="x", direction="kelp for tides"),)
    found = directions(person(2), 200, start="Language Models", said=said)
    started = sum("language models" in d.lower() for d in found)
    assert 40 < started < 160


def test_memory_is_taken_up_now_and_then():
    memory = ("We once worked on coral reefs.",)
    said = (Remark(response="x", direction="kelp for tides"),)
    found = [remark_of(person(2), s, memory=memory, said=said) for s in range(400)]
    share = sum("coral reefs" in r.response for r in found) / 400
    assert share == pytest.approx(RULES.take_up_memory, abs=0.07)


def test_known_scientists_are_mentioned_by_name():
    known = (person(2), person(5))
    found = [remark_of(person(2), s, knowledge=known) for s in range(300)]
    mentioned = [r for r in found if "Scientist5" in r.response]
    assert 0.1 < len(mentioned) / 300 < 0.3
    assert not any("Scientist2 " in r.response for r in found)
    assert all("flow fields" in r.response for r in mentioned)


def test_a_scientist_without_interests_still_contributes():
    for seed in range(30):
        remark = remark_of(Profile("S"), seed)
        assert remark.response
        assert remark.direction


def test_remarks_read_as_sentences():
    team = team_of(4)
    said: tuple = ()
    for seed in range(60):
        remark = remark_of(team[seed % 4], seed, team=team, said=said)
        said = (*said[-5:], remark)
        lines = split_sentences(remark.response)
        assert 2 <= len(lines) <= 4
        for line in lines:
            assert line[0].isupper()
            assert line.endswith((".", "?"))
            assert "{" not in line
            assert "  " not in line


def test_silence_and_absent_guests_are_skipped():
    said = (Remark(response="", direction=""), None, GuestReply(answer=""))
    assert remark_of(person(1), said=said).direction


def asks(form, slots, n=600):
    return [answer_by_rule(form, slots, rng_of(seed)).ask for seed in range(n)]


def test_somebody_is_asked_at_the_stated_rate():
    slots = slots_of_talk(person(0), [person(0)], outsiders=(person(3), person(4)))
    rate = sum(ask is not None for ask in asks(Remark, slots)) / 600
    assert rate == pytest.approx(RULES.ask_topic, abs=0.05)


def test_nobody_is_asked_when_nobody_may_be():
    assert not any(asks(Remark, slots_of_talk(person(0), [person(0)]), 100))


def test_the_one_is_asked_who_knows_the_talk_and_not_the_same_as_oneself():
    said = (Remark(response="x", direction="word embeddings for named entities"),)
    twin = person(9, *FIELDS[0], "Word Embeddings")
    outsiders = (person(3), twin, person(4))
    slots = slots_of_talk(person(0), [person(0)], said=said, outsiders=outsiders)
    asked = [ask for ask in asks(Remark, slots) if ask]
    assert asked
    assert {ask.scientist for ask in asked} == {"Scientist4"}
    assert all(
        any(term in ask.question.lower() for term in ("word embeddings", "named entities"))
        for ask in asked
    )


def test_an_outsider_without_interests_can_be_asked():
    slots = slots_of_talk(person(0), [person(0)], outsiders=(Profile("Scientist77"),))
    asked = [ask for ask in asks(Remark, slots) if ask]
    assert {ask.scientist for ask in asked} == {"Scientist77"}
    assert all(ask.question.endswith("?") for ask in asked)


def answered(guest, seed=1, **more):
    slots = {
        "me": guest,
        "asker": person(0),
        "question": "How would you approach this from eye tracking?",
        "stage": "topic",
        "context": "I suggest that we start from volume rendering.",
        **more,
    }
    return answer_by_rule(GuestReply, slots, rng_of(seed)).answer


def test_a_guest_brings_in_an_interest_of_its_own():
    guest = person(3)
    for seed in range(60):
        answer = answered(guest, seed)
        assert utterance_terms(GuestReply(answer=answer))[0] in expertise(guest)
        assert answer[0].isupper()
        assert answer.endswith(".")


def test_a_guest_mostly_answers_what_was_asked():
    answers = [answered(person(3), seed) for seed in range(300)]
    assert sum("eye tracking" in answer for answer in answers) > 120


def test_a_guest_speaks_to_the_context():
    answers = [answered(person(3), seed) for seed in range(30)]
    assert all("volume rendering" in answer for answer in answers)


def test_a_guest_without_context_or_interests_still_answers():
    assert answered(Profile("S"), question="", context="", asker=Profile("T"))


def test_later_speakers_take_up_what_a_guest_said():
    without = (Remark(response="x", direction="kelp for tides"),)
    reply = GuestReply(answer=answered(person(3), 4))
    own = utterance_terms(reply)[0]
    taken = [own in d.lower() for d in directions(person(1), 200, said=(*without, reply))]
    assert sum(taken) > 80
    assert not any(own in d.lower() for d in directions(person(1), 200, said=without))


def test_the_summary_passes_on_what_a_guest_said():
    reply = GuestReply(answer=answered(person(3), 4))
    slots = {"me": person(0), "stage": "topic"}
    said = (Remark(response="x", direction="kelp for tides"), reply)
    summary = answer_by_rule(Summary, {**slots, "said": said}, rng_of())
    assert utterance_terms(reply)[0] in summary.summary
    found = directions(person(1), 200, summaries=(summary,))
    assert any(utterance_terms(reply)[0] in d.lower() for d in found)


def summed(*said):
    return answer_by_rule(
        Summary, {"me": person(0), "stage": "topic", "said": said}, rng_of()
    ).summary


def test_a_summary_names_directions_most_frequent_first():
    a, b = (Remark(response="x", direction=d) for d in ("maps for text", "kelp for tides"))
    text = summed(a, b, b)
    assert text.index("kelp for tides") < text.index("maps for text")
    assert "(2 times)" in text


def test_a_summary_names_titles_of_ideas():
    idea = Idea(idea="i", title="Kelp maps", clarity=5, feasibility=5, novelty=5)
    assert '"Kelp maps"' in summed(idea)


def test_a_summary_is_short_whatever_was_said():
    words = [" ".join(f"w{i}{j}" for j in range(30)) for i in range(9)]
    long = [Remark(response="x", direction=direction) for direction in words]
    assert count_words(summed(*long)) < 120


def test_a_summary_of_silence_is_not_empty():
    assert summed()
    assert summed(Remark(response="", direction=""))


def test_quotes_inside_a_direction_do_not_break_the_summary():
    text = summed(Remark(response="x", direction='the "best" maps'))
    assert text.count('"') == 2


def chosen(*said, me=None, summaries=(), seed=1):
    slots = {"me": me or person(0), "said": said, "summaries": summaries}
    return answer_by_rule(Topic, slots, rng_of(seed)).topic


def test_the_topic_joins_what_had_most_support():
    said = [
        Remark(response="x", direction="kelp for tides"),
        Remark(response="x", direction="kelp for maps"),
        Remark(response="x", direction="tides for text"),
    ]
    for seed in range(20):
        topic = chosen(*said, seed=seed)
        assert {"kelp", "tides"} <= {term.lower() for term in split_terms(topic)}
        assert 2 <= len(split_terms(topic)) <= 3


def test_ties_are_broken_by_chance():
    said = [Remark(response="x", direction=f"{a} for {b}") for a, b in ("kl", "mn", "op")]
    assert len({chosen(*said, seed=seed) for seed in range(30)}) > 5


def test_a_leader_alone_falls_back_on_its_own_interests():
    assert "olume rendering" in chosen()
    assert chosen(me=Profile("S"))
    assert chosen(me=person(0, "Kelp")) == "Kelp"


def test_the_topic_depends_on_who_is_in_the_team():
    def topic_of(team, seed):
        said: tuple = ()
        for seat, me in enumerate(team):
            said = (*said, remark_of(me, 10 * seed + seat, team=team, said=said))
        return chosen(*said, me=team[0], seed=seed)

    for seed in range(10):
        first, second = (
            topic_of(team_of(4), seed),
            topic_of([person(i) for i in (4, 5, 6, 7)], seed),
        )
        assert not set(split_terms(first)) & set(split_terms(second))
