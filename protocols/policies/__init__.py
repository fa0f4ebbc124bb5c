"""Selection policies, which say whom a leader asks next, one per file.

Each file gives the definition with its source, the way to draw by it, and the weights against
which a test compares the draws. Read ``uniform`` and ``two_step`` first, ``coauthorship`` (the
rule of VirSci) last. The base class is ``society.formation.selection.SelectionPolicy``.
"""
