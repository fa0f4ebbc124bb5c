"""Reading a finished run: tables in, tables out."""
