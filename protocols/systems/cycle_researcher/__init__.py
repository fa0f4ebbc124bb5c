"""CycleResearcher, which writes and revises until the reviewers' score is high enough."""
