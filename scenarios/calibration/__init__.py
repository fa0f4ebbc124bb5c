"""The parameters of a society, fitted to the past papers of a community and judged on later ones.

Read ``calibration_file`` (the keys) and ``parameters`` (what can be fitted), ``reader`` (file to
calibration) and ``corpus`` (its papers); ``design`` and ``simulation`` (what is simulated, measured
and kept), ``fitting`` (the posterior), ``checking`` (held-out years, known truths), ``calibrate``
(from the lock to the files), ``outputs`` and ``command``. ``estimation`` holds the estimators.
"""
