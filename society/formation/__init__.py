"""Team formation, that is when teams are founded, who leads them, and who is drawn into them.

Read ``founding``, ``leaders`` and ``selection`` first; they see a society through ``world_view``.
"""
