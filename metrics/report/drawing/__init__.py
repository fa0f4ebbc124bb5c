"""Figures as SVG text, with axes, scales, marks and legends, without a plotting library.

Read ``svg`` (a figure), then ``axes``, ``scale`` (range and ticks) and ``elements`` (words,
symbols, legends, names that do not overlap).
"""
