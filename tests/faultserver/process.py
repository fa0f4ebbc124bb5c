"""FaultServer: the server in a process of its own, so that it shares no CPU time with a client."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tests.faultserver.plan import Plan

ROOT = Path(__file__).parents[2]


class FaultServer:
    """Runs from ``with`` to the end of its block; ends by itself if this process is killed.

    Args:
        plan: how it behaves at first; None: it answers well and at once.
        port: where it listens; 0: on any free port.
    """

    def __init__(self, plan: Plan | None = None, *, port: int = 0) -> None:
        self._first, self._wanted = plan or Plan(), port
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    @property
    def port(self) -> int:
        """The port it listens on."""
        return urlsplit(self.url).port or 0

    def start(self) -> Self:
        """Start it; returns when it listens.

        Raises:
            RuntimeError: it has ended instead; why stands on stderr.
        """
        plan = self._first.model_dump_json()
        ours = ["-m", "tests.faultserver", "--attached", "--port", str(self._wanted)]
        self._process = process = subprocess.Popen(
            [sys.executable, *ours, "--plan", plan],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if process.stdout is not None:
            self.url = process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(f"the fault server ended with exit code {process.wait(120)}")
        return self

    def stop(self) -> None:
        """End it, whatever is under way."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def counts(self, *, full: bool = False) -> dict[str, Any]:
        """What it has counted; with ``full`` also ``by_call``."""
        return self._ask("GET", f"/counts?full={int(full)}")

    def plan(self, plan: Plan) -> None:
        """From now on, behave so; attempts and streaks go on being counted."""
        self._ask("POST", "/plan", plan.model_dump_json())

    def reset(self) -> None:
        """Forget all counts, and with them which attempt at a call comes next."""
        self._ask("POST", "/reset")

    def __enter__(self) -> Self:
        """Start it."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self.stop()

    def _ask(self, method: str, path: str, body: str | None = None) -> dict[str, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, {"Connection": "close"})
            response = connection.getresponse()
            data: dict[str, Any] = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise RuntimeError(data["error"]["message"])
        return data
