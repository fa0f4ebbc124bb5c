"""Arguments, error messages and exit codes that all commands share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, NoReturn, ParamSpec

import typer

from virsci_society.agents.errors import DISK_FULL, InputError, ProtocolError, SocietyError, Stopped
from virsci_society.agents.redaction import redact
from virsci_society.agents.spelling import printable
from virsci_society.scenarios.runs.signals import (
    ARGUMENTS,
    RESUME_WITH,
    THE_SAME,
    resuming_command,
    sigterm_as_interrupt,
)


def complete_scenario(incomplete: str) -> list[str]:
    """Names of the library and scenario files here that begin with a text, for the shell."""
    from virsci_society.scenarios.config.document import SUFFIXES, library

    folder = Path(incomplete if incomplete.endswith("/") else Path(incomplete).parent)
    here = sorted(folder.iterdir()) if folder.is_dir() else []
    files = [f"{path}/" if path.is_dir() else str(path) for path in here]
    named = [name for name in files if name.endswith(("/", *SUFFIXES))]
    return [name for name in (*library(), *named) if name.startswith(incomplete)]


ScenarioName = Annotated[
    str,
    typer.Argument(metavar="SCENARIO", help="A name or file.", autocompletion=complete_scenario),
]


def find_run(given: Path) -> Path:
    """The folder itself, or else the one of that name in ``runs`` or ``runs/studies``."""
    if given.exists() or given.is_absolute():
        return given
    found = (folder / given for folder in (Path("runs"), Path("runs/studies")))
    return next((path for path in found if path.is_dir()), given)


def find_runs(given: list[Path] | None) -> list[Path]:
    """The folders of several names, as ``find_run`` finds each."""
    return [find_run(one) for one in given or ()]


RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder or name of a run.", callback=find_run)
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a scenario key; can be repeated. Sections: a.b=c; lists: a=b,c; first section of "
        "a list: a.0.b=c.",
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the scenario.")]
Trust = Annotated[bool, typer.Option("--trust", help="Import classes that are named by path.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def with_seed(settings: list[str] | None, seed: int | None) -> list[str]:
    """The settings with the seed added, if one is given."""
    return [*(settings or []), *([] if seed is None else [f"seed={seed}"])]


P = ParamSpec("P")
SHOWN_ALIKE = 3
"""Lines that differ in numbers only and are all shown; of more the first is, with their count."""
_ENDS = (typer.Exit, typer.Abort)
"""What typer ends a command with, and no fault."""


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Turn the errors of a command, not faults of the program, into a message and an exit code."""

    @wraps(command)
    def careful(*args: P.args, **kwargs: P.kwargs) -> None:
        with sigterm_as_interrupt():
            try:
                command(*args, **kwargs)
            except Stopped as error:
                notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
                why, resume_hint = _resume_hint_after(str(error))
                _leave(f"stopped: {why}{notes}\n{resume_hint}", error.exit_code)
            except KeyboardInterrupt:
                _leave(f"interrupted; {_resume_hint_after('')[1]}", Stopped.exit_code)
            except Exception as error:
                from virsci_society.scenarios.config.registry import fault_in_outside_code

                expected = isinstance(error, SocietyError) and not isinstance(error, ProtocolError)
                fault = (
                    None if expected or isinstance(error, _ENDS) else fault_in_outside_code(error)
                )
                if fault is not None:
                    _leave(fault, InputError.exit_code)
                if isinstance(error, OSError) and (error.filename or error.errno in DISK_FULL):
                    hint = "free space or " * (error.errno in DISK_FULL) + "choose another place"
                    why = f"cannot be used ({error.strerror or error}); {hint}"
                    _leave(f"{error.filename or 'the disk'}: {why}", InputError.exit_code)
                if not isinstance(error, SocietyError):
                    raise
                _leave(str(error), error.exit_code)

    return careful


def tell(*lines: str, err: bool = False) -> None:
    """Print lines that may quote a stranger: control characters, ends of lines too, are escaped."""
    for line in lines:
        typer.echo(printable(line), err=err)


def open_in_browser(page: Path) -> None:
    """Open a page in the browser and print its path, or its address without a browser."""
    import webbrowser

    address = page.resolve().as_uri()
    tell(str(page) if webbrowser.open(address) else f"no browser here; open {address}")


def tell_json(data: object) -> None:
    """Print data as JSON, every character of it as ASCII that a terminal only shows."""
    from json import dumps

    # Of the control characters DEL alone is ASCII that JSON leaves as it is.
    typer.echo(dumps(data, indent=2).replace("\x7f", r"\u007f"))


def count_repeats(lines: list[str]) -> list[str]:
    """Lines of a message; of many that differ only in numbers, the first with their count."""
    kinds = [re.sub(r"\d+", "#", line) for line in lines]
    alike, seen = Counter(kinds), set[str]()
    shown = []
    for line, kind in zip(lines, kinds, strict=True):
        if alike[kind] <= SHOWN_ALIKE or not line.strip():
            shown.append(line)
        elif kind not in seen:
            seen.add(kind)
            shown.append(f"{line} (and {alike[kind] - 1} more like it)")
    return shown


def _resume_hint_after(why: str) -> tuple[str, str]:
    """The reason of a stop, and what to type to go on; after a budget is reached a larger one."""
    reason, _, setting = why.partition(RESUME_WITH)
    words = ARGUMENTS.get()
    if words is None:
        return why, f"{THE_SAME} resumes it"
    larger = " with a larger budget" if setting else ""
    return reason, f"{THE_SAME}{larger} resumes it: {resuming_command(words, setting)}"


def _leave(message: str, code: int) -> NoReturn:
    # A message may quote a stranger's file; a terminal must not obey what stands in it.
    tell(*count_repeats(redact(message).split("\n")), err=True)
    raise typer.Exit(code)
