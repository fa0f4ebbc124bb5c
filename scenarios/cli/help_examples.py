"""Examples below the help of every command, and the group class that puts them there.

One table holds them all, so that a test can parse each as the command would. The group class also
keeps the arguments of the whole command, which the message of a stopped run repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperGroup

from virsci_society.scenarios.terminal.arguments import ARGUMENTS

_WHOLE = "society.arguments"
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "": ("society run quickstart", "society new mine", "society check mine.yaml"),
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
    "compare": ("society compare runs/community-vis-1 --with eco/mine",),
    "plan": (
        "society plan quickstart",
        "society plan quickstart --set backend.use=litellm "
        "--set backend.model=ollama_chat/llama3.1 --probe 50",
    ),
    "prompts": (
        "society prompts quickstart --teams 1",
        "society prompts runs/quickstart-1 --out prompts/sent",
    ),
    "doctor": (
        "society doctor",
        "society doctor --set backend.use=litellm --set backend.model=ollama_chat/llama3.1 --quick",
    ),
    "review": ("society review runs/quickstart-1",),
    "ask": (
        "society ask runs/quickstart-1 --at 90d --who degree:10 --form survey.yaml",
        "society ask runs/quickstart-1 --who all --form survey.yaml --plan "
        "--set backend.use=litellm --set backend.model=ollama_chat/llama3.1",
    ),
    "measure": ("society measure runs/quickstart-1 --contemporary eco/mine",),
    "calibrate": ("society calibrate fit.yaml --plan", "society calibrate fit.yaml --out fitted"),
    "list": ("society list", "society list virsci/paper", "society list metrics"),
    "new": ("society new mine", "society new mine.yaml --from community/field"),
    "show": ("society show runs/quickstart-1", "society show runs/quickstart-1 --full"),
    "runs": ("society runs", "society runs runs/team-size --json"),
    "open": ("society open runs/quickstart-1",),
    "transcript": (
        "society transcript runs/quickstart-1",
        "society transcript runs/quickstart-1 Scientist7/1 --stage novelty --prompts",
        "society transcript runs/quickstart-1 Scientist7/1 --page talk.html",
    ),
    "watch": ("society watch runs/quickstart-1", "society watch runs/team-size --open"),
    "play": (
        "society play quickstart --as Scientist12",
        "society play virsci/paper --as Scientist12 --limit 600 --name P07 --out runs/seat",
    ),
    "verify": ("society verify runs/quickstart-1",),
    "report": ("society report runs/quickstart-1",),
    "schema": ("society schema > scenario.schema.json", "society schema --markdown"),
    "ecosystem": (
        "society ecosystem build jsonl papers.jsonl.gz --boundary 2012 --out eco/mine",
        "society ecosystem info eco/mine",
    ),
    "ecosystem audit": ("society ecosystem audit eco/mine",),
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
    "ecosystem build virsci": (
        "society ecosystem build virsci VIRSCI_FOLDER --boundary 2012 --out eco/virsci",
    ),
    "ecosystem build dblp": (
        "society ecosystem build dblp dblp.jsonl.gz --boundary 2012 --out eco/dblp",
    ),
    "ecosystem build synthetic": (
        "society ecosystem build synthetic --scientists 300 --papers 4000 --out eco/invented",
    ),
    "study": ("society study list", "society study plan team-size"),
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
        "society export dataset runs/quickstart-1",
        "society export otel runs/quickstart-1",
    ),
    "export otel": ("society export otel runs/quickstart-1",),
    "export dataset": ("society export dataset runs/quickstart-1",),
    "export figures": ("society export figures runs/quickstart-1",),
    "rate": ("society rate export runs/quickstart-1 --out sheet.csv",),
    "rate export": (
        "society rate export runs/quickstart-1 --out sheet.csv --most 40",
        "society rate export runs/systems/0000 runs/systems/0001 --out pairs.csv --pairs --swapped",
    ),
    "rate judge": (
        "society rate judge pairs.csv --plan --set backend.use=litellm --set backend.model=gpt-4o",
        "society rate judge pairs.csv --set backend.use=litellm --set backend.model=gpt-4o",
    ),
    "rate import": ("society rate import sheet.csv --key sheet.key.json",),
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

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """A context that keeps the arguments of the whole command.

        Args:
            info_name: name of the program.
            args: its arguments.
            parent: context of the group above; None: this is the command itself.
            **extra: further settings of the context.
        """
        whole = tuple(args)
        context = super().make_context(info_name, args, parent, **extra)
        context.meta[_WHOLE] = whole
        return context

    def invoke(self, ctx: Any) -> Any:
        """Run the command; within it ``ARGUMENTS`` holds the arguments."""
        token = ARGUMENTS.set(ctx.meta[_WHOLE])
        try:
            return super().invoke(ctx)
        finally:
            ARGUMENTS.reset(token)


def _add_examples(command: Any, path: str) -> None:
    command.epilog = epilog_of(path)
    for name, below in getattr(command, "commands", {}).items():
        _add_examples(below, f"{path} {name}")


def epilog_of(path: str) -> str | None:
    """The examples of a command as its help shows them; None where it has none.

    Args:
        path: of the command below ``society``, such as ``study run``; empty: the command itself.
    """
    lines = EXAMPLES.get(path)
    # The mark keeps the lines from being filled like a paragraph.
    return None if lines is None else "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
