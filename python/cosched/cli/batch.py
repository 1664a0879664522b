"""``cosched batch``: many small tasks in few allocations."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosched import cluster, execution, io
from cosched.cli import report
from cosched.cli.batch_folders import show, watch
from cosched.cli.parameters import adds
from cosched.errors import InvalidInstance, shorten
from cosched.execution import batches
from cosched.execution.codes import Codes
from cosched.slurm.conf.lines import seconds_of_time

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
        parser_of_option: dict[str, Callable[[str], Any]] = {
            "nodes": lambda text: _NODES if text == "auto" else (_whole(text, "--nodes"),),
            "limit": lambda text: (
                tuple(map(batches.limit_of, _LIMITS))
                if text == "auto"
                else (batches.limit_of(_seconds(text, "--time")),)
            ),
            "cores": lambda text: _whole(text, "--cores-per-node"),
            "memory": lambda text: io.parse_positive(
                text, "--memory-per-node", "a positive number of GB"
            ),
            "chance": lambda text: io.parse_positive(text, "--chance", "a number below 1"),
            "spread": lambda text: io.parse_nonnegative(text, "--spread"),
        }
        return {
            k: parser(text)
            for k, parser in parser_of_option.items()
            if (text := getattr(self, k)) is not None
        }


def _whole(text: str, name: str) -> int:
    return io.parse_integer(text, name, 1, 10**6)


@dataclass(frozen=True)
class Look:
    """What is asked about a folder, in place of a plan."""

    status: bool = False
    watch: bool = False
    wait: bool = False
    rest: bool = False

    def check(self, shape_options: dict[str, Any], others: dict[str, Any]) -> None:
        """Refuse options that say nothing beside these."""
        exclusive_options = [name for name in ("status", "wait", "rest") if getattr(self, name)]
        if len(exclusive_options) > 1:
            names = " and ".join(f"--{name}" for name in exclusive_options)
            raise InvalidInstance(f"{names}: expected one of them")
        if self.watch and not self.status:
            raise InvalidInstance("--watch: expected --status, too")
        if not exclusive_options:
            return
        for name in ("runs", "seconds"):
            if others[name] is not None:
                raise InvalidInstance(
                    f"--{name}: the times are those of the folder: expected it without"
                )
        if exclusive_options != ["rest"] and (
            shape_options or any(value is not None for value in others.values())
        ):
            raise InvalidInstance(
                f"--{exclusive_options[0]}: expected the folder, and nothing beside it"
            )


def batch(
    tasks: Path,
    shape: Shape,
    look: Look,
    runs: Path | None = None,
    seconds: str | None = None,
    jobs: str | None = None,
    partition: str | None = None,
    account: str | None = None,
    snapshot: Path | None = None,
    output: Path | None = None,
) -> None:
    shape_options = shape.typed()
    sbatch_options = {"partition": partition, "account": account}
    other_options = {
        "runs": runs,
        "seconds": seconds,
        "jobs": jobs,
        "snapshot": snapshot,
        "-o": output,
    }
    look.check(shape_options, other_options | sbatch_options)
    if look.status or look.wait:
        if look.watch or look.wait:
            watch(tasks, says_progress=look.watch)
        show(tasks)
        return
    if output is None:
        raise InvalidInstance("expected -o, a new folder")
    if look.rest:  # what has not completed, in the shape that it had
        limits = shape_options.get("limit", ())
        todo, measured_shape = batches.rest(tasks, limit=max(limits, default=None))
        measured_shape |= {"nodes": (measured_shape["nodes"],), "limit": (measured_shape["limit"],)}
    else:
        todo, measured_shape = _read_tasks(tasks, runs, seconds, shape_options)
    batches_made = _make_batches(todo, measured_shape | shape_options, snapshot, sbatch_options)
    submit = batches.write(
        batches_made,
        output,
        options={name: value for name, value in sbatch_options.items() if value is not None},
        jobs=None if jobs is None else io.parse_integer(jobs, "--jobs", 1, 10**6),
        rest_of=tasks if look.rest else None,
    )
    for line in batches_made.lines():
        report.say(line)
    report.say(f"wrote {submit.parent}: {shlex.join(['bash', str(submit)])}")


def _read_tasks(
    path: Path, runs: Path | None, seconds: str | None, shape_options: dict[str, Any]
) -> tuple[batches.TaskList, dict[str, Any]]:
    """Tasks, and what a node has."""
    if "limit" not in shape_options:
        raise InvalidInstance("expected --time, as 4h or 4:00:00, or auto")
    node: dict[str, Any] = {}
    codes = Codes.read(path) if path.suffix == ".toml" else None
    if codes is not None:
        capacity = dict(codes.capacity)
        node = {"cores": codes.procs, "memory": capacity.pop("memory", math.inf)}
        node["gpus"] = capacity.pop("gpus", 0)
        needy = next((name for name, code in codes.items() if code.gpus), None)
        if needy is not None and "gpus" not in codes.capacity:
            raise InvalidInstance(
                f"{path}: task {shorten(needy)} needs GPUs: expected those of a node, as gpus in "
                "[capacity]"
            )
        node["licences"] = {k.partition(".")[2]: v for k, v in capacity.items()}
    node = {"nodes": (1,), **node, **shape_options}
    if "cores" not in node:
        raise InvalidInstance("expected --cores-per-node")
    if codes is None:
        times = [_seconds(text, "--seconds", 1.0) for text in (seconds or "").split()]
        return batches.TaskList.read(path, seconds=times, runs=runs), node
    if seconds is not None:
        raise InvalidInstance(f"--seconds: {path} has codes: expected --runs")
    if runs is None:
        raise InvalidInstance(f"{path}: expected --runs, the measurements of these codes")
    return batches.TaskList.of_codes(codes, runs, node["cores"]), node


def _make_batches(
    tasks: batches.TaskList,
    shape: dict[str, Any],
    snapshot: Path | None,
    sbatch_options: dict[str, str | None],
) -> execution.Batches:
    counts, limits = shape.pop("nodes"), shape.pop("limit")
    if len(counts) == len(limits) == 1:
        return execution.batch(tasks, nodes=counts[0], limit=limits[0], **shape)
    all_batches, refused = [], None
    for count in counts:
        for seconds in limits:
            try:
                all_batches.append(execution.batch(tasks, nodes=count, limit=seconds, **shape))
            except InvalidInstance as error:
                refused = error
                continue
            if len(all_batches[-1].allocations) == 1:
                break  # with more time it would be the same
    if not all_batches:
        raise refused or InvalidInstance("no shape fits")
    return _first_to_end(all_batches, snapshot, sbatch_options)


def _seconds(text: str, name: str, unit: float = 60.0) -> float:
    """Of a time; a bare number is in units of so many seconds."""
    if unit != 60.0 and io.is_number(text):
        return io.parse_positive(text, name)
    seconds = seconds_of_time(text, name)
    if not 0 < seconds < math.inf:
        raise InvalidInstance(f"{name} {shorten(text)}: expected a time, as 4h")
    return seconds


def _first_to_end(
    all_batches: list[execution.Batches],
    snapshot: Path | None,
    sbatch_options: dict[str, str | None],
) -> execution.Batches:
    """By the waits that `when` expects: of those that end about as early, the fewest node-seconds.

    All allocations wait at once, so the wait of one is the wait of all.
    """
    snapshot_read = cluster.Snapshot.read(snapshot) if snapshot else cluster.Snapshot.ask("14days")
    paths = [_path(candidate) for candidate in all_batches]
    requests = [
        {
            **sbatch_options,
            "nodes": candidate.problem.nodes,
            "time": candidate.time,
            "cpus_per_task": int(candidate.problem.node[0]),
            "runs": [path],
        }
        for candidate, path in zip(all_batches, paths, strict=True)
    ]
    with report.working("asking when such jobs start"):
        frame = cluster.when(snapshot_read, None, requests, draws=_DRAWS)
    rows = frame.tail(len(all_batches)).reset_index(drop=True)
    ends = rows["p50"] + paths
    close = [k for k in range(len(all_batches)) if ends[k] <= 1.05 * ends.min()]
    best_number = min(close, key=lambda k: all_batches[k].node_seconds)
    begin, end = rows["p50"][best_number] / 60, ends[best_number] / 60
    report.say(
        f"auto: allocations of {all_batches[best_number].problem.nodes} for "
        f"{all_batches[best_number].time / 3600:g} h: "
        f"expected to start in {begin:.0f} min, to be over in {end:.0f} min"
    )
    return all_batches[best_number]


def _path(candidate: execution.Batches) -> float:
    """Seconds of the longest chain of allocations."""
    ends: list[float] = []
    for allocation in candidate.allocations:
        ends.append(allocation.end + max((ends[k] for k in allocation.after), default=0.0))
    return max(ends)


add = adds(batch=batch)
