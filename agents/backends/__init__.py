"""Backends of language models; read ``http`` first, then ``openai`` or ``litellm``."""
