"""The protocols by which a team turns people into a paper, with their policies and forms.

Read ``virsci/protocol.py`` first; ``wordless`` is the smallest one, ``discussion`` holds turns.
"""
