"""``mesa.batch_run`` as this release of Mesa has it."""

import inspect

import mesa
import pytest


def batch_run(model, parameters, seeds=(None,), **options):
    """One run of every parameter set and seed; Mesa 3.4 and later take the seeds as ``rng``."""
    if not hasattr(mesa, "batch_run"):
        pytest.skip("Mesa 4 has no batch_run")
    if "rng" in inspect.signature(mesa.batch_run).parameters:
        options["rng"] = list(seeds)
    else:
        parameters = {**parameters, "seed": list(seeds)}
    defaults = {"number_processes": 1, "data_collection_period": -1, "display_progress": False}
    return mesa.batch_run(model, parameters, **(defaults | options))
