"""Threads of this process that do runs of a study and may share slots.

Each run steps its own clock on a thread of its own, because answers are read only on the thread
that steps the clock (rule 18); all of them ask through one event loop.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from virsci_society.scenarios.runs.shared_resources import SharedResources
from virsci_society.scenarios.study.status import Status

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What numeric libraries read when they are loaded."""


class ThreadPool:
    """Threads that do runs of one study.

    Args:
        study: its folder.
        together: most runs at a time.
        options: of ``run_one``, the same for all runs.

    Attributes:
        results: a status for each run that was given, or the error that nobody expected; other
            threads may put numbers into it for its reader.
    """

    def __init__(self, study: Path, together: int, **options: Any) -> None:
        self.study, self.together, self._options = study, together, options
        self.results: SimpleQueue[Status | BaseException | int | None] = SimpleQueue()
        self._given: deque[int] = deque()
        self._busy = 0
        self._lock = threading.Lock()
        self._resources = SharedResources(shared=together > 1)
        self._threads = single_threaded_numerics()

    def __enter__(self) -> ThreadPool:
        self._threads.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections; every run has ended by then."""
        self._resources.close()
        self._threads.__exit__(None, None, None)

    def submit(self, indices: Sequence[int]) -> None:
        """Let these runs be done, in this order."""
        with self._lock:
            self._given.extend(indices)
            for _ in range(min(self.together - self._busy, len(indices))):
                self._busy += 1
                threading.Thread(target=self._work, name="society", daemon=True).start()

    def cancel_pending(self) -> list[int]:
        """Begin nothing more; returns the runs that were given and will not be done."""
        with self._lock:
            dropped = list(self._given)
            self._given.clear()
        return dropped

    def _work(self) -> None:
        from virsci_society.scenarios.study.execution.run_one import run_one

        while (index := self._next()) is not None:
            try:
                self.results.put(
                    run_one(self.study, index, resources=self._resources, **self._options)
                )
            except BaseException as error:
                self.results.put(error)

    def _next(self) -> int | None:
        with self._lock:
            if self._given:
                return self._given.popleft()
            self._busy -= 1
            return None


@contextmanager
def single_threaded_numerics() -> Iterator[None]:
    """Let numeric libraries work on one thread, those loaded already and those loaded later.

    Some parts set the number of threads for a moment; what they set back must be one as well, or a
    sum of one run could depend on another run at the same time (rule 12). And threads of several
    processes that wait for each other in loops take several times the processor time of the work.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
