"""The virtual environment of each system, made in a cache folder and used again afterwards.

An environment that grows beyond 2 GB while it is installed, downloads included, is given up. The
reason why a system could not be installed is kept beside its environment and said in the table;
delete the folder to try again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.peers.registry import Peer

MOST_BYTES = 2_000_000_000
LOOKS = 5.0
"""Seconds between two looks at how large an environment has become."""


class CannotInstall(Exception):
    """Why a system has no environment."""


def cache_folder() -> Path:
    """Where environments are kept: ``virsci-society/peers`` in the user's cache folder."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "virsci-society" / "peers"


def python_of(peer: Peer, folder: Path) -> Path:
    """The Python of a system's environment, which is made if it is not there.

    Args:
        peer: the system; one without a package runs in the Python of this process.
        folder: holds all environments.

    Raises:
        CannotInstall: the message is the reason.
    """
    if not peer.package:
        return Path(sys.executable)
    key = hashlib.sha256(peer.lock.read_bytes() + sys.version.encode()).hexdigest()[:8]
    place = folder / f"{peer.package}-{peer.version}-{key}"
    python, refused = place / "bin" / "python", place / "refused.txt"
    if refused.is_file():
        raise CannotInstall(refused.read_text(encoding="utf-8"))
    if not (place / "installed").is_file():
        print(f"installing {peer.package} {peer.version} into {place}", flush=True)
        shutil.rmtree(place, ignore_errors=True)
        reason = _install(peer, place)
        if reason:
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            refused.write_text(reason, encoding="utf-8")
            raise CannotInstall(reason)
        (place / "installed").touch()
    return python


def _install(peer: Peer, place: Path) -> str:
    """Make an environment; why that failed, or nothing."""
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    downloads = place / "downloads"  # inside, so that downloads count against the limit
    downloads.mkdir()
    command = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    with (place / "pip.txt").open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [*command, "--disable-pip-version-check", "-r", str(peer.lock)],
            env=os.environ | {"TMPDIR": str(downloads)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            while process.poll() is None:
                time.sleep(LOOKS)
                if size_of(place) > MOST_BYTES:
                    return f"not installed: larger than {MOST_BYTES / 1e9:.0f} GB"
        finally:
            process.kill()
            process.wait()
    shutil.rmtree(downloads, ignore_errors=True)
    said = (place / "pip.txt").read_text(encoding="utf-8").splitlines()
    errors = [line for line in said if line.startswith("ERROR")] or said or ["pip said nothing"]
    return f"not installed: {errors[-1][:100]}" if process.returncode else ""


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder; those that vanish meanwhile count nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(Path(parent) / name).st_size
            except OSError:
                continue
    return total
