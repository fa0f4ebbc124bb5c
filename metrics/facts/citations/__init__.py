"""Facts of citations, of what papers combine, and of what disrupts."""
