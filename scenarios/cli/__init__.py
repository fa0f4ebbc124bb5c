"""The command ``society``: the app, and the commands that belong to no other room.

The start of the command is felt: modules import what they need inside their functions.
"""
