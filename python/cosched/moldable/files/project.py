"""Projects with precedence and resources (RCPSP) as moldable jobs, whichever file had them.

A job of duration 0 takes no time and no resource: it is left out, and the jobs before it come
before those behind it. A single-mode job is rigid: on one processor, or, where every job needs some
of one resource, on as many processors as it needs of that resource. A job of several modes has a
processor count per mode, where its modes need different amounts of such a resource.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched.core.text import count_of, listed
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind

_MOST_PROCESSORS = 10**6


@dataclass(frozen=True)
class Mode:
    """One way to run a job.

    Attributes
    ----------
    duration : int
        Units of time, 0 or more.
    needs : tuple of int
        Of each resource.
    where : str
        File and line, for messages.
    """

    duration: int
    needs: tuple[int, ...]
    where: str


@dataclass(frozen=True)
class Project:
    """What a file of a project says.

    Attributes
    ----------
    modes : dict of str to list of Mode
        Of each job by its name, in the order of the file.
    successors : dict of str to tuple of str
    resources : tuple of str
        Names of the resources, renewable ones first.
    capacity : tuple of int
    renewable : int
        How many resources are renewable.
    """

    modes: dict[str, list[Mode]]
    successors: dict[str, tuple[str, ...]]
    resources: tuple[str, ...]
    capacity: tuple[int, ...]
    renewable: int


def arguments_of_project(project: Project, machines: int | None, path: object) -> dict[str, Any]:
    """The arguments of ``moldable.Instance``.

    Raises
    ------
    InvalidInstance
        Modes that are no numbers of processors, a nonrenewable resource that could run out, or a
        job that needs more than there is.
    """
    _require_enough(project)
    notes = _without_nonrenewable(project, path)
    names = [name for name, modes in project.modes.items() if any(m.duration for m in modes)]
    if not names:
        raise InvalidInstance(f"{path}: no job with a duration: expected one")
    instant = [name for name in project.modes if name not in set(names)]
    for name in names:
        if not all(mode.duration for mode in project.modes[name]):
            where = next(m.where for m in project.modes[name] if not m.duration)
            raise InvalidInstance(f"{where}: a mode of duration 0 beside others: expected more")
    if instant:
        text = f"{count_of(len(instant), 'job')} of duration 0 left out: {listed(instant)}"
        notes.append(Note(NoteKind.DROPPED, text, subject="duration 0", count=len(instant)))
    resource = _processors_of(project, names)
    several = next((name for name in names if len(project.modes[name]) > 1), None)
    if resource is None and several is not None:
        raise InvalidInstance(
            f"{path}: job {several} has {len(project.modes[several])} modes that are no processor "
            "counts: expected a renewable resource of which each mode of each job needs a "
            "different number, 1 or more"
        )
    if resource is not None:
        text = f"processors are {project.resources[resource]}"
        notes.append(Note(NoteKind.READING, text, subject="processors"))
        dominated = _dominated_modes(project, names, resource)
        if dominated:
            text = (
                f"{count_of(dominated, 'mode')} left out: no faster than one of the same job that "
                "needs no more"
            )
            notes.append(Note(NoteKind.DROPPED, text, subject="modes", count=dominated))
    edges = _edges(project, names)
    table = _tables(project, names, resource)
    count = len(names) if resource is None else project.capacity[resource]
    if machines is not None and resource is not None and machines != count:
        text = f"assumed: machines = {machines} in place of {count} of the project"
        notes.append(Note(NoteKind.ASSUMED, text, subject="machines", count=machines))
    return {
        **table,
        "machines": count if machines is None else machines,
        "edges": edges,
        "names": names,
        "notes": notes,
    }


def _require_enough(project: Project) -> None:
    """Refuse a job none of whose modes the project's resources hold."""
    for name, modes in project.modes.items():
        shortages = []
        for mode in modes:
            triples = zip(project.resources, mode.needs, project.capacity, strict=True)
            shortages += [triple for triple in triples if triple[1] > triple[2]][:1]
        if len(shortages) == len(modes):
            resource, need, capacity = shortages[0]
            raise InvalidInstance(
                f"{modes[0].where}: job {name} needs {need} of {resource}: expected at most "
                f"{capacity}"
            )


def _without_nonrenewable(project: Project, path: object) -> list[Note]:
    """Refuse nonrenewable resources, unless there is enough whichever modes are chosen."""
    notes = []
    for k in range(project.renewable, len(project.resources)):
        largest_need = sum(max(mode.needs[k] for mode in modes) for modes in project.modes.values())
        if largest_need > project.capacity[k]:
            raise InvalidInstance(
                f"{path}: nonrenewable resource {project.resources[k]}: {project.capacity[k]} of "
                f"{largest_need} that jobs may need: expected enough for all (moldable jobs share "
                "only what they give back)"
            )
        text = f"{project.resources[k]} is enough for every choice of modes: left out"
        notes.append(Note(NoteKind.NOT_USED, text, subject=project.resources[k]))
    return notes


def _processors_of(project: Project, names: Sequence[str]) -> int | None:
    """The resource of which every mode needs some, and the modes of a job different numbers.

    Of several the scarcest: the one of which all jobs together use the largest part.
    """
    best: tuple[float, int] | None = None
    for k in range(project.renewable):
        counts = [[mode.needs[k] for mode in project.modes[name]] for name in names]
        fits = all(min(of_job) >= 1 and len(set(of_job)) == len(of_job) for of_job in counts)
        if not fits or not 1 <= project.capacity[k] <= _MOST_PROCESSORS:
            continue
        work = sum(
            min(mode.needs[k] * mode.duration for mode in project.modes[name]) for name in names
        )
        part = work / project.capacity[k]
        if best is None or part > best[0]:
            best = (part, k)
    return None if best is None else best[1]


def _dominated_modes(project: Project, names: Sequence[str], resource: int) -> int:
    """How many modes are no faster than one on fewer processors.

    Such a mode of a job that needs less of something else is refused: moldable jobs never take
    more processors for a longer time.
    """
    count = 0
    for name in names:
        modes = sorted(project.modes[name], key=lambda mode: mode.needs[resource])
        for k, mode in enumerate(modes):
            faster = [m for m in modes[:k] if m.duration <= mode.duration]
            if not faster:
                continue
            if not any(
                all(a <= b for a, b in zip(m.needs, mode.needs, strict=True)) for m in faster
            ):
                raise InvalidInstance(
                    f"{mode.where}: job {name} is no faster on {mode.needs[resource]} processors "
                    f"than on {faster[0].needs[resource]}, and needs less of another resource: "
                    "expected modes that are faster with more processors"
                )
            count += 1
    return count


def _tables(project: Project, names: Sequence[str], resource: int | None) -> dict[str, Any]:
    """Times, and needs of the resources that are no processors, by count."""
    width = (
        1
        if resource is None
        else min(
            project.capacity[resource],
            max(mode.needs[resource] for name in names for mode in project.modes[name]),
        )
    )
    times = np.full((len(names), width), np.inf)
    others = [k for k in range(project.renewable) if k != resource]
    needs = {k: np.zeros((len(names), width)) for k in others}
    for row, name in enumerate(names):
        for mode in project.modes[name]:
            count = 1 if resource is None else mode.needs[resource]
            if any(mode.needs[k] > project.capacity[k] for k in range(project.renewable)):
                continue  # no schedule has this mode
            times[row, count - 1] = mode.duration
            for k in others:
                needs[k][row, count - 1] = mode.needs[k]
    used = [k for k in others if needs[k].any()]
    if not used:
        return {"times": times}
    resources = {}
    for k in used:
        is_one_number = all(
            len({mode.needs[k] for mode in project.modes[name]}) == 1 for name in names
        )
        resources[project.resources[k]] = needs[k].max(axis=1) if is_one_number else needs[k]
    capacity = {project.resources[k]: float(project.capacity[k]) for k in used}
    return {"times": times, "resources": resources, "capacity": capacity}


def _edges(project: Project, names: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of jobs with a duration; paths over jobs without one count."""
    number = {name: row for row, name in enumerate(names)}
    edges: dict[tuple[int, int], None] = {}
    for name in names:
        seen: set[str] = set()
        todo = list(project.successors.get(name, ()))
        while todo:
            other = todo.pop(0)
            if other in seen:
                continue
            seen.add(other)
            if other in number:
                edges[number[name], number[other]] = None
            else:
                todo += project.successors.get(other, ())
    return list(edges)


def require_known(where: str, successor: str, names: dict[str, Any]) -> str:
    """A successor, which has to be a job."""
    if successor not in names:
        raise InvalidInstance(
            f"{where}: successor {shorten(successor)}: expected the number of a job"
        )
    return successor
