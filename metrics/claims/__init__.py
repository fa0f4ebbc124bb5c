"""Claims of generated texts that nothing stands behind, and who takes part in what is generated.

Read ``claims`` (figures that a text states as results, references that it names, what it copied),
then ``representation``, which compares who is invited, consulted and cited with the population. All
are lower bounds made by rules: a person has to look.
"""
