"""The commands that write a run for readers and other programs.

``explore`` writes a page, ``export`` traces and a data set.
"""
