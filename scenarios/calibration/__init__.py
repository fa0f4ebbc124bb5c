"""The parameters of a society, fitted to the past papers of a community and judged on later ones.

Read ``parameters`` (what can be calibrated) and ``calibration_file`` (the keys), ``windows`` (the
papers, and what is simulated); ``counting`` with ``rates`` and ``seats`` (what can be counted),
``fitting`` (what cannot), ``hindcast`` (the held-out years beside persistence and a trend),
``calibrate`` (from the lock to the files) and ``command``.
"""
