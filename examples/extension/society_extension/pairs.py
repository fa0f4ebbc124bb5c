import virsci_society as vs


class Pairs(vs.Fact):
    """Pairs are the most frequent teams (an example)."""

    source = "nobody"
    population = "judged"
    published, low, high = 0.4, 0.3, 0.5
    null = "random sizes"
    least_years = 2

    def measure(self, tables):
        """Share of the papers with two authors, 0..1."""
        return float((tables.works.sizes == 2).mean())
