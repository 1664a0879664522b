"""How much a command prints beside its results: ``--quiet`` and ``--verbose``."""

from enum import IntEnum

import click


class Verbosity(IntEnum):
    """The three levels."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


_level = Verbosity.NORMAL


def reset() -> None:
    """Begin a command at the usual level."""
    global _level
    _level = Verbosity.NORMAL


def set_quiet(ctx: click.Context, param: click.Parameter, is_given: bool) -> None:
    """What ``--quiet`` does."""
    global _level
    if is_given:
        _level = Verbosity.QUIET


def set_verbose(ctx: click.Context, param: click.Parameter, is_given: bool) -> None:
    """What ``--verbose`` does."""
    global _level
    if is_given:
        _level = Verbosity.VERBOSE


def is_quiet() -> bool:
    """True where notes, progress and hints are not printed."""
    return _level is Verbosity.QUIET


def is_verbose() -> bool:
    """True where the times of steps, and tracebacks, are printed."""
    return _level is Verbosity.VERBOSE
