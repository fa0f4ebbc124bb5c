"""Scenario files, runs, studies and the command ``society``, on top of the other packages."""
