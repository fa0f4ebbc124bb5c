"""What a run will take and whether it can be run, found out before anything is paid.

Read ``plan`` (calls, tokens, cost, time). ``prompt_recording`` and ``prompt_pages`` write every
prompt to be read. ``doctor`` checks the installation and the model, ``context_check`` whether the
prompts fit into its context window.
"""
