"""The audit of ecosystems, which looks for knowledge of papers from after the boundary.

Read ``audit`` (all checks of a folder by itself) first; ``checks`` (the result of a check, and the
checks of vectors), ``recount`` (figures counted again, without the code of the build) and
``rebuild`` (the same against the source).
"""
