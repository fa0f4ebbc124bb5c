"""What a run will take and whether it can be run, found out before anything is paid.

Read ``dry_run`` (a rehearsal by rule-based scientists), ``model_rates`` (how a model differs from
them), ``calibration`` (rates from real calls), ``plan`` (calls, tokens, money, time) and
``lookahead`` (a bound on the time). ``prompt_pages`` writes every prompt to be read, with its
tokens by ``tokenizer``. ``doctor`` checks ``installation`` and, by ``probe`` and
``context_check``, the model.
"""
