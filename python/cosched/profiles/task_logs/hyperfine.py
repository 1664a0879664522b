"""hyperfine: what ``--export-json`` wrote, with parameters as sweeps.

Each result has a command, its run times and exit codes, and the mean of the processor time; since
1.20 also the peak of memory of each run. Source: ``benchmark_result.rs`` up to 1.20.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from cosched import io
from cosched.errors import InvalidInstance, shorten
from cosched.profiles.task_logs.task import LoggedTask, Tasks

#: Parameters of a sweep that are numbers of processors, in the order in which they are looked for.
CORE_PARAMETERS = (
    "procs", "processors", "cores", "cpus", "threads", "num_threads", "nthreads", "nprocs",
    "ntasks", "np", "jobs",
)  # fmt: skip
_MOST_CORES = 10**6
#: Places of a value in a command that are tried as those of its parameter.
_MOST_PLACES = 8


def read_hyperfine(path: Any, name: str) -> Tasks:
    """The runs of an export.

    Parameters
    ----------
    path : path-like
        The file.
    name : str
        For messages.

    Raises
    ------
    InvalidInstance
        Not such JSON, by the place in it.
    """
    value = io.parse_json(io.read_text(path), name)
    results = value.get("results") if isinstance(value, Mapping) else None
    if not isinstance(results, list) or not results:
        raise InvalidInstance(f"{name}: expected an object with a list 'results'")
    checked = [_checked(result, f"{name}: results[{k}]") for k, result in enumerate(results)]
    codes = codes_of_results(checked)
    for number, (result, code) in enumerate(zip(checked, codes, strict=True)):
        yield from _runs_of(result, code, number, f"{name}: results[{number}]")


def _checked(result: Any, where: str) -> dict[str, Any]:
    """A result whose command is a text and whose parameters are texts by name."""
    if not isinstance(result, Mapping) or not isinstance(result.get("command"), str):
        raise InvalidInstance(f"{where}: expected an object with 'command', a text")
    parameters = result.get("parameters") or {}
    if not isinstance(parameters, Mapping):
        raise InvalidInstance(f"{where}.parameters: expected an object of texts")
    if isinstance(result.get("parameter"), str):  # before 1.10: a value without its name
        parameters = {"parameter": result["parameter"]}
    command = result["command"].strip()
    if not command:
        raise InvalidInstance(f"{where}.command: '': expected a command")
    texts = {str(key): str(value) for key, value in parameters.items()}
    return {**result, "command": command, "parameters": texts}


def core_parameter(parameters: Mapping[str, str]) -> str | None:
    """The parameter of a sweep that is a number of processors; None: none is.

    Examples
    --------
    >>> core_parameter({"size": "9", "threads": "4"}), core_parameter({"size": "9"})
    ('threads', None)
    """
    names = {name.lower().replace("-", "_"): name for name in parameters}
    return next((names[name] for name in CORE_PARAMETERS if name in names), None)


def codes_of_results(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """The code of each result: its command, with the parameter of processors for its value.

    Commands hold values, not parameters. The code of a result is the template that most results of
    the sweep may come from; where several do, the one with the fewest places.

    Examples
    --------
    >>> results = [{"command": f"./fem -n 2 -p {p}", "parameters": {"p": "0", "threads": str(p)}}
    ...            for p in (1, 2)]
    >>> codes_of_results(results)
    ['./fem -n 2 -p {threads}', './fem -n 2 -p {threads}']
    """
    templates = [list(_templates_of(result)) for result in results]
    counts = Counter(template for of_result in templates for template in dict.fromkeys(of_result))
    return [max(of_result, key=lambda template: counts[template]) for of_result in templates]


def _templates_of(result: Mapping[str, Any]) -> Iterator[str]:
    """Commands with the parameter in one or several places of its value; else the command."""
    command, parameters = result["command"], result["parameters"]
    parameter = core_parameter(parameters)
    if parameter is None or not parameters[parameter]:
        yield command
        return
    pattern = rf"(?<![0-9A-Za-z]){re.escape(parameters[parameter])}(?![0-9A-Za-z])"
    places = [match.span() for match in re.finditer(pattern, command)][:_MOST_PLACES]
    for count in range(1, len(places) + 1):
        for chosen in combinations(places, count):
            text, end = "", len(command)
            for begin, stop in reversed(chosen):
                text, end = f"{{{parameter}}}{command[stop:end]}{text}", begin
            yield command[:end] + text
    yield command


def _runs_of(result: Mapping[str, Any], code: str, number: int, where: str) -> Iterator[LoggedTask]:
    times = result.get("times")
    if times is None:
        times = [result.get("mean")]
    if not isinstance(times, list) or not times:
        raise InvalidInstance(f"{where}.times: {shorten(times)}: expected a list of seconds")
    parameter = core_parameter(result["parameters"])
    cores = 0
    if parameter is not None:
        place = f"{where}.parameters.{parameter}"
        cores = io.parse_integer(result["parameters"][parameter], place, 1, _MOST_CORES)
    exit_codes, peaks = (
        _list_of(result, key, len(times), where) for key in ("exit_codes", "memory_usage_byte")
    )
    cpu_seconds = _cpu_seconds_of(result, where)
    for run, seconds in enumerate(times):
        yield LoggedTask(
            line=number + 1,
            name=result["command"],
            code=code,
            state=_state_of(exit_codes[run], f"{where}.exit_codes[{run}]"),
            seconds=_seconds(seconds, f"{where}.times[{run}]"),
            command=result["command"],
            cores=cores,
            used_memory=_peak(peaks[run], f"{where}.memory_usage_byte[{run}]"),
            cpu_seconds=cpu_seconds,
            attempt=run + 1,
        )


def _list_of(result: Mapping[str, Any], key: str, count: int, where: str) -> list[Any]:
    """A list with an entry a run; of a result without it a list of the text ``missing``."""
    values = result.get(key)
    if values is None:
        return ["missing"] * count
    if not isinstance(values, list) or len(values) != count:
        raise InvalidInstance(f"{where}.{key}: {shorten(values)}: expected a list of {count}")
    return values


def _cpu_seconds_of(result: Mapping[str, Any], where: str) -> float:
    """The mean of the processor time of all runs."""
    parts = [_seconds(result.get(key, 0.0), f"{where}.{key}") for key in ("user", "system")]
    return sum(parts) if sum(parts) > 0 else math.nan


def _seconds(value: Any, where: str) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value < math.inf:
        raise InvalidInstance(f"{where}: {shorten(value)}: expected seconds >= 0")
    return float(value)


def _peak(value: Any, where: str) -> float:
    if value == "missing":
        return math.nan
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not is_number or not 0 <= value < 2**63:
        raise InvalidInstance(f"{where}: {shorten(value)}: expected bytes")
    return float(value) if value else math.nan


def _state_of(value: Any, where: str) -> str:
    """An exit code; null where a signal ended the run, missing before version 1.11."""
    if value == "missing":
        return "UNKNOWN"
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise InvalidInstance(f"{where}: {shorten(value)}: expected an exit code or null")
    return "COMPLETED" if value == 0 else "FAILED"
