"""Named random streams, one per purpose and act, all derived from one seed.

No two acts share a stream, so nothing that is added shifts another's draws (rules 7 and 9).
"""

from __future__ import annotations

import hashlib
import secrets

from numpy.random import PCG64, Generator


def chosen_seed(seed: int | None, rng: int | Generator | None = None) -> int:
    """The seed that was stated, or one from the operating system."""
    if isinstance(rng, Generator):
        return int(rng.integers(2**31))
    stated = seed if rng is None else rng
    return secrets.randbelow(2**31) if stated is None else int(stated)


class Streams:
    """Named random generators, derived from one seed by hashing names."""

    def __init__(self, seed: int, *within: object) -> None:
        self._within = within
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Derive all streams from another seed from now on; those handed out stay as they are."""
        self.seed = seed
        # With a separator, so that ("a", "bc") and ("ab", "c") have different streams (rule 9).
        self._prefix = "".join(f"{name}\x1f" for name in (seed, *self._within)).encode()

    def key(self, *names: object) -> int:
        """The 64-bit seed of a name such as ``("utterance", call_id)``."""
        text = "\x1f".join(map(str, names)).encode()
        # Not ``hash``, whose value for a text differs between processes (rule 12).
        return int.from_bytes(hashlib.blake2b(self._prefix + text, digest_size=8).digest(), "big")

    def below(self, *names: object) -> Streams:
        """The streams whose names begin with these; they follow a later change of the seed."""
        return _Below(self, names)

    def stream(self, *names: object) -> Generator:
        """A new generator for a name; asked for twice, it begins again with the same draws."""
        # By name, because numpy may give ``default_rng`` another generator in a later release.
        return Generator(PCG64(self.key(*names)))


class _Below(Streams):
    """Streams under a prefix, which ask the whole for every key and so follow its seed."""

    def __init__(self, whole: Streams, names: tuple[object, ...]) -> None:
        self._whole, self._names = whole, names
        self.seed = whole.seed

    def key(self, *names: object) -> int:
        return self._whole.key(*self._names, *names)
