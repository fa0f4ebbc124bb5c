"""The page of a study, made from its folder with tables, figures and one HTML file.

Read ``study`` (the folder), ``comparisons`` (the planned tests), ``answer`` (in sentences),
``tables`` (also as CSV and LaTeX) and ``figures``, then ``page``, which puts them together.
"""
