"""Claims of generated texts that nothing stands behind, and who takes part in what is generated.

Read in this order: ``result_figures`` finds figures that a text states as results,
``named_references`` the references that it names, ``claims`` is the measure of a run that counts
both and measures what was copied; ``representation`` compares who is invited, consulted and cited
with the population. All are lower bounds made by rules: a person has to look.
"""
