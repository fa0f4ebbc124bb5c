"""The results of a run, with its tables, log and digest, and the run as it is read back."""
