"""The TOML file of codes: values checked, errors placed, sweeps written out."""

import glob
import itertools
import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cosched import io
from cosched.core.arrays import integer, nonnegative, positive
from cosched.core.precedence import cycle_of, waits_for_itself
from cosched.core.text import first_repeated, unknown_name
from cosched.errors import InvalidInstance, shorten
from cosched.execution.code import PLACES, Code, require_known
from cosched.execution.slurm_words import amount_of, require_slurm_name

_KEYS = (
    "command", "counts", "directory", "environment", "timeout", "weight", "ranks", "launch",
    "memory", "gpus", "licences", "parameters", "after",
)  # fmt: skip
_TOP = ("procs", "capacity", "task")
_CAPACITY = ("memory", "gpus", "licences")
#: Tasks that the sweeps of a file may have in all.
_MAX_TASKS = 1_000_000


def read_codes(path: str, text: str) -> tuple[int, list[Code], dict[str, float]]:
    """Processors, codes and capacities of a file; an error is one line: file, line, key, value,
    what was expected."""
    return _Reader(path, text).codes()


class _Reader:
    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.folder = Path(path).absolute().parent
        self.data = io.parse_toml(text, path)

    def codes(self) -> tuple[int, list[Code], dict[str, float]]:
        for key in self.data:
            if key not in _TOP:
                self._refuse(
                    (),
                    key,
                    f"unknown key {shorten(key)}: expected procs, [capacity] or [task.NAME]",
                )
        if "procs" not in self.data:
            raise InvalidInstance(
                f"{self.path}: line 1: key 'procs' is missing: expected procs = 16"
            )
        procs = self._checked((), "procs", lambda v: integer(v, "procs", 1, 1_000_000))
        tasks = self.data.get("task")
        if not isinstance(tasks, dict) or not tasks:
            self._refuse((), "task", "no task: expected at least one table [task.NAME]")
        assert isinstance(tasks, dict)
        tables = [self._code(name, procs) for name in tasks]
        if cycle := cycle_of({code.name: code.after for code in tables}):
            self._refuse(("task", cycle[0]), "after", waits_for_itself(cycle))
        table_of_name = {code.name: code for code in tables}
        codes = [code for table in tables for code in self._swept(table, table_of_name)]
        if (repeated_name := first_repeated(code.name for code in codes)) is not None:
            self._refuse(("task",), repeated_name, f"two tasks are called {shorten(repeated_name)}")
        capacity = self._capacity()
        self._require_room(codes, procs, capacity)
        return procs, codes, capacity

    def _capacity(self) -> dict[str, float]:
        table = self.data.get("capacity", {})
        if not isinstance(table, dict):
            self._refuse((), "capacity", f"{shorten(table)}: expected a table")
        capacity: dict[str, float] = {}
        for key in table:
            if key not in _CAPACITY:
                self._refuse(("capacity",), key, unknown_name("key", key, _CAPACITY))
            value = self._checked(("capacity",), key, CAPACITIES[key])
            if key == "licences":
                capacity |= {f"licences.{name}": float(count) for name, count in value.items()}
            else:
                capacity[key] = float(value)
        return capacity

    def _require_room(
        self, codes: Sequence[Code], procs: int, capacity: Mapping[str, float]
    ) -> None:
        """Refuse a code that fits on none of its counts, or needs a licence that is not there."""
        for name, first_member in {code.profile_name: code for code in reversed(codes)}.items():
            declared = [resource[9:] for resource in capacity if resource.startswith("licences.")]
            for licence in first_member.licences if declared else ():
                if licence not in declared:
                    problem = unknown_name("licence", licence, declared)
                    where = ("task", name, "licences")
                    self._refuse(where, licence, f"{problem}: expected one of [capacity]")
            counts = first_member.counts or range(1, procs + 1)
            for resource, capacity_of_resource in capacity.items():
                least_need = min(first_member.needs(count).get(resource, 0.0) for count in counts)
                if least_need > capacity_of_resource:
                    self._refuse(
                        ("task", name),
                        resource.partition(".")[0],
                        lacking_message(name, resource, least_need, capacity_of_resource),
                    )

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
        arguments: dict[str, Any] = {"name": name}
        for key in sorted(table, key=_KEYS.index):
            arguments[key] = self._checked(
                where, key, lambda value, key=key: self._value(key, value, procs, table)
            )
        if "launch" in arguments and "ranks" in arguments:
            self._refuse(where, "ranks", "launch says how ranks are started: expected one of both")
        arguments.setdefault("directory", self.folder)
        with self._refusing(where, "command"):
            return Code(**arguments)

    def _value(self, key: str, value: Any, procs: int, table: Mapping[str, object]) -> Any:
        parameters = table.get("parameters")
        places = (*PLACES, *(parameters if isinstance(parameters, dict) else ()))
        if key == "command":
            return command_of(value, places)
        if key == "launch":
            return launch_of(value, (*places, "hosts"))
        if key == "counts":
            return counts_of(value, procs)
        if key == "directory":
            require_known(text_of(value), places)
            return self.folder / value
        if key == "environment":
            return environment_of(value, places)
        if key == "ranks":
            if value not in ("one", "procs"):
                raise InvalidInstance(f'{shorten(value)}: expected "one" or "procs"')
            return value
        if key == "parameters":
            return self._parameters(value)
        if key == "memory":
            return memory_of(value, procs)
        if key == "after":
            return tuple(dict.fromkeys(name for name, _ in after_of(value, self.data["task"])))
        if key in CAPACITIES:
            return CAPACITIES[key](value)
        return positive(value, key) if key == "timeout" else nonnegative(value, key)

    def _parameters(self, value: object) -> Mapping[str, list[str]]:
        """Name -> values; a text is a pattern of files, relative to this file."""
        if not isinstance(value, dict) or not value:
            raise InvalidInstance(f"{shorten(value)}: expected a table of lists")
        values_of_names = {}
        for name, entry in value.items():
            with naming_entry(name):
                if not re.fullmatch(r"[A-Za-z_]\w*", name) or name in (*PLACES, "hosts"):
                    raise InvalidInstance(
                        f"{shorten(name)}: expected a word of letters and digits, and none of "
                        f"{', '.join((*PLACES, 'hosts'))}"
                    )
                is_pattern = isinstance(entry, str)
                values_of_names[name] = self._files(entry) if is_pattern else values_of(name, entry)
        if math.prod(map(len, values_of_names.values())) > _MAX_TASKS:
            raise InvalidInstance(f"more than {_MAX_TASKS:,} combinations: expected fewer")
        return MappingProxyType(values_of_names)

    def _files(self, pattern: str) -> list[str]:
        names = sorted(glob.glob(pattern, root_dir=self.folder, recursive=True))
        if not names:
            raise InvalidInstance(f"{shorten(pattern)}: no such file: expected a pattern of files")
        return names

    def _swept(self, code: Code, tables: Mapping[str, Code]) -> Iterator[Code]:
        """Yield one code for each combination of its parameters."""
        after = after_of(self.data["task"][code.name].get("after", []), self.data["task"])
        tasks_of_values = [
            self._members_by_values(code, tables[name], same_parameters)
            for name, same_parameters in after
        ]
        if not code.parameters:
            yield code
            return
        parameters: Mapping[str, Any] = code.parameters
        patterns = {
            k for k, v in self.data["task"][code.name]["parameters"].items() if isinstance(v, str)
        }
        has_own_directory = code.directory != self.folder
        for values in itertools.product(*parameters.values()):
            value_of_name = dict(zip(parameters, values, strict=True))
            name = name_of(code.name, value_of_name)
            all_predecessors: list[str] = []
            for (predecessor, same_parameters), predecessors_of_values in zip(
                after, tasks_of_values, strict=True
            ):
                predecessors = predecessors_of_values.get(
                    tuple(value_of_name[key] for key in same_parameters), []
                )
                if not predecessors:
                    problem = f"no task of {shorten(predecessor)} has what {shorten(name)} has of "
                    self._refuse(("task", code.name), "after", problem + ", ".join(same_parameters))
                all_predecessors += predecessors
            paths = {
                key: str(self.folder / value_of_name[key]) for key in patterns if has_own_directory
            }
            with self._refusing(("task", code.name), "command"):
                member = replace(
                    code,
                    name=name,
                    parameters=MappingProxyType(value_of_name),
                    paths=MappingProxyType(paths),
                    profile=code.name,
                    after=tuple(dict.fromkeys(all_predecessors)),
                )
            yield member

    def _members_by_values(
        self, code: Code, predecessor: Code, same_parameters: Sequence[str]
    ) -> Mapping[tuple[str, ...], list[str]]:
        """Return values of `same_parameters` -> tasks of `predecessor` that have them."""
        for key in same_parameters:
            for code_of_pair in (code, predecessor):
                if key not in code_of_pair.parameters:
                    self._refuse(
                        ("task", code.name),
                        "after",
                        f"same: {shorten(code_of_pair.name)} has no parameter {shorten(key)}",
                    )
        if not same_parameters:  # all of them, by the name of the sweep
            return {(): [predecessor.name]}
        members: dict[tuple[str, ...], list[str]] = {}
        parameters: Mapping[str, Any] = predecessor.parameters
        for values in itertools.product(*parameters.values()):
            value_of_name = dict(zip(parameters, values, strict=True))
            same_values = tuple(value_of_name[key] for key in same_parameters)
            members.setdefault(same_values, []).append(name_of(predecessor.name, value_of_name))
        return members

    def _checked(self, where: tuple[str, ...], key: str, check: Any) -> Any:
        table: Any = self.data
        for part in where:
            table = table[part]
        try:
            return check(table[key])
        except BadEntry as error:
            self._refuse((*where, key), error.entry, str(error))
        except InvalidInstance as error:
            self._refuse(where, key, str(error))

    @contextmanager
    def _refusing(self, where: tuple[str, ...], key: str) -> Iterator[None]:
        """Yield a context in which an error names the file, the line and the key."""
        try:
            yield
        except InvalidInstance as error:
            self._refuse(where, key, str(error))

    def _line_of(self, path: tuple[str, ...]) -> int:
        """Return the line of a key, else that of its table, else 1."""
        lines: dict[tuple[str, ...], int] = {}
        with suppress(RecursionError):  # of a file that is nested too deep there is no line
            lines = io.lines_of_keys(self.text)
        while path and path not in lines:
            path = path[:-1]
        return lines.get(path, 1)

    def _refuse(self, where: tuple[str, ...], key: str, message: str) -> Any:
        full = ".".join((*where, key))
        line = self._line_of((*where, key))
        raise InvalidInstance(f"{self.path}: line {line}: key {shorten(full, 80)}: {message}")


class BadEntry(InvalidInstance):
    """An entry of a table below a key is wrong."""

    def __init__(self, message: str, entry: str) -> None:
        super().__init__(message)
        self.entry = entry


@contextmanager
def naming_entry(name: str) -> Iterator[None]:
    """A context in which an error is that of an entry of a table."""
    try:
        yield
    except InvalidInstance as error:
        raise BadEntry(str(error), name) from None


def text_of(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidInstance(f"{shorten(value)}: expected a text")
    return value


def command_of(value: Any, places: Sequence[str]) -> str | tuple[str, ...]:
    parts = value if isinstance(value, list) else [value]
    if not parts or not all(isinstance(part, str) for part in parts) or not parts[0].strip():
        raise InvalidInstance(f"{shorten(value)}: expected a text or a list of texts")
    if any("\0" in part for part in parts):
        raise InvalidInstance(f"{shorten(value)}: expected a text without zero bytes")
    for part in parts:
        require_known(part, places)
    return tuple(value) if isinstance(value, list) else value


def launch_of(value: object, places: Sequence[str]) -> tuple[str, ...]:
    """A program and its options; a text is split into words, and never goes to a shell."""
    command = command_of(value, places)
    try:
        return tuple(shlex.split(command)) if isinstance(command, str) else command
    except ValueError as error:
        raise InvalidInstance(
            f"{shorten(value)}: {error}: expected a program and options"
        ) from None


def counts_of(value: object, procs: int) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise InvalidInstance(f"{shorten(value)}: expected a list of integers in 1..{procs}")
    try:
        return tuple(sorted({integer(count, "count", 1, procs) for count in value}))
    except InvalidInstance:
        raise InvalidInstance(
            f"{shorten(value)}: expected a list of integers in 1..{procs}"
        ) from None


def name_of(task: str, value_of_name: Mapping[str, str]) -> str:
    """Of the task of a sweep with these values."""
    return " ".join([task, *(f"{key}={value}" for key, value in value_of_name.items())])


def after_of(value: object, tasks: Mapping[str, object]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Names of tables, and the parameters in which their tasks are the same."""
    entries = value if isinstance(value, list) else [value]
    predecessors = []
    for entry in entries:
        table = {"task": entry} if isinstance(entry, str) else entry
        if not isinstance(table, dict) or not {"task"} <= table.keys() <= {"task", "same"}:
            raise InvalidInstance(
                f"{shorten(value)}: expected a list of names of tasks, or of tables such as "
                '{ task = "mesh", same = ["case"] }'
            )
        name, same_parameters = table["task"], table.get("same", [])
        if not isinstance(name, str) or name not in tasks:
            raise InvalidInstance(unknown_name("task", name, tasks))
        same_parameters = [same_parameters] if isinstance(same_parameters, str) else same_parameters
        if not isinstance(same_parameters, list) or not all(
            isinstance(key, str) for key in same_parameters
        ):
            raise InvalidInstance(
                f"same = {shorten(same_parameters)}: expected names of parameters"
            )
        predecessors.append((name, tuple(dict.fromkeys(same_parameters))))
    return tuple(predecessors)


def memory_of(value: object, procs: int) -> Mapping[int, float]:
    """GB a count; one number is for all."""
    if not isinstance(value, dict):
        return MappingProxyType({1: amount_of(value, "memory")})
    if not value:
        raise InvalidInstance("an empty table: expected { 1 = 12.5, 4 = 20.0 }")
    gigabytes_of_counts = {}
    for count, need in value.items():
        with naming_entry(count):
            valid_count = io.parse_integer(count, "memory: count", 1, procs)
            gigabytes_of_counts[valid_count] = amount_of(need, f"memory.{valid_count}")
    return MappingProxyType(gigabytes_of_counts)


def licences_of(value: object) -> Mapping[str, int]:
    if not isinstance(value, dict):
        raise InvalidInstance(f"{shorten(value)}: expected a table such as {{ solver = 1 }}")
    licences = {}
    for name, count in value.items():
        with naming_entry(name):
            require_slurm_name(name, "licence")
            licences[name] = integer(count, f"licences.{name}")
    return MappingProxyType(licences)


CAPACITIES: dict[str, Any] = {
    "memory": lambda value: amount_of(value, "memory"),
    "gpus": lambda value: integer(value, "gpus"),
    "licences": licences_of,
}


def values_of(name: str, value: object) -> list[str]:
    if not isinstance(value, list) or not value:
        raise InvalidInstance(f"{name} = {shorten(value)}: expected a list, or a pattern of files")
    if not all(isinstance(entry, (str, int, float)) and "\0" not in str(entry) for entry in value):
        raise InvalidInstance(f"{name} = {shorten(value)}: expected a list of texts or numbers")
    texts = [str(entry).lower() if isinstance(entry, bool) else str(entry) for entry in value]
    if len(set(texts)) < len(texts):
        raise InvalidInstance(f"{name} = {shorten(value)}: expected each value once")
    return texts


def environment_of(value: object, places: Sequence[str]) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise InvalidInstance(f"{shorten(value)}: expected a table of texts")
    variables = {}
    for name, entry in value.items():
        with naming_entry(name):
            if isinstance(entry, bool) or not isinstance(entry, (str, int, float)):
                raise InvalidInstance(f"{name} = {shorten(entry)}: expected a text")
            if isinstance(entry, float) and not math.isfinite(entry):
                raise InvalidInstance(f"{name} = {entry}: expected a text")
            if not name or "=" in name or "\0" in f"{name}{entry}":
                raise InvalidInstance(f"{shorten(name)}: expected the name of a variable")
            require_known(str(entry), places)
        variables[name] = str(entry)
    return MappingProxyType(variables)


def lacking_message(name: str, resource: str, need: float, capacity: float) -> str:
    """The message about a task that never fits."""
    amount = f"{need:g} GB of memory" if resource == "memory" else f"{need:g} {resource}"
    return f"task {shorten(name)} needs {amount}, capacity is {capacity:g}"
