"""R10: whatever words stand in a run, a scenario or a file name, no command steers the terminal."""

import ast
import csv
import dataclasses
import io
import json
import re
import sys
from pathlib import Path

import pytest

from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.runs.progress import ConsoleProgress
from virsci_society.scenarios.terminal import options
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic

HOSTILE = (
    "\x1b[31;1mred \x1b]8;;http://elsewhere.example\x07link\x1b]8;;\x07 \x1b]52;c;aGk=\x1b\\ "
    "\x9b2J \x9d0;title\x9c \x08\x08\x08gone\x7f \rover \u202eesrever\u2066 \u2028line "
    "\x00\x05\x0c\x0b end"
)
"""Colour, a link, the clipboard, the screen and the title, in the C0 and the C1 form; characters
that take back or write over what stands before them, reverse its order or end its line.
"""
NAMED = "a\x1b]0;b\x07c\x9b2J\u202ed"
"""The same in short, as names of files and people."""
BACKEND = """
import json
from virsci_society.agents.errors import Fault
from virsci_society.agents.offline.backend import Offline

HOSTILE = {hostile!r}

def changed(value):
    if isinstance(value, dict):
        return {{name: changed(one) for name, one in value.items()}}
    if isinstance(value, list):
        return [changed(one) for one in value]
    return f"{{value}} {{HOSTILE}}" if isinstance(value, str) and " " in value else value

class Hostile(Offline):
    fault: str = ""
    live: bool = False

    @property
    def inline(self):
        return not self.live

    @property
    def rule_based(self):
        return not self.live

    @property
    def about(self):
        return "somebody " + HOSTILE

    async def complete(self, request):
        if self.fault == "own":
            raise RuntimeError(HOSTILE)
        if self.fault:
            raise Fault(HOSTILE, self.fault)
        reply = await super().complete(request)
        return type(reply)(json.dumps(changed(json.loads(reply.text))), reply.usage, reply.model)
"""
SCENARIO = """\
name: "small \\u202e\\u2066 one"
seed: 3
until: 26w
population: {ecosystem: {use: folder, path: ecosystem}}
founding: {use: once, count: 2, every: 7d}
protocol: {use: virsci, team_size: 2, turns: 1, inviting: at_once, topic: {leaving: off}}
time: {homework: 1d, meeting_notice: 3d, reply_window: 3d, publication_delay: 10d}
backend: {use: "hostile_words:Hostile"}
"""
STUDY = """\
study: "sizes \u202e\u2066"
base: ../small.yaml
arms:
  "one \u202earm": {protocol.team_size: 2}
  "two \u202earm": {protocol.team_size: 3}
replicates: 1
measures: [papers]
comparisons: [{test: paired, of: papers, arms: ["one \u202earm", "two \u202earm"]}]
"""
RUN = f"run {NAMED}"
STUDIED = f"study {NAMED}"
COMMANDS = {
    "check": ("check", "small.yaml", "--trust"),
    "list": ("list", "listed.yaml"),
    "list runs": ("list", "runs", "."),
    "show": ("show", RUN),
    "show json": ("show", RUN, "--json"),
    "show table": ("show", RUN, "--table", "teams"),
    "show open": ("show", RUN, "--open"),
    "teams": ("transcript", RUN),
    "transcript": ("transcript", RUN, "--all"),
    "run again": ("run", "small.yaml", "--out", RUN, "--trust"),
    "replay": ("replay", RUN, "--trust"),
    "export page": ("export", "page", RUN),
    "doctor": ("doctor", RUN),
    "plan": ("plan", "small.yaml", "--trust"),
    "plan json": ("plan", "small.yaml", "--trust", "--json"),
    "prompts": ("export", "prompts", "small.yaml", "--trust", "--out", f"prompts {NAMED}"),
    "export": ("export", "figures", RUN, "--out", f"figures {NAMED}"),
    "explore": ("explore", RUN, "--out", f"page {NAMED}.html"),
    "compare": ("compare", RUN, "--with", "ecosystem"),
    "compare json": ("compare", RUN, "--with", "ecosystem", "--json"),
    "review": ("review", RUN, "--trust"),
    "info": ("ecosystem", "info", "ecosystem"),
}
"""Commands that end well; each needs the run alone, and none of the others."""
STUDY_COMMANDS = (
    ("study", "plan", "study/sizes.yaml", "--trust"),
    ("study", "run", "study/sizes.yaml", "--out", STUDIED, "--trust", "--jobs", "1"),
    ("study", "status", "study/sizes.yaml", "--out", STUDIED),
    ("study", "status", "study/sizes.yaml", "--out", STUDIED, "--json"),
    ("review", STUDIED, "--sheet", f"sheet {NAMED}.csv"),
    ("study", "report", "study/sizes.yaml", "--out", STUDIED, "--trust"),
)
"""Commands of a study, in an order in which what one writes is there for the next."""
ANEW = ("run", "small.yaml", "--trust", "--out")
STOPPED = ("--set", "backend.budget.calls=3", "--set", "backend.live=true")
REFUSED = {
    "no run": ("show", f"no {NAMED}"),
    "no team": ("transcript", RUN, f"no {NAMED}"),
    "no scenario": ("run", f"no {NAMED}.yaml"),
    "no key": ("check", "small.yaml", "--trust", "--set", f"{NAMED}=1"),
    "no value": ("check", "small.yaml", "--trust", "--set", f"seed={NAMED}"),
    "no answer": (*ANEW, f"s {NAMED}", "--set", "backend.fault=request"),
    "outside code": (*ANEW, "f", "--set", "backend.fault=own"),
    "budget": (*ANEW, f"b {NAMED}", *STOPPED),
}


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal, and keeps the bytes."""

    def __init__(self, terminal):
        super().__init__(io.BytesIO(), encoding="utf-8", errors="surrogatepass", newline="")
        self.terminal = terminal

    def isatty(self):
        return self.terminal

    def taken(self):
        self.flush()
        return self.buffer.getvalue().decode("utf-8", "surrogatepass")


@pytest.fixture
def society(monkeypatch):
    """Give a command; returns its exit code and what it said on a terminal, both streams."""

    def run(*arguments, terminal=True):
        out, errors = Terminal(terminal), Terminal(terminal=False)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", errors)
            # A terminal without colours, so that every escape sequence is a stranger's.
            patch.setenv("TERM", "dumb")
            patch.setenv("COLUMNS", "200")
            try:
                app([str(one) for one in arguments])
            except SystemExit as end:
                code = end.code
        return code, out.taken(), errors.taken()

    return run


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A folder with an ecosystem, a scenario and a study of hostile words."""
    folder = tmp_path_factory.mktemp("hostile")
    hostile_ecosystem().save(folder / "ecosystem")
    (folder / "hostile_words.py").write_text(BACKEND.format(hostile=HOSTILE), encoding="utf-8")
    (folder / "small.yaml").write_text(SCENARIO, encoding="utf-8")
    listed = f"# \u202e\u2066\n{SCENARIO}".replace("hostile_words:Hostile", "offline")
    (folder / "listed.yaml").write_text(listed, encoding="utf-8")
    (folder / "study").mkdir()
    (folder / "study" / "sizes.yaml").write_text(STUDY, encoding="utf-8")
    return folder


def hostile_ecosystem():
    """An invented ecosystem whose titles, abstracts, interests and names are hostile."""
    made = Synthetic(scientists=12, papers=90, fields=2, seed=1).generate(5)

    def named(people):
        return tuple(f"{one} {NAMED}" for one in people)

    def papers(rows):
        for one in rows:
            words = {"title": f"{one.title} {HOSTILE}", "abstract": f"{one.abstract} {HOSTILE}"}
            yield dataclasses.replace(one, authors=named(one.authors), **words)

    profiles = [
        dataclasses.replace(
            one,
            id=f"{one.id} {NAMED}",
            affiliations=(HOSTILE,),
            interests=tuple(f"{interest} {HOSTILE}" for interest in one.interests),
            collaborators=named(one.collaborators),
        )
        for one in made.profiles
    ]
    past, contemporary = [*papers(made.past)], [*papers(made.contemporary)]
    return dataclasses.replace(made, past=past, contemporary=contemporary, profiles=profiles)


@pytest.fixture
def here(world, monkeypatch):
    monkeypatch.chdir(world)
    monkeypatch.syspath_prepend(world)
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    return world


@pytest.fixture
def finished(here, society):
    """Its run, and a fork of it."""
    if not (here / RUN).is_dir():
        code, told, errors = society("run", "small.yaml", "--out", RUN, "--trust")
        assert code == 0, errors
        assert_plain(told)
        assert_plain(errors)
        forked = society("fork", RUN, "--at", "60d", "--seed", 4, "--out", "fork", "--trust")
        assert forked[0] == 0, forked
    return here / RUN


def assert_plain(told):
    """Nothing but characters that a terminal shows, and ends of lines."""
    wrong = {mark for mark in told if not mark.isprintable() and mark not in "\n\t"}
    assert not wrong, (wrong, [line for line in told.split("\n") if not line.isprintable()])


def assert_plain_screens(society, promise, command, codes=(0,), terminal=True):
    """Neither stream of a command holds a control character."""
    code, *screens = society(*command, terminal=terminal)
    assert code in codes, screens
    assert any(screens)
    for screen in screens:
        assert_plain(screen)
        assert "Traceback" not in screen
        promise("R10", "bytes of screens with hostile words searched", len(screen.encode()))


@pytest.mark.sweep(9)
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("finished")
def test_no_command_prints_a_control_character(society, promise, name):
    assert_plain_screens(society, promise, COMMANDS[name])


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", ["show table", "prompts", "compare", "review"])
@pytest.mark.usefixtures("finished")
def test_no_table_in_a_pipe_holds_a_control_character(society, promise, name):
    assert_plain_screens(society, promise, COMMANDS[name], terminal=False)


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_no_command_of_a_study_prints_a_control_character(society, promise):
    for command in STUDY_COMMANDS:
        assert_plain_screens(society, promise, command)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.usefixtures("finished")
def test_no_message_prints_a_control_character(society, promise, name):
    assert_plain_screens(society, promise, REFUSED[name], codes=(1, 2, 4))


@pytest.mark.usefixtures("finished")
def test_a_run_that_was_stopped_is_shown_without_control_characters(society):
    folder = f"stopped {NAMED}"
    society(*ANEW, folder, *STOPPED)
    for command in (("show",), ("doctor",), ("export", "page")):
        code, told, errors = society(*command, folder)
        assert code == 0, errors
        assert_plain(told)
        assert_plain(errors)


def test_names_of_raters_are_printed_without_control_characters(finished, society):
    assert society("review", RUN, "--sheet", "sheet.csv")[0] == 0
    filled = finished.parent / f"sheet {NAMED}.csv"
    lines = (finished.parent / "sheet.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(io.StringIO(lines)))
    with filled.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([rows[0], *([cell or "5" for cell in row] for row in rows[1:])])
    code, told, errors = society("review", filled, "--key", "sheet.key.json")
    assert code == 0, errors
    assert "rated by: " in told
    assert_plain(told)


def test_progress_is_shown_without_control_characters():
    screen = Terminal(terminal=False)
    lines = ConsoleProgress(screen, every=0.0)
    lines.begin(HOSTILE)
    lines.wait(HOSTILE)
    assert_plain(screen.taken())
    assert_plain(lines._bar.tasks[0].description)


def test_json_gives_the_characters_back_as_they_are(finished, society):
    told = json.loads(society("show", RUN, "--json")[1])
    assert told["scenario"] == "small \u202e\u2066 one"
    assert told["backend"]["about"] == f"somebody {HOSTILE}"


def test_commands_print_through_one_function_alone():
    """``tell`` and the tables of the console escape; what prints besides them might not."""
    scenarios = Path(options.__file__).parents[1]
    own = {"options.py", "console.py", "progress.py"}
    for path in sorted(scenarios.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and path.name not in own:
                called = ast.unparse(node.func)
                printing = called in ("print", "typer.echo", "typer.secho", "click.echo")
                assert not printing, (path, node.lineno)
                assert not re.search(r"std(out|err)\.write$|Console\(", called), (path, node.lineno)
