"""Arguments, messages, exit codes and tables that all commands share.

Read ``arguments``, then ``console``.
"""
