"""Installation: is what was installed complete, in releases that are known to work?"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Literal

from agents.errors import InputError, SocietyError
from agents.offline.scientist import Offline
from agents.request import Request
from scenarios.house import check_packages

State = Literal["ok", "note", "problem"]

OLDEST_PYTHON = (3, 11)
PACKAGES = ("mesa", "simpy", "litellm", "openai", "numpy", "pandas", "pydantic", "faiss-cpu")
RANGES = {"mesa": ((3, 3), (4,))}
"""Releases from the first on and below the second."""
STOLEN = {"litellm": ("1.82.7", "1.82.8")}
"""Releases that took credentials away."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, and what to do about it."""

    state: State
    what: str
    todo: str = ""


def installation() -> Iterator[Finding]:
    """Python, packages and the embedded backend."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield Finding("problem", f"Python {version}", "use Python 3.11 or newer")
    else:
        yield Finding("ok", f"Python {version}")
    try:
        check_packages()
    except InputError as error:
        yield Finding("problem", str(error), "install this project into an environment of its own")
    else:
        yield Finding("ok", "its five packages come from one place")
    yield from (package(name) for name in PACKAGES)
    yield embedded()


def package(name: str) -> Finding:
    """Is a package there, in a release that is known to work?"""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding("problem", f"{name} is not installed", "run pip install -e . once more")
    if version in STOLEN.get(name, ()):
        return Finding(
            "problem",
            f"{name} {version} steals credentials",
            f"install another release of {name}, and change every key this machine has seen",
        )
    least, below = RANGES.get(name, ((0,), (10**6,)))
    if not least <= _numbers(version) < below:
        allowed = f"{'.'.join(map(str, least))} or newer, below {'.'.join(map(str, below))}"
        return Finding("problem", f"{name} {version}", f"install {name} {allowed}")
    return Finding("ok", f"{name} {version}")


def embedded() -> Finding:
    """Does the backend that needs nothing answer?"""
    from agents.profile import Profile
    from agents.reading import read_reply
    from protocols.forms import Summary

    request = Request("doctor", Profile("Scientist"), (), Summary, {"said": (), "stage": "topic"})
    try:
        read_reply(Summary, asyncio.run(Offline().complete(request)).text)
    except SocietyError as error:
        return Finding("problem", f"the embedded backend does not answer: {error}", "install anew")
    return Finding("ok", "the embedded backend answers")


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")
    return tuple(int(part) for part in parts[:2] if part.isdecimal())
