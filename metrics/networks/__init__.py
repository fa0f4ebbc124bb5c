"""Networks of co-authors and of consultations: read ``structure`` first."""
