"""Statistics by which parameters of a model are estimated; they know of no scenario and no run.

What can be counted is estimated by likelihood: ``trends`` (rates that change over time),
``seats`` (which authorships are newcomers, partners, strangers), ``seat_choices`` (the conditional
logit of partners), ``fading_papers`` (memory and exponent of productivity) and ``overdispersion``
(beta-binomial, negative binomial, Kaplan-Meier). The rest is estimated by simulation:
``reference_table`` (distances, kernel weights), ``estimators`` (regression-adjusted approximate
Bayesian computation beside ridge and random forest) and ``ranks`` (simulation-based calibration).
"""
