"""Random streams with reused generators draw as those of ``Streams``."""

import numpy as np

from virsci_society.society.kernel.streams import ReusedStreams, Streams, seed_states


def test_states_are_those_of_numpy():
    keys = [0, 1, 2**32 - 1, 2**32, 2**64 - 1, *(Streams(3).key(n) for n in range(20))]
    for key, state in zip(keys, seed_states(keys), strict=True):
        inner = np.random.PCG64(key).state["state"]
        assert (inner["state"], inner["inc"]) == state


def test_draws_are_those_of_streams_made_anew():
    reused = ReusedStreams(7)
    names = [
        *(("founding", n) for n in (0, 1, 300, 2)),
        *(("team", team, *end) for team in ("a/1", "b/1") for end in (("size",), ("member", 2))),
        *(("productivity",), ("productivity", 5), ("team", "a/1", "member", 1)),
    ]
    for name in names:
        one, other = reused.stream(*name), Streams(7).stream(*name)
        assert one.random(3).tolist() == other.random(3).tolist()
        # A number of 32 bits leaves half a word behind, which must not reach the next stream.
        assert one.integers(5, dtype=np.uint32) == other.integers(5, dtype=np.uint32)


def test_another_seed_gives_other_draws():
    streams = ReusedStreams(7)
    first = streams.stream("founding", 0).random()
    streams.reseed(8)
    assert streams.stream("founding", 0).random() == Streams(8).stream("founding", 0).random()
    assert streams.stream("founding", 0).random() != first
