"""The backend behind the gateway: slow people, refused files, deadlines, and what is told."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.agents.people.colleague import Colleague
from tests.agents.people.inbox_requests import Judgement, request
from virsci_society.agents.backends.hybrid import Hybrid
from virsci_society.agents.errors import Fault, InputError, Stopped
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.gateway.retry import Retry
from virsci_society.agents.people.inbox import Inbox
from virsci_society.agents.prompts.request import Message, Reply

WORDS = json.dumps({"Why": "It is new.", "Verdict": "take"})


def inbox(tmp_path: Path, **settings) -> Inbox:
    return Inbox(path=tmp_path / "inbox", poll=0.01, **settings)


async def until(condition) -> None:
    """Wait for a condition, a minute at most."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


def asked(backend: Inbox, *requests, **settings) -> list[Reply]:
    """Replies through a gateway of its own."""

    async def ask() -> list[Reply]:
        gateway = Gateway(backend, 8, **settings)
        try:
            return list(await asyncio.gather(*map(gateway.complete, requests)))
        finally:
            await gateway.close()

    return asyncio.run(ask())


def test_an_answer_comes_back_with_estimated_tokens_and_without_a_price(tmp_path) -> None:
    backend = inbox(tmp_path, answered_by="Kim")
    with Colleague(backend.path, lambda text: WORDS):
        (reply,) = asked(backend, request())
    assert reply.text == WORDS
    assert reply.model == "Kim"
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (8, 10)
    assert reply.usage.estimated
    assert backend.price(reply.usage) == 0.0


def test_as_many_questions_stand_open_at_once_as_there_are_slots(tmp_path) -> None:
    backend = inbox(tmp_path)
    requests = [request(id=f"Scientist1/1/topic/1/1/{n}/utter/X") for n in range(20)]

    async def ask() -> tuple[int, list[str]]:
        gateway = Gateway(backend, 8)
        tasks = [asyncio.create_task(gateway.complete(one)) for one in requests]
        await until(lambda: "8 questions wait" in gateway.status_line())
        begun = len(os.listdir(backend.path / "questions"))
        with Colleague(backend.path, lambda text: WORDS) as colleague:
            await asyncio.gather(*tasks)
        await gateway.close()
        return begun, colleague.answered

    begun, answered = asyncio.run(ask())
    assert begun == 8
    assert len(set(answered)) == len(answered) == 20


def test_the_order_of_answers_decides_nothing(tmp_path) -> None:
    backend = inbox(tmp_path)
    requests = [request(messages=(Message("user", f"Say {n}."),)) for n in range(3)]

    async def ask() -> list[str]:
        watch = backend.endpoint()
        tasks = [asyncio.create_task(watch.complete(one)) for one in requests]
        await until(lambda: len(os.listdir(backend.path / "questions")) == 3)
        texts = {}
        for file in (backend.path / "questions").iterdir():
            texts[file.stem] = next(n for n in range(3) if f"Say {n}." in file.read_text())
        for stem, number in sorted(texts.items(), key=lambda one: -one[1]):
            (backend.path / "answers" / f"{stem}.txt").write_text(f"here is {number}")
            await until(lambda: any(task.done() for task in tasks))
        texts_back = [(await task).text for task in tasks]
        await backend.close()
        return texts_back

    assert asyncio.run(ask()) == ["here is 0", "here is 1", "here is 2"]


def test_the_terminal_is_told_how_many_questions_wait_and_where(tmp_path) -> None:
    backend = inbox(tmp_path)
    hybrid = Hybrid(live=backend, live_share=1.0)

    async def ask() -> list[str]:
        gateway = Gateway(hybrid, 8)
        told = [gateway.status_line()]
        tasks = [asyncio.create_task(gateway.complete(request(attempt=n))) for n in range(2)]
        await until(lambda: "2 questions wait" in gateway.status_line())
        told.append(gateway.status_line())
        first, second = sorted((backend.path / "questions").glob("*.md"))
        (backend.path / "answers" / f"{first.stem}.md").write_text(WORDS)
        (backend.path / "answers" / f"{second.stem}.md").symlink_to(first)
        await until(lambda: "1 question waits" in gateway.status_line())
        await until(lambda: "with a file" in gateway.status_line())
        told.append(gateway.status_line())
        await gateway.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return told

    before, both, one = asyncio.run(ask())
    assert before == "calls: 0 answered, 0 under way"
    questions, page = backend.path / "questions", backend.path / "index.html"
    where = f"for an answer in {questions} (page: {page})"
    assert both == f"calls: 0 answered, 2 under way; 2 questions wait {where}"
    assert one.endswith(f"; 1 question waits {where}, 1 with a file that cannot be read")


def test_without_a_deadline_nothing_but_an_answer_ends_a_question(tmp_path) -> None:
    """Neither the retries nor the patience of the gateway, which are for providers."""
    backend = inbox(tmp_path)
    retry = Retry(attempts=1, first=0.001, longest=0.001, patience=0.0)
    looks = []

    def answer(text: str) -> str | None:
        looks.append(text)
        return WORDS

    async def ask() -> str:
        gateway = Gateway(backend, 1, retry=retry)
        task = asyncio.create_task(gateway.complete(request()))
        await until(lambda: backend.path.is_dir() and os.listdir(backend.path / "questions"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await asyncio.shield(task)
        with Colleague(backend.path, answer):
            text = (await task).text
        await gateway.close()
        return text

    assert asyncio.run(ask()) == WORDS


NO_ANSWERS = {
    "empty": ("", lambda file: file.touch()),
    "blank": ("", lambda file: file.write_text("\n \n")),
    "50 MB": ("is larger than 1,000,000 bytes", lambda file: file.write_bytes(b"x" * 50_000_000)),
    "invalid UTF-8": ("is not text in UTF-8", lambda file: file.write_bytes(b'{"Why": "\xff"}')),
    "folder": ("is no plain file", lambda file: file.mkdir()),
    "pipe": ("is no plain file", os.mkfifo),
    "link": ("is a link", lambda file: file.symlink_to(__file__)),
    "link to nowhere": ("is a link", lambda file: file.symlink_to("nowhere")),
    "link to a device": ("is a link", lambda file: file.symlink_to("/dev/zero")),
}
"""What may stand in an answer's place: why it is not taken, as the page tells, and its making."""


@pytest.mark.parametrize(("why", "plant"), NO_ANSWERS.values(), ids=list(NO_ANSWERS))
def test_what_is_no_answer_neither_ends_nor_holds_up_the_question(tmp_path, why, plant) -> None:
    backend = inbox(tmp_path)
    page = backend.path / "index.html"

    async def ask() -> str:
        gateway = Gateway(backend, 1)
        task = asyncio.create_task(gateway.complete(request()))
        await until(page.is_file)
        (question,) = (backend.path / "questions").iterdir()
        answer = backend.path / "answers" / question.name
        plant(answer)
        await until(lambda: why in page.read_text(encoding="utf-8"))
        await asyncio.sleep(0.05)  # several looks
        assert not task.done()
        assert "<h2>Open: 1</h2>" in page.read_text(encoding="utf-8")
        assert "as soon as it is not empty and has stopped changing" in question.read_text()
        # A right answer in the same place.
        answer.rmdir() if answer.is_dir() else answer.unlink()
        answer.write_text(WORDS)
        async with asyncio.timeout(60):
            text = (await task).text
        await gateway.close()
        return text

    assert asyncio.run(ask()) == WORDS


def test_an_answer_written_in_steps_while_it_is_looked_at_is_taken_whole(tmp_path) -> None:
    """At the pace of the looks: the file has changed at each of them until the writer is done."""
    backend = inbox(tmp_path)
    whole = WORDS + " " * 400
    looks = []

    async def ask() -> str:
        endpoint = backend.endpoint()
        folder = backend._watches[0]._folder
        complete_answers = folder.complete_answers

        def step_and_look(stems):
            (stem,) = stems
            with (backend.path / "answers" / f"{stem}.md").open("a") as file:
                file.write(whole[4 * len(looks) : 4 * len(looks) + 4])
            looks.append(stem)
            return complete_answers(stems)

        folder.complete_answers = step_and_look
        async with asyncio.timeout(60):
            text = (await endpoint.complete(request())).text
        await backend.close()
        return text

    assert asyncio.run(ask()) == whole
    assert len(looks) == len(range(0, len(whole), 4)) + 1


def test_a_deadline_stops_the_run_with_advice(tmp_path) -> None:
    with pytest.raises(Stopped) as stopped:
        asked(inbox(tmp_path, deadline=0.05), request())
    assert "within 0.05 seconds (backend.deadline)" in str(stopped.value)
    assert "answer the open questions in the folder backend.path" in str(stopped.value)


def test_a_folder_that_goes_away_stops_the_run(tmp_path) -> None:
    backend = inbox(tmp_path)

    async def ask() -> None:
        task = asyncio.create_task(backend.endpoint().complete(request()))
        await until(lambda: (backend.path / "index.html").is_file())
        (backend.path / "answers").rename(tmp_path / "away")
        try:
            await asyncio.wait_for(task, 60)
        finally:
            await backend.close()

    with pytest.raises(Fault, match="cannot be used: No such file") as fault:
        asyncio.run(ask())
    assert fault.value.kind == "folder"
    assert not fault.value.rule.retryable


def test_a_stop_leaves_the_question_for_the_next_time(tmp_path) -> None:
    backend = inbox(tmp_path)

    async def stopped() -> None:
        task = asyncio.create_task(backend.complete(request()))
        await until(lambda: backend.path.is_dir() and list((backend.path).glob("*/*.md")))
        await backend.close()
        with pytest.raises(Stopped):
            await task

    asyncio.run(stopped())
    assert "The run waits for no answer now" in (backend.path / "index.html").read_text()
    (question,) = (backend.path / "questions").iterdir()
    (backend.path / "answers" / f"{question.stem}.md").write_text("written meanwhile")
    (reply,) = asked(backend, request())
    assert reply.text == "written meanwhile"
    assert list((backend.path / "questions").iterdir()) == [question]


def test_a_path_that_cannot_be_a_folder_is_bad_input(tmp_path) -> None:
    (tmp_path / "inbox").write_text("")
    with pytest.raises(InputError, match=r"backend\.path"):
        asked(inbox(tmp_path), request())


@pytest.mark.parametrize("settings", [{"poll": 0}, {"deadline": 0}, {"answered_by": "a\nb"}])
def test_wrong_settings_are_refused(tmp_path, settings) -> None:
    with pytest.raises(ValidationError):
        Inbox(path=tmp_path, **settings)


def test_who_answers_is_part_of_what_a_run_is_and_the_folder_is_not(tmp_path) -> None:
    one, other = (Inbox(path=tmp_path / name) for name in "ab")
    assert one.model_settings == other.model_settings == ""
    kim = Inbox(path=tmp_path, answered_by="Kim")
    assert kim.model_settings == '{"answered_by": "Kim"}'
    assert "Kim" in kim.about
    assert (one.model, kim.model) == ("inbox", "Kim")
    assert Inbox.execution == {"path", "poll", "deadline"}
    assert Judgement.model_validate_json(WORDS).verdict == "take"
