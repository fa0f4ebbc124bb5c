"""Lessons: what the calls of an earlier or unfinished run teach about a model.

The run is rehearsed again from its journal, so that every call that was made stands beside what
a rule-based scientist says to the very same request. Nothing is asked and nothing is written.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from agents.errors import InputError, ReplyError
from agents.gateway import Gateway
from agents.journal import Journal
from agents.kept import Kept
from agents.ledger import ANSWERED
from agents.offline.rehearsal import Manner, Rehearsal, strings, texts, traits
from agents.reading import read_reply
from agents.request import Reply, Request
from scenarios.document import Document
from scenarios.load import Key
from scenarios.rates import Rate, Rates, line, ratio, ratio_by_form, share, slowest
from scenarios.record import JOURNAL
from scenarios.schema import read_scenario

Known = Mapping[str, tuple[str, Kept]]
"""Of every call that has ended, by id: the hash of what was told, and how it ended."""
BOTH = (True, False)


class Record:
    """What a journal holds: scenario, calls and how long they took.

    Raises:
        InputError: there is no journal, or it holds no call.
    """

    def __init__(self, run: Path, *, trust: bool = False) -> None:
        path = run / JOURNAL
        if not path.is_file():
            raise InputError(
                f"{run}: holds no run with a journal, so nothing can be learnt from it"
            )
        with Journal.open(path, frozen=True) as journal:
            self.known: Known = {id_: (hash_, kept) for id_, hash_, kept in journal.words()}
            self.seconds = [one.seconds for one in journal.attempts() if one.outcome == ANSWERED]
            told = journal.meta("scenario")
        if not self.known or told is None:
            raise InputError(f"{run}: no call has been answered there yet")
        self.run = run
        data: dict[Key, object] = json.loads(told)
        self.scenario = read_scenario(Document(data), trust=trust)

    @property
    def answered(self) -> int:
        """Calls that have ended."""
        return len(self.known)

    def find(self, request: Request) -> Kept | None:
        """How this very request ended; None if it was never made."""
        hash_, kept = self.known.get(request.id, ("", None))
        return kept if kept is not None and hash_ == request.hash else None


class Lessons:
    """Observations, call by call, of a model beside the rule-based scientists."""

    def __init__(self) -> None:
        self.calls = 0
        self._unread = 0
        self._texts: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._around: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._spoken: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._told: list[tuple[float, float]] = []
        self._yes: dict[tuple[str, bool], list[bool]] = defaultdict(list)

    def hear(self, request: Request, kept: Kept, offline: Reply) -> None:
        """Take in one call and the offline scientist's reply to the same request."""
        self.calls += 1
        if kept.kind != "answer":
            return
        name, usage = request.form.__name__, kept.usage
        characters = sum(len(message.content) for message in request.messages)
        if usage.prompt_tokens:
            self._told.append((characters, usage.prompt_tokens))
        if usage.completion_tokens:
            self._spoken[name].append((len(kept.text), usage.completion_tokens))
        try:
            words = read_reply(request.form, kept.text, cut=kept.cut).words.as_json()
        except ReplyError:
            self._unread += 1
            return
        self._around[name].append((len(words), max(0, len(kept.text) - len(words))))
        self._compare(request, words, offline.text)

    def _compare(self, request: Request, words: str, offline: str) -> None:
        name = request.form.__name__
        ours, theirs = dict(traits(request, offline)), dict(traits(request, words))
        for trait, yes in ours.items():
            if trait in theirs:
                self._yes[f"{name}.{trait}", yes].append(theirs[trait])
        rules, model = dict(texts(json.loads(offline))), dict(strings(json.loads(words)))
        # Another decision has other grounds: its length says nothing of how wordy they are put.
        if rules and ours == theirs:
            said = sum(len(model.get(place, "")) for place in rules)
            self._texts[name].append((sum(map(len, rules.values())), said))

    def rates(self, source: str, seconds: list[float]) -> Rates:
        """What has been learnt; assumed is what nothing was seen of."""
        assumed = Rates(source)
        tokens, overhead = line(self._told, (assumed.prompt_tokens, assumed.overhead))
        traits_ = dict.fromkeys(trait for trait, _ in self._yes)
        return Rates(
            source,
            self.calls,
            wordiness=ratio_by_form(self._texts, assumed.wordiness.all),
            around=ratio_by_form(self._around, assumed.around.all),
            reply_tokens=ratio_by_form(self._spoken, assumed.reply_tokens.all),
            prompt_tokens=tokens,
            overhead=overhead,
            re_asks=self._re_asks(assumed.re_asks),
            yes=dict(assumed.yes) | {trait: self._leaning(trait) for trait in traits_},
            latency=ratio([(1.0, one) for one in seconds], assumed.latency),
            slowest=slowest(seconds, assumed.slowest),
        )

    def _re_asks(self, assumed: Rate) -> Rate:
        answered = sum(map(len, self._around.values())) + self._unread
        return share(self._unread, answered, assumed.likely) if answered else assumed

    def _leaning(self, trait: str) -> tuple[Rate, Rate]:
        kept, turned = ([*self._yes.get((trait, yes), ())] for yes in BOTH)
        return share(sum(kept), len(kept), 1.0), share(sum(turned), len(turned), 0.0)


def learn(record: Record) -> Rates:
    """Rehearse a recorded run as far as its journal goes, and learn from its calls.

    Raises:
        InputError: its ecosystem cannot be used, or none of its calls is made any more.
    """
    from scenarios.build import build_society

    lessons, scenario = Lessons(), record.scenario
    backend = Rehearsal(
        part=scenario.speaker, manner=Manner(), known=record.find, heard=lessons.hear
    )
    society = build_society(scenario, gateway=Gateway(backend, scenario.backend.in_flight))
    while society.running and lessons.calls < len(record.known):
        society.step()
    if not lessons.calls:
        raise InputError(
            f"{record.run}: none of its calls would be made any more: prompts or code have changed"
        )
    return lessons.rates(f"learnt from {lessons.calls:,} calls of {record.run}", record.seconds)
