"""Conversion of plain data to settings objects, and of settings objects to plain data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.diagnostics import (
    Diagnostics,
    describe_errors,
    quote_value,
    unknown_key,
)
from virsci_society.scenarios.config.document import Document, Origin, single_document
from virsci_society.scenarios.config.registry import (
    EXPLORE,
    KINDS,
    PROTOCOLS,
    SUFFIXES,
    FromTable,
    Section,
    Table,
    import_member,
    import_path,
    name_of,
    require_trust,
)
from virsci_society.scenarios.config.yaml_io import Key, KeyPath, display_path
from virsci_society.society.kernel.durations import Duration

if TYPE_CHECKING:
    from virsci_society.protocols.engines.research_system import ResearchSystem

ModelT = TypeVar("ModelT", bound=BaseModel)
CARDS = Path(__file__).parents[2]
"""The folder below which the paths of the project's own cards begin."""
_FAILED = object()
_MANY: dict[Any, type[list[Any]] | type[dict[Any, Any]]] = {tuple: list, Mapping: dict}


def import_class(path: str) -> type[BaseModel]:
    """The class behind ``module:Class``, or behind the path of a card."""
    if path.endswith(SUFFIXES):
        return read_card(path)
    target = import_member(path)
    if not (isinstance(target, type) and issubclass(target, BaseModel)):
        raise InputError(f"{path!r} is not a part; subclass virsci_society.agents.config.Part")
    return target


def class_of(use: Any, table: Table, base: type, *, trust: bool) -> type[BaseModel]:
    """The class that a scenario names after ``use:``."""
    if isinstance(use, str) and use in table:
        return import_class(table[use])
    path = use if isinstance(use, str) else ""
    card = path.endswith(SUFFIXES) and table is PROTOCOLS  # it runs no code
    if ":" in path and not card:
        require_trust(path, trust=trust)
    elif not card:
        names = " or ".join(repr(name) for name in table)
        hint = did_you_mean(str(use), table)
        raise InputError(f"got {use!r}, expected {names} or package.module:Class{hint}")
    target = import_class(path)
    if not issubclass(target, base):
        raise InputError(f"{path!r} is not a {base.__name__}; this key needs a subclass of it")
    return target


class PartField(NamedTuple):
    """What a field of a section takes besides plain values; ``many``: in a list or a mapping."""

    info: FieldInfo
    classes: tuple[type[BaseModel], ...]
    table: Table | None
    many: type[list[Any]] | type[dict[Any, Any]] | None


@cache
def part_field(cls: type[BaseModel], name: str) -> PartField:
    """What a field of a class takes besides plain values."""
    info = cls.model_fields[name]
    for note in info.metadata:
        if isinstance(note, FromTable):
            return PartField(info, (Part,), note.table, None)
        if isinstance(note, Section):
            return PartField(info, (import_class(note.path),), None, None)
    classes = _classes_in(info.annotation)
    many = _MANY.get(get_origin(info.annotation)) if classes else None
    for kind in classes:
        if (table := table_for(kind)) is not None:
            tabled = tuple(cls_ for cls_ in classes if table_for(cls_) is not None)
            return PartField(info, tabled, table, many)
    return PartField(info, classes, None, many)


def _classes_in(annotation: Any) -> tuple[type[BaseModel], ...]:
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return (annotation,) if issubclass(annotation, BaseModel) else ()
    below = get_args(annotation)
    below = below[:1] if get_origin(annotation) is Annotated else below
    return tuple(cls for argument in below for cls in _classes_in(argument))


def table_for(cls: type) -> Table | None:
    """The table that serves fields of this class; None where it is not exchangeable."""
    path = import_path(cls)
    return KINDS.get(path) or (EXPLORE if path in EXPLORE.values() else None)


class Reader:
    """Reads one document."""

    def __init__(self, document: Document, *, trust: bool) -> None:
        self.document = document
        self.trust = trust
        self.diagnostics = Diagnostics(document)
        self._beside: dict[KeyPath, list[str]] = {}

    def read(self, cls: type[ModelT]) -> ModelT:
        """The settings object that the document describes; InputError with every fault."""
        part = self.read_part(cls, self.document.data, ())
        self.diagnostics.raise_faults()
        if part is None:
            raise InputError("it cannot be read")
        return part

    def read_part(self, cls: type[ModelT], data: Any, path: KeyPath) -> ModelT | None:
        """The settings object of a section; None if the section is invalid."""
        if isinstance(data, cls):
            return data
        if not isinstance(data, dict):
            self.diagnostics.add(path, f"got {quote_value(data)}, expected a section of keys")
            return None
        inlined: str | None = getattr(cls, "inlined", None)
        names = [name for name in cls.model_fields if name not in (inlined, "use")]
        given_keys = {key: (value, (*path, key)) for key, value in data.items() if key in names}
        other = {key: value for key, value in data.items() if key not in names}
        if inlined is not None:
            # A message about an unknown key of the inlined part names the keys beside it as well.
            self._beside[path] = names
            if other:
                given_keys[inlined] = other, path
        else:
            # At the top a key may have been written without its section.
            elsewhere = []
            for name in names if other and not path else ():
                _, classes, table, _ = part_field(cls, name)
                kinds = classes if table is None else [*map(import_class, table.values())]
                elsewhere += [f"{name}.{key}" for kind in kinds for key in kind.model_fields]
            for key in other:
                key_names = [*self._beside.get(path, ()), *names]
                self.diagnostics.add((*path, key), unknown_key(key, key_names, elsewhere))
        values = {
            str(key): self._value(part_field(cls, str(key)), value, here)
            for key, (value, here) in given_keys.items()
        }
        failed = {key for key, value in values.items() if value is _FAILED}
        try:
            made = cls.model_validate(
                {key: values[key] for key in values if key not in failed},
                context={"trust": self.trust},
            )
        except ValidationError as error:
            self._note(cls, error, values, path, failed)
            return None
        return None if failed else made

    def _value(self, field: PartField, value: Any, path: KeyPath) -> Any:
        """The value as pydantic may have it: parts built, paths complete, all else unchanged."""
        annotation, classes = field.info.annotation, field.classes
        if get_origin(annotation) is tuple:
            value = self._listed(value, path)
        if annotation is Path and isinstance(value, str) and value:
            return self.document.folder(path) / Path(value).expanduser()
        if not classes or isinstance(value, BaseModel):
            return value
        read: Any = value
        if field.table is not None:
            if Duration in classes and isinstance(value, int | float | str):
                # A length alone means ``use: fixed``.
                try:
                    return import_class(field.table["fixed"]).model_validate({"length": value})
                except ValidationError as error:
                    self.diagnostics.add(path, describe_errors(error.errors(include_url=False)))
                    return _FAILED
            if isinstance(value, str) and not _takes_text(annotation):
                value = {"use": value}
            if isinstance(value, dict):
                read = self._named(field, field.table, value, path)
        elif field.many is not None:
            if not isinstance(value, field.many):
                return value
            parts: dict[Key, Any] = {}
            for index, item in enumerate(value) if isinstance(value, list) else value.items():
                # Of a union the class that knows most keys of the section.
                item_keys = set(item) if isinstance(item, dict) else set()
                matches = [len(item_keys & kind.model_fields.keys()) for kind in classes]
                kind = classes[matches.index(max(matches))]
                parts[index] = self.read_part(kind, item, (*path, index))
            if None in parts.values():
                return _FAILED
            return parts if isinstance(value, dict) else tuple(parts.values())
        elif isinstance(value, dict) and len(classes) == 1:
            read = self.read_part(classes[0], value, path)
        return _FAILED if read is None and value is not None else read

    def _listed(self, value: Any, path: KeyPath) -> Any:
        """The list that ``--set`` writes without brackets: ``a,b``, or sections by their number."""
        if isinstance(value, dict) and [*value] == [*range(len(value))] and value:
            return list(value.values())
        if isinstance(value, str) and (origin := self.document.origin(path)) is not None:
            set_by_hand = origin.label.startswith("--set")
            return [part.strip() for part in value.split(",")] if set_by_hand else value
        return value

    def _named(
        self, field: PartField, table: Table, value: dict[Key, Any], path: KeyPath
    ) -> BaseModel | None:
        """The part that ``use`` names, or else one of the class of the field's default."""
        try:
            if "use" in value:
                use, base = value["use"], field.classes[0] if len(field.classes) == 1 else BaseModel
                if isinstance(use, str) and use.endswith(SUFFIXES):
                    # The path of a card, relative to the file that names it.
                    use = str(self.document.folder(path) / Path(use).expanduser())
                cls = class_of(use, table, base, trust=self.trust)
            else:
                default = field.info.get_default(call_default_factory=True, validated_data={})
                if not isinstance(default, BaseModel):
                    names = " or ".join(f"use: {name}" for name in table)
                    raise InputError(f"which one? expected {names}")
                cls = type(default)
        except InputError as error:
            place = (*path, "use") if (*path, "use") in self.document.origins else path
            self.diagnostics.add(place, str(error))
            return None
        return self.read_part(cls, {key: value[key] for key in value if key != "use"}, path)

    def _note(
        self,
        cls: type[BaseModel],
        error: ValidationError,
        values: Mapping[str, Any],
        path: KeyPath,
        failed: set[str],
    ) -> None:
        """Note what pydantic found in one section, by the key path of each error."""
        by_place: dict[KeyPath, list[ErrorDetails]] = {}
        for detail in error.errors(include_url=False):
            # An invalid component is reported itself; its section would only call it missing.
            if failed.intersection(detail["loc"][:1]) or (failed and not detail["loc"]):
                continue
            by_place.setdefault(_real_place(cls, detail, values), []).append(detail)
        for place, errors in by_place.items():
            problem = describe_errors(errors)
            if errors[0]["type"] == "missing":
                extra = cls.model_fields[str(place[0])].json_schema_extra
                hint = extra.get("hint") if isinstance(extra, dict) and len(place) == 1 else None
                problem = "required, but not given" + (f"; {hint}" if hint else "")
            self.diagnostics.add((*path, *place), problem)


@cache  # a run must not change its card when the file is edited meanwhile
def read_card(path: str) -> type[ResearchSystem]:
    """The class of the system that a card describes; our own paths are relative to the packages."""
    from virsci_society.protocols.engines.card import SystemCard
    from virsci_society.protocols.engines.card_system import pages_beside, system_of

    file = CARDS / path
    if not file.is_file():
        raise InputError(f"{path}: no such card")
    document = single_document(file)
    document.origins[()] = Origin(display_path(file), file.parent)  # of a key that is not there
    reader = Reader(document, trust=False)
    diagnostics = reader.diagnostics
    card = reader.read(SystemCard)
    pages = pages_beside(file)
    for place, problem in card.faults(pages):
        diagnostics.add(place, problem)
    diagnostics.raise_faults()
    made = system_of(card, pages, path)
    usual = {name: key.default for name, key in card.own_keys}
    for values in (usual, made.published, made.matched):
        try:
            made.model_validate(values)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                diagnostics.add(("keys", *detail["loc"][:1]), describe_errors([detail]))
    diagnostics.raise_faults()
    return made


def _real_place(cls: type[BaseModel], error: ErrorDetails, value: Any) -> KeyPath:
    """Key path of an error below its section, without the names of union members."""
    if not error["loc"]:
        # A check of the whole section names the key it is about first, if there is one.
        first = str(error.get("ctx", {}).get("error", "")).split(" ", 1)[0].rstrip(":")
        return (first,) if first in cls.model_fields else ()
    place: list[Key] = []
    for step in error["loc"]:
        listed = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if listed or (isinstance(value, dict) and step in value):
            place.append(step)
            value = value[step]
        elif not place:
            place.append(step)
            value = None
    if error["type"] == "missing" and len(error["loc"]) > 1:
        place.append(error["loc"][-1])
    return tuple(place)


def _takes_text(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _takes_text(get_args(annotation)[0])
    if annotation is str or get_origin(annotation) is Literal:
        return True
    return any(_takes_text(kind) for kind in get_args(annotation) if kind is not annotation)


def write_part(part: BaseModel) -> dict[str, Any]:
    """Plain data of a settings object with every key; reading it back gives an equal object."""
    return _written(part, None, frozenset(), every=True)


def differing_keys(part: BaseModel, usual: BaseModel | None = None) -> dict[str, Any]:
    """The keys of a settings object that differ from their defaults, without its execution keys."""
    cls = type(part)
    # A scenario has a key of the name under which a part names those that are in no identity.
    unhashed: Any = getattr(cls, "execution_keys", getattr(cls, "execution", frozenset()))
    return _written(part, usual, unhashed, every=False)


def _written(
    part: BaseModel, usual: BaseModel | None, left_out: frozenset[str], *, every: bool
) -> dict[str, Any]:
    """All keys of a part, or those that differ from another's or from the defaults."""
    cls = type(part)
    fields = {name: part_field(cls, name) for name in cls.model_fields if name != "use"}
    plain = part.model_dump(include={name for name, field in fields.items() if not field.classes})
    data: dict[str, Any] = {}
    for name, field in fields.items():
        if name in left_out:
            continue
        value, default = getattr(part, name), None
        if not every and usual is None:
            default = field.info.get_default(call_default_factory=True, validated_data={})
        elif not every:
            default = getattr(usual, name)
        if not isinstance(value, BaseModel):
            if every or value != default:
                data[name] = _plain(plain.get(name, value), every=every)
            continue
        same = type(value) is type(default)
        named = {} if same else _use(type(value), field.table, every=every)
        below = write_part(value) if every else differing_keys(value, default if same else None)
        if name == getattr(cls, "inlined", None):
            # ``use`` and the other keys of the inlined part come first.
            data = named | below | data
        elif every or below or not same:
            data[name] = named | below
    return data


def _plain(value: Any, *, every: bool) -> Any:
    """A value as plain data; parts in it with all keys, or with those that differ."""
    if isinstance(value, Mapping):
        return {key: _plain(item, every=every) for key, item in value.items()}
    if isinstance(value, BaseModel):
        if every:
            return write_part(value)
        return _use(type(value), table_for(type(value)), every=False) | differing_keys(value)
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(item, every=every) for item in value]
    return str(value) if isinstance(value, Path) else value


def _use(cls: type[BaseModel], table: Table | None, *, every: bool) -> dict[str, Any]:
    """The key ``use`` of a part; in an identity a user's card is named without its folder."""
    if table is None:
        return {}
    name = name_of(cls, table)
    moved = not every and Path(name).is_absolute()
    return {"use": Path(name).name if moved else name}
