"""Crowd: a dask scheduler and its workers, each a process that can be killed and comes again."""

import os
import signal
import socket
from pathlib import Path

HERE = ("--host", "127.0.0.1", "--no-dashboard")
MAIN = """
import sys
from distributed.cli.{what} import main
sys.argv = ["{what}", *{arguments!r}]
main()
"""


class Crowd:
    """One scheduler and some workers on loopback, from ``with`` to the end of its block."""

    def __init__(self, nursery, folder, workers):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self._nursery = nursery
        self._folder = folder
        self._scheduler = None
        self._workers = [None] * workers
        self._turn = 0

    def __enter__(self):
        self.restart()
        return self

    def __exit__(self, *_):
        for process in (self._scheduler, *self._workers):
            self._end(process)

    def restart(self):
        """Start again whoever has died."""
        if not is_running(self._scheduler):
            port = self.address.rpartition(":")[2]
            self._scheduler = self._start("dask_scheduler", "--port", port)
        for place, process in enumerate(self._workers):
            if not is_running(process):
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
        if is_running(process):
            os.kill(process, signal.SIGKILL)
            self._nursery.wait(process)

    def _start(self, what, *arguments):
        code = MAIN.format(what=what, arguments=[*arguments, *HERE])
        log = self._folder / f"{what}.log"
        return self._nursery.start(log, before=code, only=True, cwd=self._folder)


def is_running(process):
    """Has a process, by its number, not ended yet?"""
    try:
        told = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return told.rpartition(")")[2].split()[0] != "Z"
