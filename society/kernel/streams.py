"""Named random streams, one per purpose and act, all derived from one seed.

Every draw of the simulated world comes from a generator keyed by the scenario's seed, a
purpose and the id of the act it is for. No two acts share a stream, so adding a team, a
policy or a metric shifts nobody else's draws (rules 7 and 9).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence

import numpy as np

from virsci_society.agents.arrays import WordArray


def draw_seed() -> int:
    """A seed from the operating system, for whoever has stated none; below 2^31."""
    return secrets.randbelow(2**31)


class Streams:
    """Named random generators, derived from one seed by hashing names.

    Args:
        seed: the seed of the run, or the one that an intervention has set.
        within: prefix of every name that is asked for.
    """

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


def seed_state(key: int) -> State:
    """The state of ``numpy.random.PCG64(key)``; see ``seed_states``."""
    a, b, c, d = np.random.SeedSequence(key).pool.tolist()
    # Written out, because a loop takes twice as long, and this is most of what a stream costs.
    e, f, g, h = a, b, c, d
    a = (a ^ _O[0]) * _O[1] & _WORD
    b = (b ^ _O[1]) * _O[2] & _WORD
    c = (c ^ _O[2]) * _O[3] & _WORD
    d = (d ^ _O[3]) * _O[4] & _WORD
    e = (e ^ _O[4]) * _O[5] & _WORD
    f = (f ^ _O[5]) * _O[6] & _WORD
    g = (g ^ _O[6]) * _O[7] & _WORD
    h = (h ^ _O[7]) * _O[8] & _WORD
    return _seeded(
        (b ^ b >> 16) << 32 | (a ^ a >> 16),
        (d ^ d >> 16) << 32 | (c ^ c >> 16),
        (f ^ f >> 16) << 32 | (e ^ e >> 16),
        (h ^ h >> 16) << 32 | (g ^ g >> 16),
    )


def seed_states(keys: Sequence[int]) -> list[State]:
    """State and increment of ``numpy.random.PCG64(key)`` for many keys.

    Args:
        keys: whole numbers from 0 to before 2^64.

    Source:
        O'Neill, "PCG" (2014) and "Developing a seed_seq alternative" (2015), as numpy's
        ``SeedSequence`` with four words of 32 bits and ``PCG64`` implement them.
    """
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
    return [_seeded(*four) for four in np.ascontiguousarray(words.T).view("<u8").tolist()]


def _hashed(values: WordArray, constants: WordArray, factors: WordArray) -> WordArray:
    """The hash of 32-bit words that numpy uses, one row per constant."""
    mixed: WordArray = values ^ constants
    mixed *= factors
    mixed ^= mixed >> _HALF
    return mixed


def _seeded(high: int, low: int, sequence_high: int, sequence_low: int) -> State:
    """State and increment of a PCG64 generator after it was seeded with four words of 64 bits."""
    increment = ((sequence_high << 64 | sequence_low) << 1 | 1) & _WHOLE
    start = increment + (high << 64 | low)
    return (start * _MULTIPLIER + increment) & _WHOLE, increment


class ReusedStreams(Streams):
    """The streams of one seed, with one generator for all streams of one purpose.

    They give the same draws as ``Streams``. Making a generator of numpy takes longer than most
    draws from it, and simulations of thousands of societies ask for many. Here a generator is set
    to the state that a new one would have, and streams with numbers are seeded many at once, by
    numpy's own arithmetic on arrays. Tests compare both with numpy.

    The purpose of a stream is its last name, or the one before it where the last is a number. The
    generator of a stream is valid until the next stream of the same purpose is asked for, so this
    class serves a program that uses one stream of a purpose after another.

    Args:
        seed: the seed of the run.
    """

    def __init__(self, seed: int) -> None:
        self._generators: dict[object, np.random.Generator] = {}
        super().__init__(seed)

    def reseed(self, seed: int) -> None:
        """Derive all streams from another seed from now on."""
        super().reseed(seed)
        self._hasher = hashlib.blake2b(self._prefix, digest_size=8)
        self._ahead: dict[object, tuple[int, list[State]]] = {}

    def key(self, *names: object) -> int:
        """The 64-bit seed of a name, as that of ``Streams``."""
        hasher = self._hasher.copy()
        hasher.update("\x1f".join(map(str, names)).encode())
        return int.from_bytes(hasher.digest(), "big")

    def stream(self, *names: object) -> np.random.Generator:
        """The generator of a name, at its beginning."""
        last = names[-1]
        numbered = type(last) is int and len(names) > 1
        purpose = names[-2] if numbered else last
        if not numbered or len(names) > 2:
            return self._generator(purpose, seed_state(self.key(*names)))
        start, states = self._ahead.get(purpose, (0, []))
        if not start <= last < start + len(states):  # type: ignore[operator]
            start = int(last)  # type: ignore[call-overload]
            states = seed_states([self.key(purpose, start + one) for one in range(AHEAD)])
            self._ahead[purpose] = start, states
        return self._generator(purpose, states[last - start])  # type: ignore[operator]

    def _generator(self, purpose: object, state: State) -> np.random.Generator:
        """The generator of a purpose, set to a state."""
        generator = self._generators.get(purpose)
        if generator is None:
            generator = self._generators[purpose] = np.random.Generator(np.random.PCG64(0))
        generator.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": state[0], "inc": state[1]},
            "has_uint32": 0,
            "uinteger": 0,
        }
        return generator
