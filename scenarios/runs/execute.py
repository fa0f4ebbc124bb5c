"""The execution of a scenario in a run folder, from the start or from its journal."""

from __future__ import annotations

import gc
import os
import re
import threading
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from virsci_society.agents.errors import DISK_FULL, Diverged, InputError, Stopped, disk_errors_as
from virsci_society.agents.files.atomic_files import (
    holds_others,
    make_folder,
    open_new,
    refuse_links,
    remove_file,
)
from virsci_society.agents.files.file_hashes import check_file, source_digest
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.agents.gateway.slots import SharedEndpoint
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import spent_in
from virsci_society.scenarios.config.ecosystem_folder import Folder
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.runs.progress import Progress, report_waiting, standing_of
from virsci_society.scenarios.runs.run_folder import (
    DIGEST,
    SCENARIO,
    RunRecord,
    Snapshots,
    finish_run,
    prompt_hashes,
    record_run,
    write_partial,
)
from virsci_society.scenarios.runs.run_journal import (
    JOURNAL,
    NUMBER,
    identity_hash,
    ledger_of,
    open_journal,
    require_identity,
    require_journal_identity,
    require_same_weights,
    sign_journal,
)
from virsci_society.scenarios.runs.run_state import MANIFEST, paid_words, recorded_end
from virsci_society.scenarios.runs.signals import interruptible

if TYPE_CHECKING:
    from virsci_society.scenarios.runs.lease import Lease
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.model import Society

LARGE_LOG = 5_000_000
"""Characters of events from which on garbage is collected before a run is measured, so that the
memory of its society is free; after a smaller one this would take longer than it helps."""
PROBE = ".writable-"
"""How the name of a file begins that shows whether a folder can be written to."""


class SharedResources:
    """The shared resources of one process; without ``shared`` each run has its own slots."""

    def __init__(self, *, shared: bool = False) -> None:
        self.build_lock = threading.RLock()
        self._shared = shared
        self._endpoints: dict[str, SharedEndpoint] = {}
        self._last: tuple[str, Ecosystem] | None = None

    def ecosystem_of(self, scenario: Scenario) -> Ecosystem:
        """The ecosystem of a scenario, read or made only where the run before had another."""
        # Concurrent runs have one each: its lazy attributes are not thread-safe.
        from virsci_society.scenarios.runs.build import build_ecosystem_of, require_team

        source: Any = scenario.population.ecosystem
        if self._shared:
            return build_ecosystem_of(scenario)
        seed = None if getattr(source, "same_for_every_seed", False) else scenario.seed
        key = repr((type(source), source, seed))
        if self._last is None or self._last[0] != key:
            self._last = None  # two at a time may be too many for the memory
            self._last = key, build_ecosystem_of(scenario)
        require_team(scenario, self._last[1])
        return self._last[1]

    def endpoint_of(self, scenario: Scenario) -> SharedEndpoint | None:
        """The endpoint that this run shares with those that ask the same model in the same way."""
        speaking, speaker = scenario.backend, scenario.seeded_backend
        if not self._shared or speaker.inline or speaker is not speaking.backend:
            return None
        # The window is no key of a scenario: it was sized to the longest prompt.
        window = getattr(speaker, "window", None)
        key = repr((type(speaker), speaker, window, speaking.in_flight, speaking.retry))
        with self.build_lock:
            if key not in self._endpoints:
                patience = speaking.retry.patience
                self._endpoints[key] = SharedEndpoint(speaker, speaking.in_flight, patience)
            return self._endpoints[key]

    def close(self) -> None:
        """Close the connections; every run has ended by then."""
        for endpoint in self._endpoints.values():
            endpoint.close()
        self._endpoints.clear()
        self._last = None


def default_folder(scenario: Scenario) -> Path:
    """The run folder of a scenario: ``runs/<scenario>-<seed>``, or its key ``out``."""
    if scenario.out is not None:
        return Path(scenario.out)
    name = re.sub(r"[^\w.-]+", "-", scenario.name or "").strip("-.") or "scenario"
    return Path("runs") / f"{name}-{scenario.seed}"


def run_scenario(
    scenario: Scenario | str | Path,
    out: Path | str | None = None,
    progress: Progress | None = None,
    *,
    fork: Path | None = None,
    lease: Lease | None = None,
    resources: SharedResources | None = None,
    page: bool = True,
) -> Path:
    """Run a scenario, or resume it, and return its run folder.

    A finished run is not repeated. An unfinished run is resumed: it starts again, and answered
    calls are taken from the journal.

    Args:
        scenario: what to run; a name or a file is loaded first.
        out: the run folder; ``runs/<scenario>-<seed>`` by default.
        progress: receives every phase, and the society after every step.
        fork: another run folder, whose answers to identical calls are reused.
        lease: of the run folder, where several machines share it; a run that loses it stops.
        resources: resources shared with other runs of this process.
        page: write ``report.html`` as well.

    Raises:
        InputError: the folder or the ecosystem of the scenario cannot be used.
        Stopped: backend, budget, disk or a signal ended it early; the same call goes on.
        Diverged: the folder's journal knows a call that would now be made differently.

    Example:
        >>> short = vs.load_scenario("quickstart", **{"until": "1w", "metrics": []})
        >>> folder = vs.run_scenario(short, "runs/a-week", page=False)
        >>> vs.Run.open(folder).days
        7.0
    """
    if not isinstance(scenario, Scenario):
        scenario = load_scenario(scenario)
    folder = default_folder(scenario) if out is None else Path(out)
    if is_finished(scenario, folder):
        return folder
    source_digest()  # now, of the code that runs: its files may be edited while it does
    shown = progress or Progress()
    if (folder / MANIFEST).is_file():
        shown.begin(
            f"{folder} contains an earlier run, whose answers to identical calls are reused"
        )
    prepare(scenario, folder)
    with open_journal(folder, fork, None if lease is None else lease.check) as journal:
        require_journal_identity(journal, folder)
        with recorded_end(journal):
            shared = resources or SharedResources()
            recorded = _simulate(scenario, folder, journal, shown, lease, shared)
            with disk_errors_as(Stopped, f"{folder}: cannot be written to"), shared.build_lock:
                if len(recorded.events) > LARGE_LOG:
                    gc.collect()
                finish_run(recorded, page=page)
    return folder


def _simulate(
    scenario: Scenario,
    folder: Path,
    journal: Journal,
    progress: Progress,
    lease: Lease | None,
    resources: SharedResources,
) -> RunRecord:
    """Let a run happen and write its record; the society is let go of at the end."""
    from virsci_society.scenarios.runs.build import build_gateway, build_society
    from virsci_society.scenarios.runs.rehearsal import size_window

    begun_by = journal.meta("identity")
    # A journal that another scenario began: no new call before every known one has been compared.
    strict = begun_by is not None and begun_by != identity_hash(scenario)
    require_same_weights(journal, scenario)
    progress.begin("preparing the ecosystem")
    # One run at a time: limits of thread pools apply to the whole process.
    with resources.build_lock:
        ecosystem = resources.ecosystem_of(scenario)
        progress.begin("founding the society")
        if not strict:
            scenario = size_window(scenario, ecosystem)
        shared = resources.endpoint_of(scenario)
        gateway = build_gateway(scenario, journal, strict=strict, shared=shared)
        society = build_society(scenario, ecosystem, gateway)
    if not strict:
        sign_journal(journal, scenario)
    progress.begin(
        "simulating" if journal.is_empty else "simulating; earlier answers come from the journal"
    )
    try:
        losing = nullcontext() if lease is None else lease.interrupting(society.interrupt)
        snapshots = Snapshots(scenario, folder, journal)

        def step(society: Society) -> None:
            progress.step(society)
            snapshots.step(society)

        with interruptible(society.interrupt), report_waiting(society, progress), losing:
            society.run_to_end(step)
    except Stopped as stop:
        ledger = ledger_of(journal)
        # From the journal, as every other command counts: questions under way have no answer.
        stood = f"progress: {standing_of(society, journal.answered()[0])}"
        attempts, tokens, usd = spent_in(ledger)
        paid = f"; paid so far: {paid_words(attempts, tokens, usd)}" if tokens else ""
        stop.add_note(stood + paid)
        with resources.build_lock:
            society.log.roll_back()
            write_partial(scenario, society, folder, ledger, str(stop), society.log.completed)
        raise
    for warning in gateway.readability.warnings.values():
        progress.warn(f"warning: {warning}")
    # Only now is it known that every call of the journal fits this scenario.
    if strict:
        sign_journal(journal, scenario)
    progress.begin("measuring and writing")
    with disk_errors_as(Stopped, f"{folder}: cannot be written to"):
        # Whoever has lost the lease must not write over the results of its new owner.
        if lease is not None:
            lease.check()
        with resources.build_lock:
            return record_run(scenario, society, folder, ledger_of(journal), progress)


def replay(
    folder: Path, out: Path | None = None, progress: Progress | None = None, *, trust: bool = False
) -> str:
    """Replay a finished run from its journal, without any call.

    Args:
        out: where to write the replayed run; None: nowhere.
        progress: receives every phase, and the society after every step.
        trust: let dotted paths in its scenario be imported.

    Returns:
        The digest of the run.

    Raises:
        InputError: no such run.
        Diverged: a call is not in the journal, or the digest differs.

    Example:
        >>> vs.replay(folder) == run.digest
        True
    """
    if not (folder / JOURNAL).is_file() or not (folder / SCENARIO).is_file():
        raise InputError(
            f"{folder}: contains no run with a journal; give the folder that a run wrote"
        )
    refuse_links(folder)
    if out is not None:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise InputError(f"{out}: is not an empty folder; give another one with --out")
        make_folder(out)
    from virsci_society.scenarios.runs.build import build_ecosystem_of, build_gateway, build_society

    shown = Progress() if progress is None else progress
    # Written in any case, and thrown away without --out: the digest is made as files are written.
    with Journal(folder / JOURNAL, frozen=True) as journal, TemporaryDirectory() as spare:
        target = Path(spare) if out is None else out
        require_journal_identity(journal, folder)
        scenario = load_scenario(check_file(folder / SCENARIO), trust=trust)
        shown.begin("preparing the ecosystem")
        ecosystem = build_ecosystem_of(scenario)
        gateway = build_gateway(scenario, journal, strict=True)
        society = build_society(scenario, ecosystem, gateway)
        shown.begin("simulating from the journal")
        society.run_to_end(shown.step)
        for warning in gateway.readability.warnings.values():
            shown.warn(f"warning: {warning}")
        shown.begin("measuring and comparing")
        recorded = record_run(scenario, society, target, ledger_of(journal), shown)
        finish_run(recorded, page=out is not None)
        digest = (target / DIGEST).read_text(encoding="utf-8").strip()
    held = check_file(folder / DIGEST)
    if held.is_file() and held.read_text(encoding="utf-8").strip() != digest:
        raise Diverged(
            f"{folder}: the replay has the digest {digest}, which differs from the run's"
        )
    return digest


def is_finished(scenario: Scenario, folder: Path) -> bool:
    """Does the folder already contain this run?"""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give another folder with --out")
    if not (folder / MANIFEST).is_file():
        # The journal is a run's first file: a scenario without one is the user's own. A link in its
        # place is refused by its name, where it is opened.
        if not os.path.lexists(folder / JOURNAL) and holds_others(folder, JOURNAL, PROBE):
            raise InputError(f"{folder}: contains other files; give another folder with --out")
        return False
    held = read_json_object(check_file(folder / MANIFEST))
    require_identity(held.get(NUMBER), folder)
    # Of other keys a journal finds the first call that differs, and names it; without one, nothing
    # could.
    same = held.get("identity") == identity_hash(scenario)
    if not same and not (folder / JOURNAL).is_file():
        raise InputError(
            f"{folder}: contains a run of another scenario ({held.get('name')}, seed "
            f"{held.get('seed')}, other keys); give another folder with --out"
        )
    if scenario.until < float(held.get("until", 0.0)):
        raise InputError(
            f"{folder}: contains this run until day {held['until']:g}, later than day "
            f"{scenario.until:g}; give another folder with --out"
        )
    # End, metrics and prompts are what a finished folder shows besides.
    data, before = scenario.to_data(), held.get("scenario") or {}
    shown = all(data.get(key) == before.get(key) for key in ("until", "metrics", "novelty"))
    return same and shown and held.get("prompts") == prompt_hashes(scenario)


def prepare(scenario: Scenario, folder: Path) -> None:
    """Check the ecosystem's folder and the run's own before anything is simulated."""
    source = scenario.population.ecosystem
    if isinstance(source, Folder):
        source.require()
    # Tried before anything is simulated: nothing is to be paid for a run that cannot be kept.
    probe = folder / f"{PROBE}{uuid4().hex}"
    try:
        refuse_links(folder)
        make_folder(folder)
        open_new(probe).close()
        remove_file(probe)
    except OSError as error:
        if error.errno in DISK_FULL:
            raise Stopped(f"{folder}: {error.strerror}; make room for the run") from error
        raise InputError(
            f"{folder}: cannot be written to ({error.strerror}); give another folder with --out"
        ) from error
