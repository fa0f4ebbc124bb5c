"""Every form of the repository, and slots for which a form asks for as much as it can."""

from __future__ import annotations

import ast
from pathlib import Path

import virsci_society.protocols.engines.forms
import virsci_society.protocols.forms
import virsci_society.protocols.ideas
import virsci_society.protocols.peer_review.forms
import virsci_society.protocols.virsci.forms
import virsci_society.scenarios.review.review_kinds
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.slots import Reference
from virsci_society.agents.replies.form import Form
from virsci_society.protocols.forms import Draft
from virsci_society.protocols.ideas import CandidateIdea, Idea

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("agents", "protocols", "society", "metrics", "scenarios")
MODULES = (
    *(virsci_society.protocols.forms, virsci_society.protocols.ideas),
    *(virsci_society.protocols.engines.forms, virsci_society.protocols.virsci.forms),
    *(virsci_society.protocols.peer_review.forms, virsci_society.scenarios.review.review_kinds),
)
FORMS: tuple[type[Form], ...] = tuple(
    {
        value: None
        for module in MODULES
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Form) and value.model_fields
    }
)
"""All forms with fields, also those that are a part of others."""


def names_in_sources():
    """Names of all classes in the sources that are built on a form, by name alone."""
    bases = {"Form"}
    classes = [
        node
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    while True:
        found = {
            node.name for node in classes if {ast.unparse(base) for base in node.bases} & bases
        }
        if found <= bases:
            return found
        bases |= found


PAPERS = tuple(Reference(f"p{n}", f"Paper {n}", "Text.", 2000, key=f"P{n}") for n in (4, 17, 203))
IDEA = Idea(title="T", idea="I", clarity=7, feasibility=6, novelty=5)
CANDIDATE = CandidateIdea(IDEA, "Scientist2", PAPERS)
EMPTY: dict[str, object] = {}
"""Slots of a question that shows nothing."""
EVERYTHING: dict[str, object] = {
    "me": Profile("Scientist1"),
    "outsiders": (Profile("Scientist7"),),
    "references": PAPERS,
    "near": PAPERS,
    "previous": CANDIDATE,
    "idea": CANDIDATE,
    "ideas": (CANDIDATE,) * 3,
    "draft": Draft(title="T", abstract="A"),
    "extras": ("gist", "marks", "comparisons"),
    "final": False,
    "searching": True,
    "ends": True,
    "turns": 3,
    "criteria": ("Clarity", "Validity"),
}
"""Slots with which every form asks for all its fields."""
