"""The entry point of the command, and what an installation needs."""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.versions import constraints
from virsci_society import _installation
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.execute import run_scenario

ROOT = Path(__file__).parents[1]


def society(site, *arguments, app="", before=""):
    """The command of a package that consists of the entry point and a module for the command."""
    package = site / "virsci_society"
    for folder in (package, package / "scenarios", package / "scenarios" / "cli"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
    source = Path(_installation.__file__).read_text(encoding="utf-8")
    (package / "_installation.py").write_text(source)
    (package / "scenarios" / "cli" / "app.py").write_text(app)
    code = f"import sys; sys.path.insert(0, {str(site)!r}); {before}\n"
    code += "from virsci_society._installation import main; main()"
    command = [sys.executable, "-I", "-S", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=site)


def test_the_command_runs(tmp_path):
    app = "import sys\ndef main():\n    print('ran', *sys.argv[1:])\n"
    done = society(tmp_path, "list", app=app)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran list\n", "")


def test_a_name_that_is_not_utf_8_is_bad_input(tmp_path):
    app = "def main():\n    print('ran')\n"
    done = society(tmp_path, "show", os.fsdecode(b"\xfcber"), app=app)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "not UTF-8: 'show \\udcfcber'; rename that file or folder\n"
    assert society(tmp_path, "show", "über", app=app).stdout == "ran\n"


@pytest.mark.parametrize("moment", ["import", "arguments"])
def test_ctrl_c_during_imports_is_one_line_and_exit_130(tmp_path, moment):
    """Ctrl-C is sent by the module that the command imports, so it always comes at that moment."""
    send = f"os.kill(os.getpid(), {int(signal.SIGINT)}); time.sleep(60)"
    app = f"import os, time\n{send}\n"
    if moment == "arguments":
        app = f"import os, time\ndef main():\n    {send}\n"
    default = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    done = society(tmp_path, app=app, before=default)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted before the command began\n"


def test_a_package_that_is_not_installed_is_named(tmp_path):
    done = society(tmp_path, app="import typer_of_another_name\n")
    assert done.returncode == 2
    assert done.stderr == (
        "the package 'typer_of_another_name' is not installed; install it with what it needs: "
        "pip install virsci-society\n"
    )


def test_packages_of_an_analyst_with_short_names_do_not_matter(tmp_path):
    """Folders ``metrics`` and ``agents`` in the current folder; ``openai-agents`` has one."""
    for name in ("agents", "metrics", "society", "scenarios", "protocols"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong package')\n")
    done = subprocess.run(
        [sys.executable, "-m", "virsci_society", "list"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert "quickstart" in done.stdout


LEAN = """
import sys

for name in ("litellm", "openai", "tiktoken", "httpx", "matplotlib", "PIL"):
    sys.modules[name] = None  # its import fails as if it were not installed

from typer.testing import CliRunner
from virsci_society.scenarios.cli.app import app
from virsci_society.society.results.run import Run

runner, (out, *commands) = CliRunner(), sys.argv[1:]
for command in commands:
    done = runner.invoke(app, command.split())
    print(done.exit_code, done.output.splitlines()[-1])
run = Run.open(out)
try:
    run.plot.timeline()
except Exception as error:
    print(type(error).__name__, error)
"""
"""Runs commands, then draws a plot, without the packages of the extras [llm] and [plots]."""


@pytest.mark.slow
def test_without_the_extras_rules_run_and_models_and_plots_name_them(tmp_path):
    short, out = "quickstart --set until=40", tmp_path / "lean"
    models = {"litellm": "--set backend.use=litellm --set backend.model=ollama_chat/m"}
    commands = [f"{word} {short}" for word in ("check", "run")]
    refused = [f"{one} {more}" for more in models.values() for one in commands]
    # These two look up a price.
    refused += [
        f"{one} {models['litellm']}" for one in (f"plan {short}", f"review {out} --kind virsci")
    ]
    working = [f"run {short} --out {out}", f"replay {out}", f"doctor {short}"]
    done = subprocess.run(
        [sys.executable, "-c", LEAN, out, *working, *refused],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    run, again, doctor, *lines, plot = done.stdout.splitlines()
    whole = run_scenario(load_scenario("quickstart", until=40), tmp_path / "whole", page=False)
    digest = (whole / "digest").read_text(encoding="utf-8").strip()
    assert run == "0 answers: rule-based scientists, not a language model"
    assert again == f"0 replayed from the journal; digest {digest}"
    assert doctor == "0 all checks passed"
    cure = f"{sys.executable} -m pip install -e '{ROOT}"
    needed = [name for name in models for _ in commands] + ["litellm"] * 2
    assert lines == [f"2 a language model needs {name}: {cure}[llm]'" for name in needed]
    assert plot == f"InputError a plot needs matplotlib: {cure}[plots]'"


def test_the_plain_installation_brings_no_client_of_models_and_no_plots():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plain, extras = " ".join(project["dependencies"]), project["optional-dependencies"]
    for extra, names in (("llm", ("litellm",)), ("plots", ("matplotlib",))):
        assert all(name in " ".join(extras[extra]) and name not in plain for name in names)
    # What the tests install has both.
    assert "virsci-society[llm,plots," in " ".join(extras["dev"])


def test_every_requirement_names_its_oldest_release():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert {"simpy==4.1", "litellm==1.85"} <= set(constraints(text))
    with pytest.raises(ValueError, match="simpy<5: give the oldest release"):
        constraints(text.replace("simpy>=4.1,<5", "simpy<5"))
