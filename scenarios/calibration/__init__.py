"""The parameters of a society, fitted to the past papers of a community and judged on later ones.

Read ``parameters``, ``windows``, ``counting``, ``fitting``, ``hindcast``, then ``calibrate``.
"""
