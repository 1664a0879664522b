"""``cosched batch``: many small tasks in few allocations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from cosched import cluster, execution, io
from cosched.cli import report
from cosched.cli.parameters import adds
from cosched.errors import InvalidInstance, shorten
from cosched.execution import batches
from cosched.execution.codes import Codes
from cosched.slurm.conf.lines import seconds_of_limit

#: Shapes that are tried: nodes, and limits (s).
_NODES, _LIMITS = (1, 2, 4), (3600.0, 14400.0, 43200.0)
#: Futures of each.
_DRAWS = 40


@dataclass(frozen=True)
class Shape:
    """What is asked of allocations, as typed; None: as the folder has it, or the default."""

    nodes: str | None = None
    limit: str | None = None
    cores: str | None = None
    memory: str | None = None
    chance: str | None = None
    spread: str | None = None

    def typed(self) -> dict[str, Any]:
        """What was given: arguments of `batch`; of nodes and limits all that are tried."""
        read: dict[str, Callable[[str], Any]] = {
            "nodes": lambda text: _NODES if text == "auto" else (_whole(text, "--nodes"),),
            "limit": lambda text: _LIMITS if text == "auto" else (_seconds(text),),
            "cores": lambda text: _whole(text, "--cores-per-node"),
            "memory": lambda text: io.parse_positive(text, "--memory-per-node", "GB"),
            "chance": lambda text: io.parse_positive(text, "--chance", "a number below 1"),
            "spread": lambda text: io.parse_nonnegative(text, "--spread"),
        }
        return {k: of(text) for k, of in read.items() if (text := getattr(self, k)) is not None}


def _whole(text: str, name: str) -> int:
    return io.parse_integer(text, name, 1, 10**6)


def batch(
    tasks: Path,
    shape: Shape,
    runs: Path | None = None,
    jobs: str | None = None,
    partition: str | None = None,
    account: str | None = None,
    snapshot: Path | None = None,
    output: Path | None = None,
    status: bool = False,
    rest: bool = False,
) -> None:
    if (status or rest) and runs is not None:
        raise InvalidInstance("--runs: the times are those of the folder: expected it without")
    typed = shape.typed()
    if status:
        if typed or output is not None:
            raise InvalidInstance("--status: expected the folder, and nothing beside it")
        _show(tasks)
        return
    if output is None:
        raise InvalidInstance("expected -o, a new folder")
    if rest:  # what has not completed, in the shape that it had
        todo, known = batches.rest(tasks)
        known |= {"nodes": (known["nodes"],), "limit": (known["limit"],)}
    else:
        todo, known = _read(tasks, runs, typed)
    asked = {"partition": partition, "account": account}
    made = _made(todo, known | typed, snapshot, asked)
    submit = batches.write(
        made,
        output,
        options={name: value for name, value in asked.items() if value is not None},
        jobs=None if jobs is None else io.parse_integer(jobs, "--jobs", 1, 10**6),
    )
    for line in made.lines():
        report.say(line)
    report.say(f"wrote {submit.parent}: bash {submit}")


def _read(
    path: Path, runs: Path | None, typed: dict[str, Any]
) -> tuple[batches.TaskList, dict[str, Any]]:
    """Tasks, and what a node has."""
    if "limit" not in typed:
        raise InvalidInstance("expected --time, as 4:00:00, or auto")
    node: dict[str, Any] = {}
    codes = Codes.read(path) if path.suffix == ".toml" else None
    if codes is not None:
        known = dict(codes.capacity)
        node = {"cores": codes.procs, "memory": known.pop("memory", math.inf)}
        node["gpus"] = known.pop("gpus", 0)
        node["licences"] = {k.partition(".")[2]: v for k, v in known.items()}
    node = {"nodes": (1,), **node, **typed}
    if "cores" not in node:
        raise InvalidInstance("expected --cores-per-node")
    if codes is None:
        return batches.TaskList.read(path), node
    if runs is None:
        raise InvalidInstance(f"{path}: expected --runs, the measurements of these codes")
    return batches.TaskList.of_codes(codes, runs, node["cores"]), node


def _made(
    tasks: batches.TaskList,
    given: dict[str, Any],
    snapshot: Path | None,
    asked: dict[str, str | None],
) -> execution.Batches:
    counts, limits = given.pop("nodes"), given.pop("limit")
    if len(counts) == len(limits) == 1:
        return execution.batch(tasks, nodes=counts[0], limit=limits[0], **given)
    found, refused = [], None
    for count in counts:
        for seconds in limits:
            try:
                found.append(execution.batch(tasks, nodes=count, limit=seconds, **given))
            except InvalidInstance as error:
                refused = error
                continue
            if len(found[-1].allocations) == 1:
                break  # with more time it would be the same
    if not found:
        raise refused or InvalidInstance("no shape fits")
    return _first_to_end(found, snapshot, asked)


def _seconds(text: str) -> float:
    seconds = seconds_of_limit(text, "--time")
    if not 0 < seconds < math.inf:
        raise InvalidInstance(f"--time {shorten(text)}: expected a limit, as 4:00:00")
    return seconds


def _first_to_end(
    found: list[execution.Batches], snapshot: Path | None, asked: dict[str, str | None]
) -> execution.Batches:
    """By the waits that `when` expects: of those that end about as early, the fewest node-seconds.

    All allocations wait at once, so the wait of one is the wait of all.
    """
    known = cluster.Snapshot.read(snapshot) if snapshot else cluster.Snapshot.ask("14days")
    paths = [_path(one) for one in found]
    requests = [
        {
            **asked,
            "nodes": one.problem.nodes,
            "time": one.limit,
            "cpus_per_task": int(one.problem.node[0]),
            "runs": [path],
        }
        for one, path in zip(found, paths, strict=True)
    ]
    with report.working("asking when such jobs start"):
        frame = cluster.when(known, None, requests, draws=_DRAWS)
    rows = frame.tail(len(found)).reset_index(drop=True)
    ends = rows["p50"] + paths
    close = [k for k in range(len(found)) if ends[k] <= 1.05 * ends.min()]
    best = min(close, key=lambda k: found[k].node_seconds)
    begin, end = rows["p50"][best] / 60, ends[best] / 60
    report.say(
        f"auto: allocations of {found[best].problem.nodes} for {found[best].limit / 3600:g} h: "
        f"expected to start in {begin:.0f} min, to be over in {end:.0f} min"
    )
    return found[best]


def _path(made: execution.Batches) -> float:
    """Seconds of the longest chain of allocations."""
    ends: list[float] = []
    for one in made.allocations:
        ends.append(one.end + max((ends[k] for k in one.after), default=0.0))
    return max(ends)


def _show(folder: Path) -> None:
    open_tasks = 0
    for one in batches.status(folder):
        counts = {
            "completed": one.completed,
            "failed": one.failed,
            "cut off": one.cut,
            "started": one.started,
            "waiting": one.waiting,
        }
        said = ", ".join(f"{len(names)} {what}" for what, names in counts.items() if names)
        report.say(f"{one.script}: {said}")
        for what in ("failed", "cut off"):
            for name in counts[what]:
                report.say(f"  {what}: {name}")
        open_tasks += sum(map(len, counts.values())) - len(one.completed)
    if open_tasks:
        report.say(f"the rest as new allocations: cosched batch {folder} --rest -o NEW")
        raise typer.Exit(1)


add = adds(batch=batch)
