"""Backends of language models behind HTTP, and of whoever answers through files.

Read ``http`` first: settings, request fields and deadlines that all of them share. ``openai`` and
``litellm`` send a request, ``completions`` reads the answer and ``provider_errors`` the errors.
``hybrid`` lets a model answer for some teams only, ``embeddings`` turns texts into vectors,
``endpoint_settings`` holds addresses and keys, ``context_window`` asks servers how long prompts may
be, and ``connection`` holds the trusted certificates and a probe of an address.
"""
