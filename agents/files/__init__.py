"""The writing of files, and the hashes by which damage is noticed."""
