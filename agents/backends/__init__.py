"""Backends of language models behind HTTP, and of whoever answers through files.

Read ``http`` first: settings, request fields and deadlines that all of them share. ``openai`` and
``litellm`` send a request, ``responses`` reads what comes back. ``local`` starts llama.cpp's server
(``llama_server``, a program) with a file of weights (``weights``). ``hybrid`` lets a model answer
for some teams only, ``embeddings`` turns texts into vectors, ``endpoint_settings`` holds addresses
and keys, the certificates that are trusted and a probe of an address, and ``context_window`` asks
servers how long prompts may be.
"""
