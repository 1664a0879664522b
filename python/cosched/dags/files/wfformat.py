"""WfFormat 1.5 (WfCommons): the trace of a workflow as JSON."""

import math
import re
import sys
from collections.abc import Iterable
from typing import Any

from cosched import io
from cosched.dags.files.parsed import Parsed
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind

#: What workflow systems append to a program's name to make it unique.
_SUFFIX = re.compile(r"(_ID[0-9]+|_[0-9]+)$")


def read_wfformat(data: dict[str, Any], path: str, *, need_times: bool = True) -> Parsed:
    """Tasks of ``workflow.specification``, times of ``workflow.execution``, joined by id.

    Arcs are those of `parents` and of `children` together, with the sizes of the files that the one
    writes and the other reads: a file that several tasks read moves to each. A task's kernel is
    the program of its command where that is one word, else its name without number.
    """
    workflow = data["workflow"]
    tasks = _list(workflow, path, "specification")
    seconds: dict[str, Any] = {}
    programs: dict[str, Any] = {}
    cores = 0
    if need_times or "execution" in workflow:
        for k, entry in enumerate(_list(workflow, path, "execution")):
            where = f"workflow.execution.tasks[{k}]"
            name = _text(entry, "id", path, where)
            if name in seconds:
                raise InvalidInstance(f"{path}: {where}: task id {shorten(name)} is there twice")
            seconds[name] = entry.get("runtimeInSeconds")
            command = entry.get("command")
            programs[name] = command.get("program") if isinstance(command, dict) else None
            count = entry.get("coreCount")
            cores += isinstance(count, (int, float)) and count > 1
    parsed = Parsed(path)
    arcs: dict[tuple[str, str], str] = {}  # most are there twice, as parent and as child
    for k, entry in enumerate(io.polled(tasks)):
        where = f"workflow.specification.tasks[{k}]"
        name = _text(entry, "id", path, where)
        time = _seconds(seconds, name, f"{path}: {where}") if need_times else 0.0
        parsed.add(name, [time], where, _kernel(programs.get(name), entry.get("name"), name))
        for parent in _names(entry, "parents", path, where):
            arcs.setdefault((parent, name), where)
        for child in _names(entry, "children", path, where):
            arcs.setdefault((name, child), where)
    moved_bytes = _data(workflow["specification"], arcs, path, parsed.notes)
    for (parent, child), where in arcs.items():
        parsed.precede(parent, child, where, moved_bytes.get((parent, child)))
    if cores:
        noun = "task" if cores == 1 else "tasks"
        text = (
            f"not used: coreCount above 1 of {cores} {noun} (a task takes one unit for its runtime)"
        )
        parsed.notes.append(Note(NoteKind.NOT_USED, text, subject="coreCount", count=cores))
    return parsed


def _data(
    specification: dict[str, Any], arcs: Iterable[tuple[str, str]], path: str, notes: list[Note]
) -> dict[tuple[str, str], float]:
    """Return bytes along arcs: all sizes of the files that one task writes and the next reads."""
    sizes = _sizes(specification.get("files"), path)
    if not sizes:
        return {}
    moved_bytes = dict.fromkeys(arcs, 0.0)
    used_files = set()
    writers: dict[str, list[str]] = {}
    tasks = specification["tasks"]
    for task in tasks:
        for file in _files(task, "outputFiles"):
            writers.setdefault(file, []).append(task["id"])
    for task in tasks:
        for file in dict.fromkeys(_files(task, "inputFiles")):
            for writer in writers.get(file, ()):
                if file in sizes and (writer, task["id"]) in moved_bytes:
                    moved_bytes[writer, task["id"]] += sizes[file]
                    used_files.add(file)
    n_unused = len(sizes) - len(used_files)
    if n_unused:
        text = (
            f"not moved along an arc: {n_unused} of {len(sizes)} files with a sizeInBytes (from "
            "outside, results, or read by no task that follows the writer)"
        )
        notes.append(Note(NoteKind.NOT_USED, text, subject="sizeInBytes", count=n_unused))
    return moved_bytes if used_files else {}


def _sizes(files: object, path: str) -> dict[str, float]:
    """Return the size of each file that says one."""
    sizes = {}
    for k, entry in enumerate(files if isinstance(files, list) else []):
        if not isinstance(entry, dict) or entry.get("sizeInBytes") is None:
            continue
        size = entry["sizeInBytes"]
        good = isinstance(size, (int, float)) and not isinstance(size, bool)
        if not good or not 0 <= size <= sys.float_info.max:
            raise InvalidInstance(
                f"{path}: workflow.specification.files[{k}]: sizeInBytes = {shorten(size)}: "
                "expected bytes >= 0"
            )
        sizes[str(entry.get("id"))] = float(size)
    return sizes


def _files(task: Any, key: str) -> list[str]:
    names = task.get(key)
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _list(workflow: object, path: str, part: str) -> list[Any]:
    section = workflow.get(part) if isinstance(workflow, dict) else None
    tasks = section.get("tasks") if isinstance(section, dict) else None
    if not isinstance(tasks, list):
        raise InvalidInstance(f"{path}: expected a list workflow.{part}.tasks (WfFormat 1.5)")
    return tasks


def _text(entry: object, key: str, path: str, where: str) -> str:
    value = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(value, str) or not value:
        raise InvalidInstance(f"{path}: {where}: expected an object with a text '{key}'")
    return value


def _names(entry: dict[str, Any], key: str, path: str, where: str) -> list[str]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidInstance(f"{path}: {where}: '{key}': expected a list of task ids")
    return value


def _seconds(seconds: dict[str, Any], name: str, where: str) -> float:
    if name not in seconds:
        raise InvalidInstance(f"{where}: task {shorten(name)} is not in workflow.execution.tasks")
    value = seconds[name]
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not good or not 0 <= value < math.inf:
        raise InvalidInstance(
            f"{where}: task {shorten(name)}: runtimeInSeconds = {shorten(value)}: expected "
            "seconds >= 0"
        )
    try:
        return float(value)
    except OverflowError:
        raise InvalidInstance(
            f"{where}: task {shorten(name)}: runtimeInSeconds overflows"
        ) from None


def _kernel(program: object, name: object, task: str) -> str:
    if isinstance(program, str) and re.fullmatch(r"\S*\w\S*", program):
        return program
    return _SUFFIX.sub("", name if isinstance(name, str) and name else task)
