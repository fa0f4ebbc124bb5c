"""What one scientist is, what it is asked, and what answers.

Read ``profile`` and ``scientist`` for the person, ``invented_names`` for its name on pages,
``config`` and ``errors`` for what every package uses. Then follow one call: ``replies`` (forms),
``prompts`` (requests), ``journal`` (durable calls), ``gateway`` (slots, budget, retries), and the
backends that answer: ``offline`` (rules) and ``backends`` (language models).
"""
