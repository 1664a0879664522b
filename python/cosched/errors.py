"""Every error that cosched raises on purpose.

All but :class:`Terminated` are :class:`CoschedError`. The C++ core raises them by these names, so
they can be pickled and caught like any Python exception.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from cosched.described import described


class CoschedError(Exception):
    """Root of the package's errors.

    What it says is one line of at most 1,500 characters, see :func:`printable`: in the path of a
    file or another name of the user's, line breaks and what would steer a terminal are escaped, and
    a name of a hundred thousand characters is cut.
    """

    def __str__(self) -> str:
        message = printable(super().__str__().rstrip("\r\n"))
        return message if len(message) <= 1500 else f"{message[:1000]} ... {message[-400:]}"


class InvalidInstance(CoschedError, ValueError):
    """Data or an argument breaks a documented requirement.

    The message is one line that names the argument (or file, line and column), the
    value, and what was expected. Where the bad entry is in a table of named columns, `column`
    and `row` (from 0) say so too: a reader of files knows the line of a row.
    """

    column: str | None = None
    row: int | None = None


class InvalidArgument(InvalidInstance, TypeError):
    """An argument is something else than the signature of the function says; the message names it.

    It is a TypeError too, as Python's own of an argument that it cannot use.
    """


class InfeasibleError(CoschedError):
    """The instance is well formed, but no schedule of the requested kind exists.

    Where jobs of a table are the reason, `rows` (from 0) says which.
    """

    rows: tuple[int, ...] = ()


class SolverError(CoschedError):
    """A solver library failed. An infeasible model is a status, not this error."""


class InvalidSchedule(CoschedError, ValueError):
    """A schedule breaks the rules of its instance; the message names the first breach."""


class InvalidBound(CoschedError):
    """A value is better than a bound that was called proven: one of the two is wrong."""


class TimeLimit(CoschedError):
    """A time limit ended a computation before it had a result."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, where Ctrl-C is a KeyboardInterrupt: the way batch systems announce the end.

    Examples
    --------
    >>> issubclass(Terminated, KeyboardInterrupt)
    True
    """


class StudyError(CoschedError):
    """A study cannot start or go on; the message says what to do."""


class MissingExtra(CoschedError, ImportError):
    """A package that only some users need is not installed; the message says what to install."""


class IncompleteInstallation(CoschedError, ImportError):
    """The metadata of cosched itself lack an entry point, which an installation writes."""


def optional(module: str, *, extra: str) -> ModuleType:
    """A module of a package that `extra` brings.

    Parameters
    ----------
    module : str
        As an import names it.
    extra : str
        What ``pip install 'cosched-hpc[extra]'`` is to be told.

    Raises
    ------
    MissingExtra
        Its package is not installed.

    Examples
    --------
    >>> optional("json", extra="studies").dumps([1])
    '[1]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # Only the package itself: what it misses of its own is not in our hands.
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise
        raise MissingExtra(_install(package, extra)) from None


def require(*packages: str, extra: str) -> None:
    """Raise MissingExtra now, not after hours of work, if a package is not installed.

    Parameters
    ----------
    *packages : str
        As an import names them.
    extra : str
        What brings them all.

    Raises
    ------
    MissingExtra

    Examples
    --------
    >>> require("json", extra="studies")
    """
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtra(_install(package, extra))


def _install(package: str, extra: str) -> str:
    return f"this needs the package {package}: pip install 'cosched-hpc[{extra}]'"


def shorten(value: object, width: int = 40) -> str:
    """``repr(value)``, cut to `width` characters: for error messages of one line.

    Parameters
    ----------
    width : int
        Characters, about.

    Examples
    --------
    >>> shorten("x" * 100, width=5)
    "'xxxxx...'"
    """
    if isinstance(value, str) and len(value) > width:
        value = value[:width] + "..."
    try:
        text = repr(value).replace("\n", " ")
    except ValueError:  # an integer of more digits than Python prints
        return f"an integer of more than {width} digits"
    return text if len(text) <= width + 8 else text[:width] + "..."


def printable(text: object) -> str:
    """A text for a screen: line breaks and what would steer a terminal, as Python writes them.

    Every error of the package shows its whole message so. A note, and an error of the system, shows
    so the path that it begins with.

    Parameters
    ----------
    text : object

    Examples
    --------
    >>> print(printable("a" + chr(27) + "[31m" + chr(7)))
    a\\x1b[31m\\x07
    """
    plain = str(text)
    if plain.isprintable():
        return plain
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in plain)


def no_folder_for(path: Path) -> str:
    """The message where a file is to be written into a folder that is not there.

    Parameters
    ----------
    path : pathlib.Path
        Of the file.

    Examples
    --------
    >>> no_folder_for(pathlib.Path("none/plan.json"))
    'none: no such folder to write plan.json into'
    """
    return f"{printable(path.parent)}: no such folder to write {printable(path.name)} into"


described(globals())
