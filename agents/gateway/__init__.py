"""The way of every call to a backend, from the journal or by attempts."""
