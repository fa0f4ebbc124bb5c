"""Who was consulted may be asked to join the next team: exact chances, sparsely and densely."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from virsci_society.protocols.policies.coauthorship import Coauthorship, HalfNormal, Share
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.population.network import CoauthorNetwork, ConsultationHistory

N, LEADER = 12, 3
JOINT = {1: 2, 5: 4, 9: 1}
ASKED = [7, 5, 7, 7, 11]
NOBODY = frozenset({LEADER})


def network(joint=True, asked=True):
    """Scientist 3 has written seven papers and asked five times, the last question on the day."""
    counts = np.zeros((N, N), dtype=np.int64)
    for other, papers in JOINT.items():
        counts[LEADER, other] = counts[other, LEADER] = papers * joint
    counts[2, 4] = counts[4, 2] = 3
    day = [0.0]
    net = CoauthorNetwork(csr_array(counts), lambda: day[0])
    for guest in ASKED if asked else ():
        net.consultations.record(LEADER, guest)
    net.consultations.record(4, 8)
    day[0] = 1.0
    net.consultations.record(LEADER, 0)
    return net


@pytest.mark.parametrize("explore", [1.0, Share(), HalfNormal(seed=2)], ids=["e", "share", "half"])
def test_without_a_weight_consultations_change_no_draw(explore):
    """Not one number of the stream is used otherwise."""
    policy = Coauthorship(explore=explore)
    asked, none = network(), network(asked=False)
    draws = [
        [policy.draw(LEADER, NOBODY, net, Streams(4).stream("draw", k)) for k in range(60)]
        for net in (asked, none)
    ]
    assert draws[0] == draws[1]


def test_a_consultation_counts_from_the_moment_after_it_became_known():
    day = [5.0]
    consulted = ConsultationHistory(lambda: day[0])
    assert (consulted.total(1), consulted.counts(1, [2, 3]).tolist()) == (0, [0, 0])
    consulted.record(1, 3)
    assert (consulted.total(1), consulted.counts(1, [2, 3]).tolist()) == (0, [0, 0])
    day[0] = 6.0
    consulted.record(1, 3)
    assert (consulted.total(1), consulted.counts(1, [2, 3]).tolist()) == (1, [0, 1])
    day[0] = 7.0
    assert (consulted.total(1), consulted.counts(1, [3, 9, 0]).tolist()) == (2, [2, 0, 0])
    assert consulted.guest_at(1, 1) == 3
