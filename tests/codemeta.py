"""Prints ``codemeta.json`` (CodeMeta 3.0) from ``CITATION.cff`` and ``pyproject.toml``.

``python -m tests.codemeta > codemeta.json``; a test fails when the file is not what this prints.
"""

import json
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def author(entry):
    """A person, or those who share a name such as "contributors", of CITATION.cff."""
    if "name" in entry:
        return {"type": "Organization", "name": entry["name"]}
    names = {"givenName": entry["given-names"], "familyName": entry["family-names"]}
    return {"type": "Person", **names}


def article(reference):
    """A reference of CITATION.cff."""
    return {
        "type": "ScholarlyArticle",
        "name": reference["title"],
        "author": [author(one) for one in reference["authors"]],
        "datePublished": str(reference["year"]),
        "url": reference["url"],
    }


def codemeta():
    """The text of the file."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    released = {"datePublished": str(day)} if (day := citation.get("date-released")) else {}
    data = {
        "@context": "https://w3id.org/codemeta/3.0",
        "type": "SoftwareSourceCode",
        "name": citation["title"],
        "identifier": project["name"],
        "description": project["description"],
        "version": str(citation["version"]),
        **released,
        "license": f"https://spdx.org/licenses/{citation['license']}",
        "author": [author(one) for one in citation["authors"]],
        "keywords": project["keywords"],
        "programmingLanguage": f"Python {project['requires-python']}",
        "referencePublication": [article(one) for one in citation["references"]],
    }
    return json.dumps(data, indent=2, ensure_ascii=False)


if __name__ == "__main__":
    print(codemeta())
