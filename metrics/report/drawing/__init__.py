"""Figures as SVG text: axes, scales, marks and legends, drawn without a plotting library.

Read ``svg`` (a figure), then ``axes``, ``scale`` (range and ticks), ``legend``, ``labels`` (names
that do not overlap) and ``elements`` (words and symbols).
"""
