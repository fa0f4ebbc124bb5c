"""Answers calls from the journal or by attempts at a backend."""
