"""Rates of a model, estimated from the calls of an earlier or unfinished run.

The run is rehearsed again from its journal, so that every call that was made stands beside the
reply of a rule-based scientist to the very same request. Nothing is asked and nothing is written.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from virsci_society.agents.backends.model_mimic import (
    MimicSettings,
    ModelMimic,
    iterate_strings,
    iterate_texts,
    traits,
)
from virsci_society.agents.errors import InputError, ReplyError
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import ANSWERED, CallOutcome
from virsci_society.agents.prompts.request import Reply, Request
from virsci_society.agents.replies.parser import read_reply
from virsci_society.scenarios.config.document import Document
from virsci_society.scenarios.config.schema import read_scenario
from virsci_society.scenarios.config.yaml_io import Key
from virsci_society.scenarios.planning.model_rates import (
    ModelRates,
    Rate,
    estimate_ratio,
    estimate_ratio_by_form,
    estimate_share,
    fit_line,
    slow_call_seconds,
)
from virsci_society.scenarios.runs.run_journal import JOURNAL

Known = Mapping[str, tuple[str, CallOutcome]]
"""Of every call that has ended, by id: the hash of what was told, and how it ended."""
BOTH = (True, False)


class RecordedRun:
    """The calls that a journal holds, with the scenario of the run.

    Args:
        run: its folder.
        trust: let dotted paths in its scenario be imported.

    Attributes:
        known: hash of the request and outcome of every call that has ended, by its id.
        seconds: that each answered attempt took.
        scenario: of the run.

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
            self.known: Known = {
                id_: (hash_, outcome) for id_, hash_, outcome in journal.outcomes()
            }
            self.seconds = [one.seconds for one in journal.attempts() if one.outcome == ANSWERED]
            scenario_text = journal.meta("scenario")
        if not self.known or scenario_text is None:
            raise InputError(f"{run}: no call has been answered there yet")
        self.run = run
        data: dict[Key, object] = json.loads(scenario_text)
        self.scenario = read_scenario(Document(data), trust=trust)

    @property
    def answered(self) -> int:
        """Number of calls that have ended."""
        return len(self.known)

    def lookup(self, request: Request) -> CallOutcome | None:
        """The outcome of this very request; None if it was never made."""
        hash_, outcome = self.known.get(request.id, ("", None))
        return outcome if outcome is not None and hash_ == request.hash else None


class Calibration:
    """Pairs of observations, call by call: a model beside the rule-based scientists."""

    def __init__(self) -> None:
        self.calls = 0
        self._unread = 0
        self._texts: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._around: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._spoken: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._told: list[tuple[float, float]] = []
        self._yes: dict[tuple[str, bool], list[bool]] = defaultdict(list)

    def observe(self, request: Request, outcome: CallOutcome, offline: Reply) -> None:
        """Add one call.

        Args:
            request: that was made.
            outcome: of the call to the model; only answers teach anything of words.
            offline: the rule-based scientist's reply to the same request.
        """
        self.calls += 1
        if outcome.kind != "answer":
            return
        name, usage = request.form.__name__, outcome.usage
        characters = sum(len(message.content) for message in request.messages)
        if usage.prompt_tokens:
            self._told.append((characters, usage.prompt_tokens))
        if usage.completion_tokens:
            self._spoken[name].append((len(outcome.text), usage.completion_tokens))
        try:
            words = read_reply(request.form, outcome.text, cut=outcome.cut).form.as_json()
        except ReplyError:
            self._unread += 1
            return
        self._around[name].append((len(words), max(0, len(outcome.text) - len(words))))
        self._compare(request, words, offline.text)

    def _compare(self, request: Request, words: str, offline: str) -> None:
        name = request.form.__name__
        ours, theirs = dict(traits(request, offline)), dict(traits(request, words))
        for trait, yes in ours.items():
            if trait in theirs:
                self._yes[f"{name}.{trait}", yes].append(theirs[trait])
        rules, model = (
            dict(iterate_texts(json.loads(offline))),
            dict(iterate_strings(json.loads(words))),
        )
        # Another decision has other grounds: its length says nothing of how wordy they are put.
        if rules and ours == theirs:
            length = sum(len(model.get(place, "")) for place in rules)
            self._texts[name].append((sum(map(len, rules.values())), length))

    def rates(self, source: str, seconds: list[float]) -> ModelRates:
        """The rates estimated so far; a rate that nothing was seen of is the assumed one.

        Args:
            source: where the calls come from, in words.
            seconds: that each answered attempt took.
        """
        assumed = ModelRates(source)
        tokens, overhead = fit_line(self._told, (assumed.prompt_tokens, assumed.overhead))
        traits_ = dict.fromkeys(trait for trait, _ in self._yes)
        return ModelRates(
            source,
            self.calls,
            wordiness=estimate_ratio_by_form(self._texts, assumed.wordiness.all),
            around=estimate_ratio_by_form(self._around, assumed.around.all),
            reply_tokens=estimate_ratio_by_form(self._spoken, assumed.reply_tokens.all),
            prompt_tokens=tokens,
            overhead=overhead,
            re_asks=self._re_asks(assumed.re_asks),
            yes=dict(assumed.yes) | {trait: self._leaning(trait) for trait in traits_},
            latency=estimate_ratio([(1.0, one) for one in seconds], assumed.latency),
            slowest=slow_call_seconds(seconds, assumed.slowest),
        )

    def _re_asks(self, assumed: Rate) -> Rate:
        answered = sum(map(len, self._around.values())) + self._unread
        return estimate_share(self._unread, answered, assumed.likely) if answered else assumed

    def _leaning(self, trait: str) -> tuple[Rate, Rate]:
        outcome, turned = ([*self._yes.get((trait, yes), ())] for yes in BOTH)
        return estimate_share(sum(outcome), len(outcome), 1.0), estimate_share(
            sum(turned), len(turned), 0.0
        )


def learn_rates(record: RecordedRun) -> ModelRates:
    """Rehearse a recorded run as far as its journal goes, and estimate rates from its calls.

    Raises:
        InputError: its ecosystem cannot be used, or none of its calls is made any more.
    """
    from virsci_society.scenarios.runs.build import build_society

    calibration, scenario = Calibration(), record.scenario
    backend = ModelMimic(
        imitated=scenario.seeded_backend,
        settings=MimicSettings(),
        lookup=record.lookup,
        on_known=calibration.observe,
    )
    society = build_society(scenario, gateway=Gateway(backend, scenario.backend.in_flight))
    while society.running and calibration.calls < len(record.known):
        society.step()
    if not calibration.calls:
        raise InputError(
            f"{record.run}: none of its calls would be made any more: prompts or code have changed"
        )
    return calibration.rates(
        f"learnt from {calibration.calls:,} calls of {record.run}", record.seconds
    )
