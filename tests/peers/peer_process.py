"""PeerProcess: a server of others as a child process, from its start until it can be asked."""

import http.client
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 240.0
"""Most seconds until a server can be asked; a bound against hangs, and no measure of it."""


class PeerProcess:
    """A server that listens on a port of the loopback address, from ``with`` to its end."""

    def __init__(self, command, ready, log, environment=None):
        self._command, self._ready, self._log = command, ready, log
        self._environment = os.environ | {"PYTHONPATH": str(ROOT)} | (environment or {})
        self._process = None
        self.port = 0

    @property
    def url(self):
        """The base address of its API."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self):
        """Start it; returns when it can be asked."""
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

    def __exit__(self, kind, error, trace):
        """End it."""
        self._stop()

    def get(self, path):
        """Status and body of the answer to GET."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def printed(self):
        """The last lines that it printed."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-20:])

    def _answers(self):
        try:
            return self.get(self._ready)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def _stop(self):
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        process.stdin.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
