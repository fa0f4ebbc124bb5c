"""The component ``use: folder`` of ``population.ecosystem``: an ecosystem on disk."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.json_files import read_json_object

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

MANIFEST = "manifest.json"
HOW_TO = (
    "build one and name it:\n"
    "  society ecosystem build jsonl FILE --boundary 2012 --min-papers 5 --out eco/vis\n"
    "  society run SCENARIO --set population.ecosystem.use=folder "
    "--set population.ecosystem.path=eco/vis"
)


class Folder(Part):
    """The ecosystem in a folder that ``society ecosystem build`` wrote."""

    same_for_every_seed: ClassVar[bool] = True
    """It is the same for every seed of a run."""

    path: Path = Field(json_schema_extra={"hint": HOW_TO})
    """The folder; relative to the scenario file, in ``--set`` to the current folder."""

    def require(self) -> None:
        """Raise InputError if the folder contains no ecosystem; reads no data."""
        if not self.path.is_dir():
            raise InputError(f"{self.path}: no such ecosystem folder; {HOW_TO}")
        if not (self.path / MANIFEST).is_file():
            raise InputError(f"{self.path}: not an ecosystem folder (no {MANIFEST}); {HOW_TO}")

    @property
    def people(self) -> int | None:
        """Scientists in the folder, as its manifest counts them; None where it does not."""
        with _unless_damaged():
            return int(self._manifest()["counts"]["scientists"])
        return None

    @property
    def source_facts(self) -> dict[str, Any]:
        """Boundary, records, past papers and files of the source; None: not in the manifest."""
        facts: dict[str, Any] = dict.fromkeys(("boundary", "records", "past", "source"))
        with _unless_damaged():
            manifest = self._manifest()
            facts |= {name: manifest.get(name) for name in facts}
            facts["past"] = manifest.get("counts", {}).get("past")
        return facts

    def _manifest(self) -> Any:
        return read_json_object(self.path / MANIFEST)

    def generate(self, seed: int) -> Ecosystem:
        """Read the ecosystem and verify every hash of it; the same for every seed."""
        from virsci_society.society.ecosystem.ecosystem import Ecosystem

        self.require()
        return Ecosystem.load(self.path)


def _unless_damaged() -> suppress:
    """What is wrong with a manifest is reported when the ecosystem is read."""
    return suppress(InputError, OSError, ValueError, LookupError, TypeError, AttributeError)
