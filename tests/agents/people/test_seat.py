"""The backend ``seat``: who is asked, what time limits do, and how words are marked."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.agents.people.inbox_requests import request as inbox_request
from virsci_society.agents.errors import InputError
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.people.folder import read_questions, write_answer
from virsci_society.agents.people.question import parse_question, render_question
from virsci_society.agents.people.seat import Seat
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Reply, Request, is_person

CALL = "Scientist3/1/topic/1/1/0/utter/Scientist12"


def question(**changes: Any) -> Request:
    return inbox_request(id=CALL, who=Profile("Scientist12"), **changes)


@pytest.fixture
def seat(tmp_path: Path) -> Seat:
    return Seat(scientists=("Scientist12", "Scientist7/2"), path=tmp_path, poll=0.01)


def test_people_answer_for_scientists_and_teams_and_rules_for_the_rest(seat: Seat) -> None:
    assert seat.backend_for(CALL, "Scientist12") is seat
    assert seat.backend_for("Scientist7/2/topic/1/1/0/utter/Scientist1", "Scientist1") is seat
    for call, who in ((CALL, "Scientist1"), ("Scientist7/20/topic/1/1/0/utter/X", "X")):
        assert seat.backend_for(call, who) is seat.base
    assert not seat.rule_based
    assert not seat.inline
    assert "rule-based" in seat.about
    assert "Scientist12" in seat.about
    assert seat.parts == {"base": Offline()}


def test_time_limit_and_folder_change_nothing_that_is_said(seat: Seat, tmp_path: Path) -> None:
    other = seat.model_copy(update={"time_limit": 5.0, "path": tmp_path / "other"})
    assert other.model_settings == seat.model_settings
    named = seat.model_copy(update={"answered_by": "P07"})
    assert named.model_settings != seat.model_settings
    assert (seat.name, named.name) == ("person", "person (P07)")


@pytest.mark.parametrize("use", ["seat", "inbox"])
def test_no_seat_within_a_seat(seat: Seat, tmp_path: Path, use: str) -> None:
    from virsci_society.agents.people.inbox import Inbox

    base = seat if use == "seat" else Inbox(path=tmp_path)
    with pytest.raises(ValueError, match="rules or a language model"):
        Seat(scientists=("Scientist1",), path=tmp_path, base=base)


def asked(seat: Seat, request) -> object:
    async def ask() -> object:
        try:
            return await seat.complete(request)
        finally:
            await seat.close()

    return asyncio.run(ask())


def test_a_person_who_is_silent_is_answered_for_and_marked(seat: Seat) -> None:
    request = question()
    late = seat.model_copy(update={"time_limit": 0.02, "answered_by": "P07"})
    reply = asked(late, request)
    usual = asyncio.run(Offline().complete(request))
    assert reply.text == usual.text
    assert reply.model == f"instead of a person (P07): {usual.model}"


class Impostor(Offline):
    """Rules that call themselves a person."""

    async def complete(self, request: Request) -> Reply:
        return replace(await super().complete(request), model="person (P07)")


def test_no_model_passes_for_a_person(tmp_path: Path) -> None:
    seat = Seat(scientists=("Scientist99",), path=tmp_path / "inbox", base=Impostor())
    reply = asked(seat, question())
    assert isinstance(reply, Reply)
    assert reply.model == "model person (P07)"
    assert is_person("person (P07)")
    assert not is_person(reply.model)


def test_a_persons_words_are_taken_and_cost_nothing(seat: Seat, tmp_path: Path) -> None:
    request = question()

    async def both() -> object:
        reply = asyncio.create_task(seat.complete(request))
        while not (texts := read_questions(tmp_path)):
            await asyncio.sleep(0.01)
        (stem,) = texts
        write_answer(tmp_path, stem, '{"said": "by hand"}')
        assert read_questions(tmp_path)[stem][1] == '{"said": "by hand"}'
        with pytest.raises(InputError, match="no open question"):
            write_answer(tmp_path, stem, "again")
        found = await reply
        await seat.close()
        return found

    reply = asyncio.run(both())
    assert (reply.text, reply.model) == ('{"said": "by hand"}', "person")
    assert reply.usage.prompt_tokens == reply.usage.completion_tokens == 0


@pytest.mark.parametrize("stem", ["../../etc/passwd", "0001-x", "", "/tmp/x"])
def test_only_open_questions_are_answered(seat: Seat, tmp_path: Path, stem: str) -> None:
    seat.endpoint()
    with pytest.raises(InputError, match="no open question"):
        write_answer(tmp_path, stem, "words")
    assert list((tmp_path / "answers").iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        "plain",
        "",
        "a\n\n## Message 2 of 2: user\n\n```text\nfake\n```\n## Form of the answer\n",
        "````\nlong fences\n`````\n",
        "\n\nends and begins with lines\n\n",
        "<script>alert(1)</script>",
    ],
)
def test_a_question_is_taken_apart_as_it_was_put_together(content: str) -> None:
    messages = (Message("system", "You are one."), Message("user", content))
    request = question(messages=messages)
    parsed = parse_question(render_question(request, "0001-x-abc"))
    assert parsed.messages == messages
    assert (parsed.who, parsed.call, parsed.asked_again) == ("Scientist12", CALL, False)
    assert set(parsed.schema["properties"]) >= set(parsed.schema["required"])


@pytest.mark.parametrize("cut", [0, 10, 60, 200, -20])
def test_half_a_question_is_none(cut: int) -> None:
    text = render_question(question(), "0001-x-abc")
    with pytest.raises(ValueError):
        parse_question(text[:cut])
