from virsci_society import Days, Publication


class Issues(Publication):
    """Manuscripts appear in issues of a journal, one every so many days (an example)."""

    every: Days = 30.0

    def consider(self, team, lab, manuscript):
        yield from lab.wait(self.every - lab.now % self.every)
        return manuscript
