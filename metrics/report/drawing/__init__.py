"""Figures as SVG text, with axes, scales, marks and legends, without a plotting library.

Read ``svg`` (a figure), then ``axes``, ``scale`` (range and ticks), ``legend``, ``labels`` (names
that do not overlap), ``elements`` (words and symbols) and ``standalone`` (SVG files).
"""
