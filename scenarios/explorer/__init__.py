"""The explorer of a run or of two, one HTML file with the network, the teams and what was said."""
