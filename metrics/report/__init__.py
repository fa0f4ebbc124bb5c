"""One self-contained page about one run."""
