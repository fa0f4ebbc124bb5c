"""Every prompt of a rehearsal or of a finished run, written to files to be read by people.

Read ``recording`` first, which goes through a scenario or a run and keeps each request with its
reply. ``tokens`` counts and adds up, ``texts`` makes Markdown of it, and ``writing`` makes the
folder.
"""
