"""The command ``society transcript``: who said what to whom in a run, as text or as a page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.terminal.arguments import RunFolder, Trust, guarded, tell
from virsci_society.scenarios.terminal.console import open_to_show


@guarded
def transcript(
    run: RunFolder,
    team: Annotated[
        str | None, typer.Argument(metavar="TEAM", help="A team; without one they are listed.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every team, one after the other.")] = False,
    stage: Annotated[
        str | None, typer.Option("--stage", metavar="STAGE", help="This stage only.")
    ] = None,
    prompts: Annotated[
        bool,
        typer.Option("--prompts", help="Show each prompt as it was sent; replays the journal."),
    ] = False,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write a page instead of text.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Show who said what to whom in a run, stage by stage, with votes and drafts.

    Without a team, the teams of the run are listed. With --page one HTML file is written that can
    be read offline.
    """
    from virsci_society.metrics.report.transcript import (
        team_lines,
        transcript_lines,
        transcript_page,
    )

    opened = open_to_show(run)
    every = all_ or page is not None
    if team is None and not every:
        lines = team_lines(opened)
    else:
        sent = _prompts(run, team, trust=trust) if prompts else {}
        if page is not None:
            tell(f"transcript: {_write(page, transcript_page(opened, team, stage, sent))}")
            return
        lines = list(transcript_lines(opened, team, stage, sent))
    tell(*lines)


def _prompts(run: Path, team: str | None, *, trust: bool) -> Mapping[str, str]:
    """The prompts of a finished run by call id, from its journal."""
    from virsci_society.scenarios.config.registry import find_code_here
    from virsci_society.scenarios.planning.prompt_recording import TeamChoice, replay_pages

    find_code_here(trust)
    listing = replay_pages(run, TeamChoice(team), trust=trust)
    return {
        call.id: "\n".join(f"[{one.role}]\n{one.content}" for one in call.messages)
        for call in listing.calls
    }


def _write(page: Path, text: str) -> Path:
    from virsci_society.agents.files.atomic_files import write_atomically

    if page.exists() or page.is_symlink():
        raise InputError(f"{page}: exists already; give another file with --page")
    try:
        write_atomically(page, text)
    except OSError as error:
        raise InputError(f"{page}: cannot be written: {error.strerror}") from error
    return page
