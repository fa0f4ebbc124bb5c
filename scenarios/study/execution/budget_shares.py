"""Shares: a study's budget, divided among its runs so that together they never overspend.

A run gets its share before it begins: what it has spent already and an even part of what is still
free. What it does not spend comes back when it ends. All of this stands in one small file of the
study folder, changed under a lock, whichever processes and machines work on the study. A run that
died keeps its whole share aside until somebody has read in its journal what it really spent.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from agents.budget import NANO, Budget
from agents.errors import InputError, Stopped
from scenarios.study.leases import Held, leased
from scenarios.study.status import folder_of

SHARES = "shares.json"
_LOCK = "shares.lock"


class Sum(NamedTuple):
    """Answered calls, tokens, and billionths of a dollar."""

    calls: int = 0
    tokens: int = 0
    nano: int = 0


@dataclass(frozen=True)
class Account:
    """What one run has to do with the budget.

    Attributes:
        spent: by its journal, when that was last read.
        share: the most that it may have spent in the end; None while it is not under way.
        last: the share that it had last.
        over: it needs nothing more.
    """

    spent: Sum
    share: Sum | None = None
    last: Sum | None = None
    over: bool = False

    @property
    def taken(self) -> Sum:
        """What nobody else may have."""
        return self.spent if self.share is None else Sum(*map(max, self.spent, self.share))


_NONE = Account(Sum())


class Shares:
    """The budget of one study.

    Args:
        study: its folder, with ``runs/0000`` and so on in it.
        budget: for all runs together, over all times they are begun.
        runs: how many there are.
    """

    def __init__(self, study: Path, budget: Budget, runs: int) -> None:
        usd = None if budget.usd is None else math.floor(budget.usd * NANO + 1e-3)
        self._bounds = (budget.calls, budget.tokens, usd)
        self._study, self._runs = study, runs

    def take(self, index: int) -> Budget:
        """The budget of a run that is about to begin; call it under the run's lease.

        Raises:
            InputError: what it spent before cannot be read.
            Stopped: the shares cannot be written.
        """
        with self._open() as accounts:
            account = replace(accounts.get(index, _NONE), spent=spent_by(self._folder(index)))
            share = self._share(index, account, accounts)
            accounts[index] = replace(account, share=share, last=share, over=False)
        bounded = [
            None if bound is None else most for bound, most in zip(self._bounds, share, strict=True)
        ]
        calls, tokens, nano = bounded
        return Budget(calls=calls, tokens=tokens, usd=None if nano is None else nano / NANO)

    def settle(self, index: int, *, over: bool) -> None:
        """A run has ended or was stopped: what it has not spent is free again.

        Args:
            index: of the run; call it under its lease.
            over: it needs nothing more; False: it is to be gone on with.

        Raises:
            InputError: what it spent cannot be read.
            Stopped: the shares cannot be written.
        """
        with self._open() as accounts:
            account = accounts.get(index, _NONE)
            spent = spent_by(self._folder(index))
            accounts[index] = replace(account, spent=spent, share=None, over=over)

    def reclaim(self) -> None:
        """Free what runs have kept aside whose process has died; do it before others begin.

        The lease of each is taken meanwhile, so that a process which was merely slow cannot spend
        what is given away here.

        Raises:
            InputError: what one spent cannot be read.
            Stopped: the shares cannot be written.
        """
        with self._open() as accounts:
            held = [index for index, account in accounts.items() if account.share is not None]
        for index in held:
            try:
                with leased(self._folder(index), "its budget is being counted"):
                    self.settle(index, over=False)
            except Held:
                continue

    def worth_another(self, index: int) -> bool:
        """Would a run that its share has stopped get more if it were begun again now?

        Raises:
            Stopped: the shares cannot be read.
        """
        with self._open() as accounts:
            account = accounts.get(index, _NONE)
            if account.last is None:
                return True
            share = self._share(index, account, accounts)
        grown = zip(self._bounds, share, account.last, strict=True)
        return any(bound is not None and now > before for bound, now, before in grown)

    def spent(self) -> Sum:
        """What all runs have spent by the last time that each was looked at.

        Raises:
            Stopped: the shares cannot be read.
        """
        with self._open() as accounts:
            return Sum(*map(sum, zip(*(one.spent for one in accounts.values()), strict=True)))

    def _share(self, index: int, account: Account, accounts: dict[int, Account]) -> Sum:
        others = [other for number, other in accounts.items() if number != index]
        waiting = self._runs - sum(other.over or other.share is not None for other in others)
        share = []
        for place, bound in enumerate(self._bounds):
            free = (bound or 0) - account.spent[place] - sum(one.taken[place] for one in others)
            share.append(account.spent[place] + max(0, free) // max(1, waiting))
        return Sum(*share)

    def _folder(self, index: int) -> Path:
        return folder_of(self._study, index)

    @contextmanager
    def _open(self) -> Iterator[dict[int, Account]]:
        """All accounts, under the lock; what the block has changed is written."""
        path = self._study / SHARES
        try:
            with FileLock(self._study / _LOCK):
                accounts = self._read(path)
                before = dict(accounts)
                yield accounts
                if accounts != before:
                    _write(path, accounts)
        except OSError as error:
            raise Stopped(f"{path}: cannot be read or written: {error.strerror}") from error

    def _read(self, path: Path) -> dict[int, Account]:
        """The accounts; made from the journals where the file is not there."""
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            return {int(index): _account(one) for index, one in told.items()}
        except FileNotFoundError:
            folders = {index: self._folder(index) for index in range(self._runs)}
            return {i: Account(spent_by(one)) for i, one in folders.items() if one.is_dir()}
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(
                f"{path}: cannot be read ({error}); delete it while no run is under way: it is "
                "made again from the journals"
            ) from error


def spent_by(folder: Path) -> Sum:
    """What a run has spent by its journal; a call in doubt counts as all that it can cost.

    Raises:
        InputError: the journal is damaged.
    """
    from agents.journal import Journal
    from agents.kept import VERDICTS
    from agents.ledger import ANSWERED
    from scenarios.record import JOURNAL

    path = folder / JOURNAL
    if not path.is_file() or not path.stat().st_size:
        return Sum()
    with Journal.open(path, frozen=True) as journal:
        totals = journal.totals()
    calls = sum(totals.outcomes.get(kind, 0) for kind in (ANSWERED, *VERDICTS))
    return Sum(calls, totals.tokens, math.ceil((totals.usd + totals.in_doubt_usd) * NANO - 1e-3))


def _account(told: dict[str, object]) -> Account:
    sums = {name: told[name] for name in ("spent", "share", "last")}
    made = {name: None if one is None else Sum(*one) for name, one in sums.items()}  # type: ignore[misc]
    return Account(made["spent"] or Sum(), made["share"], made["last"], bool(told["over"]))


def _write(path: Path, accounts: dict[int, Account]) -> None:
    told = {str(index): asdict(accounts[index]) for index in sorted(accounts)}
    unfinished = path.with_name(f"{path.name}.unfinished")
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(json.dumps(told) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)
