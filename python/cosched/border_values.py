"""What a signature says of an argument, and the first value that it does not admit."""

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
    np = Lazy("numpy")  # A package that computes nothing is imported without numpy.

#: Only so many entries of a list or table are compared with its hint.
MAX_ENTRIES = 10_000
#: Only so many levels of nested lists, tables and dataclasses are compared.
MAX_DEPTH = 4
_WORDS_OF_TYPES = {
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


def resolved_hints(function: Callable[..., object]) -> dict[str, Any]:
    """Return each parameter's annotation, without those that cannot be resolved here.

    Examples
    --------
    >>> def halve(number: "float", of: "NoSuchClass"): ...
    >>> resolved_hints(halve)
    {'number': <class 'float'>}
    """
    hints = {}
    for name, annotation in getattr(function, "__annotations__", {}).items():
        hint = _resolved(annotation, function)
        if hint is not Any:
            hints[name] = hint
    return hints


def _resolved(annotation: object, owner: object) -> Any:
    """Return an annotation as a type; Any where it has a name that is not known."""
    if not isinstance(annotation, str):
        return annotation
    return _type_of_text(annotation, getattr(owner, "__module__", ""))


@lru_cache(maxsize=4096)
def _type_of_text(annotation: str, module_name: str) -> Any:
    """Return the type that a text names in a module; Any where a name of it is not known."""
    module = sys.modules.get(module_name)
    names = _AnnotationNames(vars(module) if module else {}, module_name)
    try:
        hint = eval(annotation, {}, names)
    except Exception:  # The text has a name that only type checkers import.
        return Any
    # An annotation in quotes is a text of a text where the module postpones its annotations.
    return _type_of_text(hint, module_name) if isinstance(hint, str) else hint


class _AnnotationNames(Mapping[str, Any]):
    """The names that annotations of a module use.

    They are looked up in the module, then among the classes that the package has loaded, those of
    the same family first: a name that only type checkers import is found there.
    """

    def __init__(self, module_names: Mapping[str, object], module: str) -> None:
        self._module_names = module_names
        self._family = ".".join(module.split(".")[:2])

    def __getitem__(self, name: str) -> Any:
        if name in self._module_names:
            return self._module_names[name]
        if name == "np":
            return np
        modules = [key for key in sys.modules if key.partition(".")[0] == "cosched"]
        near_first = sorted(modules, key=lambda key: not key.startswith(self._family))
        for key in near_first:
            candidate = vars(sys.modules[key]).get(name)
            if isinstance(candidate, type):
                return candidate
        raise KeyError(name)

    def __iter__(self) -> Any:
        return iter(self._module_names)

    def __len__(self) -> int:
        return len(self._module_names)


def misfit_of(
    value: object, hint: object, place: str, is_strict: bool = False, depth: int = 0
) -> Misfit | None:
    """Return the first value inside `value` that a hint does not admit.

    Parameters
    ----------
    is_strict : bool
        Tell lists from arrays, and integers from whole floats. Otherwise a value that converts to
        the hinted type is admitted.

    Returns
    -------
    Misfit or None
        None where the hint admits all values.

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
        is_admitted = isinstance(value, typing.Hashable) and value in arguments
        return None if is_admitted else Misfit(place, value, words_of(hint))
    kind = origin or hint
    if kind is None:
        kind = type(None)
    if not isinstance(kind, type):
        return None
    if not _has_type(value, kind, is_strict):
        return Misfit(place, value, words_of(hint))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _misfit_of_fields(value, place, is_strict, depth)
    return _misfit_of_entries(value, kind, arguments, place, is_strict, depth)


def _misfit_of_union(
    value: object, hint: object, place: str, is_strict: bool, depth: int
) -> Misfit | None:
    """Return the misfit of a union; that of an entry where an alternative admits all but the
    entry."""
    misfits = []
    for alternative in typing.get_args(hint):
        misfit = misfit_of(value, alternative, place, is_strict, depth + 1)
        if misfit is None:
            return None
        misfits.append(misfit)
    entry_misfits = [misfit for misfit in misfits if misfit.place != place]
    return entry_misfits[0] if entry_misfits else Misfit(place, value, words_of(hint))


def _has_type(value: object, kind: type, is_strict: bool) -> bool:
    """Return whether a value has a type, or one that the package takes for it."""
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
    if isinstance(value, (str, bytes)):  # To Python a text is a list of letters.
        return not is_strict and _is_instance(value, kind)
    if is_strict or issubclass(kind, Mapping):
        return _is_instance(value, kind)
    lists = (list, tuple, set, frozenset, range, np.ndarray)
    return isinstance(value, lists) or hasattr(value, "iloc") or _is_instance(value, kind)


def _is_instance(value: object, kind: type) -> bool:
    """Return whether a value is an instance of a class; True where Python cannot tell."""
    try:
        return isinstance(value, kind)
    except TypeError:  # The class is a protocol that is not for run time.
        return True


def _is_container(kind: type) -> bool:
    """Return whether values of a class are lists, tables or arrays of entries."""
    return kind is np.ndarray or (issubclass(kind, Iterable) and not _is_record(kind))


def _is_record(kind: type) -> bool:
    """Return whether a class belongs to this package: a list of its entries does not stand for
    it."""
    return kind.__module__.partition(".")[0] == "cosched"


def _misfit_of_fields(value: Any, place: str, is_strict: bool, depth: int) -> Misfit | None:
    """Return the first misfit among the fields of a dataclass."""
    for field in dataclasses.fields(value):
        hint = _resolved(field.type, type(value))
        field_value = getattr(value, field.name, None)
        misfit = misfit_of(field_value, hint, f"{place}.{field.name}", is_strict, depth + 1)
        if misfit is not None:
            return misfit
    return None


def _misfit_of_entries(
    value: object, kind: type, arguments: Sequence[object], place: str, is_strict: bool, depth: int
) -> Misfit | None:
    """Return the first misfit among the entries of a list or mapping whose hint has arguments."""
    if isinstance(value, (str, bytes)) or not arguments:
        return None
    if isinstance(value, Mapping):
        return _misfit_of_items(value, arguments, place, is_strict, depth)
    if not isinstance(value, (list, tuple, set, frozenset, range)):
        return None
    hints: Iterable[Any] = repeat(arguments[0])
    if kind is tuple and Ellipsis not in arguments:
        if len(value) != len(arguments):
            return Misfit(place, value, f"{len(arguments)} entries")
        hints = arguments
    entries = islice(value, MAX_ENTRIES)
    for number, (entry, hint) in enumerate(zip(entries, hints, strict=False)):
        misfit = misfit_of(entry, hint, f"{place}[{number}]", is_strict, depth + 1)
        if misfit is not None:
            return misfit
    return None


def _misfit_of_items(
    mapping: Mapping[Any, object],
    arguments: Sequence[object],
    place: str,
    is_strict: bool,
    depth: int,
) -> Misfit | None:
    """Return the first misfit among the keys and values of a mapping."""
    key_hint, value_hint = arguments if len(arguments) == 2 else (arguments[0], Any)
    for key, entry in islice(mapping.items(), MAX_ENTRIES):
        misfit = misfit_of(key, key_hint, f"a key of {place}", is_strict, depth + 1)
        if misfit is not None:
            return misfit
        entry_place = f"{place}[{_shown_key(key)}]"
        misfit = misfit_of(entry, value_hint, entry_place, is_strict, depth + 1)
        if misfit is not None:
            return misfit
    return None


def _shown_key(key: object) -> str:
    """Return a key of a mapping as a message shows it."""
    return repr(key)[:40]


def words_of(hint: object) -> str:
    """Return a hint in the words of a message.

    Examples
    --------
    >>> words_of(int | None), words_of(dict[str, float]), words_of(list[str])
    ('an integer or None', 'a mapping', 'a list')
    """
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        parts = dict.fromkeys(words_of(alternative) for alternative in typing.get_args(hint))
        return " or ".join(parts)
    if origin is typing.Literal:
        return f"one of {', '.join(map(str, typing.get_args(hint)))}"
    kind = type(None) if hint is None else origin or hint
    if kind is np.ndarray:
        return "an array"
    if kind in _WORDS_OF_TYPES:
        return _WORDS_OF_TYPES[kind]
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
    """Return the name by which users import a class, such as ``cosched.packs.Instance``."""
    modules = kind.__module__.split(".")
    public_modules = modules[:2] if modules[0] == "cosched" else modules[:1]
    return ".".join([*public_modules, kind.__qualname__])


def is_odd_value(value: object) -> bool:
    """Whether a value may have the right type, and is yet none that functions compute with.

    Odd are numbers that are not finite, negative or above 2**31, empty lists and arrays, arrays of
    other than one or two dimensions, or with an entry that is no finite number, texts that are
    empty or have other characters than names, paths and times have, classes, modules and slices,
    and lists and mappings with an odd entry or None among the first ones.

    Examples
    --------
    >>> is_odd_value(float("nan")), is_odd_value(-1), is_odd_value([]), is_odd_value([1.0, 2.0])
    (True, True, True, False)
    """
    if isinstance(value, (bool, np.bool_)) or value is None:
        return False
    if isinstance(value, (type, types.ModuleType, types.EllipsisType, slice)):
        return True
    if isinstance(value, numbers.Real):
        try:
            number = float(value)
        except (OverflowError, ValueError):  # It is larger than any float, or a signalling NaN.
            return True
        return not math.isfinite(number) or number < 0 or number > 2**31
    if isinstance(value, str):
        return not re.fullmatch(r"[\w.:/ -]+", value)
    if isinstance(value, np.ndarray):
        is_plain = value.size > 0 and value.ndim in (1, 2) and value.dtype.kind in "iufb"
        return not is_plain or not np.isfinite(value).all()
    if isinstance(value, (list, tuple, set, frozenset, Mapping, range)):
        if not len(value):
            return True
        entries = value.values() if isinstance(value, Mapping) else value
        return any(entry is None or is_odd_value(entry) for entry in islice(entries, MAX_ENTRIES))
    return False
