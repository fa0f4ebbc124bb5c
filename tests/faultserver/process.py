"""FaultServer: the server in a process of its own, so that it shares no CPU time with a client.

It is a new interpreter, or, where several workers run the tests, a fork of one that has all it
needs imported.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tests.faultserver.plan import Plan
from tests.forked_commands import attach

ROOT = Path(__file__).parents[2]


class FaultServer:
    """Runs from ``with`` to the end of its block; ends by itself if this process is killed."""

    def __init__(self, plan=None, *, port=0):
        self._first, self._wanted = plan or Plan(), port
        self._process = None
        self._attached = None
        self.url = ""

    @property
    def port(self):
        """The port it listens on."""
        return urlsplit(self.url).port or 0

    def start(self):
        """Start it; returns when it listens."""
        ours = ["--port", str(self._wanted), "--plan", self._first.model_dump_json()]
        if (attached := attach(*ours)) is not None:
            self._attached = attached
            with attached[0].makefile(encoding="utf-8") as output:
                self.url = output.readline().strip()
        else:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.faultserver", *ours],
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self.url = self._process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError("the fault server ended with exit code 1")
        return self

    def stop(self):
        """End it, whatever is under way."""
        if self._attached is not None:
            (connection, pid), self._attached = self._attached, None
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(5)
            try:
                while connection.recv(4096):
                    pass
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
            connection.close()
        process, self._process = self._process, None
        if process is None:
            return
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def counts(self, *, full=False):
        """What it has counted; with ``full`` also ``by_call``."""
        return self._ask("GET", f"/counts?full={int(full)}")

    def plan(self, plan):
        """From now on, behave so; attempts and streaks go on being counted."""
        self._ask("POST", "/plan", plan.model_dump_json())

    def reset(self):
        """Forget all counts, and with them which attempt at a call comes next."""
        self._ask("POST", "/reset")

    def __enter__(self):
        return self.start()

    def __exit__(self, *raised):
        self.stop()

    def _ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, {"Connection": "close"})
            response = connection.getresponse()
            data = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise RuntimeError(data["error"]["message"])
        return data
