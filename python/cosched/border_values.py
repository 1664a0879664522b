"""What a signature says of an argument, and the first value that is something else."""

from __future__ import annotations

import dataclasses
import math
import numbers
import os
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice, repeat
from typing import Any, NamedTuple

from cosched.lazy import Lazy

if typing.TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")  # a package that computes nothing is imported without it

#: Entries of a list or table that are looked at.
MAX_ENTRIES = 10_000
#: Levels of lists, tables and dataclasses that are looked into.
MAX_DEPTH = 4
_SIMPLE = {
    float: "a number",
    int: "an integer",
    bool: "true or false",
    str: "a text",
    bytes: "bytes",
    dict: "a mapping",
    list: "a list",
    tuple: "a list",
    set: "a set",
    type(None): "None",
}


class Misfit(NamedTuple):
    """A value that a signature does not admit.

    Attributes
    ----------
    place : str
        ``name``, ``name[2]``, ``name.field``.
    value : object
    expected : str
        What the signature says, in words.
    """

    place: str
    value: Any
    expected: str


def resolved_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Parameter -> annotation; without those that cannot be resolved here.

    Examples
    --------
    >>> def halve(number: "float", of: "NoSuchClass"): ...
    >>> resolved_hints(halve)
    {'number': <class 'float'>}
    """
    found = {}
    for name, annotation in getattr(function, "__annotations__", {}).items():
        hint = _resolved(annotation, function)
        if hint is not Any:
            found[name] = hint
    return found


def _resolved(annotation: Any, owner: Any) -> Any:
    """An annotation as a type; Any where it names what is not there."""
    if not isinstance(annotation, str):
        return annotation
    return _type_of_text(annotation, getattr(owner, "__module__", ""))


@lru_cache(maxsize=4096)
def _type_of_text(annotation: str, module_name: str) -> Any:
    module = sys.modules.get(module_name)
    names = _Names(vars(module) if module else {}, module_name)
    try:
        hint = eval(annotation, {}, names)
    except Exception:  # a name that only type checkers import
        return Any
    # An annotation in quotes, in a module whose annotations are all texts.
    return _type_of_text(hint, module_name) if isinstance(hint, str) else hint


class _Names(Mapping[str, Any]):
    """Names of annotations: those of a module, else of the classes that the package has loaded.

    What only type checkers import is found there: first in the same family.
    """

    def __init__(self, own: Mapping[str, Any], module: str) -> None:
        self._own = own
        self._family = ".".join(module.split(".")[:2])

    def __getitem__(self, name: str) -> Any:
        if name in self._own:
            return self._own[name]
        if name == "np":
            return np
        modules = [key for key in sys.modules if key.partition(".")[0] == "cosched"]
        near_first = sorted(modules, key=lambda key: not key.startswith(self._family))
        for key in near_first:
            found = vars(sys.modules[key]).get(name)
            if isinstance(found, type):
                return found
        raise KeyError(name)

    def __iter__(self) -> Any:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


def misfit_of(
    value: Any, hint: Any, place: str, is_strict: bool = False, depth: int = 0
) -> Misfit | None:
    """The first value in `value` that a hint does not admit; None where all are admitted.

    Parameters
    ----------
    is_strict : bool
        Tell lists from arrays, and integers from whole floats; else what converts is admitted.

    Examples
    --------
    >>> misfit_of([1, "two"], list[int], "counts")
    Misfit(place='counts[1]', value='two', expected='an integer')
    >>> misfit_of(None, int | None, "seed") is None
    True
    """
    if depth > MAX_DEPTH or hint in (Any, object) or isinstance(hint, (typing.TypeVar, str)):
        return None
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _misfit_of_union(value, hint, place, is_strict, depth)
    if origin is typing.Annotated:
        return misfit_of(value, arguments[0], place, is_strict, depth)
    if origin is typing.Literal:
        known = isinstance(value, typing.Hashable) and value in arguments
        return None if known else Misfit(place, value, words_of(hint))
    kind = origin or hint
    if kind is None:
        kind = type(None)
    if not isinstance(kind, type):
        return None
    if not _is_of(value, kind, is_strict):
        return Misfit(place, value, words_of(hint))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _misfit_of_fields(value, place, is_strict, depth)
    return _misfit_of_entries(value, kind, arguments, place, is_strict, depth)


def _misfit_of_union(
    value: Any, hint: Any, place: str, is_strict: bool, depth: int
) -> Misfit | None:
    found = [misfit_of(value, one, place, is_strict, depth + 1) for one in typing.get_args(hint)]
    if any(misfit is None for misfit in found):
        return None
    inside = [misfit for misfit in found if misfit is not None and misfit.place != place]
    return inside[0] if inside else Misfit(place, value, words_of(hint))


def _is_of(value: Any, kind: type, is_strict: bool) -> bool:
    """Whether a value is of a class, or of one that stands for it."""
    if kind is bool:
        return isinstance(value, (bool, np.bool_))
    if kind in (int, float, complex) and isinstance(value, (bool, np.bool_)):
        return False
    if kind is float:
        return isinstance(value, (int, float, np.integer, np.floating))
    if kind is int:
        is_whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
        return isinstance(value, (int, np.integer)) or (is_whole and not is_strict)
    if kind in (str, bytes) or not _is_container(kind):
        return _is_instance(value, kind)
    if isinstance(value, (str, bytes)):  # a text is a list of letters
        return not is_strict and _is_instance(value, kind)
    if is_strict or issubclass(kind, Mapping):
        return _is_instance(value, kind)
    lists = (list, tuple, set, frozenset, range, np.ndarray)
    return isinstance(value, lists) or hasattr(value, "iloc") or _is_instance(value, kind)


def _is_instance(value: Any, kind: type) -> bool:
    try:
        return isinstance(value, kind)
    except TypeError:  # a protocol whose members cannot be looked at
        return True


def _is_container(kind: type) -> bool:
    return kind is np.ndarray or (issubclass(kind, Iterable) and not _is_record(kind))


def _is_record(kind: type) -> bool:
    """A class of this package that has entries, and is not given as a list of them."""
    return kind.__module__.partition(".")[0] == "cosched"


def _misfit_of_fields(value: Any, place: str, is_strict: bool, depth: int) -> Misfit | None:
    for field in dataclasses.fields(value):
        hint = _resolved(field.type, type(value))
        inside = getattr(value, field.name, None)
        found = misfit_of(inside, hint, f"{place}.{field.name}", is_strict, depth + 1)
        if found is not None:
            return found
    return None


def _misfit_of_entries(
    value: Any, kind: type, arguments: Sequence[Any], place: str, is_strict: bool, depth: int
) -> Misfit | None:
    if isinstance(value, (str, bytes)) or not arguments:
        return None
    if isinstance(value, Mapping):
        key_hint, value_hint = arguments if len(arguments) == 2 else (arguments[0], Any)
        for key, entry in islice(value.items(), MAX_ENTRIES):
            found = misfit_of(key, key_hint, f"a key of {place}", is_strict, depth + 1)
            found = found or misfit_of(
                entry, value_hint, f"{place}[{_shown_key(key)}]", is_strict, depth + 1
            )
            if found is not None:
                return found
        return None
    if not isinstance(value, (list, tuple, set, frozenset, range)):
        return None
    if kind is tuple and Ellipsis not in arguments:
        if len(value) != len(arguments):
            return Misfit(place, value, f"{len(arguments)} entries")
        hints: Iterable[Any] = arguments
    else:
        hints = repeat(arguments[0])
    entries = islice(value, MAX_ENTRIES)
    for number, (entry, hint) in enumerate(zip(entries, hints, strict=False)):
        found = misfit_of(entry, hint, f"{place}[{number}]", is_strict, depth + 1)
        if found is not None:
            return found
    return None


def _shown_key(key: Any) -> str:
    return repr(key)[:40]


def words_of(hint: Any) -> str:
    """A hint as a message has it.

    Examples
    --------
    >>> words_of(int | None), words_of(dict[str, float]), words_of(list[str])
    ('an integer or None', 'a mapping', 'a list')
    """
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        parts = dict.fromkeys(words_of(one) for one in typing.get_args(hint))
        return " or ".join(parts)
    if origin is typing.Literal:
        return f"one of {', '.join(map(str, typing.get_args(hint)))}"
    kind = type(None) if hint is None else origin or hint
    if kind is np.ndarray:
        return "an array"
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if not isinstance(kind, type):
        return "another value"
    if issubclass(kind, os.PathLike):
        return "a path"
    if kind is typing.get_origin(Callable[..., Any]):
        return "a function"
    if issubclass(kind, Mapping) and not _is_record(kind):
        return "a mapping"
    if kind.__module__ == "collections.abc":
        return "a list"
    return f"a {_public_name(kind)}"


def _public_name(kind: type) -> str:
    """``cosched.packs.Instance`` of a class that stands deeper in that package."""
    parts = kind.__module__.split(".")
    shown = parts[:2] if parts[0] == "cosched" else parts[:1]
    return ".".join([*shown, kind.__qualname__])


def odd_value(value: Any) -> bool:
    """Whether a value is of the right type, and yet such as nothing is computed with.

    Numbers that are not finite, negative, or beyond 32 bits; what is empty; texts that are no word;
    classes and modules; what has such an entry, or None.

    Examples
    --------
    >>> odd_value(float("nan")), odd_value(-1), odd_value([]), odd_value([1.0, 2.0])
    (True, True, True, False)
    """
    if isinstance(value, (bool, np.bool_)) or value is None:
        return False
    if isinstance(value, (type, types.ModuleType, types.EllipsisType, slice)):
        return True
    if isinstance(value, numbers.Real):
        try:
            number = float(value)
        except (OverflowError, ValueError):
            return True
        return not math.isfinite(number) or number < 0 or number > 2**31
    if isinstance(value, str):
        return not re.fullmatch(r"[\w.:/ -]+", value)
    if isinstance(value, np.ndarray):
        is_plain = value.size > 0 and value.ndim > 0 and value.dtype.kind in "iufb"
        return not is_plain or not np.isfinite(value).all()
    if isinstance(value, (list, tuple, set, frozenset, Mapping, range)):
        if not len(value):
            return True
        entries = value.values() if isinstance(value, Mapping) else value
        return any(entry is None or odd_value(entry) for entry in islice(entries, MAX_ENTRIES))
    return False
