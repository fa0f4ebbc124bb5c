"""A protocol that kills whatever runs it, for the tests of quarantine; named by a dotted path."""

import os

from virsci_society.protocols.virsci.protocol import VirSci


class Deadly(VirSci):
    """VirSci, but the first team to begin ends the process."""

    def run(self, team, lab):
        """End the process, as a machine that has run out of memory would."""
        os.kill(os.getpid(), 9)
        yield from super().run(team, lab)
