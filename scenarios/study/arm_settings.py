"""What ``--set`` says of the scenarios of a study: it reaches every arm, or is refused by name.

An arm that names another part with ``use`` replaces the section of the base, and what was set in
it. So a setting is laid over such an arm once more, where the arm can take it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.document import Document, from_settings
from virsci_society.scenarios.config.schema import Scenario, read_scenario
from virsci_society.scenarios.study.design import (
    Arm,
    flatten,
    scenario_document,
    settings_document,
)
from virsci_society.scenarios.study.study_file import StudyFile


@dataclass(frozen=True)
class ArmSetting:
    """One scenario key that ``--set`` gives to the arms.

    Attributes:
        key: dotted.
        value: of the key.
        document: the key alone.
        optional: written ``KEY?=VALUE``: arms that do not take it stay as they are.
    """

    key: str
    value: Any
    document: Document
    optional: bool


def split_settings(settings: Iterable[str]) -> tuple[Document, list[ArmSetting]]:
    """What ``--set`` says of the study itself, and of the scenarios of its arms."""
    plain, optional = [], []
    for setting in settings:
        key, equals, value = setting.partition("=")
        if equals and key.rstrip().endswith("?"):
            key = key.rstrip()[:-1]
            optional.append(key.strip())
        plain.append(f"{key}{equals}{value}")
    document = from_settings(plain)
    own, arms = Document(), dict[str, Any]()
    for part, content in document.data.items():
        if part in StudyFile.model_fields:
            own.data[part] = content
            own.origins.update({at: of for at, of in document.origins.items() if at[0] == part})
        else:
            arms |= flatten({part: content})
    return own, [
        ArmSetting(
            key,
            value,
            settings_document(document, (), {key: value}),
            any(overlap(one, key) for one in optional),
        )
        for key, value in arms.items()
    ]


class ArmSettings:
    """The settings of one command, and what becomes of them arm by arm.

    Args:
        settings: of scenario keys, in their order.
        trust: let dotted paths in scenarios be imported.
    """

    def __init__(self, settings: Sequence[ArmSetting], trust: bool) -> None:
        self.settings, self.trust = settings, trust
        self.start = Document()
        """The scenario that every arm's own keys are laid over."""
        self.reached: set[str] = set()
        """Keys that at least one arm has taken."""
        self.refused: dict[tuple[str, str], list[str]] = {}
        """Names of the arms that do not take a setting, by its key and the reason."""

    def laid_over(
        self, start: Document, arms: list[tuple[Arm, Document]], block: Document
    ) -> tuple[Scenario | None, list[tuple[Arm, Document]], list[str]]:
        """The base and the arms with what is set, and the faults of the settings.

        The base is in the first block, since it is described by its model.
        """
        base, faults, strange = self._changed_base(start, block)
        if base is None:
            self.start = _merged(start, self.settings, block)
            return None, arms, faults
        self.start = scenario_document(base)
        changed = [self._reach(arm, document, arms, strange) for arm, document in arms]
        if any(one.key not in self.reached for one in strange):
            # No arm takes it either, so that the message about the base says it best.
            return base, arms, faults
        return base, changed, list(self._faults())

    def _changed_base(
        self, start: Document, block: Document
    ) -> tuple[Scenario | None, list[str], list[ArmSetting]]:
        """The base with what is set, its faults, and settings that only arms may take."""
        base, faults = try_read(_merged(start, self.settings, block), self.trust)
        if base is not None:
            return base, [], []
        strange = [
            one
            for one in self.settings
            if try_read(_merged(start, [one], block), self.trust)[0] is None
        ]
        fitting = [one for one in self.settings if one not in strange]
        base = try_read(_merged(start, fitting, block), self.trust)[0] if strange else None
        return base, faults, strange

    def _reach(
        self,
        arm: Arm,
        document: Document,
        arms: list[tuple[Arm, Document]],
        strange: list[ArmSetting],
    ) -> tuple[Arm, Document]:
        """An arm with every setting that its own keys, or another part it uses, would hide.

        A setting that the arm cannot take is refused, unless it is for those alone that can.
        """
        for one in self.settings:
            own = next((key for key in arm.settings if overlap(key, one.key)), None)
            if own is not None and (own != one.key or _differ(one.key, arms)):
                if not one.optional:
                    reason = (
                        f"the study itself sets {own} there; leave the setting out or change it"
                    )
                    self.refused.setdefault((one.key, reason), []).append(arm.name)
                continue
            if own is None and one not in strange and not _uses_another(document, one.key):
                self.reached.add(one.key)
                continue
            changed = document.merged_with(one.document)
            _, wrong = try_read(self.start.merged_with(changed), self.trust)
            if wrong and try_read(self.start.merged_with(document), self.trust)[1]:
                continue  # The arm is wrong as it stands in the file, which is told of it.
            if not wrong:
                arm = replace(arm, settings={**arm.settings, one.key: one.value})
                document = changed
                self.reached.add(one.key)
            elif not one.optional:
                reason = f"cannot take it ({wrong[0].removeprefix(f'--set {one.key}: ')})"
                self.refused.setdefault((one.key, reason), []).append(arm.name)
        return arm, document

    def _faults(self) -> Iterator[str]:
        """A line for each setting that does not reach every arm that it is meant for."""
        for (key, reason), names in self.refused.items():
            some = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            only = f"; --set '{key}?=VALUE' gives it to the others alone"
            yield (
                f"--set {key}: {'arms' if len(names) > 1 else 'arm'} {some}: {reason}"
                f"{only if key in self.reached else ''}"
            )
        for one in self.settings:
            if one.optional and one.key not in self.reached and not self.refused:
                yield f"--set {one.key}?: no arm of this study takes it"


def _merged(document: Document, settings: Iterable[ArmSetting], block: Document) -> Document:
    for one in settings:
        document = document.merged_with(one.document)
    return document.merged_with(block)


def overlap(one: str, other: str) -> bool:
    """Are two dotted keys the same, or is one a part of the other?"""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def _differ(key: str, arms: Iterable[tuple[Arm, Document]]) -> bool:
    """Do arms differ in a key, so that the study varies it?"""
    values = [arm.settings.get(key, ...) for arm, _ in arms]
    return any(value != values[0] for value in values)


def _uses_another(document: Document, key: str) -> bool:
    """Does an arm name the part that a key belongs to with ``use``, which replaces its section?"""
    section: Any = document.data
    for step in key.split(".")[:-1]:
        section = section.get(step) if isinstance(section, Mapping) else None
        if isinstance(section, Mapping) and "use" in section:
            return True
    return False


def try_read(document: Document, trust: bool) -> tuple[Scenario | None, list[str]]:
    """The scenario of a document, or the lines that say what is wrong with it."""
    try:
        return read_scenario(document, trust=trust), []
    except InputError as error:
        return None, str(error).splitlines()
