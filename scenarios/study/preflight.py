"""Checks of a study's arms against what lies around them, before the first run begins."""

from __future__ import annotations

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.runs.preflight import check_before_run
from virsci_society.scenarios.study.design import Design


def check_arms(design: Design, *, keys: bool = True) -> None:
    """Check what the arms of a study need besides right scenarios, as ``check_before_run`` does.

    Args:
        design: of the study.
        keys: look for the variables of keys.

    Raises:
        InputError: all faults of all arms at once, each with the study's file and the arms.
    """
    found: dict[str, list[str]] = {}
    for arm, scenario in zip(design.arms, design.scenarios, strict=True):
        try:
            check_before_run(scenario, keys=keys)
        except InputError as error:
            for fault in str(error).splitlines():
                found.setdefault(fault, []).append(arm.name)
    if found:
        told = (
            f"{design.path}: arm {arms[0]}"
            + (f" and {len(arms) - 1} more" if arms[1:] else "")
            + f": {fault}"
            for fault, arms in found.items()
        )
        raise InputError("\n".join(told))
