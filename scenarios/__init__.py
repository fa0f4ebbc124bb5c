"""Scenario files, runs, studies and the command ``society``, on top of the other packages.

::

    from virsci_society.scenarios.config.schema import load_scenario
    from virsci_society.scenarios.runs.execute import run_scenario
    from virsci_society.society.results.run import Run

    scenario = load_scenario("quickstart", **{"protocol.turns": 3})
    folder = run_scenario(scenario, "runs/three-turns")
    papers = Run.open(folder).table("papers")

Packages, each importing only from those before it: ``config`` (files), ``runs`` (run folders),
``planning`` (cost beforehand), ``study`` (many runs), ``analysis`` (after a run), ``cli``.
"""
