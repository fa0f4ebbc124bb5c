"""Checks of Python, of the installed packages and of the embedded backend."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Literal

from virsci_society._installation import changed_files
from virsci_society.agents.errors import SocietyError
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Request

State = Literal["ok", "note", "problem"]

OLDEST_PYTHON = (3, 11)
PACKAGES = ("mesa", "simpy", "litellm", "openai", "numpy", "pandas", "pydantic", "faiss-cpu")
RANGES = {"mesa": ((3, 3), (4,))}
"""Releases from the first on and below the second."""
STOLEN = {"litellm": ("1.82.7", "1.82.8")}
"""Releases that took credentials away."""


@dataclass(frozen=True)
class CheckResult:
    """The result of one check, with advice where something is to be done.

    Attributes:
        state: ``ok``, ``note`` or ``problem``.
        message: what was found.
        advice: what to do; empty where nothing is.
    """

    state: State
    message: str
    advice: str = ""


def check_installation() -> Iterator[CheckResult]:
    """Check Python, the packages and the embedded backend."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield CheckResult("problem", f"Python {version}", "use Python 3.11 or newer")
    else:
        yield CheckResult("ok", f"Python {version}")
    changed = changed_files()
    if changed:
        message = f"{changed[0]} is not the file that was installed"
        advice = "install it once more: pip install --force-reinstall --no-deps virsci-society"
        yield CheckResult("problem", message, advice)
    else:
        yield CheckResult("ok", "every file is as it was installed")
    yield from (check_package(name) for name in PACKAGES)
    yield check_offline_backend()


def check_package(name: str) -> CheckResult:
    """Is a package installed, in a release that is known to work?"""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return CheckResult("problem", f"{name} is not installed", "run pip install -e . once more")
    if version in STOLEN.get(name, ()):
        return CheckResult(
            "problem",
            f"{name} {version} steals credentials",
            f"install another release of {name}, and change every key this machine has seen",
        )
    least, below = RANGES.get(name, ((0,), (10**6,)))
    if not least <= _numbers(version) < below:
        allowed = f"{'.'.join(map(str, least))} or newer, below {'.'.join(map(str, below))}"
        return CheckResult("problem", f"{name} {version}", f"install {name} {allowed}")
    return CheckResult("ok", f"{name} {version}")


def check_offline_backend() -> CheckResult:
    """Does the backend of rule-based scientists answer?"""
    from virsci_society.agents.profile import Profile
    from virsci_society.agents.replies.parser import read_reply
    from virsci_society.protocols.forms import Summary

    request = Request("doctor", Profile("Scientist"), (), Summary, {"said": (), "stage": "topic"})
    try:
        read_reply(Summary, asyncio.run(Offline().complete(request)).text)
    except SocietyError as error:
        return CheckResult(
            "problem", f"the embedded backend does not answer: {error}", "install anew"
        )
    return CheckResult("ok", "the embedded backend answers")


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")
    return tuple(int(part) for part in parts[:2] if part.isdecimal())
