"""The page of a study, made from its folder with tables, figures and one HTML file.

Read ``study`` (the folder), ``comparisons`` (the planned tests), ``answer`` (what they say in a
sentence), ``tables`` and ``figures``, then ``page``, which puts them together, and ``export`` (CSV,
LaTeX, SVG). ``sensitivity`` has the indices of Sobol and Morris designs.
"""
