"""A rehearsal: rule-based scientists with a model's manner."""

import asyncio
import json
from dataclasses import replace

import pytest

from virsci_society.agents.backends.model_mimic import (
    Leaning,
    MimicSettings,
    ModelMimic,
    iterate_texts,
    scale_texts,
    traits,
)
from virsci_society.agents.errors import Filtered, ReplyError
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.journal.records import CallOutcome
from virsci_society.agents.offline.backend import answer_offline
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Reply, Request, Usage
from virsci_society.agents.replies.parser import read_reply
from virsci_society.protocols.forms import Choice, Draft, Question, Remark
from virsci_society.protocols.ideas import Ballot
from virsci_society.protocols.virsci.forms import Agreement

ADA = Profile("Scientist1", ("X",), ("graphs", "proteins"), 4, 9)
BEN = Profile("Scientist2", ("Y",), ("graphs", "maps"), 14, 90)
INVITED = {"inviter": BEN, "members": (BEN,), "load": 0, "ties": 1, "similarity": 0.5}
SPEAKING = {"members": (ADA, BEN), "role": "leader", "summaries": (), "said": (), "start": ""}


class Model(Backend):
    """A backend that is never asked."""

    limit: int = 0

    @property
    def model_settings(self):
        return "a model"

    @property
    def max_prompt_characters(self):
        return 900

    @property
    def max_reply_tokens(self):
        return self.limit


def request(number=0, form=Choice, slots=INVITED, **changes):
    plain = Request(
        f"t/selection/1/0/{number}/invite/{number}",
        ADA,
        (Message("system", "You."), Message("user", "Do you join? " * 20)),
        form,
        slots,
        seed=number,
    )
    return replace(plain, **changes)


def said(request, salt=0, limit=0, **manner):
    backend = ModelMimic(imitated=Model(limit=limit), settings=MimicSettings(**manner), salt=salt)
    return asyncio.run(backend.complete(request))


def test_without_a_manner_of_its_own_it_is_the_offline_scientist():
    for number in range(20):
        reply, offline = said(request(number)), answer_offline(request(number))
        assert reply.text == offline.text
        assert reply.usage.completion_tokens == offline.usage.completion_tokens


def test_it_stands_in_the_place_of_its_backend():
    rehearsal = ModelMimic(imitated=Model())
    assert (rehearsal.model_settings, rehearsal.max_prompt_characters, rehearsal.inline) == (
        "a model",
        900,
        True,
    )


@pytest.mark.parametrize("times", [0.5, 2.0, 3.3])
def test_texts_become_so_many_times_as_long_and_nothing_else_changes(times):
    slots = {**SPEAKING, "outsiders": (BEN,)}
    for number in range(60):
        plain = request(number, Remark, slots)
        before = Remark.model_validate_json(answer_offline(plain).text)
        after = Remark.model_validate_json(said(plain, wordiness=times).text)
        assert len(after.response) == pytest.approx(times * len(before.response), abs=3)
        if before.ask is not None:
            assert after.ask.scientist == before.ask.scientist


def test_one_form_may_be_wordier_than_the_others():
    remark = request(1, Remark, SPEAKING)
    same = said(remark, wordiness=3.0, wordiness_of={"Remark": 1.0})
    assert same.text == answer_offline(remark).text
    assert len(said(request(1), wordiness=3.0, wordiness_of={"Remark": 1.0}).text) > len(
        answer_offline(request(1)).text
    )


def test_choices_and_numbers_stay_and_a_form_that_takes_no_more_is_left_alone():
    assert scale_texts(Ballot, '{"Decision Made": "Idea 1"}', 5.0) == '{"Decision Made": "Idea 1"}'

    class Short(Draft):
        def model_post_init(self, context):
            if len(self.title) > 40:
                raise ValueError("too long")

    text = '{"Title": "one two three four five six", "Abstract": "seven"}'
    assert scale_texts(Short, text, 1.5) != text
    assert scale_texts(Short, text, 5.0) == text


def test_texts_are_strings_of_some_words_wherever_they_stand():
    data = {"a": "one two three four five", "b": ["Idea 1", {"c": "six seven eight nine ten"}]}
    assert dict(iterate_texts(data)) == {("a",): data["a"], ("b", 1, "c"): data["b"][1]["c"]}


def accepted(reply):
    return Choice.model_validate_json(reply.text).accepted


def test_a_share_of_the_acceptances_is_kept_and_refusals_stay():
    requests = [request(number) for number in range(400)]
    before = [accepted(answer_offline(one)) for one in requests]
    leanings = {"Choice.accepted": Leaning(kept=0.5)}
    after = [accepted(said(one, leanings=leanings)) for one in requests]
    assert not any(now for was, now in zip(before, after, strict=True) if not was)
    assert sum(after) == pytest.approx(sum(before) / 2, rel=0.2)


def test_refusals_may_be_turned_and_every_reply_is_still_of_its_form():
    always = {"Choice.accepted": Leaning(kept=1.0, turned=1.0)}
    assert all(accepted(said(request(number), leanings=always)) for number in range(50))


def test_any_yes_or_no_of_a_form_can_lean():
    slots = {"topic": Question(scientist="A", question="maps of graphs")}
    never = {"Agreement.agree": Leaning(kept=0.0)}
    for number in range(50):
        reply = said(request(number, Agreement, slots), leanings=never)
        assert not Agreement.model_validate_json(reply.text).agree


def test_other_salts_draw_otherwise_and_the_same_salt_the_same():
    leanings = {"Choice.accepted": Leaning(kept=0.5)}

    def drawn(salt):
        return [said(request(n), salt, leanings=leanings).text for n in range(40)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_a_share_of_the_replies_cannot_be_read():
    unread = 0
    for number in range(300):
        try:
            read_reply(Choice, said(request(number), re_asks=0.2).text)
        except ReplyError:
            unread += 1
    assert unread == pytest.approx(60, abs=25)


def test_a_reply_that_cannot_be_read_is_drawn_anew_when_it_is_asked_again():
    again = [request(n, id=f"{request(n).id}/re-ask1", attempt=1) for n in range(100)]
    first = {n for n in range(100) if "{" not in said(request(n), re_asks=0.3).text}
    second = {n for n in range(100) if "{" not in said(again[n], re_asks=0.3).text}
    assert first
    assert second
    assert first != second


def test_prose_beside_the_form_is_a_share_of_it():
    plain = answer_offline(request(3)).text
    reply = said(request(3), around=0.5)
    assert len(reply.text) == pytest.approx(1.5 * len(plain), abs=2)
    assert read_reply(Choice, reply.text).form == Choice.model_validate_json(plain)


def test_tokens_are_counted_as_the_model_would():
    asked = request(2)
    told = sum(len(message.content) for message in asked.messages)
    reply = said(asked, prompt_tokens=0.5, overhead=7, reply_tokens=1.0)
    assert reply.usage == Usage(-(-told // 2) + 7, len(reply.text))
    assert said(asked, reply_tokens_of={"Choice": 2.0}).usage.completion_tokens == 2 * len(
        reply.text
    )
    assert said(asked, limit=5, reply_tokens=1.0).usage.completion_tokens == 5


def test_known_words_are_taken_as_they_are_and_heard_beside_the_offline_ones():
    heard, words = [], json.dumps({"Selected Action": "Action 2", "Reasoning": "no"})
    kept = CallOutcome("answer", words, "a model", Usage(11, 22, False))
    rehearsal = ModelMimic(
        imitated=Model(),
        settings=MimicSettings(re_asks=1.0),
        lookup=lambda asked: kept if asked.id.endswith("/5") else None,
        on_known=lambda *told: heard.append(told),
    )
    assert asyncio.run(rehearsal.complete(request(5))) == Reply(words, kept.usage, "a model")
    assert heard == [(request(5), kept, answer_offline(request(5)))]
    assert "{" not in asyncio.run(rehearsal.complete(request(6))).text


def test_a_known_verdict_is_given_again():
    rehearsal = ModelMimic(imitated=Model(), lookup=lambda _: CallOutcome("filtered", "taken away"))
    with pytest.raises(Filtered, match="taken away"):
        asyncio.run(rehearsal.complete(request()))


def test_traits_are_yeses_and_noes():
    text = '{"Selected Action": "Action 1"}'
    assert dict(traits(request(), text)) == {"accepted": True}
    remark = request(0, Remark, {**SPEAKING, "outsiders": (BEN,)})
    asking = '{"Response": "r", "Ask": {"Scientist": "Scientist2", "Question": "why?"}}'
    assert dict(traits(remark, asking)) == {"ask": True}
    assert dict(traits(remark, asking.replace("Scientist2", "Nobody"))) == {"ask": False}
    assert dict(traits(remark, '{"Response": "r"}')) == {"ask": False}
    assert dict(traits(remark, "no form")) == {}
