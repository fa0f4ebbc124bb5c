"""Named random streams, one per purpose and act, all derived from one seed.

No two acts share a stream, so nothing that is added shifts another's draws (rules 7 and 9).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence

import numpy as np

from virsci_society.agents.arrays import WordArray


def chosen_seed(seed: int | None, rng: int | np.random.Generator | None = None) -> int:
    """The seed that was stated, or one from the operating system."""
    if isinstance(rng, np.random.Generator):
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

    def stream(self, *names: object) -> np.random.Generator:
        """A new generator for a name; asked for twice, it begins again with the same draws."""
        # By name, because numpy may give ``default_rng`` another generator in a later release.
        return np.random.Generator(np.random.PCG64(self.key(*names)))


class _Below(Streams):
    """Streams under a prefix, which ask the whole for every key and so follow its seed."""

    def __init__(self, whole: Streams, names: tuple[object, ...]) -> None:
        self._whole, self._names = whole, names
        self.seed = whole.seed

    def key(self, *names: object) -> int:
        return self._whole.key(*self._names, *names)


AHEAD = 256
"""Numbered streams that are seeded together."""
State = tuple[int, int]
"""State and increment of a PCG64 generator."""
_MULTIPLIER = 47026247687942121848144207491837523525
_WORD, _WHOLE = (1 << 32) - 1, (1 << 128) - 1


def _hash_constants(first: int, factor: int, count: int) -> list[int]:
    """The running constants of numpy's ``SeedSequence``, one more than there are hashes."""
    values = [first]
    for _ in range(count):
        values.append(values[-1] * factor & _WORD)
    return values


def _column(values: list[int]) -> WordArray:
    return np.array(values, dtype=np.uint32)[:, None]


def _rounds(constants: list[int]) -> list[tuple[int, WordArray, WordArray]]:
    """The four rounds in which each word of the pool is mixed into the three others."""
    rounds = []
    for one in range(4):
        # The row of the word itself is computed as well, with any constant, and put back.
        rows = [4 + 3 * one + other - (other > one) for other in range(4)]
        rows[one] = 0
        first, second = ([constants[row + step] for row in rows] for step in (0, 1))
        rounds.append((one, _column(first), _column(second)))
    return rounds


_POOL = _hash_constants(0x43B0D7E5, 0x931E8875, 16)
_O = _hash_constants(0x8B51F9DD, 0x58F38DED, 8)
_ROUNDS = _rounds(_POOL)
_LEFT, _RIGHT, _HALF = (np.uint32(one) for one in (0xCA01F9DD, 0x4973F715, 16))


def seed_states(keys: Sequence[int]) -> list[State]:
    """State and increment of ``numpy.random.PCG64(key)`` for many keys (O'Neill 2014, 2015)."""
    pool = np.zeros((4, len(keys)), dtype=np.uint32)
    pool[:2] = np.array(keys, dtype="<u8").view("<u4").reshape(-1, 2).T
    pool = _hashed(pool, _column(_POOL[:4]), _column(_POOL[1:5]))
    for one, constants, factors in _ROUNDS:
        mixed = pool * _LEFT
        mixed -= _hashed(pool[one], constants, factors) * _RIGHT
        mixed ^= mixed >> _HALF
        mixed[one] = pool[one]
        pool = mixed
    words = _hashed(np.concatenate([pool, pool]), _column(_O[:-1]), _column(_O[1:]))
    states = []
    for high, low, sequence_high, sequence_low in (
        np.ascontiguousarray(words.T).view("<u8").tolist()
    ):
        increment = ((sequence_high << 64 | sequence_low) << 1 | 1) & _WHOLE
        start = increment + (high << 64 | low)
        states.append(((start * _MULTIPLIER + increment) & _WHOLE, increment))
    return states


def _hashed(values: WordArray, constants: WordArray, factors: WordArray) -> WordArray:
    """The hash of 32-bit words that numpy uses, one row per constant."""
    mixed: WordArray = values ^ constants
    mixed *= factors
    mixed ^= mixed >> _HALF
    return mixed


class ReusedStreams(Streams):
    """The same draws as ``Streams``, with numbered streams seeded many at once, which is faster.

    All streams of a purpose share a generator, which is valid until the next of them is asked for.
    """

    def __init__(self, seed: int) -> None:
        self._generators: dict[object, np.random.Generator] = {}
        super().__init__(seed)

    def reseed(self, seed: int) -> None:
        """Derive all streams from another seed from now on."""
        super().reseed(seed)
        self._ahead: dict[object, tuple[int, list[State]]] = {}

    def stream(self, *names: object) -> np.random.Generator:
        """The generator of a name, at its beginning."""
        purpose, number = names[0], names[-1]
        if len(names) != 2 or not isinstance(number, int):
            return super().stream(*names)
        start, states = self._ahead.get(purpose, (0, []))
        if not start <= number < start + len(states):
            start, states = (
                number,
                seed_states([self.key(purpose, number + n) for n in range(AHEAD)]),
            )
            self._ahead[purpose] = start, states
        if purpose not in self._generators:
            self._generators[purpose] = np.random.Generator(np.random.PCG64(0))
        state, increment = states[number - start]
        self._generators[purpose].bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": state, "inc": increment},
            "has_uint32": 0,
            "uinteger": 0,
        }
        return self._generators[purpose]
