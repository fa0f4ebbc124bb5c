"""The help of the command, with sections of commands and with examples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from virsci_society.scenarios.runs.signals import ARGUMENTS

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Write and run a scenario": ("new", "check", "plan", "run", "replay", "fork"),
    "Inspect a run": ("show", "transcript", "explore", "export"),
    "Evaluate runs": ("compare", "facts", "review"),
    "Data and studies": ("ecosystem", "calibrate", "study"),
    "Library and installation": ("list", "doctor"),
}
"""The commands below ``society`` by section of its help."""
EXAMPLES = """\
society run quickstart
society run quickstart --seed 7 --set protocol.turns=5 --out runs/seven
society replay runs/quickstart-1
society check mine.yaml
society fork runs/quickstart-1 --at 90d --remove degree:10 --out runs/without
society compare runs/community-vis-1 --with eco/mine
society compare runs/community-vis-1 --with eco/mine --ideas
society facts runs/community-assembly-1
society plan quickstart
society plan quickstart --set backend.use=litellm --set backend.model=ollama_chat/llama3.1
society doctor
society doctor --set backend.use=litellm --set backend.model=ollama_chat/llama3.1
society doctor runs/quickstart-1
society review runs/quickstart-1 --sheet sheet.csv --most 40
society review ann.csv bob.csv --key sheet.key.json
society calibrate fit.yaml --out fitted
society list
society list measures
society list runs runs/team-size --json
society list keys protocol.selection
society list keys all
society list keys --json > scenario.schema.json
society new mine
society new mine.yaml --from community/field
society show runs/quickstart-1
society show runs/quickstart-1 --follow
society transcript runs/quickstart-1
society transcript runs/quickstart-1 Vizona/1 --stage novelty
society ecosystem build jsonl papers.jsonl.gz --boundary 2012 --min-papers 5 --out eco/mine
society ecosystem build aminer AMINER_FOLDER --preset virsci-cs --out eco/virsci
society ecosystem build synthetic --scientists 300 --papers 4000 --out eco/invented
society ecosystem info eco/mine
society study new mine --base community/closed
society study list
society study plan team-size --set replicates=5
society study lock team-size
society study run team-size --set replicates=5 --jobs 2
society study status team-size
society study report team-size
society explore runs/quickstart-1
society export prompts quickstart --teams 1
society export prompts runs/quickstart-1 --out sent.md
society export page runs/quickstart-1
society export archive runs/quickstart-1
society export figures runs/quickstart-1
"""
"""Command lines; the help of a command shows those that begin with it, and of all the first."""


class ExampleGroup(TyperGroup):
    """A group of commands whose help ends with examples, and which remembers its arguments."""

    # Contexts and commands have no types: typer brings its own copy of click since 0.26.

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, with its examples below its help."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _add_examples(command, cmd_name)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name; an error explains a scenario in its place."""
        if args and args[0] not in self.commands and ctx.parent is None:
            from virsci_society.scenarios.config.document import is_study, library

            file = Path(args[0]).suffix == ".yaml" and Path(args[0]).is_file()
            if file or args[0] in library() or is_study(args[0]):
                run = "study run" if is_study(args[0]) else "run"
                ctx.fail(f"No such command {args[0]!r}; to run it: society {run} {args[0]}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands in sections."""
        for heading, names in SECTIONS.items():
            with formatter.section(heading):
                lines = [self.commands[name].get_short_help_str(70) for name in names]
                # One width, so that the lines of all sections are aligned.
                formatter.write_dl(
                    [(f"{n:10}", line) for n, line in zip(names, lines, strict=True)]
                )

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """A context that keeps the arguments of the whole command."""
        whole = tuple(args)
        context = super().make_context(info_name, args, parent, **extra)
        context.meta["society.arguments"] = whole
        return context

    def invoke(self, ctx: Any) -> Any:
        """Run the command with ``ARGUMENTS`` set to its arguments."""
        token = ARGUMENTS.set(ctx.meta["society.arguments"])
        try:
            return super().invoke(ctx)
        except Exception as error:
            # An unknown option that is a scenario key, or something like replicates.
            option = str(getattr(error, "option_name", "")).lstrip("-")
            if hint := option and _hint_of_option(option):
                error.args, error.message, error.possibilities = (hint,), hint, None  # type: ignore[attr-defined]
            if not isinstance(error, typer.BadParameter):
                raise
            # Prefix of pydantic's messages, which typer passes on.
            error.message = error.message.removeprefix("Value error, ")
            raise
        finally:
            ARGUMENTS.reset(token)


def _hint_of_option(option: str) -> str:
    """The message for an unknown option that has another place; empty for any other."""
    from virsci_society.scenarios.config.schema import Scenario

    text = f"No such option: --{option}"
    if option in ("seeds", "replicates", "runs"):
        return f"{text}; for replicates write a study: society study new NAME --base SCENARIO"
    return f"{text}; it is a key: --set {option}=VALUE" if option in Scenario.model_fields else ""


def _add_examples(command: Any, path: str) -> None:
    """Set the examples of a command and of those below it."""
    # The mark keeps the lines from being filled like a paragraph.
    command.epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples_of(path))
    for name, below in getattr(command, "commands", {}).items():
        _add_examples(below, f"{path} {name}")


def examples_of(path: str) -> list[str]:
    """The examples of a command, such as ``study run``."""
    start = f"society {path}".split()
    return [line for line in EXAMPLES.splitlines() if line.split()[: len(start)] == start]
