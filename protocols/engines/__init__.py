"""What research systems stand on.

Read ``card`` (what a card can say), ``card_system`` (its run), then the engines, ``rounds`` and
``search``; ``research_system`` has what all systems share.
"""
