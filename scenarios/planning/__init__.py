"""What a run will take and whether it can be run, found out before anything is paid.

Read ``dry_run`` (a rehearsal and its counts), ``model_rates`` (how a model differs from rules) and
``plan`` (calls, tokens, money, time). ``prompt_recording`` and ``prompt_pages`` write every
prompt to be read. ``doctor`` checks the installation and, by ``probe`` and
``context_check``, the model.
"""
