"""The results of a run: tables, event log, digest, and a run folder read as an object."""
