import numpy as np

import virsci_society as vs


class Regulars(vs.SelectionPolicy):
    """Those with enough joint papers with the leader count `bonus` times as much as all others."""

    least: int = 2
    bonus: float = 10.0

    def weights(self, leader, candidates, network):
        return np.where(
            network.joint_papers_with(leader, candidates) >= self.least, self.bonus, 1.0
        )

    def draw(self, leader, excluded, network, rng):
        free = [row for row in range(network.size) if row not in excluded]
        if not free:
            return None
        weights = self.weights(leader, free, network)
        return int(rng.choice(free, p=weights / weights.sum()))
