"""One code: how it is started, what it needs, what its outputs are called."""

import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import numpy as np

from cosched.errors import InvalidInstance, shorten
from cosched.execution.shell_text import (
    COMMANDS,
    COMMENT,
    DOUBLE_QUOTES,
    PLACE as _PLACE,
    SINGLE_QUOTES,
    is_plain_word,
    places_of_command,
)

#: Characters of a name before it is cut; file systems take 255 with what is added to it.
_LONGEST = 100


def output_names(tasks: Iterable[str]) -> dict[str, str]:
    """What the name of each task's output begins with: letters, digits and ``_.-~%@``.

    Different tasks have different ones, also where capitals do not count; a long name, and one that
    differs from another in capitals only, ends with a digest.

    Examples
    --------
    >>> list(output_names(["fem", "x/y", ".a", "LU", "lu"]).values())
    ['fem', 'x%2Fy', '%2Ea', 'LU@50326770c34ca13b', 'lu@80c0fcbbfa9d03d8']
    """
    plain = {task: _plain(task) for task in tasks}
    alike = Counter(name.lower() for name in plain.values())
    return {
        task: name if len(name) <= _LONGEST and alike[name.lower()] == 1 else _told_apart(task)
        for task, name in plain.items()
    }


def _plain(task: str) -> str:
    """Return the name percent-encoded; none is hidden, or looks like an option."""
    name = quote(task, safe="", errors="surrogatepass")
    return f"%{ord(name[0]):02X}{name[1:]}" if name[:1] in (".", "-") else name


def _told_apart(task: str) -> str:
    digest = hashlib.sha256(task.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    cut = re.sub(r"%.?$", "", _plain(task)[:_LONGEST])
    return f"{cut}@{digest}"


#: Filled in whatever the code; sweeps add their parameters, `launch` has `hosts`.
PLACES = ("procs", "cpus", "task")
_MPIRUN = ("-n", "{procs}", "--host", "{hosts}", "--bind-to", "none")


def _nothing() -> Mapping:
    return MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Code:
    """One code and how it is started.

    ``{procs}``, ``{cpus}`` (core numbers, ``0,1,5``), ``{task}`` (the name) and the parameters of
    a sweep are filled in, in the command, the environment and the directory; in a command that is
    a text names and parameters are quoted, so none of them may stand in quotes there; in a
    directory each is one folder.

    Attributes
    ----------
    name : str
    command : str or tuple of str
        A text is for the shell, a tuple is started as it is.
    counts : tuple of int or None
        Processor counts that it may run on; None: any.
    directory : pathlib.Path
        Where it is started; made where it has places to fill.
    environment : mapping
        Added to the environment.
    timeout : float or None
        Seconds after which it is ended.
    weight : float
        What a second of its completion time costs (moldable).
    ranks : str
        Under Slurm: ``"one"`` starts the command once, ``"procs"`` once a processor (MPI).
    launch : str or tuple of str
        What starts its ranks: ``("srun", "--mpi=pmix")`` with options of the step, ``("mpirun",)``
        with ``-n {procs} --host {hosts} --bind-to none`` added where it does not say ``{procs}``.
    memory : float or mapping
        GB that it needs, or count -> GB; between counts linear, outside the larger of its
        neighbours. None: not known.
    gpus : int
    licences : mapping
        Name -> how many.
    parameters : mapping
        Of its sweep: name -> value.
    paths : mapping
        Those of the parameters that are files, as they are found from where it is started.
    profile : str
        The name under which it is measured; those of a sweep share one. Empty: `name`.
    after : str or tuple of str
        Tasks that have to complete before it starts; the name of a sweep is all of its tasks.

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
    environment: Mapping[str, str] = field(default_factory=_nothing)
    timeout: float | None = None
    weight: float = 1.0
    ranks: str = "one"
    launch: str | tuple[str, ...] = ()
    memory: float | Mapping[int, float] | None = None
    gpus: int = 0
    licences: Mapping[str, int] = field(default_factory=_nothing)
    parameters: Mapping[str, str] = field(default_factory=_nothing)
    paths: Mapping[str, str] = field(default_factory=_nothing)
    profile: str = ""
    after: str | tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.after, str):
            object.__setattr__(self, "after", (self.after,))
        if isinstance(self.launch, str):
            object.__setattr__(self, "launch", tuple(shlex.split(self.launch)))
        if not isinstance(self.memory, Mapping):
            memory_by_count = {} if self.memory is None else {1: float(self.memory)}
            object.__setattr__(self, "memory", MappingProxyType(memory_by_count))
        if isinstance(self.command, str):
            values = {**self.parameters, **self.paths, "task": self.name}
            require_unquoted_places(self.command, values)

    @property
    def profile_name(self) -> str:
        """The name under which it is measured."""
        return self.profile or self.name

    def filled(
        self, procs: int, cpus: Sequence[int], hosts: str = "", before: Sequence[str] = ()
    ) -> list[str]:
        """The command line on a number of processors.

        Program and arguments.

        Parameters
        ----------
        cpus : sequence of int
            Core numbers.
        hosts : str
            ``n1:4,n2:2``, for `launch`; empty: this host.
        before : sequence of str
            What runs the command itself, behind what starts its ranks.
        """
        self.require_count(procs)
        values = self._values(procs, cpus)
        if isinstance(self.command, str):
            quoted = {key: shlex.quote(value) for key, value in values.items()}
            text = _with({**quoted, "procs": values["procs"], "cpus": values["cpus"]}, self.command)
            command = ["/bin/sh", "-c", text]
        else:
            command = [_with(values, part) for part in self.command]
        command = [*before, *command]
        if not self.starts_ranks:
            return command
        place_values = {**values, "hosts": hosts or f"localhost:{procs}"}
        return [*(_with(place_values, part) for part in self._launch()), *command]

    @property
    def starts_ranks(self) -> bool:
        """Whether `launch` is a program of its own, and not srun."""
        return bool(self.launch) and self.launch[0] != "srun"

    @property
    def a_rank_each(self) -> bool:
        """Whether srun starts it once a processor."""
        return self.ranks == "procs" or self.launch[:1] == ("srun",)

    def ranks_on(self, procs: int) -> int:
        """Processes that are started on a number of processors."""
        return procs if self.starts_ranks or self.a_rank_each else 1

    def _launch(self) -> tuple[str, ...]:
        has_count = any("{procs}" in part for part in self.launch)
        return tuple(self.launch) if has_count else (*self.launch, *_MPIRUN)

    def filled_environment(self, procs: int, cpus: Sequence[int]) -> dict[str, str]:
        """What is added to the environment on a number of processors."""
        values = self._values(procs, cpus)
        return {key: _with(values, value) for key, value in self.environment.items()}

    def filled_directory(self, procs: int, cpus: Sequence[int]) -> Path:
        """Where it is started on a number of processors."""
        if not self.makes_directory:
            return self.directory
        values = {**self._values(procs, cpus), **self.parameters}
        folders = {key: output_names([value])[value] for key, value in values.items()}
        return Path(_with({**folders, "cpus": values["cpus"]}, str(self.directory)))

    @property
    def makes_directory(self) -> bool:
        """Whether its directory has places to fill, and is made where it is not there."""
        place_names = {*PLACES, *self.parameters}
        return any(name in place_names for name in _PLACE.findall(str(self.directory)))

    def fills(self, place: str) -> bool:
        """Whether the command, what launches it or the environment has a place."""
        command = (self.command,) if isinstance(self.command, str) else self.command
        texts = (*command, *self.launch, *self.environment.values())
        return any(place in _PLACE.findall(text) for text in texts)

    def _values(self, procs: int, cpus: Sequence[int]) -> dict[str, str]:
        run_values = {"procs": str(procs), "cpus": ",".join(map(str, cpus)), "task": self.name}
        return {**self.parameters, **self.paths, **run_values}

    def needs(self, procs: int) -> dict[str, float]:
        """What it needs beside processors, as declared.

        ``memory`` (GB), ``gpus``, ``licences.NAME``.

        Examples
        --------
        >>> code = Code(name="fem", command="./fem", memory={1: 10.0, 4: 16.0}, gpus=1)
        >>> code.needs(2)
        {'memory': 12.0, 'gpus': 1.0}
        """
        assert isinstance(self.memory, Mapping)
        needs = {"memory": memory_at(self.memory, procs)} if self.memory else {}
        needs |= {"gpus": float(self.gpus)} if self.gpus else {}
        return {**needs, **{f"licences.{name}": float(k) for name, k in self.licences.items()}}

    def require_count(self, procs: int) -> None:
        """Refuse a count that the code may not run on.

        Raises
        ------
        InvalidInstance
        """
        if self.counts is not None and procs not in self.counts:
            counts = ", ".join(map(str, self.counts))
            raise InvalidInstance(
                f"task {shorten(self.name)} on {procs} processors: expected one of {counts}"
            )


def memory_at(memory_by_count: Mapping[int, float], procs: int) -> float:
    """GB on a count: linear between two that are known, outside them the larger neighbour."""
    counts = sorted(memory_by_count)
    values = [memory_by_count[count] for count in counts]
    if counts[0] <= procs <= counts[-1]:
        return float(np.interp(procs, counts, values))
    return max(values[:2] if procs < counts[0] else values[-2:])


def require_known(text: str, place_names: Sequence[str]) -> None:
    """Refuse places that nothing fills; words in braces of the code's own have a blank or a $."""
    for name in _PLACE.findall(text):
        if name not in place_names:
            expected_places = ", ".join(f"{{{place_name}}}" for place_name in place_names)
            raise InvalidInstance(
                f"unknown place {{{name}}}: expected {expected_places} "
                f"(braces of the code's own: {{ {name} }})"
            )


def require_unquoted_places(command: str, values: Mapping[str, Any]) -> None:
    """Refuse a command for the shell in which a value would not be one word.

    Values are quoted where they are filled in. In quotes of the command's own they would be
    text that the shell reads: no place may stand there. In here-documents, arithmetic and
    backquotes it may, as long as its values are letters, digits and ``_@%+=:,./-``; in comments
    as long as they are one line.

    Parameters
    ----------
    values : mapping
        Name of a place -> its value, or a list of them.

    Raises
    ------
    InvalidInstance
        The message has the right form.
    """
    for place in places_of_command(command):
        if place.context == COMMANDS or place.name not in values:
            continue
        place_text = f"{{{place.name}}}"
        if place.context in (SINGLE_QUOTES, DOUBLE_QUOTES):
            raise InvalidInstance(
                f"{place_text} stands in {place.context}, and is quoted where it is filled in: "
                f"expected it outside of them, as in: echo {place_text}"
            )
        place_values = values[place.name]
        for value in [place_values] if isinstance(place_values, str) else place_values:
            is_safe = str(value).isprintable() if place.context == COMMENT else is_plain_word(value)
            if not is_safe:
                raise InvalidInstance(
                    f"{place_text} stands in {place.context}, and a value of it is "
                    f"{shorten(value)}: expected it as a word of a command, "
                    f"as in: echo {place_text}"
                )


def _with(values: Mapping[str, str], text: str) -> str:
    return _PLACE.sub(lambda match: values.get(match[1], match[0]), text)


def fingerprint(code: Code) -> str:
    """A hash of what starts a code, with its places unfilled: a sweep has one."""
    invocation = [code.command, code.launch, sorted(code.environment.items())]
    return hashlib.sha256(json.dumps(invocation).encode()).hexdigest()[:16]


def values_of_sweep(code: Code) -> str:
    """What a code's sweep has chosen for it, as a file of runs keeps it."""
    return json.dumps(dict(code.parameters)) if code.parameters else ""
