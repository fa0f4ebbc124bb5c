"""The research systems of other papers, as cards and, where no card can say it, as code.

``prompts`` holds the pages that only single systems have. ``protocols/engines`` holds what cards
stand on, ``docs/protocols`` what the cards do not say.
"""
