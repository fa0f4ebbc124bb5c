"""Rule-based scientists, which need no model, no key and no network."""
