"""Statistics by which parameters of a model are estimated; they know of no scenario and no run.

What can be counted is estimated by likelihood: ``count_models`` (rates that change over time,
beta-binomial, negative binomial, Kaplan-Meier), ``seats`` (which authorships are newcomers,
partners, strangers), ``choice_models`` (which partner is taken; memory and exponent of
productivity), all put together in ``counted``. The rest is estimated by simulation:
``reference_table`` (distances, kernel weights) and ``estimators`` (regression-adjusted approximate
Bayesian computation beside ridge and random forest).
"""
