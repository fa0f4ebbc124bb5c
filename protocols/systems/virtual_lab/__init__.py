"""The Virtual Lab, with an investigator, specialists and a critic in parallel meetings."""
