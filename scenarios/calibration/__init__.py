"""The parameters of a society, fitted to the past papers of a community and judged on later ones.

Read ``calibration_file`` (the keys) and ``parameters`` (what can be fitted), ``reader`` (file to
calibration) and ``corpus`` (its papers); ``counted`` (what is read off), ``design``, ``simulation``
and ``simulation_log`` (what is simulated, and where it is kept), ``fitting`` (the posterior),
``checking`` (held-out years, known truths), ``lock``, ``outputs`` and ``calibrate``.
"""
