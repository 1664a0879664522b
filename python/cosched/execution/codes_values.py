"""Values of keys of ``codes.toml``: what they may be, and what is made of them."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cosched import io
from cosched.core.arrays import integer, nonnegative
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance, shorten
from cosched.execution.code import require_known


def text_of(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidInstance(f"{shorten(value)}: expected a text")
    return value


def command_of(value: Any, known: Sequence[str]) -> str | tuple[str, ...]:
    parts = value if isinstance(value, list) else [value]
    if not parts or not all(isinstance(part, str) for part in parts) or not parts[0].strip():
        raise InvalidInstance(f"{shorten(value)}: expected a text or a list of texts")
    if any("\0" in part for part in parts):
        raise InvalidInstance(f"{shorten(value)}: expected a text without zero bytes")
    for part in parts:
        require_known(part, known)
    return tuple(value) if isinstance(value, list) else value


def launch_of(value: Any, known: Sequence[str]) -> tuple[str, ...]:
    """A program and its options; a text is split into words, and never goes to a shell."""
    command = command_of(value, known)
    try:
        return tuple(shlex.split(command)) if isinstance(command, str) else command
    except ValueError as error:
        raise InvalidInstance(
            f"{shorten(value)}: {error}: expected a program and options"
        ) from None


def counts_of(value: Any, procs: int) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise InvalidInstance(f"{shorten(value)}: expected a list of integers in 1..{procs}")
    try:
        return tuple(sorted({integer(count, "count", 1, procs) for count in value}))
    except InvalidInstance:
        raise InvalidInstance(
            f"{shorten(value)}: expected a list of integers in 1..{procs}"
        ) from None


def name_of(task: str, chosen: Mapping[str, str]) -> str:
    """Of the task of a sweep with these values."""
    return " ".join([task, *(f"{key}={value}" for key, value in chosen.items())])


def after_of(value: Any, tasks: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Names of tables, and the parameters in which their tasks are the same."""
    entries = value if isinstance(value, list) else [value]
    made = []
    for entry in entries:
        table = {"task": entry} if isinstance(entry, str) else entry
        if not isinstance(table, dict) or not {"task"} <= table.keys() <= {"task", "same"}:
            raise InvalidInstance(
                f"{shorten(value)}: expected a list of names of tasks, or of tables such as "
                '{ task = "mesh", same = ["case"] }'
            )
        name, same = table["task"], table.get("same", [])
        if not isinstance(name, str) or name not in tasks:
            raise InvalidInstance(unknown_name("task", name, tasks))
        same = [same] if isinstance(same, str) else same
        if not isinstance(same, list) or not all(isinstance(key, str) for key in same):
            raise InvalidInstance(f"same = {shorten(same)}: expected names of parameters")
        made.append((name, tuple(dict.fromkeys(same))))
    return tuple(made)


def memory_of(value: Any, procs: int) -> Mapping[int, float]:
    """GB a count; one number is for all."""
    if not isinstance(value, dict):
        return MappingProxyType({1: nonnegative(value, "memory")})
    if not value:
        raise InvalidInstance("an empty table: expected { 1 = 12.5, 4 = 20.0 }")
    made = {}
    for count, need in value.items():
        at = io.parse_integer(count, "memory: count", 1, procs)
        made[at] = nonnegative(need, f"memory.{at}")
    return MappingProxyType(made)


def licences_of(value: Any) -> Mapping[str, int]:
    if not isinstance(value, dict):
        raise InvalidInstance(f"{shorten(value)}: expected a table such as {{ solver = 1 }}")
    for name in value:
        if not re.fullmatch(r"[\w.@/-]+", name, re.ASCII):
            raise InvalidInstance(
                f"{shorten(name)}: expected the name of a licence, as Slurm has it"
            )
    made = {name: integer(count, f"licences.{name}") for name, count in value.items()}
    return MappingProxyType(made)


CAPACITIES: dict[str, Any] = {
    "memory": lambda value: nonnegative(value, "memory"),
    "gpus": lambda value: integer(value, "gpus"),
    "licences": licences_of,
}


def values_of(name: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not value:
        raise InvalidInstance(f"{name} = {shorten(value)}: expected a list, or a pattern of files")
    if not all(isinstance(one, (str, int, float)) and "\0" not in str(one) for one in value):
        raise InvalidInstance(f"{name} = {shorten(value)}: expected a list of texts or numbers")
    made = [str(one).lower() if isinstance(one, bool) else str(one) for one in value]
    if len(set(made)) < len(made):
        raise InvalidInstance(f"{name} = {shorten(value)}: expected each value once")
    return made


def environment_of(value: Any, known: Sequence[str]) -> Mapping[str, str]:
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
        require_known(str(entry), known)
        made[name] = str(entry)
    return MappingProxyType(made)
