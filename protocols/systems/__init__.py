"""The research systems of other papers, as cards and, where no card can say it, as code."""
