"""Archives of runs and studies, and the commands ``society export``.

Read ``archive`` and then ``crate``, the metadata of one.
"""
