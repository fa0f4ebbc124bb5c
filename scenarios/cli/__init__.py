"""The command ``society``: the app, and the commands that belong to no other room.

Read ``app``, then the modules of its commands; the room ``terminal`` prints. The start
of the command is felt: modules import what they need inside their functions.
"""
