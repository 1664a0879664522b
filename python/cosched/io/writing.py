"""Files out: whole or not at all."""

from __future__ import annotations

import json
import math
import operator
import os
import re
import secrets
import stat
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from cosched.errors import InvalidArgument, InvalidInstance, no_folder_for, printable, shorten
from cosched.io.limit import require_length
from cosched.io.text_files import is_number
from cosched.lazy import pd

_LONG_SUFFIX = 20
#: Names of temporary files, for :meth:`pathlib.Path.glob`: what a kill leaves.
UNFINISHED = f".cosched-{'[0-9a-f]' * 16}*"
#: What a cell begins with that spreadsheets take for a formula.
_FORMULA = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")


def _require_encodable(path: Path) -> None:
    """Refuse a name that no call of the system takes, before anything is written."""
    try:
        is_refused = b"\0" in os.fsencode(path)
    except UnicodeEncodeError:
        is_refused = True
    if is_refused:
        raise InvalidArgument(f"path = {shorten(str(path))}: expected a name that a file can have")


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[Path]:
    """A context with a temporary file beside `path`; renamed to it at the end, removed on an error.

    So that an interrupted or failed command leaves nothing half-written. A file keeps its rights, a
    link stays a link, and a device or a pipe is written to when all is there.

    Yields
    ------
    pathlib.Path
        The name to write to, in the folder of `path`.

    Raises
    ------
    InvalidArgument
        No file can have that name.

    Examples
    --------
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with replacing(folder / "a.txt") as temporary:
    ...     _ = temporary.write_text("one")
    >>> [path.name for path in folder.iterdir()]
    ['a.txt']
    """
    target = Path(path)
    require_length(target)
    _require_encodable(target)
    target = _behind(target)  # a link stays, what it names is replaced
    if not target.parent.is_dir():
        raise FileNotFoundError(no_folder_for(target))
    old_stat = target.stat() if target.exists() else None
    in_place = old_stat is not None and not stat.S_ISREG(old_stat.st_mode)  # a device, a pipe
    folder = Path(tempfile.gettempdir()) if in_place else target.parent
    # The longest name that is allowed leaves no room for more in it.
    suffix = target.suffix if len(target.suffix) < _LONG_SUFFIX else ""
    name = folder / f".cosched-{secrets.token_hex(8)}{suffix}"
    try:  # the rights of a new file, or those of the one that is replaced
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if in_place else 0o666))
        if old_stat is not None and not in_place:
            os.chmod(name, stat.S_IMODE(old_stat.st_mode))
        yield name
        if in_place:
            target.write_bytes(name.read_bytes())
            name.unlink()
        else:
            os.replace(name, target)
    except BaseException as error:
        name.unlink(missing_ok=True)
        # A full disk does not say what was being written, other errors the name that goes.
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(name), name):
            error.filename = str(target)
        raise


def _behind(path: Path) -> Path:
    """Return what a link names in the end; the path itself where it is none, or goes round in a
    circle."""
    try:
        return path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError) as error:
        raise InvalidInstance(f"{path}: a link that leads nowhere: {error}") from None


#: Files that people read in a terminal or a browser.
_PAGES = (".html", ".md")


def _readable_page(text: str) -> str:
    """Return a page in which what would steer a terminal, or turn the order of letters, is escaped.

    Ends of lines, tabs and blanks of all widths stay as they are.
    """
    steering = {
        ord(character): printable(character)
        for character in set(text)
        if not character.isprintable()
        and character not in "\n\t"
        and unicodedata.category(character) != "Zs"
    }
    return text.translate(steering) if steering else text


def write_text(text: str, path: str | PathLike[str]) -> None:
    """Write text as a whole or not at all.

    In a page, .html or .md, characters that steer a terminal are shown as Python writes them.

    Parameters
    ----------
    text : str
        Written as UTF-8.

    Examples
    --------
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> write_text("one", folder / "a.txt")
    >>> (folder / "a.txt").read_text()
    'one'
    """
    is_page = Path(path).suffix.lower() in _PAGES
    with replacing(path) as temporary:
        temporary.write_text(_readable_page(text) if is_page else text, encoding="utf-8")


def write_json(data: object, path: str | PathLike[str]) -> None:
    """Write data as JSON, as a whole or not at all; nan and infinities become null.

    Parameters
    ----------
    data : object
        As :func:`plain` takes it.

    Raises
    ------
    TypeError
        Something that JSON cannot hold.

    Examples
    --------
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> write_json({"times": (2.0, float("inf"))}, folder / "times.json")
    >>> import json
    >>> json.loads((folder / "times.json").read_text())
    {'times': [2.0, None]}
    """
    parts = json.JSONEncoder(indent=1, allow_nan=False).iterencode(plain(data))
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.writelines(parts)  # never the whole text in memory
        file.write("\n")


def plain(data: object) -> Any:
    """Numpy values as Python's, tuples as lists, numbers that JSON lacks as None.

    What is plain already is returned itself, not copied: a schedule may have millions of rows.

    Parameters
    ----------
    data : object
        Mappings, sequences, arrays and numbers, nested.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"times": np.array([2.0, np.inf]), "units": (16, 4)})
    {'times': [2.0, None], 'units': [16, 4]}
    """
    if isinstance(data, dict):
        plain_entries = {str(key): plain(value) for key, value in data.items()}
        return (
            data
            if all(plain_entries.get(key, plain_entries) is value for key, value in data.items())
            else plain_entries
        )
    if isinstance(data, (list, tuple)):
        parts = [plain(value) for value in data]
        same = isinstance(data, list) and all(map(operator.is_, parts, data))
        return data if same else parts
    if hasattr(data, "tolist"):
        return plain(data.tolist())
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def check_suffix(path: str | PathLike[str], suffixes: tuple[str, ...]) -> str:
    """The suffix of an output file.

    With its point.

    Parameters
    ----------
    suffixes : tuple of str
        Those allowed.

    Examples
    --------
    >>> check_suffix("plan.json", (".json", ".csv"))
    '.json'
    >>> check_suffix("plan.txt", (".json", ".csv"))
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: plan.txt: expected a name that ends in .json, .csv
    """
    require_length(path)
    if not isinstance(suffixes, (tuple, list)):  # a search in a long range would take hours
        raise InvalidArgument(f"suffixes = {shorten(suffixes)}: expected a list of texts")
    suffix = Path(path).suffix
    if suffix not in suffixes:
        raise InvalidInstance(f"{path}: expected a name that ends in {', '.join(suffixes)}")
    return suffix


def write_frame(
    frame: pd.DataFrame,
    path: str | PathLike[str],
    suffixes: tuple[str, ...] = (".csv", ".json", ".md"),
    *,
    exact: bool = False,
) -> None:
    """Write a table by the suffix of `path`.

    Parameters
    ----------
    frame : pandas.DataFrame
        Its index is left out.
    suffixes : tuple of str
        Those allowed.
    exact : bool
        Texts of a .csv as they are, for programs that read them. Else they are for people: a
        spreadsheet takes none for a formula, and nothing steers a terminal.

    Examples
    --------
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> write_frame(pd.DataFrame({"task": ["solver"], "seconds": [8.0]}), folder / "times.md")
    >>> print((folder / "times.md").read_text().rstrip())
    | task   |   seconds |
    |:-------|----------:|
    | solver |         8 |
    """
    suffix = check_suffix(path, suffixes)
    if suffix == ".json":
        write_json(frame.to_dict(orient="records"), path)
    elif suffix == ".csv":
        write_text((frame if exact else _each_text(frame, _no_formula)).to_csv(index=False), path)
    else:  # texts stay as they are: ``007`` is no number, ``a|b`` is one cell
        printed_frame = _each_text(frame, _one_cell)
        write_text(
            printed_frame.to_markdown(index=False, disable_numparse=_texts(frame)) + "\n", path
        )


def _texts(frame: pd.DataFrame) -> list[int]:
    """Return places of the columns that may hold texts."""
    return [k for k, kind in enumerate(frame.dtypes) if kind.kind not in "iufb"]


def _each_text(frame: pd.DataFrame, format_text: Callable[[str], str]) -> pd.DataFrame:
    """Return a copy with every text, and every title, as it is shown."""

    def cell(value: object) -> Any:
        return format_text(value) if isinstance(value, str) else value

    text_frame = frame.copy()
    for k in _texts(frame):
        text_frame.isetitem(k, [cell(value) for value in frame.iloc[:, k]])
    text_frame.columns = [cell(name) for name in frame.columns]
    return text_frame


def _no_formula(text: str) -> str:
    """Return a text that no spreadsheet runs, as OWASP advises:
    https://owasp.org/www-community/attacks/CSV_Injection."""
    harmless = text[:1] not in _FORMULA or is_number(text)
    return printable(text) if harmless else f"'{printable(text)}"


def _one_cell(text: str) -> str:
    """Return a text without a column, a tag or a link of its own."""
    escaped = printable(" ".join(text.splitlines())).replace("|", "\\|").replace("](", "]\\(")
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", escaped)
