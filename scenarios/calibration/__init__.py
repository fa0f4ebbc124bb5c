"""The parameters of a society, fitted to the past papers of a community and judged on later ones.

Read ``calibration_file`` (the keys) and ``parameters`` (what can be fitted), ``reader`` (file to
calibration) and ``corpus`` (its papers); ``design``, ``simulation``
and ``simulation_log`` (what is simulated, and where it is kept), ``fitting`` (the posterior),
``checking`` (held-out years, known truths), ``lock``, ``outputs``, ``calibrate`` and ``command``.
``estimation`` holds the estimators, and ``estimation.counted`` what is read off the papers.
"""
