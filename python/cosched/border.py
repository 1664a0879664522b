"""The border between a caller and the package: an error that a bad argument causes names it.

Functions check what they compute with, and refuse it by its name. What nobody foresaw (a table
where a function is expected, a text among the weights) ends somewhere inside, as an error of
Python or of a library that knows nothing of the caller's arguments. Each public function and method
therefore has a guard: an error that is none of :mod:`cosched.errors` is explained, by comparing the
arguments of the call with what the signature says of them. A call that succeeds pays for one more
call of a function, and nothing is compared.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ContextDecorator
from dis import opmap
from functools import partial, wraps
from inspect import Parameter, cleandoc, isgeneratorfunction, signature
from types import FunctionType, TracebackType
from typing import Any

from cosched.border_values import Misfit, misfit_of, odd_value, resolved_hints
from cosched.errors import CoschedError, InvalidArgument, shorten

#: Errors that say something of the machine, or of what is installed, and nothing of an argument.
_OF_THE_MACHINE = (OSError, ImportError)
#: Methods that Python calls, and that callers so call with arguments.
_CONSTRUCTORS = ("__init__", "__new__")


def guard_public(exported: dict[str, Any]) -> None:
    """Guard the public functions of a package, and the methods of its classes.

    Parameters
    ----------
    exported : dict
        The package's ``globals()``: what ``__all__`` names, and tables of algorithms and bounds.
    """
    for name in exported.get("__all__", tuple(exported)):
        if name in exported:
            exported[name] = _guarded_thing(exported[name])
    for name in ("ALGORITHMS", "BOUNDS"):
        table = exported.get(name, {})
        for key, function in table.items():
            table[key] = _guarded_thing(function)


def _guarded_thing(thing: Any) -> Any:
    """A function with its guard; a class whose methods have theirs; everything else as it is."""
    if isinstance(thing, FunctionType) and _is_ours(thing):
        return guarded(thing)
    if isinstance(thing, partial) and isinstance(thing.func, FunctionType) and _is_ours(thing.func):
        return partial(guarded(thing.func), *thing.args, **thing.keywords)
    if isinstance(thing, type) and _is_ours(thing) and not issubclass(thing, BaseException):
        _guard_methods(thing)
    return thing


def _is_ours(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).partition(".")[0] == "cosched"


def _guard_methods(kind: type) -> None:
    for name, member in list(vars(kind).items()):
        if name.startswith("_") and name not in _CONSTRUCTORS:
            continue
        if isinstance(member, (classmethod, staticmethod)):
            if isinstance(member.__func__, FunctionType):
                setattr(kind, name, type(member)(guarded(member.__func__)))
        elif isinstance(member, FunctionType):
            setattr(kind, name, guarded(member))


def guarded(function: Any) -> Any:
    """The function with its guard, always the same one; its own module knows it by its name too.

    Examples
    --------
    >>> def halve(number: float) -> float:
    ...     return number / 2
    >>> guarded(halve)(3)
    1.5
    >>> guarded(halve)("three")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidArgument: number = 'three': expected a number
    """
    if getattr(function, "__guard__", None) is not None:
        return function.__guard__
    if isgeneratorfunction(function):
        guard: Any = _generator_guard(function)
    elif isgeneratorfunction(getattr(function, "__wrapped__", None)):
        guard = _context_guard(function)
    else:
        guard = _guard(function)
    function.__guard__ = guard
    guard.__guard__ = guard
    # So that it is found where pickle looks for it.
    name = str(function.__name__)
    module = sys.modules.get(function.__module__)
    if module is not None and vars(module).get(name) is function:
        setattr(module, name, guard)
    return guard


def _guard(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def guard(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except Exception as error:
            if (refusal := refusal_of(function, given, named, error)) is None:
                raise
            raise refusal from error

    return guard


def _generator_guard(function: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    @wraps(function)
    def guard(*given: Any, **named: Any) -> Iterator[Any]:
        try:
            yield from function(*given, **named)
        except Exception as error:
            if (refusal := refusal_of(function, given, named, error)) is None:
                raise
            raise refusal from error

    return guard


def _context_guard(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of a context manager that is written as a generator: it checks when it is entered."""

    @wraps(function)
    def guard(*given: Any, **named: Any) -> GuardedContext:
        return GuardedContext(function, given, named)

    return guard


class GuardedContext(ContextDecorator):
    """A context whose begin has a guard; what is raised inside is none of its business."""

    def __init__(
        self, function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any]
    ) -> None:
        self._function, self._given, self._named = function, given, named
        self._context: Any = None

    def _recreate_cm(self) -> GuardedContext:
        """Another one, for each call of a function that is decorated with this."""
        return GuardedContext(self._function, self._given, self._named)

    def __enter__(self) -> Any:
        try:
            self._context = self._function(*self._given, **self._named)
            return self._context.__enter__()
        except Exception as error:
            refusal = refusal_of(self._function, self._given, self._named, error)
            if refusal is None:
                raise
            raise refusal from error

    def __exit__(self, *raised: Any) -> Any:
        return self._context.__exit__(*raised)


def refusal_of(
    function: Callable[..., Any],
    given: Sequence[Any],
    named: Mapping[str, Any],
    error: Exception,
) -> InvalidArgument | None:
    """The refusal of the argument that caused an error; None: the error says enough, or no argument
    is known to have caused it."""
    if isinstance(error, (CoschedError, *_OF_THE_MACHINE)) or _is_ours(type(error)):
        return None
    hints = resolved_hints(function)
    try:
        arguments = _bound(function, given, named)
    except TypeError:  # Python's own words name what is missing, or not known
        return None
    if _names_argument(error, arguments):
        return None
    for is_strict in (False, True):
        for name, value in arguments.items():
            found = misfit_of(value, hints.get(name, Any), _label(function, name), is_strict)
            if found is not None:
                return _refusal(found)
        if _is_documented(function, error):
            return None
    if isinstance(error, MemoryError):  # of what is valid and large
        return None
    if _is_raised_here(error.__traceback__) or _is_of_caller(error.__traceback__):
        return None
    suspects = _suspects(arguments, error)
    if len(suspects) != 1:
        return None
    ((name, value),) = suspects.items()
    said = " ".join(str(error).split())
    return InvalidArgument(
        f"{name} = {_shown(value)}: expected another value ({type(error).__name__}: {said[:200]})"
    )


def _bound(
    function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by their names; those in ``**options`` by their own."""
    parameters = signature(function).parameters
    bound = signature(function).bind(*given, **named).arguments
    found: dict[str, Any] = {}
    for name, value in bound.items():
        if parameters[name].kind is Parameter.VAR_KEYWORD:
            found.update(value)
        else:
            found[name] = value
    return found


def _is_documented(function: Callable[..., Any], error: Exception) -> bool:
    """Whether the docstring says that the function raises this, and when."""
    raises = cleandoc(function.__doc__ or "").partition("Raises\n------\n")[2]
    return type(error).__name__ in raises.splitlines()


def _label(function: Callable[..., Any], name: str) -> str:
    """How a message calls an argument: the fields of `self` are those of its class."""
    owner = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
    return owner if name in ("self", "cls") and owner else name


def _names_argument(error: Exception, arguments: Mapping[str, Any]) -> bool:
    """Whether a TypeError of this package begins with the name of an argument."""
    if not isinstance(error, TypeError) or not _is_raised_here(error.__traceback__):
        return False
    message = str(error)
    if "\n" in message:  # the core's own, which lists what it would have taken
        return False
    return any(_is_word(name, message) for name in arguments if name not in ("self", "cls"))


def _is_word(name: str, message: str) -> bool:
    return bool(re.search(rf"\b{re.escape(name)}\b", message))


def _last(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def _is_raised_here(traceback: TracebackType | None) -> bool:
    """Whether a ``raise`` of this package has raised the error, on purpose."""
    last = _last(traceback)
    if last is None or _package_of(last) != "cosched":
        return False
    return last.tb_frame.f_code.co_code[last.tb_lasti] == opmap["RAISE_VARARGS"]


def _package_of(traceback: TracebackType) -> str:
    return str(traceback.tb_frame.f_globals.get("__name__", "")).partition(".")[0]


def _is_of_caller(traceback: TracebackType | None) -> bool:
    """Whether the error was raised in a function, an algorithm or an object of the caller's own.

    It is where the last frame is none of this package, nor of an installed one.
    """
    last = _last(traceback)
    if last is None or _package_of(last) == "cosched":
        return False
    path = last.tb_frame.f_code.co_filename
    return not path.startswith((sys.prefix, sys.base_prefix, "<"))


def _suspects(arguments: Mapping[str, Any], error: Exception) -> dict[str, Any]:
    """The arguments that may have caused an error, although the signature admits them."""
    own = {name: value for name, value in arguments.items() if name not in ("self", "cls")}
    culprit = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    for test in (
        lambda value: culprit is not None and value is culprit,
        lambda value: f"'{type(value).__name__}'" in str(error),
        lambda value: _is_word(type(value).__name__, str(error)),
        lambda value: f"{getattr(value, '__name__', None)}()" in str(error),
        odd_value,
    ):
        found = {name: value for name, value in own.items() if test(value)}
        own = found or own
    return own


def _refusal(found: Misfit) -> InvalidArgument:
    return InvalidArgument(f"{found.place} = {_shown(found.value)}: expected {found.expected}")


def _shown(value: Any) -> str:
    try:
        return shorten(value)
    except Exception:  # whatever a foreign class does to show itself
        return f"<{type(value).__name__}>"
