"""What research systems stand on.

Read ``card``, ``card_system``, then the engines, ``rounds`` and ``search``.
"""
