"""The entry point: whose packages would be imported, found out before any of them is.

Throw-away environments hold this distribution, with little packages in the place of its own, and
another that has a package of the same name; pip installs them in both orders.
"""

from __future__ import annotations

import base64
import hashlib
import json
import signal
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from textwrap import indent

import pytest

import virsci_society
from virsci_society import HOME, PACKAGES, find_conflict

ROOT = Path(__file__).parents[1]
APP = "import sys\ndef main():\n    print('ran', *sys.argv[1:])\n"
CURE = "pipx install virsci-society"
INSTALL = """\
import json, sys
from pip._internal.cli.main import main
for folder, wheels in json.loads(sys.argv[1]):
    for wheel in wheels:
        options = ["--prefix", folder, "--no-deps", "--no-index", "--no-compile", "-qq"]
        assert main(["install", *options, wheel]) == 0, wheel
"""


def wheel(folder: Path, name: str, files: dict[str, str]) -> Path:
    """A wheel of pure Python that holds these files."""
    info = f"{name.replace('-', '_')}-1.0.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        rows.append(f"{path},sha256={digest.decode()},{len(text.encode())}\n")
    files[f"{info}/RECORD"] = "".join(rows) + f"{info}/RECORD,,\n"
    made = folder / f"{info.removesuffix('.dist-info')}-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return made


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of packages of three environments: ours alone, before and after the other."""
    folder = tmp_path_factory.mktemp("environments")
    raising = "raise SystemExit('a package was imported before the check')\n"
    ours = {f"{name}/__init__.py": f"# {name} of ours\n" for name in PACKAGES}
    ours |= {"virsci_society.py": (ROOT / "virsci_society.py").read_text(encoding="utf-8")}
    ours |= {"scenarios/cli/__init__.py": "", "scenarios/cli/app.py": APP}
    ours |= {"agents/tool.py": "# of ours\n"}
    mine = str(wheel(folder, "virsci-society", ours))
    other = str(wheel(folder, "other-agents", {"agents/__init__.py": raising, "agents/x.py": ""}))
    orders = {"alone": [mine], "before": [mine, other], "after": [other, mine]}
    work = json.dumps([[str(folder / name), wheels] for name, wheels in orders.items()])
    done = subprocess.run([sys.executable, "-c", INSTALL, work], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {name: next((folder / name).rglob("site-packages")) for name in orders}


def society(site: Path, *arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """The command in an environment of these packages and the standard library."""
    code = f"import sys; sys.path.insert(0, {str(site)!r}); {before}\n"
    code += "from virsci_society import main; main()"
    command = [sys.executable, "-I", "-S", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=site)


def test_alone_the_command_runs(sites: dict[str, Path]) -> None:
    done = society(sites["alone"], "list")
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran list\n", "")
    assert find_conflict(str(sites["alone"]), (), every_file=True) is None


@pytest.mark.parametrize(
    ("order", "what"),
    [
        ("before", "agents/__init__.py is not ours any more"),
        ("after", "one overwrites files of the other"),
    ],
)
def test_another_package_of_the_same_name_is_named_in_both_orders(
    sites: dict[str, Path], order: str, what: str
) -> None:
    for command in ("list", "doctor"):
        done = society(sites[order], command)
        assert done.returncode == 2
        assert done.stdout == ""
        assert "virsci-society and other_agents 1.0 are installed in one environment" in done.stderr
        assert f"both are imported as 'agents': {what}" in done.stderr
        assert CURE in done.stderr
        assert "uv tool install" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_package_that_comes_first_on_the_path_is_named_with_its_owner(
    sites: dict[str, Path], tmp_path: Path
) -> None:
    """As in a working copy of the source, whose packages come after those that are installed."""
    other = tmp_path / "elsewhere"
    (other / "agents").mkdir(parents=True)
    (other / "agents" / "__init__.py").write_text("")
    info = other / "openai_agents-0.3.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("agents/__init__.py,,0\n")
    done = society(sites["alone"], "list", before=f"sys.path.insert(0, {str(other)!r})")
    assert done.returncode == 2
    assert f"'agents' comes from {other / 'agents'}, which belongs to openai_agents 0.3" in (
        done.stderr
    )
    assert CURE in done.stderr


def test_files_that_were_changed_or_lost_since_are_named(sites: dict[str, Path]) -> None:
    site = sites["alone"]
    first, later = site / "agents" / "__init__.py", site / "agents" / "tool.py"
    before = first.read_text()
    try:
        first.unlink()
        assert f"{first} is not the file that was installed" in str(find_conflict(str(site)))
        first.write_text(before)
        later.write_text("# changed\n")
        assert find_conflict(str(site), names=()) is None
        told = find_conflict(str(site), every_file=True)
        assert f"{later} is not the file that was installed; install it once more" in str(told)
    finally:
        first.write_text(before)
        later.write_text("# of ours\n")


def test_a_missing_package_is_named() -> None:
    told = find_conflict(HOME, ("no_such_package",))
    assert "the package 'no_such_package' of virsci-society cannot be found" in str(told)


def test_the_working_copy_is_in_order() -> None:
    assert find_conflict() is None
    assert find_conflict(every_file=True) is None


def test_the_entry_point_imports_nothing_of_the_project() -> None:
    code = (
        "import sys, virsci_society; virsci_society.find_conflict()\n"
        f"print([name for name in sys.modules if name.split('.')[0] in {PACKAGES!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("moment", ["import", "arguments"])
def test_ctrl_c_during_imports_is_one_line_and_exit_130(
    sites: dict[str, Path], moment: str
) -> None:
    """Ctrl-C is sent by the module that the command imports, so it always comes at that moment."""
    app = sites["alone"] / "scenarios" / "cli" / "app.py"
    send = f"import os, signal, time\nos.kill(os.getpid(), {int(signal.SIGINT)})\ntime.sleep(60)\n"
    try:
        later = APP.replace("    print", f"{indent(send, '    ')}    print")
        app.write_text(send + APP if moment == "import" else later)
        default = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
        done = society(sites["alone"], "list", before=default)
    finally:
        app.write_text(APP)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted before the command began\n"


def test_a_package_that_is_not_installed_is_named(sites: dict[str, Path]) -> None:
    app = sites["alone"] / "scenarios" / "cli" / "app.py"
    try:
        app.write_text("import typer_of_another_name\n")
        done = society(sites["alone"], "list")
    finally:
        app.write_text(APP)
    assert done.returncode == 2
    assert done.stderr == (
        "the package 'typer_of_another_name' is not installed; install it with what it needs: "
        "pip install virsci-society\n"
    )


def test_the_installed_command_is_this_module() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["scripts"] == {"society": "virsci_society:main"}
    assert settings["tool"]["setuptools"]["py-modules"] == ["virsci_society"]
    assert settings["project"]["name"] == virsci_society.DISTRIBUTION
    included = settings["tool"]["setuptools"]["packages"]["find"]["include"]
    assert {pattern.rstrip("*") for pattern in included} == set(PACKAGES)
