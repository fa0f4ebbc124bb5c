"""The command ``society``: what it prints, how it fails, what it imports."""

import contextlib
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer.testing

from tests.command_line import society
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.cli.help_examples import EXAMPLES, SECTIONS, examples_of
from virsci_society.scenarios.config.document import library

ROOT = Path(__file__).parents[3]
HEAVY = {
    *("faiss", "jinja2", "litellm", "matplotlib", "mesa", "networkx", "numpy", "pandas"),
    *("pyarrow", "pydantic", "rich", "scipy", "simpy", "sklearn", "yaml"),
}


def imported(*arguments):
    """The modules that a fresh process has loaded when the command is done.

    They are nearly all of the time that a short command takes; ``benchmarks/start_up.py`` measures
    that time.
    """
    code = (
        "import sys\n"
        "from virsci_society.scenarios.cli.app import app\n"
        f"try:\n    app({list(arguments)!r})\nexcept SystemExit as end:\n    assert not end.code\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_help_imports_few_modules_and_nothing_heavy():
    modules = imported("--help")
    assert len(modules) < 250
    assert not modules & HEAVY
    assert "ecosystem" in society("--help").output


def test_check_imports_few_modules_no_simulator_and_no_statistics():
    modules = imported("check", "quickstart")
    assert len(modules) < 750
    heavy = {"faiss", "litellm", "matplotlib", "mesa", "pandas", "pyarrow", "scipy", "sklearn"}
    assert not modules & heavy


def test_list_names_every_scenario_with_a_sentence():
    lines = society("list").output.splitlines()
    assert [line.split()[0] for line in lines] == list(library())
    assert all(len(line.split()) > 4 and len(line) < 140 for line in lines)


def test_the_name_of_a_kind_goes_before_a_folder_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("scenarios", "studies"):
        (tmp_path / name).mkdir()
    assert society("list", "scenarios").output == society("list").output
    refused = society("list", "studies")
    assert refused.exit_code == 2
    assert "'society study list'" in refused.stderr


@pytest.mark.parametrize("name", sorted(set(library()) - {"community/vis"}))
def test_every_scenario_checks(name):
    done = society("check", name)
    assert done.output == f"{name} is valid (seed 1)\n"


def test_schema_as_json_and_as_a_page():
    assert json.loads(society("list", "keys", "--json").output)["title"] == "Scenario"
    page = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8")
    made = society("list", "keys", "all").output
    assert made == page, "run: society list keys all > docs/keys.md"
    top = [line.split(" = ")[0] for line in society("list", "keys").output.splitlines()]
    rows = re.findall(r"^\| `(\w+)` ", page.split("\n## ")[1], re.MULTILINE)
    assert top[: 2 * len(rows) : 2] == rows


def test_run_and_report(write, small_text, here):
    write("small.yaml", small_text)
    done = society("run", "small.yaml", "--seed", "5", "--set", "until=20w")
    assert done.exit_code == 0, done.output
    folder = Path("runs") / "small-5"
    assert done.stdout.splitlines() == [
        f"report: {folder / 'report.html'}",
        "answers: rule-based scientists, not a language model",
    ]
    assert done.stderr.splitlines()[:3] == [
        "preparing the ecosystem",
        "founding the society",
        "simulating",
    ]
    again = society("run", "small.yaml", "--seed", "5", "--set", "until=20w")
    assert again.stdout.splitlines()[0] == f"{folder} already contains this run; nothing to do"

    page = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()
    again = society("export", "page", str(folder))
    assert again.stdout == f"report: {folder / 'report.html'}\n"
    assert again.stderr == "writing the page\n"
    assert len((folder / "report.html").read_bytes()) > len(page) / 2


def calls_begun(path):
    """Calls that the journal of a running process knows of."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as journal:
        return int(journal.execute("SELECT count(*) FROM attempts").fetchone()[0])


def wait_for(holds):
    """Wait, two minutes at most."""
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_waits_for_no_answer_and_looks_unfinished(
    nursery, write, small_text, here, number
):
    write("small.yaml", small_text)
    slow = ("--set", "backend.latency=100000", "--set", "backend.in_flight=1", "--out", "run")
    log = here / "log"
    running = nursery.start(log, "run", "small.yaml", *slow)
    wait_for(lambda: log.is_file() and "\nsimulating\n" in log.read_text(encoding="utf-8"))
    wait_for(lambda: calls_begun(here / "run" / "journal.sqlite") == 1)
    os.kill(running, number)
    assert nursery.wait(running)[0] == 5
    told = log.read_text(encoding="utf-8")
    name = signal.Signals(number).name
    stopped, stood, goes_on = told.splitlines()[-3:]
    assert stopped == f"stopped: interrupted by {name}"
    assert re.match(
        r"progress: \d{4}-\d\d-\d\d \(day \d+ of 182, \d+% of simulated time\); teams: ", stood
    )
    again = f"society run small.yaml {' '.join(slow)}"
    assert goes_on == f"the same command resumes it: {again}"
    assert not (here / "run" / "manifest.json").exists()


def command_of(words):
    """The command that words name, its own arguments, and the context above it."""
    command = typer.testing._get_command(app)  # made once for all tests
    context = command.make_context("society", [], resilient_parsing=True)
    while hasattr(command, "commands"):
        command = command.get_command(context, words[0])
        assert command is not None, words
        words = words[1:]
        if hasattr(command, "commands"):
            context = command.make_context(command.name, [], parent=context, resilient_parsing=True)
    return command, words, context


@pytest.mark.parametrize("line", EXAMPLES.splitlines())
def test_every_example_is_one_that_the_command_can_read(line):
    program, *words = shlex.split(line.partition(" > ")[0])
    assert program == "society"
    command, arguments, context = command_of(words)
    with command.make_context(command.name, arguments, parent=context):
        pass


def commands_below(command, path=()):
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from commands_below(below, (*path, name))


def test_every_command_has_examples_and_both_names_of_help():
    paths = list(commands_below(typer.testing._get_command(app)))
    assert len(paths) > 25
    for path in paths[1:]:
        shown = society(*path, "-h").output
        examples = examples_of(" ".join(path))
        assert examples, path
        # A prompt of a shell can be copied: no line of an example is broken.
        assert all(f"  {line}\n" in shown for line in examples), path
        assert "Scientist1" not in shown  # pages and terminals show invented names


def test_a_shell_completes_scenarios():
    environment = {
        "_SOCIETY_COMPLETE": "complete_bash",
        "COMP_WORDS": "society run quicks",
        "COMP_CWORD": "2",
    }
    done = typer.testing.CliRunner().invoke(app, [], env=environment, prog_name="society")
    assert done.output.split() == ["quickstart"]


def test_the_help_fits_one_screen_and_no_line_is_cut():
    lines = society("--help").output.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith("...") for line in lines if not line.startswith("Usage"))
    listed = [name for commands in SECTIONS.values() for name in commands]
    assert sorted(listed) == sorted(typer.main.get_command(app).commands)


def test_a_budget_that_bounds_nothing_is_told():
    done = society("check", "quickstart", "--set", "backend.budget.calls=100")
    assert done.exit_code == 0
    assert "backend.budget has no effect, because rules answer" in done.stderr
    assert "budget" not in society("check", "quickstart").stderr


def test_a_server_on_this_machine_that_does_not_answer_is_told():
    settings = ("backend.use=openai", "backend.model=m", "backend.api_base=http://127.0.0.1:9/v1")
    done = society("check", "quickstart", *(f"--set={one}" for one in settings))
    assert done.exit_code == 0
    assert "warning: backend.api_base: no server answers at http://127.0.0.1:9/v1" in done.stderr
