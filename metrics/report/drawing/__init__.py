"""Figures as SVG text without a plotting library: read ``svg`` (a figure), then ``axes``."""
