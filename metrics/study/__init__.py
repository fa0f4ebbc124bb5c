"""One self-contained page about one study, with its tables and figures as files."""
