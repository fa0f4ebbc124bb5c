"""The commands ``society watch`` and ``society play``: a page that shows a run as it goes on."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virsci_society.agents.errors import InputError
from virsci_society.agents.invented_names import masked_name, with_invented_names
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.arguments import (
    ScenarioName,
    Seed,
    Settings,
    Trust,
    guarded,
    tell,
    with_seed,
)

if TYPE_CHECKING:
    from virsci_society.scenarios.config.schema import Scenario
    from virsci_society.scenarios.watch.server import WatchServer

PORT = 8642
"""Always the same, if it is free: what was typed and not sent is kept by the browser for it."""
Port = Annotated[
    int,
    typer.Option("--port", min=0, max=65535, help="Where to listen; 0 or taken: any free port."),
]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser.")]
As = Annotated[
    list[str],
    typer.Option(
        "--as",
        metavar="SCIENTIST|TEAM",
        help="For whom a person answers: Vizona, or a team such as Vizona/1; can be repeated.",
    ),
]
Limit = Annotated[
    float | None,
    typer.Option(
        "--limit",
        min=1,
        max=10**9,
        metavar="SECONDS",
        help="For each answer; then the others' backend.",
    ),
]
Name = Annotated[
    str | None, typer.Option("--name", help="A pseudonym for the tables, such as P07.")
]
Consent = Annotated[
    Path | None, typer.Option("--consent", help="A text to agree to before the first question.")
]


@guarded
def watch(
    folder: Annotated[Path, typer.Argument(metavar="RUN|STUDY", help="Its folder.")],
    port: Port = PORT,
    open_page: Open = False,
) -> None:
    """Show a running or finished run, or a study, on a page that changes by itself.

    The page is served on this machine alone, at an address that nobody can guess. The folder is
    only read; to stop this command (Ctrl-C) leaves the run alone.
    """
    from virsci_society.scenarios.runs.run_journal import JOURNAL
    from virsci_society.scenarios.runs.run_state import MANIFEST
    from virsci_society.scenarios.study.folder import LOCK
    from virsci_society.scenarios.watch.folder_state import RunWatch, StudyWatch
    from virsci_society.scenarios.watch.server import WatchServer

    if (folder / LOCK).is_file():
        state = StudyWatch(folder).state
    elif (folder / JOURNAL).is_file() or (folder / MANIFEST).is_file():
        state = RunWatch(folder).state
    else:
        raise InputError(
            f"{folder}: no such folder; 'society list runs' names those there are"
            if not folder.exists()
            else f"{folder}: holds no run and no study; give the folder of one, such as 'society "
            "list runs' names"
        )
    with WatchServer(state, port=port) as server:
        _tell(server, port, open_page)
        try:
            _wait_for_ctrl_c()
        except KeyboardInterrupt:
            tell("the page is closed; the run goes on by itself", err=True)


@guarded
def play(
    scenario: ScenarioName,
    who: As,
    out: Annotated[Path | None, typer.Option("--out", help="The run folder.")] = None,
    limit: Limit = None,
    name: Name = None,
    consent: Consent = None,
    seed: Seed = None,
    set_: Settings = None,
    trust: Trust = False,
    port: Port = PORT,
    open_page: Open = False,
) -> None:
    """Run a scenario in which a person answers for a scientist, on the page of 'society watch'.

    All others are spoken for as the scenario says. The same command resumes a run that was
    stopped; what was answered is not asked again.
    """
    from virsci_society.agents.people.folder import QUESTIONS
    from virsci_society.scenarios.config.schema import load_scenario
    from virsci_society.scenarios.runs.build import build_ecosystem_of
    from virsci_society.scenarios.runs.execute import is_finished
    from virsci_society.scenarios.runs.preflight import SEAT, check_before_run
    from virsci_society.scenarios.watch.play import (
        check_folder,
        check_names,
        folder_of_play,
        with_seats,
    )

    find_code_here(trust)
    chosen = load_scenario(scenario, settings=with_seed(set_, seed), trust=trust)
    who = list(map(masked_name, who))
    folder = folder_of_play(chosen, who) if out is None else out
    played = with_seats(chosen, who, folder, name, limit)
    text = "" if consent is None else _consent_text(consent)
    check_folder(played, folder)
    if is_finished(played, folder):
        tell(f"{folder} holds this run already; nothing to do")
        return
    check_before_run(played, folder)
    check_names(who, [one.id for one in build_ecosystem_of(chosen).profiles])
    _run_beside_page(played, folder, limit, text, port, open_page)
    tell(f"report: {folder / 'report.html'}")
    tell(f"who spoke: {played.backend.backend.about}")
    if not any((folder / SEAT / QUESTIONS).glob("*.md")):
        tell(
            f"nobody was asked: {' and '.join(who)} had no part in a team; docs/explorer.md says "
            "how to see to it",
            err=True,
        )


def _run_beside_page(
    played: Scenario, folder: Path, limit: float | None, consent: str, port: int, open_page: bool
) -> None:
    """Run a scenario while a page shows it, and one of each seat takes the answers of a person."""
    from virsci_society.scenarios.runs.execute import run_scenario
    from virsci_society.scenarios.runs.preflight import SEAT
    from virsci_society.scenarios.watch.folder_state import RunWatch
    from virsci_society.scenarios.watch.play import Questions, secret_links
    from virsci_society.scenarios.watch.server import WatchServer

    watched = RunWatch(folder, keep_ids=True)
    seats: tuple[str, ...] = getattr(played.backend.backend, "scientists", ())
    questions = Questions(
        folder / SEAT, lambda: watched.journal.answered, limit, consent, seats, watched.fate
    )
    with WatchServer(
        lambda: watched.state() | {"seats": questions.states()},
        questions.answer,
        seats=secret_links(folder / SEAT, seats),
        port=port,
    ) as server:
        _tell(server, port, open_page)
        with make_progress() as progress:
            run_scenario(played, folder, progress)
        # The pages that are open are sent the end of the run before they are left alone.
        threading.Event().wait(2 * server.every)


def _wait_for_ctrl_c() -> None:
    """Wait until the command is interrupted."""
    threading.Event().wait()


def _tell(server: WatchServer, port: int, open_page: bool) -> None:
    if port not in (0, server.port):
        tell(f"port {port} is taken; the page is at port {server.port}", err=True)
    addresses = list(server.links.values()) or [server.url]
    for seat, address in server.links.items():
        name = with_invented_names(seat)
        tell(f"{seat}{'' if name == seat else f', {name}'}: {address}")
    # A single player sees the society on the page of the seat.
    if len(addresses) > 1 or not server.links:
        tell(f"watch: {server.url}")
    if open_page:
        import webbrowser

        webbrowser.open(addresses[0])


def _consent_text(path: Path) -> str:
    """The text to which people agree.

    Raises:
        InputError: it cannot be read, or there is none.
    """
    from virsci_society.agents.files.atomic_files import read_plain_text

    try:
        text = read_plain_text(path)
    except FileNotFoundError:
        raise InputError(f"--consent {path}: no such file; give a text file") from None
    except (OSError, UnicodeDecodeError, InputError) as error:
        raise InputError(f"--consent {path}: cannot be read as text; give a text file") from error
    if not text.strip():
        raise InputError(f"--consent {path}: is empty; write the text, or leave --consent out")
    return text
