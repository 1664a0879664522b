"""A folder of allocations: scripts that need no cosched, what has completed, and the rest."""

import math
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from cosched import io
from cosched.core.arrays import positive
from cosched.errors import InvalidInstance
from cosched.execution.batches import runner
from cosched.execution.batches.packing import Batches
from cosched.execution.batches.problem import OF_NODE
from cosched.execution.batches.task_list import BatchTask, TaskList
from cosched.execution.code import output_names
from cosched.execution.slurm_words import (
    gpus_option,
    licences_option,
    mebibytes,
    option_lines,
)

FORMAT, VERSION = "cosched-batch", 1
_OURS = "what `cosched batch` wrote"
#: A task that was cut off is planned with so much more than it had.
_LONGER = 1.2
_SCRIPT = """#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --nodes={nodes} --ntasks-per-node=1 --cpus-per-task={cores}
#SBATCH --time={minutes} --no-kill
#SBATCH --signal=B:TERM@30
#SBATCH --output={name}.log --open-mode=append
{more}# {about}; it needs Python 3 only.
# What starts and ends is a line in {name}.journal.jsonl; submitted again, it runs what has not
# completed.
cd -- "${{SLURM_SUBMIT_DIR:-$(dirname -- "$0")}}" || exit 1
exec {python} runner.py {name}.json
"""


def write(
    made: Batches,
    folder: str | PathLike[str],
    *,
    options: Mapping[str, str] | None = None,
    jobs: int | None = None,
) -> Path:
    """Write what runs a batch: a script an allocation, and ``submit.sh``, which submits all.

    Parameters
    ----------
    folder : path-like
        Made, or empty.
    options : mapping, optional
        Further options of sbatch, name -> value.
    jobs : int, optional
        Allocations that may run at a time; by default as many as there are.

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
    at = Path(folder)
    if at.exists() and (not at.is_dir() or any(at.iterdir())):
        raise InvalidInstance(f"{folder}: is there already: expected a new folder")
    asked = list(option_lines(options or {}))
    at.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(runner.__file__, at / "runner.py")
    names = [f"part-{k:03d}" for k in range(1, len(made.allocations) + 1)]
    for k, name in enumerate(names):
        io.write_json(_for_runner(made, k), at / f"{name}.json")
        io.write_text(_script(made, k, name, asked), at / f"{name}.sh")
    io.write_text("\n".join(_submit(made, names, jobs)) + "\n", at / "submit.sh")
    io.write_json(_to_dict(made, names), at / "batch.json")
    return at / "submit.sh"


def _to_dict(made: Batches, names: list[str]) -> dict[str, Any]:
    allocations = [
        {
            "script": f"{name}.sh",
            "nodes": made.problem.nodes,
            "limit": made.limit,
            "end": one.end,
            "tasks": [
                {
                    "name": made.tasks[placed.task].name,
                    "start": placed.start,
                    "end": placed.end,
                    "node": placed.node,
                    "cores": made.cores_of(placed),
                }
                for placed in one.tasks
            ],
            "after": list(one.after),
        }
        for name, one in zip(names, made.allocations, strict=True)
    ]
    shape = dict(zip(OF_NODE, made.problem.node, strict=True))
    return {
        "format": FORMAT,
        "version": VERSION,
        "allocations": allocations,
        "node_seconds": made.node_seconds,
        "bound": made.bound,
        "chance": made.chance.level,
        "spread": made.chance.spread,
        "node": {k: v if math.isfinite(v) else None for k, v in shape.items()},
        "licences": dict(zip(made.licences, made.problem.shared, strict=True)),
    }


def _for_runner(made: Batches, k: int) -> dict[str, Any]:
    problem = made.problem
    outputs = output_names(made.tasks[one.task].name for one in made.allocations[k].tasks)
    tasks = []
    for placed in made.allocations[k].tasks:
        task, cores = made.tasks[placed.task], made.cores_of(placed)
        tasks.append(
            {
                "name": task.name,
                "command": list(task.commands[cores]),
                "seconds": problem.seconds[placed.task],
                "need": list(problem.needs[placed.task]),
                "shared": list(problem.holds[placed.task]),
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
        "limit": made.limit,
        "node": node,
        "shared": list(problem.shared),
        "tasks": tasks,
    }


def _script(made: Batches, k: int, name: str, options: Sequence[str]) -> str:
    cores, memory, gpus = made.problem.node
    more = list(options)
    needs = [made.problem.needs[one.task] for one in made.allocations[k].tasks]
    if math.isfinite(memory) and any(need[1] for need in needs):
        more.append(f"--mem={mebibytes(memory)}M")
    if any(need[2] for need in needs):
        more.append(gpus_option(gpus))
    holds = [made.problem.holds[one.task] for one in made.allocations[k].tasks]
    licences = {
        name: min(sum(held[place] for held in holds), made.problem.shared[place])
        for place, name in enumerate(made.licences)
    }
    if option := licences_option(licences):
        more.append(option)
    about = f"{len(needs)} tasks, planned end {made.allocations[k].end:.6g} s"
    return script_of(name, made.problem.nodes, int(cores), made.limit, more, about)


def script_of(
    name: str,
    nodes: int,
    cores: int,
    limit: float,
    options: Sequence[str],
    about: str = "many",
    python: str = "python3",
) -> str:
    """A script for sbatch that starts the runner with ``NAME.json``."""
    return _SCRIPT.format(
        name=name,
        nodes=nodes,
        cores=cores,
        minutes=max(math.ceil(limit / 60), 1),
        more="".join(f"#SBATCH {one}\n" for one in options),
        about=about,
        python=shlex.quote(python),
    )


def _submit(made: Batches, names: list[str], jobs: int | None) -> Iterator[str]:
    yield "#!/bin/bash"
    yield "# Submits all allocations; those that wait for others after them."
    yield 'cd -- "$(dirname -- "$0")" && set -e'
    for k, (name, one) in enumerate(zip(names, made.allocations, strict=True)):
        waits = [f"afterok:$j{before}" for before in one.after]
        if jobs is not None and k >= jobs and k - jobs not in one.after:
            waits.append(f"afterany:$j{k - jobs}")
        depends = f" --dependency={','.join(waits)}" if waits else ""
        yield f"j{k}=$(sbatch --parsable{depends} {name}.sh); echo {name}: $j{k}"


@dataclass(frozen=True)
class State:
    """What the journal of an allocation says of its tasks, by their names."""

    script: str
    completed: list[str]
    failed: list[str]
    cut: list[str]
    started: list[str]
    waiting: list[str]


def status(folder: str | PathLike[str]) -> list[State]:
    """What has become of each allocation of a folder.

    `started` have started and not ended: they run, or their runner died.

    Raises
    ------
    InvalidInstance
        The folder is none of :func:`write`.
    """
    at = Path(folder)
    scripts, shape = _read(at)
    return [_state(at, script, _tasks(at, script, shape["licences"]))[0] for script in scripts]


@contextmanager
def _written(path: Path) -> Iterator[Any]:
    """The data of a file; what is not there, or of another kind, is refused by the file's name."""
    data = io.read_json(path)
    try:
        yield data
    except KeyError as error:
        raise InvalidInstance(f"{path}: no {error}: expected {_OURS}") from None
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        raise InvalidInstance(f"{path}: {error}: expected {_OURS}") from None


def _read(at: Path) -> tuple[list[str], dict[str, Any]]:
    """The scripts of a folder, and the arguments of `batch` for their shape."""
    if not (at / "batch.json").exists():
        raise InvalidInstance(f"{at}: no batch.json there: expected {_OURS}")
    with _written(at / "batch.json") as data:
        if (data["format"], data["version"]) != (FORMAT, VERSION):
            raise ValueError(f"not {FORMAT}, version {VERSION}")
        first, node = data["allocations"][0], data["node"]
        return [str(one["script"]) for one in data["allocations"]], {
            "nodes": int(first["nodes"]),
            "limit": float(first["limit"]),
            "cores": int(node["cores"]),
            "memory": math.inf if node["memory"] is None else float(node["memory"]),
            "gpus": int(node["gpus"]),
            "licences": {name: float(have) for name, have in data["licences"].items()},
            "chance": float(data["chance"]),
            "spread": float(data["spread"]),
        }


def _tasks(at: Path, script: str, licences: Iterable[str]) -> list[BatchTask]:
    """Of an allocation, as they were planned."""
    with _written((at / script).with_suffix(".json")) as data:
        return [_task(task, licences) for task in data["tasks"]]


def _task(task: dict[str, Any], licences: Iterable[str]) -> BatchTask:
    cores, memory, gpus = map(float, task["need"])
    return BatchTask(
        name=str(task["name"]),
        seconds={int(cores): positive(task["seconds"], "seconds")},
        commands={int(cores): tuple(map(str, task["command"]))},
        memory={int(cores): memory},
        gpus=int(gpus),
        licences={k: float(v) for k, v in zip(licences, task["shared"], strict=True) if v},
        after=tuple(map(str, task["after"])),
        directory=str(task["directory"]),
        environment=dict(task["environment"]),
    )


def _state(at: Path, script: str, tasks: Iterable[BatchTask]) -> tuple[State, dict[str, float]]:
    """And of those that were cut off, the seconds that they had."""
    last: dict[str, str] = {}
    had: dict[str, float] = {}
    journal = (at / script).with_suffix(".journal.jsonl")
    for name, state, seconds in runner.read_journal(journal) if journal.exists() else ():
        last[name] = state
        if state == "cut":
            had[name] = seconds
    by: dict[str, list[str]] = {}
    for task in tasks:
        by.setdefault(last.get(task.name, "waiting"), []).append(task.name)
    kinds = ("completed", "failed", "cut", "started", "waiting")
    return State(script, *(by.get(kind, []) for kind in kinds)), had


def rest(folder: str | PathLike[str]) -> tuple[TaskList, dict[str, Any]]:
    """The tasks of a folder that have not completed, and the arguments of `batch` for them.

    One that was cut off is planned with a fifth more than it had, if that is longer.

    Raises
    ------
    InvalidInstance
        The folder is none of :func:`write`, or everything has completed.
    """
    at, found = Path(folder), []
    scripts, shape = _read(at)
    done = runner.completed_in(at)
    for script in scripts:
        tasks = _tasks(at, script, shape["licences"])
        _, had = _state(at, script, tasks)
        found += [_again(task, had, done) for task in tasks if task.name not in done]
    if not found:
        raise InvalidInstance(f"{folder}: all tasks have completed: nothing is left")
    return TaskList(tuple(found)), shape


def _again(task: BatchTask, had: Mapping[str, float], done: set[str]) -> BatchTask:
    longer = _LONGER * had.get(task.name, 0.0)
    return replace(
        task,
        seconds={cores: max(seconds, longer) for cores, seconds in task.seconds.items()},
        after=tuple(name for name in task.after if name not in done),
    )
