"""The rules of the offline scientist for the forms of the research systems (``protocols/parts``).

Read ``reading`` (queries, notes, talk), then ``proposals`` (ideas refined, proposals, steps of a
plan) and ``judging`` (novelty, scores, pairs, reviews of steps). ``docs/offline.md`` states them.
"""
