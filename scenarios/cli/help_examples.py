"""The help of the command, with sections of commands and with examples.

One table holds all examples, so that a test can parse each as the command would. The group class
also keeps the arguments of the whole command, which the message of a stopped run repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from virsci_society.scenarios.runs.signals import ARGUMENTS

_WHOLE = "society.arguments"
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Write and run a scenario": {
        "new": "Write a commented scenario file.",
        "check": "Check a scenario and list every error in it.",
        "plan": "Estimate calls, tokens, cost and time of a run.",
        "run": "Run a scenario, or resume a stopped run.",
        "replay": "Repeat a run from its journal, without calls.",
        "fork": "Branch a finished run from a given day.",
    },
    "Inspect a run": {
        "show": "Summarize a finished or running run.",
        "transcript": "Print the conversations of a team, stage by stage.",
        "explore": "Write an interactive page of one or more runs.",
        "export": "Export archives, pages, figures and prompts.",
    },
    "Evaluate runs": {
        "compare": "Compare runs with real papers after the boundary.",
        "facts": "Test which known facts of science a run reproduces.",
        "review": "Rate abstracts by a model or blindly by people.",
    },
    "Data and studies": {
        "ecosystem": "Build and describe the initial data of a society.",
        "calibrate": "Fit a society to past papers; test on later years.",
        "study": "Run replicates of several arms and compare them.",
    },
    "Library and installation": {
        "list": "List scenarios, components, runs and settings.",
        "doctor": "Check the installation or the integrity of a folder.",
    },
}
"""The commands below ``society`` by section, each with its line in the help."""
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "": ("society run quickstart",),
    "run": (
        "society run quickstart",
        "society run quickstart --seed 7 --set protocol.turns=5 --out runs/seven",
    ),
    "replay": ("society replay runs/quickstart-1",),
    "check": ("society check mine.yaml", "society check quickstart --set protocol.turns=5"),
    "fork": (
        "society fork runs/quickstart-1 --at 90d --remove degree:10 --out runs/without",
        "society fork runs/quickstart-1 --at 90d --set protocol.turns=3 --out runs/longer",
    ),
    "compare": (
        "society compare runs/community-vis-1 --with eco/mine",
        "society compare runs/community-vis-1 --with eco/mine --ideas",
    ),
    "facts": (
        "society facts runs/community-assembly-1",
        "society facts runs/community-vis-1 --with eco/mine --only clustering",
    ),
    "plan": (
        "society plan quickstart",
        "society plan quickstart --set backend.use=litellm "
        "--set backend.model=ollama_chat/llama3.1",
    ),
    "doctor": (
        "society doctor",
        "society doctor --set backend.use=litellm --set backend.model=ollama_chat/llama3.1 --quick",
        "society doctor runs/quickstart-1",
    ),
    "review": (
        "society review runs/quickstart-1 --kind novelty",
        "society review runs/quickstart-1 --sheet sheet.csv --most 40",
        "society review ann.csv bob.csv --key sheet.key.json",
    ),
    "calibrate": ("society calibrate fit.yaml --plan", "society calibrate fit.yaml --out fitted"),
    "list": (
        "society list",
        "society list virsci/paper",
        "society list measures",
        "society list facts clustering",
        "society list runs runs/team-size --json",
        "society list keys --full",
        "society list keys --json > scenario.schema.json",
    ),
    "new": ("society new mine", "society new mine.yaml --from community/field"),
    "show": (
        "society show runs/quickstart-1",
        "society show runs/quickstart-1 --full",
        "society show runs/quickstart-1 --follow",
        "society show runs/quickstart-1 --open",
    ),
    "transcript": (
        "society transcript runs/quickstart-1",
        "society transcript runs/quickstart-1 Vizona/1 --stage novelty --prompts",
        "society transcript runs/quickstart-1 Vizona/1 --page talk.html",
    ),
    "ecosystem": (
        "society ecosystem build jsonl papers.jsonl.gz --boundary 2012 --out eco/mine",
        "society ecosystem info eco/mine",
    ),
    "ecosystem info": ("society ecosystem info eco/mine", "society ecosystem info synthetic"),
    "ecosystem build": (
        "society ecosystem build jsonl papers.jsonl.gz --boundary 2012 --out eco/mine",
        "society ecosystem build aminer AMINER_FOLDER --preset virsci-cs --out eco/virsci",
    ),
    "ecosystem build jsonl": (
        "society ecosystem build jsonl papers.jsonl.gz --boundary 2012 --min-papers 5 "
        "--out eco/mine",
    ),
    "ecosystem build aminer": (
        "society ecosystem build aminer AMINER_FOLDER --preset virsci-cs --out eco/virsci",
    ),
    "ecosystem build oag": (
        "society ecosystem build oag OAG_FOLDER --boundary 2012 --out eco/oag",
    ),
    "ecosystem build openalex": (
        "society ecosystem build openalex works.jsonl.gz --boundary 2012 --out eco/openalex",
    ),
    "ecosystem build csv": (
        "society ecosystem build csv papers.csv --columns title=Title,year=Year --boundary 2012 "
        "--out eco/csv",
    ),
    "ecosystem build ris": (
        "society ecosystem build ris papers.ris --boundary 2012 --out eco/ris",
    ),
    "ecosystem build bibtex": (
        "society ecosystem build bibtex papers.bib --boundary 2012 --out eco/bibtex",
    ),
    "ecosystem build virsci": (
        "society ecosystem build virsci VIRSCI_FOLDER --boundary 2012 --out eco/virsci",
    ),
    "ecosystem build dblp": (
        "society ecosystem build dblp dblp.jsonl.gz --boundary 2012 --out eco/dblp",
    ),
    "ecosystem build synthetic": (
        "society ecosystem build synthetic --scientists 300 --papers 4000 --out eco/invented",
    ),
    "study": ("society study new mine", "society study run mine.yaml"),
    "study new": ("society study new mine", "society study new mine --base community/closed"),
    "study list": ("society study list",),
    "study plan": ("society study plan team-size --set replicates=5",),
    "study lock": ("society study lock team-size",),
    "study run": ("society study run team-size --set replicates=5 --jobs 2",),
    "study status": ("society study status team-size",),
    "study report": ("society study report team-size",),
    "explore": (
        "society explore runs/quickstart-1",
        "society explore runs/quickstart-1 runs/without --out both.html",
    ),
    "export": (
        "society export archive runs/quickstart-1",
        "society export figures runs/quickstart-1",
    ),
    "export prompts": (
        "society export prompts quickstart --teams 1",
        "society export prompts runs/quickstart-1 --out prompts/sent",
    ),
    "export page": ("society export page runs/quickstart-1",),
    "export archive": ("society export archive runs/quickstart-1 --license CC-BY-4.0",),
    "export figures": ("society export figures runs/quickstart-1",),
}
"""Command lines by the path of the command below ``society``."""


class ExampleGroup(TyperGroup):
    """A group of commands whose help ends with examples, and which remembers its arguments.

    The types of contexts and commands are left open: typer brings its own copy of click since 0.26,
    and used the installed one before.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, with its examples below its help."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _add_examples(command, " ".join((*ctx.command_path.split()[1:], cmd_name)))
        return command

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Options, then commands; those of ``society`` itself in one line, so that all fit."""
        if ctx.parent is not None:
            super().format_options(ctx, formatter)
            return
        named = [max(one.opts, key=len) for one in self.get_params(ctx)]
        shown = [name for name in named if "completion" not in name]
        formatter.write(f"\nOptions:  {'  '.join(shown)}\n")
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands in sections, without blank lines, so that all fit on one screen.

        A group below ``society`` is listed as usual.
        """
        if ctx.parent is not None:
            super().format_commands(ctx, formatter)
            return
        width = max(len(name) for name in self.commands)
        for heading, commands in SECTIONS.items():
            formatter.write(f"{heading}:\n")
            for name, line in commands.items():
                formatter.write(f"  {name:{width}}  {line}\n")

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The examples of ``society`` itself without a blank line; those of a group as usual."""
        if ctx.parent is not None:
            super().format_epilog(ctx, formatter)
            return
        formatter.write("Examples:\n" + "".join(f"  {line}\n" for line in EXAMPLES[""]))

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """A context that keeps the arguments of the whole command."""
        whole = tuple(args)
        context = super().make_context(info_name, args, parent, **extra)
        context.meta[_WHOLE] = whole
        return context

    def invoke(self, ctx: Any) -> Any:
        """Run the command; within it ``ARGUMENTS`` holds the arguments."""
        token = ARGUMENTS.set(ctx.meta[_WHOLE])
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            # What pydantic says of a value, whose error typer hands on, begins with this.
            error.message = error.message.removeprefix("Value error, ")
            raise
        finally:
            ARGUMENTS.reset(token)


def _add_examples(command: Any, path: str) -> None:
    command.epilog = epilog_of(path)
    if command.help and not command.short_help:
        # Else a list of commands cuts it at 45 characters, in the middle of what it says.
        command.short_help = " ".join(command.help.split("\n\n")[0].split()).rstrip(".")
    for name, below in getattr(command, "commands", {}).items():
        _add_examples(below, f"{path} {name}")


def epilog_of(path: str) -> str | None:
    """The examples of a command, such as ``study run``, as its help shows them; None without."""
    lines = EXAMPLES.get(path)
    # The mark keeps the lines from being filled like a paragraph.
    return None if lines is None else "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
