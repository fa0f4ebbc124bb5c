"""Whereabouts: which process on which machine, told so that another can see whether it lives.

Only a process of the same machine and the same container can be seen; of all others nothing is
known, and nothing is claimed.
"""

from __future__ import annotations

import os
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_CONTAINER = Path("/proc/self/ns/pid")


def whereabouts() -> str:
    """This process, in four words; empty on systems without ``/proc``."""
    try:
        _, since = _state(os.getpid())
        return f"{_machine()} {os.getpid()} {since}"
    except (OSError, IndexError):
        return ""


def is_gone(told: str) -> bool:
    """Has the process that gave these whereabouts ended, for certain?

    False also where that cannot be seen from here. A killed process that nobody has reaped yet is
    gone, and so is one whose number another process has got since.
    """
    words = told.split()
    try:
        if len(words) != 4 or " ".join(words[:2]) != _machine():
            return False
        state, since = _state(int(words[2]))
    except (FileNotFoundError, ProcessLookupError):
        return True
    except (OSError, ValueError, IndexError):
        return False
    return state in "ZX" or since != words[3]


def _machine() -> str:
    """This start of this machine, and the container in it: numbers of processes count in here."""
    return f"{_BOOT.read_text().strip()} {os.readlink(_CONTAINER)}"


def _state(pid: int) -> tuple[str, str]:
    """How a process is, by the letter of ``ps``, and when it was started, in ticks of the boot."""
    # The name in brackets comes second and may hold anything: count from its end.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], fields[19]
