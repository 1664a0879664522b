"""The border between a caller and the package: an error that a bad argument causes names it.

Functions check what they compute with, and refuse a bad argument by its name. A value that no check
foresaw (a table where a function is expected, a text among the weights) fails somewhere inside,
with an error of Python or of a library that does not know the caller's arguments. Therefore each
public function and method has a guard. It explains each error that is none of
:mod:`cosched.errors`: it compares the arguments of the call with what the signature says of them.
Arguments without an end (``range(2**62)``, ``itertools.count()``) are refused before the call, as a
loop over one inside C can neither finish nor be interrupted. A call that succeeds pays for one more
call of a function and for a look at the types of its arguments.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ContextDecorator
from dis import opmap
from functools import partial, wraps
from inspect import Parameter, cleandoc, isgeneratorfunction, signature
from itertools import count, cycle, repeat
from operator import length_hint
from types import FunctionType, TracebackType
from typing import Any

from cosched.border_values import Misfit, is_odd_value, misfit_of, resolved_hints
from cosched.errors import CoschedError, InvalidArgument, shorten

#: Errors that describe the machine or the installation, not an argument.
_MACHINE_ERRORS = (OSError, ImportError)
#: Methods with underscores that have a guard: a call of the class passes its arguments to them.
_CONSTRUCTORS = ("__init__", "__new__")
#: A list of more entries than this fits into no computer of today.
MAX_LENGTH = 2**40


def guard_public(exported: dict[str, Any]) -> None:
    """Guard the public functions of a package, and the methods of its classes.

    Parameters
    ----------
    exported : dict
        The package's ``globals()``: what ``__all__`` names, and tables of algorithms and bounds.
    """
    for name in exported.get("__all__", tuple(exported)):
        if name in exported:
            exported[name] = _guard_member(exported[name])
    for name in ("ALGORITHMS", "BOUNDS"):
        table = exported.get(name, {})
        for key, function in getattr(table, "of_family", table).items():
            table[key] = _guard_member(function)


def _guard_member(member: object) -> Any:
    """Return a function with its guard, or any other value as it is; guard a class's methods."""
    if isinstance(member, FunctionType) and _is_ours(member):
        return guarded(member)
    if isinstance(member, partial):
        function = member.func
        if isinstance(function, FunctionType) and _is_ours(function):
            return partial(guarded(function), *member.args, **member.keywords)
    if isinstance(member, type) and _is_ours(member) and not issubclass(member, BaseException):
        _guard_methods(member)
    return member


def _is_ours(member: object) -> bool:
    """Return whether a function or class was defined in this package."""
    return str(getattr(member, "__module__", "")).partition(".")[0] == "cosched"


def _guard_methods(kind: type) -> None:
    """Put a guard around each public method of a class, and around its constructors."""
    for name, member in list(vars(kind).items()):
        if name.startswith("_") and name not in _CONSTRUCTORS:
            continue
        if isinstance(member, (classmethod, staticmethod)):
            if isinstance(member.__func__, FunctionType):
                setattr(kind, name, type(member)(guarded(member.__func__)))
        elif isinstance(member, FunctionType):
            setattr(kind, name, guarded(member))


def guarded(function: Any) -> Any:
    """Return the guard of a function, always the same one, and put it into the function's module.

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
    # Pickle looks functions up in their module.
    name = str(function.__name__)
    module = sys.modules.get(function.__module__)
    if module is not None and vars(module).get(name) is function:
        setattr(module, name, guard)
    return guard


def _guard(function: Callable[..., object]) -> Callable[..., Any]:
    """Return the guard of a function that returns a value."""

    @wraps(function)
    def guard(*positional: object, **keywords: object) -> Any:
        _refuse_endless(function, positional, keywords)
        try:
            return function(*positional, **keywords)
        except Exception as error:
            refusal = refusal_of(function, positional, keywords, error)
            if refusal is None:
                raise
            raise refusal from error

    return guard


def _generator_guard(function: Callable[..., Iterator[object]]) -> Callable[..., Iterator[Any]]:
    """Yield the guard of a generator, whose body runs only when its first value is asked for.

    It takes arguments without an end: it may pass them on one by one.
    """

    @wraps(function)
    def guard(*positional: object, **keywords: object) -> Iterator[Any]:
        try:
            yield from function(*positional, **keywords)
        except Exception as error:
            refusal = refusal_of(function, positional, keywords, error)
            if refusal is None:
                raise
            raise refusal from error

    return guard


def _context_guard(function: Callable[..., object]) -> Callable[..., Any]:
    """Return the guard of a context manager written as a generator, whose checks run on entry."""

    @wraps(function)
    def guard(*positional: object, **keywords: object) -> GuardedContext:
        return GuardedContext(function, positional, keywords)

    return guard


class GuardedContext(ContextDecorator):
    """A context manager whose entry has a guard; errors of its block pass unchanged."""

    def __init__(
        self,
        function: Callable[..., object],
        positional: Sequence[object],
        keywords: Mapping[str, object],
    ) -> None:
        self._function = function
        self._positional = positional
        self._keywords = keywords
        self._context: Any = None

    def _recreate_cm(self) -> GuardedContext:
        """Return a new context, for each call of a function that is decorated with this one."""
        return GuardedContext(self._function, self._positional, self._keywords)

    def __enter__(self) -> Any:
        _refuse_endless(self._function, self._positional, self._keywords)
        try:
            self._context = self._function(*self._positional, **self._keywords)
            return self._context.__enter__()
        except Exception as error:
            refusal = refusal_of(self._function, self._positional, self._keywords, error)
            if refusal is None:
                raise
            raise refusal from error

    def __exit__(self, *raised: object) -> Any:
        return self._context.__exit__(*raised)


def _refuse_endless(
    function: Callable[..., object], positional: Sequence[object], keywords: Mapping[str, object]
) -> None:
    """Raise InvalidArgument where an argument has more entries than any memory."""
    if not any(map(_is_endless, positional)) and not any(map(_is_endless, keywords.values())):
        return
    try:
        arguments = _bound_arguments(function, positional, keywords)
    except TypeError:  # The call itself says which parameter is missing or not known.
        return
    hints = resolved_hints(function)
    for name, value in arguments.items():
        if _is_endless(value):
            misfit = misfit_of(value, hints.get(_parameter_of(name), Any), name)
            raise _refusal(misfit or Misfit(name, value, f"at most {MAX_LENGTH:,} entries"))


def _is_endless(value: Any) -> bool:
    """Return whether a value is a range or an iterator of Python with more entries than any
    memory."""
    kind = type(value)
    if kind is range:
        return bool((value.stop - value.start) // value.step > MAX_LENGTH)
    if kind is repeat:
        # The default is for an endless one, which has no length hint.
        return length_hint(value, MAX_LENGTH + 1) > MAX_LENGTH
    return kind is count or kind is cycle


def refusal_of(
    function: Callable[..., object],
    positional: Sequence[object],
    keywords: Mapping[str, object],
    error: Exception,
) -> InvalidArgument | None:
    """Return the refusal of the argument that caused an error.

    Returns
    -------
    InvalidArgument or None
        None where the error explains itself, and where no argument is known to have caused it.
    """
    is_too_long = isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG
    if isinstance(error, (CoschedError, *_MACHINE_ERRORS)) and not is_too_long:
        return None
    if _is_ours(type(error)):
        return None
    try:
        arguments = _bound_arguments(function, positional, keywords)
    except TypeError:  # Python's own message names the parameter that is missing or not known.
        return None
    if isinstance(error, OSError):
        return _refusal_of_long_name(arguments, str(error.filename))
    if _names_argument(error, arguments):
        return None
    hints = resolved_hints(function)
    for is_strict in (False, True):
        for name, value in arguments.items():
            hint = hints.get(_parameter_of(name), Any)
            misfit = misfit_of(value, hint, _label(function, name), is_strict)
            if misfit is not None:
                return _refusal(misfit)
        if _is_documented(function, error):
            return None
    if isinstance(error, MemoryError):  # The arguments are valid, and too large for this machine.
        return None
    if _is_raised_here(error.__traceback__) or _is_of_caller(error.__traceback__):
        return None
    suspects = _suspects(arguments, error)
    if len(suspects) != 1:
        return None
    ((name, value),) = suspects.items()
    message = " ".join(str(error).split())[:200]
    cause = f"{type(error).__name__}: {message}"
    return InvalidArgument(f"{name} = {_text_of_value(value)}: expected another value ({cause})")


def _refusal_of_long_name(arguments: Mapping[str, object], file: str) -> InvalidArgument | None:
    """Return the refusal of the text or path of which a file name was made that no system takes."""
    for name, value in arguments.items():
        if isinstance(value, (str, os.PathLike)) and str(value) and str(value) in file:
            return _refusal(Misfit(name, str(value), "a shorter name"))
    return None


def _bound_arguments(
    function: Callable[..., object], positional: Sequence[object], keywords: Mapping[str, object]
) -> dict[str, Any]:
    """Return the arguments of a call by name.

    An entry of ``**options`` has the name that it came with, an entry of ``*values`` its place:
    ``values[0]``.
    """
    parameters = signature(function).parameters
    bound = signature(function).bind(*positional, **keywords).arguments
    arguments: dict[str, Any] = {}
    for name, value in bound.items():
        if parameters[name].kind is Parameter.VAR_KEYWORD:
            arguments.update(value)
        elif parameters[name].kind is Parameter.VAR_POSITIONAL:
            arguments.update((f"{name}[{place}]", entry) for place, entry in enumerate(value))
        else:
            arguments[name] = value
    return arguments


def _parameter_of(name: str) -> str:
    """Return the parameter of an argument: ``values`` of ``values[0]``."""
    return name.partition("[")[0]


def _is_documented(function: Callable[..., object], error: Exception) -> bool:
    """Return whether the docstring lists errors of this class under ``Raises``."""
    raises = cleandoc(function.__doc__ or "").partition("Raises\n------\n")[2]
    return type(error).__name__ in raises.splitlines()


def _label(function: Callable[..., object], name: str) -> str:
    """Return the name of an argument in a message: for `self` and `cls` that of the class."""
    owner = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
    return owner if name in ("self", "cls") and owner else name


def _names_argument(error: Exception, arguments: Mapping[str, object]) -> bool:
    """Return whether a TypeError that this package raises has the name of an argument as a word."""
    if not isinstance(error, TypeError) or not _is_raised_here(error.__traceback__):
        return False
    message = str(error)
    if "\n" in message:  # The core lists its overloads, by names that are not the caller's.
        return False
    names = set(map(_parameter_of, arguments)) - {"self", "cls"}
    return any(_is_word(name, message) for name in names)


def _is_word(name: str, message: str) -> bool:
    """Return whether a name is a word of a message, and not only a part of one."""
    return bool(re.search(rf"\b{re.escape(name)}\b", message))


def _innermost(traceback: TracebackType | None) -> TracebackType | None:
    """Return the frame that raised an error, which is the last of its traceback."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def _is_raised_here(traceback: TracebackType | None) -> bool:
    """Return whether a ``raise`` of this package has raised the error, which is then on purpose."""
    innermost = _innermost(traceback)
    if innermost is None or _package_of(innermost) != "cosched":
        return False
    instructions = innermost.tb_frame.f_code.co_code
    return instructions[innermost.tb_lasti] == opmap["RAISE_VARARGS"]


def _package_of(traceback: TracebackType) -> str:
    """Return the top package of the module that a frame belongs to."""
    return str(traceback.tb_frame.f_globals.get("__name__", "")).partition(".")[0]


def _is_of_caller(traceback: TracebackType | None) -> bool:
    """Return whether a function, an algorithm or an object of the caller raised the error.

    The last frame then belongs neither to this package nor to an installed one.
    """
    innermost = _innermost(traceback)
    if innermost is None or _package_of(innermost) == "cosched":
        return False
    path = innermost.tb_frame.f_code.co_filename
    return not path.startswith((sys.prefix, sys.base_prefix, "<"))


def _suspects(arguments: Mapping[str, object], error: Exception) -> dict[str, Any]:
    """Return the arguments that may have caused an error, although the signature admits them.

    Each test narrows the choice: the value that lacks an attribute, a value whose type or name the
    message has, a value that is odd. A test that no argument passes is passed over.
    """
    suspects = {name: value for name, value in arguments.items() if name not in ("self", "cls")}
    culprit = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    message = str(error)
    for is_suspect in (
        lambda value: culprit is not None and value is culprit,
        lambda value: f"'{type(value).__name__}'" in message,
        lambda value: _is_word(type(value).__name__, message),
        lambda value: f"{getattr(value, '__name__', None)}()" in message,
        _has_no_length,
        is_odd_value,
    ):
        narrowed = {name: value for name, value in suspects.items() if is_suspect(value)}
        if narrowed:
            suspects = narrowed
    return suspects


def _has_no_length(value: object) -> bool:
    """Return whether a value has the method that tells a length, and the method fails."""
    if isinstance(value, type) or not hasattr(value, "__len__"):
        return False
    try:
        len(value)
    except Exception:  # The method of a foreign class may raise anything.
        return True
    return False


def _refusal(misfit: Misfit) -> InvalidArgument:
    return InvalidArgument(
        f"{misfit.place} = {_text_of_value(misfit.value)}: expected {misfit.expected}"
    )


def _text_of_value(value: object) -> str:
    """Return a value as a message shows it, also where its class cannot show it."""
    try:
        return shorten(value)
    except Exception:  # The ``__repr__`` of a foreign class may raise anything.
        return f"<{type(value).__name__}>"
