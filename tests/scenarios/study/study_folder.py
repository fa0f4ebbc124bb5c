"""Study folders written by hand, as ``scenarios/study/study.py`` reads them."""

import json

import pandas as pd

ABOUT = "rule-based scientists, not a language model: these figures say nothing about models"


def write_study(folder, told, values, states=None):
    """A gathered study folder.

    ``values``: (arm, measure) -> one value per replicate; ``states``: run -> state, if not done.
    """
    states = states or {}
    folder.mkdir(parents=True)
    arms, replicates = told["arms"], told["replicates"]
    runs, results = [], []
    for place, arm in enumerate(arms):
        for replicate in range(replicates):
            run = place * replicates + replicate
            state = states.get(run, "done")
            seed = 100 + replicate
            digest = "d" if state == "done" else None
            varied = [arm["set"].get(key) for key in told["keys"]]
            runs.append((run, arm["name"], replicate, seed, state, digest, *varied))
            for measure in told["measures"]:
                value = values[arm["name"], measure][replicate] if state == "done" else None
                results.append((run, arm["name"], replicate, seed, measure, value))
    columns = ["run", "arm", "replicate", "seed"]
    listed = pd.DataFrame(runs, columns=[*columns, "state", "digest", *told["keys"]])
    listed.to_parquet(folder / "runs.parquet")
    numbers = pd.DataFrame(results, columns=[*columns, "measure", "value"])
    numbers.astype({"value": "float64"}).to_parquet(folder / "results.parquet")
    (folder / "study.json").write_text(json.dumps(told))
    return folder


def told_of(arms, measures, replicates, **more):
    """What ``study.json`` holds; ``arms``: name -> settings."""
    keys = list(dict.fromkeys(key for given in arms.values() for key in given))
    return {
        "title": "Team size and novelty",
        "arms": [{"name": name, "set": given} for name, given in arms.items()],
        "keys": keys,
        "replicates": replicates,
        "measures": measures,
        "comparisons": [],
        "paired": True,
        "deviations": [],
        "backend_about": ABOUT,
        "leak": {},
        **more,
    }
