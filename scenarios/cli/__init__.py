"""The command ``society``: arguments and output; everything else is done by the other packages.

Read ``app`` (the commands) and ``common`` (arguments, messages and exit codes), then one module for
each group of commands. ``console``, ``plan_tables`` and ``study_tables`` print tables. The start of
the command is felt: modules import what they need inside their functions.
"""
