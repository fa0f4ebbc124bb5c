"""Crowd: a dask scheduler and its workers, each a process that can be killed and comes again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = ("--host", "127.0.0.1", "--no-dashboard")


class Crowd:
    """One scheduler and some workers on loopback, from ``with`` to the end of its block.

    Args:
        folder: for their logs.
        workers: how many.
    """

    def __init__(self, folder, workers):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self._folder = folder
        self._scheduler = None
        self._workers = [None] * workers
        self._turn = 0

    def __enter__(self):
        self.restart()
        return self

    def __exit__(self, *_):
        for process in (self._scheduler, *self._workers):
            if process is not None:
                process.kill()
                process.wait()

    def restart(self):
        """Start again whoever has died."""
        if self._scheduler is None or self._scheduler.poll() is not None:
            port = self.address.rpartition(":")[2]
            self._scheduler = self._start("dask_scheduler", "--port", port)
        for place, process in enumerate(self._workers):
            if process is None or process.poll() is not None:
                alone = ("--nthreads", "1", "--no-nanny", "--death-timeout", "60")
                self._workers[place] = self._start("dask_worker", self.address, *alone)

    def kill_worker(self):
        """Kill the worker whose turn it is."""
        self._turn += 1
        self._end(self._workers[self._turn % len(self._workers)])

    def kill_scheduler(self):
        """Kill the scheduler; the workers end when they notice."""
        self._end(self._scheduler)

    def _end(self, process):
        process.send_signal(signal.SIGKILL)
        process.wait()

    def _start(self, what, *arguments):
        with (self._folder / f"{what}.log").open("a", encoding="utf-8") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{what}", *arguments, *HERE],
                cwd=self._folder,
                env=os.environ | {"PYTHONPATH": str(ROOT), "FAULTSERVER_KEY": "key-of-the-tests"},
                stdout=log,
                stderr=log,
            )
