"""The data of a scenario before it is checked, with the place where each key was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from virsci_society.agents.backends.endpoint_settings import allow_key
from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.yaml_io import (
    Key,
    KeyPath,
    display_path,
    parse_value,
    read_yaml,
)

IDENTITY = 2
"""The version of the defaults of all identity keys.

A release that changes the default of one raises the number; a test holds their hash. A new key
whose default changes nothing that happens leaves it as it is."""
LIBRARY = Path(__file__).parents[1] / "library"
"""The scenario and study files that come with the program."""
STUDIES = LIBRARY / "studies"
SUFFIXES = (".yaml", ".yml")
STUDY_COMMANDS = "count its calls with 'society study plan', run it with 'society study run'"


@dataclass(frozen=True, slots=True)
class FittedOn:
    """The papers on which the values of a scenario file were fitted: its key ``fitted_on``."""

    community: str
    boundary: int
    records: int | None = None
    past: int | None = None
    source: str | None = None

    @classmethod
    def read(cls, value: Any, place: str) -> FittedOn:
        """Parse the fact from a file; InputError if it is invalid."""
        kinds = {"community": str, "boundary": int, "records": int, "past": int, "source": str}
        is_mapping = isinstance(value, dict) and {"community", "boundary"} <= value.keys()
        if is_mapping and all(type(item) is kinds.get(name) for name, item in value.items()):
            return cls(**value)
        raise InputError(
            f"{place}: fitted_on: expected a section such as {{community: IEEE VIS, boundary: "
            "2012, records: 4303}; past or source may replace records; leave all three out "
            "if there are several sources"
        )

    def describes(self, facts: Mapping[str, Any]) -> bool:
        """Whether the values were fitted on the papers of an ecosystem, by its facts."""
        names = [name for name in ("records", "past", "source") if getattr(self, name) is not None]
        same = all(getattr(self, name) == facts[name] for name in ("boundary", *names))
        return bool(names) and same


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a key was written: ``file:line:column``, ``--set a.b`` or the name of an argument."""

    label: str
    folder: Path
    names: KeyPath = ()
    fitted_on: FittedOn | None = None


@dataclass(slots=True)
class Document:
    """Plain data and the origin of every key."""

    data: dict[Key, Any] = field(default_factory=dict)
    origins: dict[KeyPath, Origin] = field(default_factory=dict)

    def origin(self, path: KeyPath) -> Origin | None:
        """Origin of a key, or of the nearest section above it that was written."""
        for length in range(len(path), -1, -1):
            if (origin := self.origins.get(path[:length])) is not None:
                return origin
        return None

    def folder(self, path: KeyPath) -> Path:
        """The folder of the file in which a key was written, else the current one."""
        origin = self.origin(path)
        return origin.folder if origin else Path.cwd()

    def merged_with(self, other: Document, *, together: bool = False) -> Document:
        """A new document in which ``other`` wins; lists and what has another ``use`` go whole.

        Of keys given ``together``, one before the ``use`` of its part belongs to that part.
        """
        merged = Document(dict(self.data), dict(self.origins))
        _merge(merged.data, other.data, (), merged.origins, other.origins, together)
        return merged


def dotted(path: Iterable[Key]) -> str:
    """A key path in dotted form, such as ``protocol.turns``."""
    return ".".join(str(key) for key in path)


@cache  # the files of the package stay as they are while a program runs
def library() -> Mapping[str, Path]:
    """Every scenario of the library by its name, such as ``virsci/paper``, with its file."""
    files = sorted(file for file in LIBRARY.rglob("*.yaml") if STUDIES not in file.parents)
    names = {path.relative_to(LIBRARY).with_suffix("").as_posix(): path for path in files}
    return MappingProxyType(names)


def find_scenario(name: str | Path, folder: Path | None = None) -> Path:
    """The file of a scenario: a name of the library, or the path of a file."""
    names = library()
    if str(name) in names:
        return names[str(name)]
    path = (folder or Path.cwd()) / name
    if path.is_file() or (path.exists() and not path.is_dir()):
        return path
    if is_study(name):
        raise InputError(f"{name}: is a study: {STUDY_COMMANDS}")
    hint = did_you_mean(str(name), names, alike=0.5)
    if path.is_dir():
        raise InputError(f"{name}: is a folder; give a scenario file in it, such as {name}/s.yaml")
    if Path(name).suffix in SUFFIXES:
        hint = hint or "; give the path of a file, or a name that 'society list' shows"
        raise InputError(f"{name}: no such file{hint}")
    hint = hint or "; 'society list' lists the library"
    raise InputError(f"no scenario {str(name)!r} in the library or as a file{hint}")


def is_study(name: str | Path) -> bool:
    """Is it a study: a name of the library, or a file with the key ``study``?"""
    short_name = str(name).removeprefix("studies/").removesuffix("/")
    if (STUDIES / f"{short_name}.yaml").is_file() and str(name) not in library():
        return True
    path = Path(name)
    return path.suffix in SUFFIXES and path.is_file() and "study" in read_yaml(path).data


def read_document(name: str | Path) -> Document:
    """Read a scenario file and all files that it extends, merged into one document."""
    return _read(find_scenario(name), ())


def single_document(path: Path) -> Document:
    """The document of one YAML file, whatever kind of file it is."""
    sheet, folder = read_yaml(path), path.parent.resolve()
    return Document(
        dict(sheet.data), {key: Origin(mark, folder) for key, mark in sheet.marks.items()}
    )


def _read(path: Path, below: tuple[Path, ...]) -> Document:
    document = single_document(path)
    data, origins = document.data, document.origins
    if "study" in data:
        raise InputError(f"{display_path(path)}: is a study: {STUDY_COMMANDS}")
    if not data:
        raise InputError(
            f"{display_path(path)}: is empty; write at least one key into it, such as "
            "'extends: quickstart'"
        )
    if "fitted_on" in data:
        fitted_on = FittedOn.read(data.pop("fitted_on"), origins[("fitted_on",)].label)
        document.origins = {
            key: replace(origin, fitted_on=fitted_on)
            for key, origin in origins.items()
            if key[0] != "fitted_on"
        }
    if "extends" not in data:
        return document
    parent, extends_place = data.pop("extends"), document.origins.pop(("extends",))
    where = f"{extends_place.label}: extends"
    if not isinstance(parent, str):
        raise InputError(f"{where}: expected one scenario name or path, got {parent!r}")
    try:
        parent_path = find_scenario(parent, extends_place.folder)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    chain = (*below, path.resolve())
    if parent_path.resolve() in chain:
        circle = " -> ".join(file.name for file in (*chain, parent_path))
        raise InputError(f"{where}: a circle: {circle}; remove one extends")
    extended = _read(parent_path, chain)
    # A name belongs to one file; the scenario that extends it is another one.
    extended.data.pop("name", None)
    return extended.merged_with(document)


def from_settings(settings: Iterable[str]) -> Document:
    """The document of a list of ``--set`` settings ``a.b=c``, in their order; values are YAML."""
    document, faults = Document(), list[str]()
    for setting in settings:
        key, equals, text = setting.partition("=")
        path = key_path(key)
        if not equals or path is None:
            faults.append(f"--set {setting}: write it as key=value, such as protocol.turns=3")
        elif path[0] in _OF_FILES:
            faults.append(f"--set {path[0]}: {_OF_FILES[path[0]]}")
        else:
            try:
                value = parse_value(text, f"--set {key}")
                note_named_keys(path, value)
                origin = Origin(f"--set {key.strip()}", Path.cwd(), path)
                document = document.merged_with(single_key(path, value, origin), together=True)
            except InputError as error:
                faults.append(str(error))
    if faults:
        raise InputError("\n".join(faults))
    return document


_OF_FILES: Mapping[Key, str] = {
    "extends": "only a file can extend another; name that scenario instead",
    "fitted_on": "names the source of a file's values; leave it out",
}
"""Keys that only a file has, with what to do instead."""


def from_arguments(arguments: Mapping[str, Any]) -> Document:
    """The document of dotted keyword arguments such as ``{"protocol.turns": 3}``."""
    document = Document()
    for key, value in arguments.items():
        path = key_path(key)
        if path is None:
            raise InputError(f"{key!r} is not a key; write it like protocol.turns")
        note_named_keys(path, value)
        origin = Origin(dotted(path), Path.cwd(), path)
        document = document.merged_with(single_key(path, value, origin), together=True)
    return document


def note_named_keys(path: KeyPath, value: Any) -> None:
    """Record the API key variables that the user names; they may be sent to the file's address."""
    if isinstance(value, dict):
        for key, below in value.items():
            note_named_keys((*path, key), below)
    elif path[-1] == "key" and isinstance(value, str):
        allow_key(value)


def single_key(path: KeyPath, value: Any, origin: Origin | None) -> Document:
    """The document of one key, with its origin if that is known."""
    data: Any = value
    for key in reversed(path):
        data = {key: data}
    origins = {} if origin is None else {path[: n + 1]: origin for n in range(len(path))}
    return Document(data, origins)


def key_path(text: str) -> KeyPath | None:
    """The steps of a dotted key, numbers as numbers; None for a text that is no key."""
    keys = text.strip().split(".")
    if not all(keys):
        return None
    return tuple(int(key) if key.isdecimal() else key for key in keys)


def _merge(
    base: dict[Key, Any],
    top: Mapping[Key, Any],
    path: KeyPath,
    origins: dict[KeyPath, Origin],
    top_origins: Mapping[KeyPath, Origin],
    together: bool,
) -> None:
    for key, value in top.items():
        here = (*path, key)
        old = base.get(key)
        section: dict[Key, Any] | None = None
        if isinstance(old, dict) and isinstance(value, dict):
            # A mapping from numbers to values is a value, and another part has other keys.
            pairs = (*old.items(), *value.items())
            values = any(isinstance(name, int) and not isinstance(v, dict) for name, v in pairs)
            same = "use" not in value or value["use"] == old.get("use")
            if not values and (same or (together and "use" not in old)):
                section = dict(old)
        elif isinstance(old, list) and isinstance(value, dict):
            # Such as ``interventions.0.at=1y``: sections of a list, or one behind the last.
            placed = all(
                isinstance(place, int) and place <= len(old) and isinstance(part, dict)
                for place, part in value.items()
            )
            section = dict(enumerate(old)) if placed else None
        if section is not None:
            _merge(section, value, here, origins, top_origins, together)
            base[key] = list(section.values()) if isinstance(old, list) else section
        else:
            # The value is replaced whole: nothing below it comes from the lower file any more.
            for origin in [origin for origin in origins if origin[: len(here)] == here]:
                del origins[origin]
            base[key] = value
            origins |= {at: of for at, of in top_origins.items() if at[: len(here)] == here}
        if here in top_origins:
            origins[here] = top_origins[here]
