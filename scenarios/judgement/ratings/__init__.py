"""Blinded rating sheets for people, and the agreement of the raters.

Read ``sheets`` (sheets are written, filled in by people, and read back), then ``agreement``
(with intervals, correlations with measures and reviews, preferences between arms),
``bradley_terry`` (arms on one scale) and ``judge`` (a model in the place of a rater of pairs).
"""
