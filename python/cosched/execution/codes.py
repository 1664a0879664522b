"""Codes that can be run: the commands of a TOML file."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cosched import io
from cosched.core.arrays import integer, nonnegative, positive
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance, shorten

_KEYS = ("command", "counts", "directory", "environment", "timeout", "weight", "ranks")
_PLACES = re.compile(r"\{(procs|cpus|task)\}")


@dataclass(frozen=True, kw_only=True)
class Code:
    """One code and how it is started.

    Attributes
    ----------
    name : str
    command : str or tuple of str
        A text is for the shell, a tuple is started as it is. ``{procs}``, ``{cpus}`` (core
        numbers, ``0,1,5``) and ``{task}`` (the name) are filled in; in a text the name is quoted.
    counts : tuple of int or None
        Processor counts that it may run on; None: any.
    directory : pathlib.Path
        Where it is started.
    environment : mapping
        Added to the environment.
    timeout : float or None
        Seconds after which it is ended.
    weight : float
        What a second of its completion time costs (moldable).
    ranks : str
        Under Slurm: ``"one"`` starts the command once, ``"procs"`` once a processor (MPI).

    Examples
    --------
    >>> Code(name="fem", command="./fem --threads {procs}").filled(4, (0, 1, 2, 3))
    ['/bin/sh', '-c', './fem --threads 4']
    >>> Code(name="fem", command=("./fem", "{cpus}")).filled(2, (0, 5))
    ['./fem', '0,5']
    """

    name: str
    command: str | tuple[str, ...]
    counts: tuple[int, ...] | None = None
    directory: Path = field(default_factory=Path)
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    timeout: float | None = None
    weight: float = 1.0
    ranks: str = "one"

    def filled(self, procs: int, cpus: Sequence[int]) -> list[str]:
        """The command line on a number of processors.

        Parameters
        ----------
        procs : int
        cpus : sequence of int
            Core numbers.

        Returns
        -------
        list of str
            Program and arguments.
        """
        self.require_count(procs)
        values = {"procs": str(procs), "cpus": ",".join(map(str, cpus)), "task": self.name}
        if isinstance(self.command, str):
            values["task"] = shlex.quote(self.name)
            text = _PLACES.sub(lambda found: values[found[1]], self.command)
            return ["/bin/sh", "-c", text]
        return [_PLACES.sub(lambda found: values[found[1]], part) for part in self.command]

    def require_count(self, procs: int) -> None:
        """Refuse a count that the code may not run on.

        Parameters
        ----------
        procs : int

        Raises
        ------
        InvalidInstance
        """
        if self.counts is not None and procs not in self.counts:
            known = ", ".join(map(str, self.counts))
            raise InvalidInstance(
                f"task {shorten(self.name)} on {procs} processors: expected one of {known}"
            )


@dataclass(frozen=True, kw_only=True)
class Codes(Mapping[str, Code]):
    """Codes by name, and the processors that they are meant for.

    Attributes
    ----------
    procs : int
        p: the largest count that is measured.
    codes : mapping
        Name -> :class:`Code`, in the order of the file.

    Examples
    --------
    >>> codes = Codes(procs=4, codes={"fem": Code(name="fem", command="./fem {procs}")})
    >>> list(codes), codes["fem"].timeout
    (['fem'], None)
    """

    procs: int
    codes: Mapping[str, Code]

    def __getitem__(self, name: str) -> Code:
        if name not in self.codes:
            raise InvalidInstance(unknown_name("task", name, self.codes))
        return self.codes[name]

    def __contains__(self, name: object) -> bool:
        return name in self.codes

    def __iter__(self):
        return iter(self.codes)

    def __len__(self) -> int:
        return len(self.codes)

    def counts_of(self, name: str) -> tuple[int, ...]:
        """Counts on which a code is measured: its own, or the powers of two and p.

        Parameters
        ----------
        name : str

        Returns
        -------
        tuple of int
            Increasing.
        """
        counts = self[name].counts
        if counts is not None:
            return counts
        powers = [2**k for k in range(self.procs.bit_length()) if 2**k <= self.procs]
        return tuple(sorted({*powers, self.procs}))

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Codes:
        r"""Read a TOML file: ``procs`` and a table ``[task.NAME]`` a code.

        Keys of a task: ``command`` (a text for the shell, or a list), and where wanted
        ``counts`` (a list of integers), ``directory`` (relative to the file), ``environment``
        (a table of texts), ``timeout`` (s), ``weight`` (1) and ``ranks`` ("one" or "procs").

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "codes.toml"
        >>> _ = path.write_text('procs = 4\n[task.fem]\ncommand = "./fem {procs}"\n')
        >>> codes = Codes.read(path)
        >>> codes.procs, codes["fem"].command
        (4, './fem {procs}')
        """
        text = io.read_text(path)
        return _Reader(str(path), text).codes()


class _Reader:
    """One file: values checked, errors placed."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()
        self.folder = Path(path).absolute().parent
        self.data = io.parse_toml(text, path)

    def codes(self) -> Codes:
        for key in self.data:
            if key not in ("procs", "task"):
                self._refuse((), key, f"unknown key {shorten(key)}: expected procs or [task.NAME]")
        if "procs" not in self.data:
            raise InvalidInstance(
                f"{self.path}: line 1: key 'procs' is missing: expected procs = 16"
            )
        procs = self._checked((), "procs", lambda v: integer(v, "procs", 1, 1_000_000))
        tasks = self.data.get("task")
        if not isinstance(tasks, dict) or not tasks:
            self._refuse((), "task", "no task: expected at least one table [task.NAME]")
        assert isinstance(tasks, dict)
        return Codes(procs=procs, codes={name: self._code(name, procs) for name in tasks})

    def _code(self, name: str, procs: int) -> Code:
        where = ("task", name)
        table = self.data["task"][name]
        if not isinstance(table, dict):
            self._refuse(("task",), name, f"{shorten(table)}: expected a table with a command")
        if not name.strip():
            self._refuse(("task",), name, "an empty name: expected [task.NAME]")
        for key in table:
            if key not in _KEYS:
                self._refuse(where, key, unknown_name("key", key, _KEYS))
        if "command" not in table:
            self._refuse(where, "command", "is missing: expected a text or a list of texts")
        given: dict[str, Any] = {"name": name}
        for key in table:
            given[key] = self._checked(
                where, key, lambda value, key=key: self._value(key, value, procs)
            )
        given.setdefault("directory", self.folder)
        return Code(**given)

    def _value(self, key: str, value: Any, procs: int) -> Any:
        if key == "command":
            return _command(value)
        if key == "counts":
            return _counts(value, procs)
        if key == "directory":
            return self.folder / _text(value)
        if key == "environment":
            return _environment(value)
        if key == "ranks":
            if value not in ("one", "procs"):
                raise InvalidInstance(f'{shorten(value)}: expected "one" or "procs"')
            return value
        return positive(value, key) if key == "timeout" else nonnegative(value, key)

    def _checked(self, where: tuple[str, ...], key: str, check: Any) -> Any:
        table: Any = self.data
        for part in where:
            table = table[part]
        try:
            return check(table[key])
        except InvalidInstance as error:
            self._refuse(where, key, str(error))

    def _refuse(self, where: tuple[str, ...], key: str, message: str) -> Any:
        full = ".".join((*where, key))
        line = _line_of(self.lines, where, key)
        raise InvalidInstance(f"{self.path}: line {line}: key {shorten(full, 80)}: {message}")


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidInstance(f"{shorten(value)}: expected a text")
    return value


def _command(value: Any) -> str | tuple[str, ...]:
    parts = value if isinstance(value, list) else [value]
    if not parts or not all(isinstance(part, str) for part in parts) or not parts[0].strip():
        raise InvalidInstance(f"{shorten(value)}: expected a text or a list of texts")
    if any("\0" in part for part in parts):
        raise InvalidInstance(f"{shorten(value)}: expected a text without zero bytes")
    return tuple(value) if isinstance(value, list) else value


def _counts(value: Any, procs: int) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise InvalidInstance(f"{shorten(value)}: expected a list of integers in 1..{procs}")
    try:
        return tuple(sorted({integer(count, "count", 1, procs) for count in value}))
    except InvalidInstance:
        raise InvalidInstance(
            f"{shorten(value)}: expected a list of integers in 1..{procs}"
        ) from None


def _environment(value: Any) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise InvalidInstance(f"{shorten(value)}: expected a table of texts")
    made = {}
    for name, entry in value.items():
        if isinstance(entry, bool) or not isinstance(entry, (str, int, float)):
            raise InvalidInstance(f"{name} = {shorten(entry)}: expected a text")
        if isinstance(entry, float) and not math.isfinite(entry):
            raise InvalidInstance(f"{name} = {entry}: expected a text")
        if not name or "=" in name or "\0" in f"{name}{entry}":
            raise InvalidInstance(f"{shorten(name)}: expected the name of a variable")
        made[name] = str(entry)
    return MappingProxyType(made)


def _line_of(lines: Sequence[str], where: tuple[str, ...], key: str) -> int:
    """The line of a key, else that of its table, else 1."""
    section: tuple[str, ...] = ()
    header = 1
    quoted = re.escape(key)
    assigned = re.compile(rf"""\s*["']?{quoted}["']?\s*[.=]""")
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("["):
            section = _section(line)
            if section in (where, (*where, key)):
                header = number
                if section == (*where, key):
                    return number
        elif section == where and assigned.match(line):
            return number
    return header


def _section(line: str) -> tuple[str, ...]:
    try:
        table: Any = io.parse_toml(line, "")
    except InvalidInstance:
        return ()
    path = []
    while isinstance(table, dict) and table:
        name, table = next(iter(table.items()))
        path.append(name)
    return tuple(path)
