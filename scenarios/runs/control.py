"""Pausing, stopping, slots and budget of a run that goes on, set by another process.

``society ctl`` writes what is wanted into ``control.json`` of a run or a study. The run looks for
that file twice a second, and notes in its journal what it has taken over. Only the pace and the
means of a run are controlled, so nothing in its results can differ. The file is of one session: a
run removes it when it begins and when it ends; that of a study stays until the study is run again.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError, Interrupted, SocietyError
from virsci_society.agents.files.atomic_files import read_plain_text, remove_file, write_atomically
from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.live_view import STANDING
from virsci_society.agents.loop_thread import repeated
from virsci_society.scenarios.config.diagnostics import describe_errors
from virsci_society.scenarios.runs.progress import Progress, RunProgress
from virsci_society.society.results.folder_kinds import LOCK
from virsci_society.society.results.tables import TABLES

if TYPE_CHECKING:
    from virsci_society.scenarios.config.schema import BackendSettings
    from virsci_society.society.model import Society

CONTROL = "control.json"
"""The file in the folder of a run or a study."""
TELL_SECONDS = 2.0
"""Seconds between two notes of where a society without words stands, for ``society watch``."""
TELL_PAUSE = 50
"""Least pause after such a note, in the time that it took: notes take at most 2 % of a run."""
TEAMS_TOLD, MEMBERS_TOLD = 40, 400
"""Newest teams and members that such a note lists."""
TAKEN = "control"
"""The note in a journal that says what the run has taken over, or why it could not."""
POLL_SECONDS = 0.5
"""Seconds between two looks at the file."""


class Control(Part):
    """What is wanted of a run that goes on."""

    paused: bool = False
    """Begin no further call, and let the simulated time stand still."""
    stop: bool = False
    """End the run as Ctrl-C does; it can be resumed."""
    slots: int | None = Field(default=None, ge=1, le=10_000)
    """Calls at the same time; null: as the scenario says."""
    budget: Budget = Budget()
    """Bounds in place of the scenario's; null: as the scenario says."""

    def words(self) -> str:
        """The parts that differ from the scenario, such as ``paused, slots 4``."""
        bounds = self.budget.model_dump(exclude_none=True)
        told = (
            "paused" if self.paused else "",
            "stopping" if self.stop else "",
            "" if self.slots is None else f"slots {self.slots}",
            *(f"budget.{name} {bound:,}" for name, bound in bounds.items()),
        )
        return ", ".join(filter(None, told))


def read_control(folder: Path) -> Control:
    """What is wanted of the run or study in a folder; the default where nobody has said anything.

    Raises:
        InputError: the file is no plain file, or says something else.
    """
    path = folder / CONTROL
    try:
        return Control.model_validate_json(read_plain_text(path, within=folder), strict=True)
    except FileNotFoundError:
        return Control()
    except ValidationError as error:
        raise InputError(f"{path}: {describe_errors(error.errors())}; remove it") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}; remove it") from error


def write_control(folder: Path, control: Control) -> None:
    """Say what is wanted of a run or a study; it is in force as soon as the run has seen it."""
    write_atomically(folder / CONTROL, control.model_dump_json(), within=folder)


def remove_control(folder: Path) -> None:
    """Let a run or study go on as its scenario says."""
    remove_file(folder / CONTROL, within=folder)


@contextmanager
def controllable(folder: Path) -> Iterator[None]:
    """Let the control file of a run folder be of the session in this block, and of no other."""
    remove_control(folder)
    try:
        yield
    finally:
        with suppress(OSError, InputError):
            remove_control(folder)


def study_of(run: Path) -> Path | None:
    """The folder of the study that a run is of; None: of none."""
    study = run.absolute().parent.parent
    return study if (study / LOCK).is_file() else None


def stop_wanted(study: Path) -> Interrupted | None:
    """Why the runs of a study are to stop; None: they are not."""
    with suppress(InputError):
        if read_control(study).stop:
            return Interrupted(f"stopped by 'society ctl {study} stop'")
    return None


def taken_over(notes: Mapping[str, str]) -> dict[str, Any]:
    """What the session that works on a run has taken over, from the notes of its journal.

    Returns:
        ``own`` (the run's file), ``control`` (with the study's) and ``refused`` (why it could not)
        of the latest session; empty if it has looked at nothing.
    """
    with suppress(ValueError, RecursionError):
        told = json.loads(notes.get(TAKEN, "null"))
        if isinstance(told, dict) and str(told.get("session")) == notes.get("session"):
            return told
    return {}


def control_words(notes: Mapping[str, str]) -> str:
    """How a run that goes on is controlled, in a few words; empty if it is not."""
    told = taken_over(notes)
    with suppress(ValidationError):
        words = Control.model_validate(told.get("control", {})).words()
        return words and f"{words} (by 'society ctl')"
    return ""


class RunControl:
    """Lets a run follow the control file of its folder, and that of its study.

    Args:
        society: of the run.
        folder: of the run.
        journal: where it is noted what was taken over.
        speaking: the scenario's section ``backend``.
        progress: is told that the run is paused.
    """

    def __init__(
        self,
        society: Society,
        folder: Path,
        journal: Journal,
        speaking: BackendSettings,
        progress: Progress,
    ) -> None:
        self._society, self._folder, self._journal = society, folder, journal
        self._speaking, self._progress = speaking, progress
        self._study = study_of(folder)
        self._own = self._latest = Control()
        self._everywhere = True
        self._noted = self._latest, ""
        self._going_on = threading.Event()
        self._going_on.set()
        self._tell_after = time.monotonic() + TELL_SECONDS

    @contextmanager
    def following(self) -> Iterator[None]:
        """Follow the files within this block, on a thread of its own."""
        # Also what was said while the run prepared; one in a paused study asks nothing at all.
        self.look()
        with repeated("control", POLL_SECONDS, self.look):
            yield

    def step(self, society: Society) -> None:
        """Report a step of the clock, on its thread, and wait there while the run is paused."""
        self._progress.step(society)
        if (begun := time.monotonic()) > self._tell_after:
            self._tell_standing(RunProgress.of(society))
            # To count the teams of a long run takes a while.
            ended = time.monotonic()
            self._tell_after = ended + max(TELL_SECONDS, TELL_PAUSE * (ended - begun))
        if self._going_on.is_set():
            return
        day = f"paused on day {int(society.day)}"
        self._progress.begin(f"{day}; 'society ctl {self._folder} resume' goes on")
        while not (society.dispatcher.halted or self._going_on.wait(POLL_SECONDS)):
            pass
        self._progress.begin("simulating")

    def _tell_standing(self, state: RunProgress) -> None:
        """Note where a society without words stands; of others the calls in the journal tell it."""
        if state.calls:
            return
        told = {
            "session": self._journal.session,
            "day": state.day,
            "states": dict(state.teams),
            "teams": list(islice(_newest_teams(self._society), TEAMS_TOLD)),
        }
        with suppress(SocietyError):
            self._journal.set_meta(STANDING, json.dumps(told))

    def look(self) -> None:
        """Take over what the files say, if it is something new."""
        try:
            wanted = self._wanted()
            refused = self._refusal(wanted)
        except InputError as error:
            wanted, refused = self._latest, str(error)
        if not refused and (wanted != self._latest or not self._everywhere):
            self._apply(wanted)
        # After the change: whoever reads the note may rely on it.
        if (wanted, refused) != self._noted:
            self._noted = wanted, refused
            self._note(wanted, refused)

    def _wanted(self) -> Control:
        own = self._own = read_control(self._folder)
        if self._study is None:
            return own
        study = read_control(self._study)
        return own.model_copy(
            update={
                "paused": own.paused or study.paused,
                "stop": own.stop or study.stop,
                "slots": own.slots or study.slots,
            }
        )

    def _refusal(self, wanted: Control) -> str:
        backend: Any = self._speaking.backend
        if self._study is not None and wanted.budget != Budget():
            return f"{self._study} is a study, whose runs share its budget"
        if wanted.budget.usd is not None and not backend.priced:
            return "the price of the model is not known; give a budget in tokens"
        return ""

    def _apply(self, wanted: Control) -> None:
        self._latest = wanted
        budget = wanted.budget.model_dump(exclude_none=True)
        self._everywhere = self._society.dispatcher.control(
            paused=wanted.paused,
            in_flight=wanted.slots or self._speaking.in_flight,
            budget=self._speaking.budget.model_copy(update=budget),
        )
        (self._going_on.clear if wanted.paused else self._going_on.set)()
        if wanted.stop:
            reason = f"stopped by 'society ctl {self._folder} stop'"
            self._society.interrupt(Interrupted(reason))

    def _note(self, wanted: Control, refused: str) -> None:
        told = {
            "session": self._journal.session,
            "own": self._own.model_dump(),
            "control": wanted.model_dump(),
            "refused": refused,
        }
        # A disk that takes nothing more stops the run by itself.
        with suppress(SocietyError):
            self._journal.set_meta(TAKEN, json.dumps(told))


def _newest_teams(society: Society) -> Iterator[list[Any]]:
    """Id, first and last date, stage or state, and members: teams at work, then ended ones."""
    for team in sorted(society.world.teams.values(), key=lambda one: -one.founded):
        yield [team.id, team.founded, society.day, team.stage, team.members]
    places = {name: place for place, (name, *_) in enumerate(TABLES["teams"])}
    members: dict[str, list[str]] = {}
    for team, who, *_ in society.log.rows["members"][-MEMBERS_TOLD:]:
        members.setdefault(team, []).append(who)
    for row in reversed(society.log.rows["teams"][-TEAMS_TOLD:]):
        told = (row[places[name]] for name in ("team", "founded", "finished", "state"))
        yield [*told, members.get(row[places["team"]], [])]
