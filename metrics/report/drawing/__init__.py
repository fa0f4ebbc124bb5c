"""Figures as SVG text without a plotting library: read ``svg`` (a figure), then ``axes``.

``axes`` also has scales, marks, legends, and names that do not overlap.
"""
