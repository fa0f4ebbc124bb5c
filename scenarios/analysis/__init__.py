"""Finished runs against reality and their own hashes."""
