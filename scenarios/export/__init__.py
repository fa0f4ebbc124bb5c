"""Archives of runs and studies, and the commands ``society export``.

Read ``archive`` and then ``command``.
"""
