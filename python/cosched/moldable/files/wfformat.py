"""WfFormat 1.5 (WfCommons): tasks of a workflow on their cores."""

from typing import Any

import numpy as np

from cosched.core.arrays import integer, real
from cosched.core.text import first_repeated
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind

#: Seconds of a task whose runtime is 0: a job takes some time.
_MIN_SECONDS = 1e-6


def is_wfformat(data: object) -> bool:
    """Whether a JSON value is a workflow."""
    return isinstance(data, dict) and isinstance(data.get("workflow"), dict)


def read_wfformat(data: dict[str, Any], machines: int | None) -> dict[str, Any]:
    """The arguments of ``Instance``: a rigid job a task, on its ``cores`` (``coreCount``; 1).

    Parents and children are those of ``workflow.specification``, runtimes and cores those of
    ``workflow.execution``.
    """
    executed_tasks = dict(_tasks(data, "execution"))
    tasks = _tasks(data, "specification")
    names = [name for name, _ in tasks]
    if (twice := first_repeated(names)) is not None:
        raise InvalidInstance(f"workflow.specification.tasks: id {shorten(twice)} is there twice")
    number = {name: k for k, name in enumerate(names)}
    arcs: dict[tuple[int, int], None] = {}
    seconds, cores = [], []
    for name, entry in tasks:
        where = f"workflow.execution.tasks: {shorten(name)}"
        if name not in executed_tasks:
            raise InvalidInstance(f"{where}: expected its runtimeInSeconds")
        seconds.append(
            real(executed_tasks[name].get("runtimeInSeconds"), f"{where}: runtimeInSeconds")
        )
        core_count = executed_tasks[name].get("coreCount", executed_tasks[name].get("cores"))
        cores.append(1 if core_count is None else integer(core_count, f"{where}: coreCount", 1))
        for key, pair in (("parents", (1, 0)), ("children", (0, 1))):
            for other in entry.get(key) or []:
                if other not in number:
                    raise InvalidInstance(
                        f"workflow.specification.tasks: {shorten(name)}: {key}: "
                        f"{shorten(other)}: expected the id of a task"
                    )
                ends = (number[name], number[other])
                arcs[ends[pair[0]], ends[pair[1]]] = None
    count = max(cores) if machines is None else machines
    if max(cores) > count:
        most_cores_task = names[cores.index(max(cores))]
        raise InvalidInstance(
            f"task {shorten(most_cores_task)} needs {max(cores)} cores: expected machines >= "
            f"{max(cores)}"
        )
    times = np.full((len(names), count), np.inf)
    times[np.arange(len(names)), np.array(cores) - 1] = np.maximum(seconds, _MIN_SECONDS)
    instant = sum(value == 0 for value in seconds)
    notes = []
    if instant:
        text = f"runtime 0 of {instant} tasks is taken as {_MIN_SECONDS:g} s"
        notes.append(Note(NoteKind.REPAIRED, text, subject="runtime 0", count=instant))
    return {
        "times": times,
        "machines": machines,
        "edges": list(arcs),
        "names": names,
        "notes": notes,
    }


def _tasks(data: dict[str, Any], part: str) -> list[tuple[str, dict[str, Any]]]:
    section = data["workflow"].get(part)
    tasks = section.get("tasks") if isinstance(section, dict) else None
    if not isinstance(tasks, list) or not tasks:
        raise InvalidInstance(f"expected a list workflow.{part}.tasks (WfFormat 1.5)")
    for k, entry in enumerate(tasks):
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
            raise InvalidInstance(f"workflow.{part}.tasks[{k}]: expected an object with 'id'")
    return [(entry["id"], entry) for entry in tasks]
