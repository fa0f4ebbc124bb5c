"""Readers of other people's formats, one file each."""
