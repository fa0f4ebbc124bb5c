"""The command ``society``: the app, and the commands that belong to no other room.

Read ``app``, then one module for each command. ``run_charts`` and ``plan_tables`` print. The start
of the command is felt: modules import what they need inside their functions.
"""
