import virsci_society as vs


class Issues(vs.Publication):
    """Manuscripts appear in issues of a journal, one every so many days (an example)."""

    every: vs.Days = 30.0

    def consider(self, team, lab, manuscript):
        yield from lab.wait(self.every - lab.now % self.every)
        return manuscript
