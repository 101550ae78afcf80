"""Decodes the library's JSON documents to the dataclasses of :mod:`lakeward.types`, by their annotations."""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar, cast

T = TypeVar("T")


def decode(kind: type[T], document: Any) -> T:
    """``document`` as a ``kind``; unknown keys are ignored, so that newer documents can be read."""
    decode_document: Callable[[Any], T] = decoder(cast(Any, kind))
    return decode_document(document)


def same(value: Any) -> Any:
    """The identity, for values that need no decoding."""
    return value


@functools.cache
def decoder(kind: Any) -> Callable[[Any], Any]:
    """The function that decodes a JSON value to a ``kind``."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _dataclass(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        return _tuple(arguments)
    if origin in (typing.Union, types.UnionType):
        inner = decoder(next(argument for argument in arguments if argument is not type(None)))
        return same if inner is same else lambda value: None if value is None else inner(value)
    if origin is collections.abc.Mapping:
        inner = decoder(arguments[1])
        return same if inner is same else lambda value: {key: inner(item) for key, item in value.items()}
    return same


def _tuple(arguments: tuple[Any, ...]) -> Callable[[Any], Any]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        inner = decoder(arguments[0])
        return tuple if inner is same else lambda values: tuple([inner(value) for value in values])
    inners = [decoder(argument) for argument in arguments]
    return lambda values: tuple([inner(value) for inner, value in zip(inners, values, strict=True)])


def _dataclass(kind: type) -> Callable[[Any], Any]:
    annotations = typing.get_type_hints(kind)
    plain: dict[str, str] = {}
    decoded: dict[str, tuple[str, Callable[[Any], Any]]] = {}
    for field in dataclasses.fields(kind):
        key = field.metadata.get("json", field.name)
        inner = decoder(annotations[field.name])
        if inner is same:
            plain[key] = field.name
        else:
            decoded[key] = (field.name, inner)

    def build(document: Any) -> Any:
        values = {}
        for key, value in document.items():
            if key in plain:
                values[plain[key]] = value
            elif key in decoded:
                name, inner = decoded[key]
                values[name] = inner(value)
        return kind(**values)

    return build
