"""PeerProcess: a server of others as a child process, from its start until it can be asked."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[2]
PATIENCE = 240.0
"""Most seconds until a server can be asked; a bound against hangs, and no measure of it."""


class PeerProcess:
    """A server that listens on a port of the loopback address, from ``with`` to its end.

    Args:
        command: the command, made from the port.
        ready: path that answers 200 once the server can be asked.
        log: file that takes what the server prints.
        environment: variables beside those of this process.
    """

    def __init__(
        self,
        command: Callable[[int], list[str]],
        ready: str,
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._command, self._ready, self._log = command, ready, log
        self._environment = os.environ | {"PYTHONPATH": str(ROOT)} | (environment or {})
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """The base address of its API."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        """Start it; returns when it can be asked.

        Raises:
            RuntimeError: it has ended instead, or is not ready in time; with what it printed last.
        """
        self.port = _free_port()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.peers.attached", *self._command(self.port)],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        end = time.monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                self._stop()
                raise RuntimeError(f"the server did not start; it printed:\n{self.printed()}")
            time.sleep(0.1)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self._stop()

    def get(self, path: str) -> tuple[int, Any]:
        """Status and body of the answer to GET.

        Raises:
            OSError: it does not listen.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def printed(self) -> str:
        """The last lines that it printed."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-20:])

    def _answers(self) -> bool:
        try:
            return self.get(self._ready)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        process.stdin.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
