"""Answers: promises of words that nobody may use unread (rules 1, 2, 10, 13, 18, 21)."""

import gc
import threading
import time
import weakref

import pytest

from tests.society.tiny_society import (
    SAY,
    Sure,
    Words,
    by_chance,
    echo,
    first,
    found,
    only,
    run,
    talk,
    together,
    traces,
)
from virsci_society.agents.errors import Dissolved, ProtocolError, Verdict

SPEEDS = pytest.mark.parametrize("delay", [None, by_chance], ids=["inline", "live"])


def one(act):

    def steps(team, lab):
        answer = yield from lab.stage("topic", lab.ask(team.leader, SAY, Words, heard=()))
        act(answer, lab)
        raise Dissolved("enough")

    return steps


REFUSED = {
    "truth": bool,
    "comparison": lambda a: a == "words",
    "difference": lambda a: a != "words",
    "order": lambda a: a < a,
    "order reversed": lambda a: a >= 1,
    "text": str,
    "formatting": lambda a: f"{a}",
    "formatting with a width": lambda a: f"{a:>9}",
    "iteration": list,
    "length": len,
    "hashing": hash,
    "a place in a set": lambda a: {a},
    "indexing": lambda a: a[0],
    "membership": lambda a: "x" in a,
    "counting": int,
    "measuring": float,
}


@pytest.mark.parametrize("use", REFUSED.values(), ids=REFUSED)
@SPEEDS
def test_unread_words_refuse_every_use(use, delay):
    def act(answer, lab):
        with pytest.raises(ProtocolError, match=r"read it first: <Answer Scientist0/1/topic"):
            use(answer)

    society = run(one(act), delay=delay)
    assert only(society, "teams")[0]["reason"] == "enough"


def test_reading_twice_gives_the_same_words():
    def act(answer, lab):
        assert answer.read() is answer.read()
        assert isinstance(answer.read(), Words)

    assert len(only(run(one(act)), "reads")) == 3


@SPEEDS
def test_reading_outside_the_clocks_thread_raises(delay):
    caught = []

    def act(answer, lab):
        def elsewhere():
            with pytest.raises(ProtocolError, match="outside the clock's own thread") as error:
                answer.read()
            caught.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()

    society = run(one(act), delay=delay)
    assert len(caught) == 1
    assert not only(society, "reads")


def test_reading_outside_a_step_raises():
    kept = []
    society = found(one(lambda answer, lab: kept.append(answer)))
    society.step()
    with pytest.raises(ProtocolError, match="outside the clock's own thread"):
        kept[0].read()


def test_reading_before_the_due_date_raises():
    def steps(team, lab):
        answer = lab.submit(team.leader, SAY, Words, "invite", within=3.0, heard=())
        yield from lab.wait(2.5)
        with pytest.raises(ProtocolError, match=r"read on day 2\.5, before it is due on day 3"):
            answer.read()
        yield from lab.wait(0.5)
        answer.read()
        raise Dissolved("enough")

    society = run(staged(steps))
    assert [row["date"] for row in only(society, "reads")] == [3.0]


def staged(steps):
    return lambda team, lab: lab.stage("topic", steps(team, lab))


DERIVED = {
    "an answer": lambda lab, early: lab.later(first, (early,)),
    "answers in a tuple": lambda lab, early: lab.later(first, ((early, early),)),
    "answers side by side": lambda lab, early: lab.later(together, early, early),
    "a search": lambda lab, early: lab.library.search(early, 2),
}


@pytest.mark.parametrize("derive", DERIVED.values(), ids=DERIVED)
def test_what_is_made_of_answers_is_due_when_the_last_of_them_is(derive):
    def steps(team, lab):
        early = lab.submit(team.leader, SAY, Words, "invite", within=3.0, heard=())
        made = derive(lab, early)
        assert made.due == 3.0
        with pytest.raises(ProtocolError, match="before it is due"):
            made.read()
        yield from lab.wait(3.0)
        made.read()
        raise Dissolved("enough")

    assert only(run(staged(steps)), "teams")[0]["reason"] == "enough"


def test_a_question_about_words_that_are_due_later_is_due_with_them():
    def steps(team, lab):
        late = lab.submit(team.leader, SAY, Words, "invite", within=5.0, heard=())
        soon = yield from lab.ask(team.leader, SAY, Words, heard=(late,))
        assert lab.now == 5.0
        soon.read()
        raise Dissolved("enough")

    assert only(run(staged(steps)), "teams")[0]["reason"] == "enough"


def test_questions_side_by_side_are_answered_when_the_last_is_due():
    def steps(team, lab):
        def submit(seat, who):
            return lab.submit(who, SAY, Words, "vote", seat=seat, within=3.0 - seat, heard=())

        answers = yield from lab.ask_each(["Scientist4", "Scientist2"], submit)
        assert lab.now == 3.0
        assert [answer.due for answer in answers] == [3.0, 2.0]
        [answer.read() for answer in answers]
        assert (yield from lab.ask_each([], submit)) == []
        raise Dissolved("enough")

    calls = only(run(staged(steps)), "calls")
    assert [(call["seat"], call["scientist"]) for call in calls] == [
        (0, "Scientist4"),
        (1, "Scientist2"),
    ]


@SPEEDS
def test_unread_words_are_handed_on(delay):
    told = {}

    def script(request):
        told[request.id] = request.messages[-1].content
        return {"text": f"said in {request.id[-22:]}"}

    def steps(team, lab):
        one = yield from lab.ask(team.leader, SAY, Words, heard=())
        lab.turn = 1
        two = yield from lab.ask(team.leader, SAY, Words, heard=(one,))
        lab.turn = 2
        three = yield from lab.ask(team.leader, SAY, Words, heard=(one, two))
        assert three.needs == (one.id, two.id)
        raise Dissolved("enough")

    society = run(staged(steps), script=script, delay=delay)
    first_, second, third = told.values()
    assert "said in" not in first_
    assert second.count("said in") == 1
    assert third.count("said in") == 2
    assert not only(society, "reads")


@SPEEDS
def test_a_verdict_is_raised_by_every_read_that_needs_it(delay):
    def steps(team, lab):
        refused = yield from lab.ask(team.leader, SAY, Words, heard=())
        lab.turn = 1
        next_ = yield from lab.ask(team.leader, SAY, Words, heard=(refused,))
        for answer in (refused, next_, lab.later(together, next_), lab.library.search(next_, 1)):
            with pytest.raises(Verdict, match="no"):
                answer.read()
        refused.read()

    society = run(staged(steps), script=lambda request: Verdict("no"), delay=delay)
    (team,) = only(society, "teams")
    assert (team["state"], team["reason"]) == ("dissolved", "unspoken: no")
    assert not society.running


@SPEEDS
def test_a_function_that_fails_is_a_fault_and_no_verdict(delay):
    def steps(team, lab):
        words = yield from lab.ask(team.leader, SAY, Words, heard=())
        lab.later(first, words).read()

    society = found(staged(steps), delay=delay)
    with pytest.raises(TypeError, match="subscriptable"):
        society.run_to_end()


@SPEEDS
def test_the_team_ends_when_all_its_words_have_settled(delay):
    def steps(team, lab):
        for seat in range(5):
            lab.submit(team.leader, SAY, Words, "invite", seat=seat, within=3.0, heard=())
        yield from lab.wait(0.5)
        raise Dissolved("in a hurry")

    society = run(staged(steps), delay=delay)
    replies = [row["reply"] for row in only(society, "calls")]
    assert len(replies) == 5
    assert all(replies)


@SPEEDS
@pytest.mark.parametrize("said", [{"text": "fine"}, Verdict("no")], ids=["words", "verdict"])
def test_a_settled_answer_lets_go_of_its_slots(delay, said):
    class Remark:
        def words(self):
            return "a long text"

    left = []

    def steps(team, lab):
        remark = Remark()
        left.append(weakref.ref(remark))
        answer = yield from lab.ask(team.leader, SAY, Words, heard=(remark,))
        del remark
        lab.world.dispatcher.settle([answer])
        yield from lab.wait(5.0)
        left.append(_dies(left[0]))
        raise Dissolved("enough")

    run(staged(steps), script=lambda request: said, delay=delay)
    assert left[1]


def _dies(reference):
    """True once an object is gone; the thread of the calls may hold it for a moment longer."""
    deadline = time.monotonic() + 60
    while reference() is not None and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    return reference() is None


def mumbling(readable_at):
    return lambda request: echo(request) if request.attempt >= readable_at else "mumble"


@SPEEDS
@pytest.mark.parametrize("readable_at", [0, 1, 2])
def test_unreadable_words_are_asked_for_again_under_the_parents_id(delay, readable_at):
    society = run(one(lambda a, lab: a.read()), script=mumbling(readable_at), delay=delay)
    calls = only(society, "calls")
    parent = "Scientist0/1/topic/1/0/0/utter/Scientist0"
    assert [c["call"] for c in calls] == [
        parent,
        *(f"{parent}/re-ask{n}" for n in range(1, readable_at + 1)),
    ]
    assert [c["act"] for c in calls] == ["utter"] + ["re-ask"] * readable_at
    assert [c["reply"] for c in calls[1:-1]] == ["mumble"] * max(0, readable_at - 1)
    assert '"text"' in calls[0]["reply"], "the accepted form stands under the parent's id"
    assert not any(c["defaulted"] for c in calls)
    assert len({c["prompt_hash"] for c in calls}) == len(calls)
    assert [row["answer"] for row in only(society, "reads")] == [parent]


@SPEEDS
def test_two_re_asks_at_most_and_then_the_flagged_default(delay):
    said = []

    def steps(team, lab):
        answer = yield from lab.ask(team.leader, SAY, Sure, heard=())
        said.append(answer.read().text)
        raise Dissolved("enough")

    society = run(staged(steps), script=mumbling(99), delay=delay)
    calls = only(society, "calls")
    assert said == ["silence"]
    assert len(calls) == 3
    assert [c["defaulted"] for c in calls] == [True, False, False]
    assert calls[0]["reply"] == '{"text": "silence"}'


@SPEEDS
def test_without_a_default_unreadable_words_are_a_verdict(delay):
    society = run(one(lambda a, lab: a.read()), script=mumbling(99), delay=delay)
    (team,) = only(society, "teams")
    assert team["reason"].startswith("unreadable: Words: no")
    assert len(only(society, "calls")) == 3
    assert not any(c["defaulted"] for c in only(society, "calls"))


def test_a_re_ask_quotes_the_reply_without_its_thoughts():
    asked = []

    def script(request):
        asked.append([(m.role, m.content) for m in request.messages])
        return echo(request) if request.attempt else "<think>Hm. {}</think>mumble"

    run(one(lambda a, lab: None), script=script)
    first, again = asked
    assert [role for role, _ in first] == ["system", "user"]
    assert again[:3] == [*first, ("assistant", "mumble")]
    assert again[3][0] == "user"
    assert "could not be read" in again[3][1]


@SPEEDS
def test_a_naive_protocol_gives_the_same_world(delay):
    leaders = tuple((float(day), day % 10) for day in range(0, 40, 4))
    lazy = run(talk(), *leaders, delay=delay)
    naive = run(talk(reading=True), *leaders, delay=delay)
    assert lazy.log.events == naive.log.events
    tables = [table for table in lazy.log.rows if table not in ("reads", "calls")]
    assert {t: lazy.log.rows[t] for t in tables} == {t: naive.log.rows[t] for t in tables}
    # Only a call's place among the asks and reads of its team tells how much was read.
    calls = [[call | {"sequence": 0} for call in only(s, "calls")] for s in (lazy, naive)]
    assert calls[0] == calls[1]
    assert len(naive.log.rows["reads"]) > len(lazy.log.rows["reads"])
    assert len(lazy.log.rows["papers"]) == 10
    assert traces(lazy) != traces(naive)
