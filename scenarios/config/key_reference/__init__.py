"""What every key of a scenario is, for people and for editors.

Read ``field_docs`` first (the docstrings of fields), then ``json_schema`` (the schema beside every
run) and ``reference_page`` (docs/scenarios.md).
"""
