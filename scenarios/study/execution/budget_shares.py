"""The budget of a study, divided among its runs so that they never overspend together.

A run gets its share before it begins: what it has spent already and an even part of what is still
free. What it does not spend comes back when it ends. All of this stands in one small file of the
study folder, changed under a file lock, whichever processes and machines work on the study. A run
that died keeps its whole share until its journal has been read for what it really spent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from virsci_society.agents.errors import BudgetReached, InputError, Stopped, disk_errors_as
from virsci_society.agents.files.atomic_files import lock_file, read_plain_text, write_atomically
from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.journal.records import NANO, Spending, nano_bound
from virsci_society.scenarios.runs.lease import LeaseHeld, hold_lease
from virsci_society.scenarios.study.folder import read_budget, require_lock
from virsci_society.scenarios.study.status import Status, folder_of

SHARES = "shares.json"
_LOCK = "shares.lock"


@dataclass(frozen=True)
class Account:
    """The account of one run.

    Attributes:
        spent: by its journal, when that was last read.
        share: the most that it may have spent in the end; None while it is not under way.
        last: the share that it had last.
        over: it needs nothing more.
    """

    spent: Spending
    share: Spending | None = None
    last: Spending | None = None
    over: bool = False

    @property
    def taken(self) -> Spending:
        """The part of the budget that no other run may have."""
        return self.spent if self.share is None else Spending(*map(max, self.spent, self.share))


_NONE = Account(Spending())


class Shares:
    """The budget of one study.

    Args:
        study: its folder, with ``runs/0000`` and so on in it.
        budget: for all runs together, over all times they are begun.
        runs: how many there are.
    """

    def __init__(self, study: Path, budget: Budget, runs: int) -> None:
        usd = None if budget.usd is None else nano_bound(budget.usd)
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
        """Give back what a run has not spent, after it has ended or was stopped.

        Args:
            index: of the run; call it under its lease.
            over: it needs nothing more; False: it is to be resumed.

        Raises:
            InputError: what it spent cannot be read.
            Stopped: the shares cannot be written.
        """
        with self._open() as accounts:
            account = accounts.get(index, _NONE)
            spent = spent_by(self._folder(index))
            accounts[index] = replace(account, spent=spent, share=None, over=over)

    def reclaim(self) -> None:
        """Give back the shares of runs whose process has died; do it before others begin.

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
                with hold_lease(self._folder(index), "its budget is being counted"):
                    self.settle(index, over=False)
            except LeaseHeld:
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

    def spent(self) -> Spending:
        """Sum of what all runs have spent, each by the last time its journal was read.

        Raises:
            Stopped: the shares cannot be read.
        """
        with self._open() as accounts:
            return Spending(*map(sum, zip(*(one.spent for one in accounts.values()), strict=True)))

    def _share(self, index: int, account: Account, accounts: dict[int, Account]) -> Spending:
        others = [other for number, other in accounts.items() if number != index]
        # Runs that are over or have their share already want nothing of what is free.
        waiting = self._runs - sum(other.over or other.share is not None for other in others)
        share = []
        for place, bound in enumerate(self._bounds):
            free = (bound or 0) - account.spent[place] - sum(one.taken[place] for one in others)
            share.append(account.spent[place] + max(0, free) // max(1, waiting))
        return Spending(*share)

    def _folder(self, index: int) -> Path:
        return folder_of(self._study, index)

    @contextmanager
    def _open(self) -> Iterator[dict[int, Account]]:
        """All accounts, under the lock; what the block has changed is written."""
        path = self._study / SHARES
        said = f"{path}: cannot be read or written"
        with disk_errors_as(Stopped, said), lock_file(self._study / _LOCK):
            accounts = self._read(path)
            before = dict(accounts)
            yield accounts
            if accounts != before:
                _write(path, accounts)

    def _read(self, path: Path) -> dict[int, Account]:
        """The accounts; made from the journals where the file is not there."""
        try:
            data = json.loads(read_plain_text(path))
            return {int(index): _account(one) for index, one in data.items()}
        except FileNotFoundError:
            every = {index: spent_by(self._folder(index)) for index in range(self._runs)}
            return {index: Account(one) for index, one in every.items() if any(one)}
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(
                f"{path}: cannot be read ({error}); delete it while no run is under way: it is "
                "made again from the journals"
            ) from error


def spent_by(folder: Path) -> Spending:
    """Spending of a run by its journal; a call in doubt counts as all that it can cost.

    Raises:
        InputError: the journal is damaged.
    """
    from virsci_society.agents.journal.journal import Journal
    from virsci_society.scenarios.runs.run_journal import JOURNAL

    path = folder / JOURNAL
    if not path.is_file() or not path.stat().st_size:
        return Spending()
    with Journal.open(path, frozen=True, verify=False) as journal:
        return journal.totals().spending


def _account(data: dict[str, object]) -> Account:
    sums = {name: data[name] for name in ("spent", "share", "last")}
    made = {name: None if one is None else Spending(*one) for name, one in sums.items()}  # type: ignore[misc]
    return Account(made["spent"] or Spending(), made["share"], made["last"], bool(data["over"]))


def _write(path: Path, accounts: dict[int, Account]) -> None:
    data = {str(index): asdict(accounts[index]) for index in sorted(accounts)}
    write_atomically(path, json.dumps(data) + "\n", durable=True)


class RunResults:
    """The statuses of a study's runs as they end, and which runs are worth another round.

    Attributes:
        failed_fast: a run has failed, and the others are not wanted any more.
    """

    def __init__(
        self, study: Path, fail_fast: bool, on_result: Callable[[Status], None] | None
    ) -> None:
        budget = read_budget(study)
        self.study, self.failed_fast = study, False
        self._results: dict[int, Status] = {}
        self._fail_fast, self._on_result = fail_fast, on_result
        shares = None if budget is None else Shares(study, budget, require_lock(study).runs)
        self._shares = shares
        if shares is not None:
            shares.reclaim()

    @property
    def is_over(self) -> bool:
        """Is nothing more to be begun?"""
        return self.failed_fast

    def record_result(self, status: Status) -> None:
        """Take the status of a run that has ended."""
        self._results[status.index] = status
        if self._on_result is not None:
            self._on_result(status)
        if self._fail_fast and status.state in ("failed", "quarantined"):
            self.failed_fast = True

    def worth_another(self, indices: Sequence[int]) -> list[int]:
        """Runs that their shares have stopped and that could go on now, after all have ended."""
        shares, code = self._shares, BudgetReached.exit_code
        if shares is None or self.failed_fast:
            return []
        short = [one.index for one in self.of(indices) if one.code == code]
        return [index for index in short if shares.worth_another(index)]

    def of(self, indices: Sequence[int]) -> list[Status]:
        """The status of each of these runs that was begun."""
        return [self._results[index] for index in indices if index in self._results]
