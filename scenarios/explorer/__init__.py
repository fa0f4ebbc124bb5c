"""The explorer of a run or of two, one HTML file with the network, the teams and all that was said.

Read ``page`` (what is written), then ``run_arrays`` (people, ties, teams, dates), ``conversations``
(words, and the prompts of a finished run). The script is ``data.js``, ``views.js``, ``network.js``
and ``main.js``, in this order. ``command`` is the command.
"""
