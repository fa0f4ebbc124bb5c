"""CycleResearcher: write, review, revise, until the reviewers' score is high enough."""
