"""Every call of a run, on the disk before its answer is used."""
