"""The core of the program under other versions of Python and of its packages (``make versions``).

Each Python that is at hand gets the newest packages that ``pyproject.toml`` allows, and the first
one for which they have wheels also the oldest. In an environment that is removed again the tests of
the core, of a call over HTTP and of what is used of Mesa are run, and two societies, whose digests
must be the same everywhere. Only the standard library is used: nothing else is installed yet.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FLOOR = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([^,]+)")
"""A requirement with its oldest release; what comes after it does not matter here."""
LAST_WITH_OLDEST = (3, 13)
"""The last Python for which the oldest packages have wheels."""
TESTS = (
    *("test_determinism.py", "test_installation.py", "society/test_model.py", "agents/gateway"),
    *("agents/journal", "agents/backends/test_live_calls.py", "scenarios/runs/test_build.py"),
    "scenarios/runs/test_execute.py",
)
SOCIETIES = ("quickstart", "community/assembly")
SHOWN = ("litellm", "mesa", "numpy", "pandas", "pydantic")


def constraints(text):
    """The oldest release of each requirement of the program and of the extra ``llm``, for pip."""
    project = tomllib.loads(text)["project"]
    required = project["dependencies"] + project["optional-dependencies"]["llm"]
    return [f"{name}=={release}" for name, release in map(_floor, required)]


def _floor(requirement):
    found = FLOOR.match(requirement)
    if found is None:
        raise ValueError(f"{requirement}: give the oldest release that is supported, NAME>=RELEASE")
    return found[1], found[2]


def digests(python, limits):
    """Install the program under a Python, test it, and run the societies."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _run(python, "-m", "venv", home)
        (home / "limits.txt").write_text("\n".join(limits), encoding="utf-8")
        inside = home / "bin" / "python"
        pip = (inside, "-m", "pip", "--disable-pip-version-check")
        needed = ("-e", f"{ROOT}[llm]", "pytest", "pytest-timeout", "hypothesis")
        _run(*pip, "install", "--quiet", "-c", home / "limits.txt", *needed)
        versions = "import sys; from importlib.metadata import version; "
        versions += "print(*(f'{one} {version(one)}' for one in sys.argv[1:]), sep=', ')"
        _run(inside, "-c", versions, *SHOWN)
        _run(inside, "-m", "pytest", "-m", "not slow", *(ROOT / "tests" / one for one in TESTS))
        made = []
        for number, name in enumerate(SOCIETIES):
            out = home / f"run-{number}"
            _run(home / "bin" / "society", "run", name, "--out", out)
            made.append((out / "digest").read_text(encoding="utf-8").strip())
        return tuple(made)


def _run(*command):
    subprocess.run(command, check=True, cwd=ROOT)


def has_oldest(python):
    """Whether there are wheels of the oldest packages for a Python."""
    ask = "import sys; print(*sys.version_info[:2])"
    told = subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout
    return tuple(map(int, told.split())) <= LAST_WITH_OLDEST


def main(pythons):
    """Try them one after another and print what came of it; 1 if something failed."""
    ends = []
    found = {}
    failed, tried_oldest = False, False
    floors = constraints((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for python in pythons:
        if shutil.which(python) is None:
            ends.append(f"{python}: not at hand")
            continue
        ways = {"the newest packages": list[str]()}
        if not tried_oldest and has_oldest(python):
            ways["the oldest packages"] = floors
            tried_oldest = True
        for way, limits in ways.items():
            where = f"{python} with {way}"
            print(f"\n{where}", flush=True)
            try:
                made = digests(python, limits)
            except subprocess.CalledProcessError as error:
                ends.append(f"{where}: failed: {' '.join(map(str, error.cmd[:4]))} ...")
                failed = True
                continue
            found.setdefault(made, where)
            ends.append(f"{where}: green, digests {', '.join(one[:8] for one in made)}")
    print("\n" + "\n".join(ends))
    if len(found) > 1:
        print(f"the digests differ between {' and '.join(found.values())}")
    return int(failed or len(found) > 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
