"""The research systems of other papers, rebuilt as protocols for teams of one society.

One module per system; ``prompts`` holds the pages that only one has. What they
share is in ``protocols/parts``. ``docs/protocols`` says of each what is faithful and what is
adapted, and ``society list protocols`` lists them with their sources.
"""
