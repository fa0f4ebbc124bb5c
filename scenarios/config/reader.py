"""Conversion of plain data to settings objects, and of settings objects to plain data.

A section is read from the inside out: its own parts first, each by the class that ``use`` names or
that the field's default has, then the section itself by pydantic. A fault is noted with its key
path, and reading goes on, so that all faults come out at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.diagnostics import (
    Diagnostics,
    describe_errors,
    quote_value,
    unknown_key,
)
from virsci_society.scenarios.config.document import Document
from virsci_society.scenarios.config.registry import (
    SUFFIXES,
    MetricNames,
    Table,
    check_metric_name,
    class_of,
    field_parts,
    import_class,
    inlined_class,
    is_list,
    name_of,
    table_for,
)
from virsci_society.scenarios.config.yaml_io import Key, KeyPath
from virsci_society.society.kernel.durations import Duration

ModelT = TypeVar("ModelT", bound=BaseModel)
_FAILED = object()


class Reader:
    """Reads one document."""

    def __init__(self, document: Document, *, trust: bool) -> None:
        self.document = document
        self.trust = trust
        self.diagnostics = Diagnostics(document)
        self._beside: dict[KeyPath, list[str]] = {}

    def read_part(self, cls: type[ModelT], data: Any, path: KeyPath) -> ModelT | None:
        """The settings object that a section describes."""
        if isinstance(data, cls):
            return data
        if not isinstance(data, dict):
            self.diagnostics.add(path, f"got {quote_value(data)}, expected a section of keys")
            return None
        values: dict[str, Any] = {}
        failed: set[str] = set()
        for key, value, here in self._keys(cls, data, path):
            read = self._field(cls.model_fields[key], value, here)
            if read is _FAILED:
                failed.add(key)
            else:
                values[key] = read
        try:
            made = cls.model_validate(values)
        except ValidationError as error:
            self._note(cls, error, data, path, failed)
            return None
        return None if failed else made

    def _keys(
        self, cls: type[BaseModel], data: Mapping[Key, Any], path: KeyPath
    ) -> list[tuple[str, Any, KeyPath]]:
        """The known keys of a section; those of an inlined part go to it, others are faults."""
        inlined: str | None = getattr(cls, "inlined", None)
        names = [name for name in cls.model_fields if name not in (inlined, "use")]
        listed = [(str(key), value, (*path, key)) for key, value in data.items() if key in names]
        other = {key: value for key, value in data.items() if key not in names}
        if inlined is not None:
            # A message about an unknown key of the inlined part names the keys beside it as well.
            self._beside[path] = names
            return [*listed, (inlined, other, path)] if other else listed
        for key in other:
            elsewhere = keys_below(cls) if not path else ()
            known = [*self._beside.get(path, ()), *names]
            self.diagnostics.add((*path, key), unknown_key(key, known, elsewhere))
        return listed

    def _field(self, field: FieldInfo, value: Any, path: KeyPath) -> Any:
        """The value as pydantic may have it: parts built, everything else as it is."""
        if any(isinstance(note, MetricNames) for note in field.metadata):
            return self._metrics(self._listed(field, value, path), path)
        bases, table = field_parts(field)
        value = self._listed(field, value, path)
        if not bases or isinstance(value, BaseModel):
            return self._placed(field, value, path)
        if table is not None:
            if Duration in bases and isinstance(value, int | float | str):
                return self._fixed(table, value, path)
            if isinstance(value, str) and not _takes_text(field.annotation):
                value = {"use": value}
            if isinstance(value, dict):
                return self._named(field, bases, table, value, path)
            return value
        if isinstance(value, list) and is_list(field):
            parts = [
                self.read_part(_class_with_keys(bases, one), one, (*path, place))
                for place, one in enumerate(value)
            ]
            return _FAILED if None in parts else tuple(parts)
        if isinstance(value, dict) and len(bases) == 1 and not is_list(field):
            read = self.read_part(bases[0], value, path)
            return _FAILED if read is None else read
        return value

    def _listed(self, field: FieldInfo, value: Any, path: KeyPath) -> Any:
        """The list that ``--set`` writes without brackets: ``a,b``, or sections by their number."""
        if get_origin(field.annotation) is not tuple:
            return value
        if isinstance(value, dict) and [*value] == [*range(len(value))] and value:
            return list(value.values())
        origin = self.document.origin(path)
        if isinstance(value, str) and origin is not None and origin.label.startswith("--set"):
            return [part.strip() for part in value.split(",")]
        return value

    def _metrics(self, value: Any, path: KeyPath) -> Any:
        """A list of metrics, each of which there is."""
        wrong = False
        for place, name in enumerate(value if isinstance(value, list | tuple) else ()):
            try:
                check_metric_name(name, trust=self.trust)
            except InputError as error:
                self.diagnostics.add((*path, place), str(error))
                wrong = True
        return _FAILED if wrong else value

    def _named(
        self,
        field: FieldInfo,
        bases: tuple[type[BaseModel], ...],
        table: Table,
        value: dict[Key, Any],
        path: KeyPath,
    ) -> Any:
        rest = {key: item for key, item in value.items() if key != "use"}
        try:
            cls = self._class(field, bases, table, value, path)
        except InputError as error:
            place = (*path, "use") if (*path, "use") in self.document.origins else path
            self.diagnostics.add(place, str(error))
            return _FAILED
        read = self.read_part(cls, rest, path)
        return _FAILED if read is None else read

    def _class(
        self,
        field: FieldInfo,
        bases: tuple[type[BaseModel], ...],
        table: Table,
        value: dict[Key, Any],
        path: KeyPath,
    ) -> type[BaseModel]:
        if "use" in value:
            base: Any = bases[0] if len(bases) == 1 else BaseModel
            use = value["use"]
            if isinstance(use, str) and use.endswith(SUFFIXES):
                # The path of a card, which is relative to the file in which it stands.
                origin = self.document.origin(path)
                use = str((origin.folder if origin else Path.cwd()) / Path(use).expanduser())
            return class_of(use, table, base, trust=self.trust)
        default = field.get_default(call_default_factory=True, validated_data={})
        if isinstance(default, BaseModel):
            return type(default)
        names = " or ".join(f"use: {name}" for name in table)
        raise InputError(f"which one? expected {names}")

    def _fixed(self, table: Table, value: Any, path: KeyPath) -> Any:
        try:
            return import_class(table["fixed"]).model_validate({"length": value})
        except ValidationError as error:
            self.diagnostics.add(path, describe_errors(error.errors(include_url=False)))
            return _FAILED

    def _placed(self, field: FieldInfo, value: Any, path: KeyPath) -> Any:
        """A relative path is relative to the file in which it stands."""
        if field.annotation is Path and isinstance(value, str) and value:
            origin = self.document.origin(path)
            return (origin.folder if origin else Path.cwd()) / Path(value).expanduser()
        return value

    def _note(
        self,
        cls: type[BaseModel],
        error: ValidationError,
        data: Mapping[Key, Any],
        path: KeyPath,
        failed: set[str],
    ) -> None:
        by_place: dict[KeyPath, list[ErrorDetails]] = {}
        for one in error.errors(include_url=False):
            # A part that failed is told by itself; its section would only say that it is missing.
            if failed.intersection(one["loc"][:1]) or (failed and not one["loc"]):
                continue
            place = _real_place(cls, one, data)
            by_place.setdefault(place, []).append(one)
        for place, errors in by_place.items():
            here = (*path, *place)
            if errors[0]["type"] == "missing":
                self.diagnostics.add(here, _missing(_field_at(cls, place)))
            else:
                self.diagnostics.add(here, describe_errors(errors))


def write_part(part: BaseModel) -> dict[str, Any]:
    """Plain data of a settings object with every key; reading it back gives an equal object."""
    data: dict[str, Any] = {}
    cls = type(part)
    tables, plain = _fields_written(cls)
    values = part.model_dump(include=plain)
    for name, table in tables.items():
        value = getattr(part, name)
        if isinstance(value, BaseModel):
            named = {} if table is None else {"use": name_of(type(value), table)}
            section = named | write_part(value)
            if name == getattr(cls, "inlined", None):
                # ``use`` and the other keys of the inlined part come first.
                data = section | data
            else:
                data[name] = section
        else:
            data[name] = _plain(values.get(name, value))
    return data


def differing_keys(part: BaseModel, usual: BaseModel | None = None) -> dict[str, Any]:
    """The keys of a settings object that differ from their defaults, without its execution keys."""
    data: dict[str, Any] = {}
    cls = type(part)
    tables, plainly = _fields_written(cls)
    values = part.model_dump(include=plainly)
    beside: str | None = getattr(cls, "inlined", None)
    # A scenario has a key of the name under which a part names those that are in no identity.
    unhashed: Any = getattr(cls, "execution_keys", getattr(cls, "execution", frozenset()))
    for name, field in cls.model_fields.items():
        if name not in tables or name in unhashed:
            continue
        value = getattr(part, name)
        default = _default_of(field) if usual is None else getattr(usual, name)
        if not isinstance(value, BaseModel):
            if value != default:
                data[name] = _differing(values.get(name, value))
            continue
        same = type(value) is type(default)
        table = tables[name]
        named = {} if same or table is None else {"use": _place_free(type(value), table)}
        section = named | differing_keys(value, default if same else None)
        if name == beside:
            data |= section
        elif section or not same:
            data[name] = section
    return data


def _differing(value: Any) -> Any:
    """A value as plain data; of parts in lists, what differs from the defaults of their classes."""
    if isinstance(value, Mapping):
        return {key: _differing(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_differing(item) for item in value]
    if isinstance(value, BaseModel):
        cls = type(value)
        table = table_for(cls)
        return ({} if table is None else {"use": _place_free(cls, table)}) | differing_keys(value)
    return _plain(value)


def _place_free(cls: type[BaseModel], table: Table) -> str:
    """The name of a class, of a card of the user's own that of its file: a run may be moved."""
    name = name_of(cls, table)
    return Path(name).name if Path(name).is_absolute() else name


def _default_of(field: FieldInfo) -> Any:
    return field.get_default(call_default_factory=True, validated_data={})


@cache
def _fields_written(cls: type[BaseModel]) -> tuple[dict[str, Table | None], set[str]]:
    """The fields of a part but ``use``, each with its table, and those that hold plain values."""
    parts = {name: field_parts(field) for name, field in cls.model_fields.items() if name != "use"}
    tables = {name: table for name, (_, table) in parts.items()}
    return tables, {name for name, (classes, _) in parts.items() if not classes}


def keys_below(cls: type[BaseModel]) -> list[str]:
    """Dotted keys one level below a section, as hints for a key written without its section."""
    found = []
    for name, field in cls.model_fields.items():
        bases, table = field_parts(field)
        classes = bases if table is None else [import_class(path) for path in table.values()]
        found += [f"{name}.{key}" for below in classes for key in _key_names(below)]
    return found


def _class_with_keys(classes: Sequence[type[BaseModel]], data: Any) -> type[BaseModel]:
    """The class of a union that knows most keys of a section; the first one where none does."""
    given = set(data) if isinstance(data, Mapping) else set()
    return max(classes, key=lambda one: len(given & one.model_fields.keys()))


def _key_names(cls: type[BaseModel]) -> list[str]:
    inner = inlined_class(cls)
    if inner is None:
        return list(cls.model_fields)
    own = [name for name in cls.model_fields if name != getattr(cls, "inlined", None)]
    return [*own, *_key_names(inner)]


def _real_place(cls: type[BaseModel], error: ErrorDetails, data: Any) -> KeyPath:
    """Key path of an error below its section, without the names of union members."""
    if not error["loc"]:
        # A check of the whole section names the key it is about first, if there is one.
        first = str(error.get("ctx", {}).get("error", "")).split(" ", 1)[0].rstrip(":")
        return (first,) if first in cls.model_fields else ()
    place: list[Key] = [error["loc"][0]]
    value = data.get(place[0]) if isinstance(data, dict) else None
    for step in error["loc"][1:]:
        inside = isinstance(value, dict) and step in value
        if inside or (isinstance(value, list) and isinstance(step, int) and step < len(value)):
            place.append(step)
            value = value[step]  # type: ignore[index]
    if error["type"] == "missing" and len(error["loc"]) > 1:
        place.append(error["loc"][-1])
    return tuple(place)


def _field_at(cls: type[BaseModel], place: KeyPath) -> FieldInfo | None:
    """The field at a place below a section, through lists and dataclasses."""
    fields: Mapping[str, FieldInfo] = cls.model_fields
    found: FieldInfo | None = None
    for step in place:
        if isinstance(step, str):
            found = fields.get(step)
            fields = {} if found is None else _fields_in(found.annotation)
    return found


def _fields_in(annotation: Any) -> Mapping[str, FieldInfo]:
    """The fields of the first dataclass that an annotation names."""
    if hasattr(annotation, "__pydantic_fields__"):
        fields: Mapping[str, FieldInfo] = annotation.__pydantic_fields__
        return fields
    return next(filter(None, map(_fields_in, get_args(annotation))), {})


def _missing(field: FieldInfo | None) -> str:
    extra = None if field is None else field.json_schema_extra
    hint = extra.get("hint") if isinstance(extra, dict) else None
    return "required, but not given" + (f"; {hint}" if hint else "")


def _takes_text(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _takes_text(get_args(annotation)[0])
    if annotation is str or get_origin(annotation) is Literal:
        return True
    return any(_takes_text(one) for one in get_args(annotation) if one is not annotation)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, BaseModel):
        return write_part(value)
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
