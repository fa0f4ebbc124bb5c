"""Streams: one named random generator per purpose and act.

Every draw of the simulated world comes from a generator keyed by the scenario's seed, a
purpose and the id of the act it is for. No two acts share a stream, so adding a team, a
policy or a metric shifts nobody else's draws (rules 7 and 9).
"""

from __future__ import annotations

import hashlib

import numpy as np


class Streams:
    """All randomness of one society, derived from one seed by hashing names.

    Args:
        seed: of everything.
        within: names that stand before every name asked for.
    """

    def __init__(self, seed: int, *within: object) -> None:
        self._within = within
        self.turn(seed)

    def turn(self, seed: int) -> None:
        """Draw everything from another seed from now on."""
        self.seed = seed
        self._prefix = "".join(f"{name}\x1f" for name in (seed, *self._within)).encode()

    def key(self, *names: object) -> int:
        """A 64-bit number for a name such as ``("utterance", call_id)``."""
        text = "\x1f".join(map(str, names)).encode()
        return int.from_bytes(hashlib.blake2b(self._prefix + text, digest_size=8).digest(), "big")

    def below(self, *names: object) -> Streams:
        """The streams whose names begin so; they are drawn from the same seed, also another."""
        return _Below(self, names)

    def stream(self, *names: object) -> np.random.Generator:
        """The generator of that name; asked twice, it starts again from its beginning."""
        return np.random.Generator(np.random.PCG64(self.key(*names)))


class _Below(Streams):
    def __init__(self, whole: Streams, names: tuple[object, ...]) -> None:
        self._whole, self._names = whole, names
        self.seed = whole.seed

    def key(self, *names: object) -> int:
        return self._whole.key(*self._names, *names)
