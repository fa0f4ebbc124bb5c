"""The embedded default: rule-based scientists that need no model, no key and no network."""
