"""A folder of allocations: what is written for sbatch and for the runner."""

import hashlib
import json
import math
import os
import shutil
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from cosched import io
from cosched.errors import InvalidInstance
from cosched.execution.batches import runner
from cosched.execution.batches.planned_batches import Batches
from cosched.execution.batches.problem import OF_NODE
from cosched.execution.batches.scripts import script_of, submission_of
from cosched.execution.code import output_names
from cosched.execution.slurm_words import (
    gpus_option,
    licences_option,
    mebibytes,
    option_lines,
)

__all__ = ["FORMAT", "REST", "VERSION", "script_of", "write"]

FORMAT, VERSION = "cosched-batch", 1
#: Names the folders of later rounds: what had not completed, planned again.
REST = "rest.json"


def write(
    batches: Batches,
    folder: str | PathLike[str],
    *,
    options: Mapping[str, str] | None = None,
    jobs: int | None = None,
    rest_of: str | PathLike[str] | None = None,
) -> Path:
    """Write what runs a batch: a script an allocation, and ``submit.sh``, which submits all.

    The folder is written as a whole or not at all.

    Parameters
    ----------
    folder : path-like
        Made, or empty.
    options : mapping, optional
        Further options of sbatch, name -> value.
    jobs : int, optional
        Allocations that may run at a time; by default as many as there are.
    rest_of : path-like, optional
        The folder whose open tasks these are; it then knows of the new one.

    Returns
    -------
    pathlib.Path
        Of ``submit.sh``.

    Raises
    ------
    InvalidInstance
        The folder is not empty.

    Examples
    --------
    >>> from cosched.execution import BatchTask, batch, batches
    >>> task = BatchTask(name="fem", seconds={1: 60.0}, commands={1: ("./fem",)})
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> batches.write(batch([task], limit=120.0, cores=2), folder).name
    'submit.sh'
    >>> batches.status(folder)[0].waiting
    ['fem']
    """
    place = Path(os.path.abspath(folder))
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InvalidInstance(f"{folder}: is there already: expected a new folder")
    asked = list(option_lines(options or {}))
    names = [f"part-{k:03d}" for k in range(1, len(batches.allocations) + 1)]
    target = place.resolve()
    with io.new_folder(target) as unfinished:
        _fill(unfinished, target, batches, names, asked, jobs)
    if rest_of is not None:
        try:
            _link(Path(rest_of), target)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise
    return Path(folder) / "submit.sh"


def _fill(
    folder: Path,
    target: Path,
    batch: Batches,
    names: list[str],
    options: Sequence[str],
    jobs: int | None,
) -> None:
    """Write all files into `folder`, which will be `target`."""
    parts = [_for_runner(batch, place) for place in range(len(names))]
    content = json.dumps([str(target), parts], sort_keys=True)
    key = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    shutil.copyfile(runner.__file__, folder / "runner.py")
    for place, (name, part) in enumerate(zip(names, parts, strict=True)):
        io.write_json({"batch": key, **part}, folder / f"{name}.json")
        io.write_text(_script(batch, place, name, options, target, key), folder / f"{name}.sh")
    after = [allocation.after for allocation in batch.allocations]
    io.write_text(submission_of(names, after, jobs), folder / "submit.sh")
    io.write_json(_to_dict(batch, names), folder / "batch.json")


def _link(before: Path, folder: Path) -> None:
    """Let a folder know of the one that has its open tasks."""
    path = before / REST
    later = io.read_json(path)["folders"] if path.exists() else []
    relative = os.path.relpath(folder, before.resolve())
    io.write_json({"folders": [*later, relative]}, path)


def _to_dict(batch: Batches, names: list[str]) -> dict[str, Any]:
    allocations = [
        {
            "script": f"{name}.sh",
            "nodes": batch.problem.nodes,
            "limit": batch.limit,
            "time": batch.time,
            "end": allocation.end,
            "tasks": [
                {
                    "name": batch.tasks[placed.task].name,
                    "start": placed.start,
                    "end": placed.end,
                    "node": placed.node,
                    "cores": batch.cores_of(placed),
                }
                for placed in allocation.tasks
            ],
            "after": list(allocation.after),
        }
        for name, allocation in zip(names, batch.allocations, strict=True)
    ]
    shape = dict(zip(OF_NODE, batch.problem.node, strict=True))
    return {
        "format": FORMAT,
        "version": VERSION,
        "allocations": allocations,
        "node_seconds": batch.node_seconds,
        "bound": batch.bound,
        "chance": batch.durations.probability,
        "spread": batch.durations.spread,
        "node": {k: v if math.isfinite(v) else None for k, v in shape.items()},
        "licences": dict(zip(batch.licences, batch.problem.shared, strict=True)),
    }


def _for_runner(batch: Batches, k: int) -> dict[str, Any]:
    problem = batch.problem
    outputs = output_names(batch.tasks[placed.task].name for placed in batch.allocations[k].tasks)
    tasks = []
    for placed in batch.allocations[k].tasks:
        task, cores = batch.tasks[placed.task], batch.cores_of(placed)
        tasks.append(
            {
                "name": task.name,
                "command": list(task.commands[cores]),
                "seconds": problem.seconds[placed.task],
                "need": list(problem.needs[placed.task]),
                "shared": list(problem.shared_needs[placed.task]),
                "node": placed.node,
                "after": list(task.after),
                "directory": task.directory,
                "environment": dict(task.environment),
                "output": outputs[task.name],
            }
        )
    node = [have if math.isfinite(have) else 1e300 for have in problem.node]
    return {
        "nodes": problem.nodes,
        "limit": batch.limit,
        "time": batch.time,
        "node": node,
        "shared": list(problem.shared),
        "tasks": tasks,
    }


def _script(
    batch: Batches, k: int, name: str, options: Sequence[str], folder: Path, key: str
) -> str:
    cores, memory, gpus = batch.problem.node
    more = list(options)
    needs = [batch.problem.needs[placed.task] for placed in batch.allocations[k].tasks]
    if math.isfinite(memory) and any(need[1] for need in needs):
        more.append(f"--mem={mebibytes(memory)}M")
    if any(need[2] for need in needs):
        more.append(gpus_option(gpus))
    holds = [batch.problem.shared_needs[placed.task] for placed in batch.allocations[k].tasks]
    licences = {
        name: min(sum(amounts[place] for amounts in holds), batch.problem.shared[place])
        for place, name in enumerate(batch.licences)
    }
    if option := licences_option(licences):
        more.append(option)
    about = f"{len(needs)} tasks, planned end {batch.allocations[k].end:.6g} s"
    return script_of(
        name, batch.problem.nodes, int(cores), batch.time, more, about, folder=folder, key=key
    )
