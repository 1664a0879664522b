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
        read: dict[str, Callable[[str], Any]] = {
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
        return {k: of(text) for k, of in read.items() if (text := getattr(self, k)) is not None}


def _whole(text: str, name: str) -> int:
    return io.parse_integer(text, name, 1, 10**6)


@dataclass(frozen=True)
class Look:
    """What is asked about a folder, in place of a plan."""

    status: bool = False
    watch: bool = False
    wait: bool = False
    rest: bool = False

    def check(self, typed: dict[str, Any], others: dict[str, Any]) -> None:
        """Refuse options that say nothing beside these."""
        asked = [name for name in ("status", "wait", "rest") if getattr(self, name)]
        if len(asked) > 1:
            names = " and ".join(f"--{name}" for name in asked)
            raise InvalidInstance(f"{names}: expected one of them")
        if self.watch and not self.status:
            raise InvalidInstance("--watch: expected --status, too")
        if not asked:
            return
        for name in ("runs", "seconds"):
            if others[name] is not None:
                raise InvalidInstance(
                    f"--{name}: the times are those of the folder: expected it without"
                )
        if asked != ["rest"] and (typed or any(value is not None for value in others.values())):
            raise InvalidInstance(f"--{asked[0]}: expected the folder, and nothing beside it")


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
    typed = shape.typed()
    asked = {"partition": partition, "account": account}
    others = {"runs": runs, "seconds": seconds, "jobs": jobs, "snapshot": snapshot, "-o": output}
    look.check(typed, others | asked)
    if look.status or look.wait:
        if look.watch or look.wait:
            watch(tasks, says_progress=look.watch)
        show(tasks)
        return
    if output is None:
        raise InvalidInstance("expected -o, a new folder")
    if look.rest:  # what has not completed, in the shape that it had
        limits = typed.get("limit", ())
        todo, known = batches.rest(tasks, limit=max(limits, default=None))
        known |= {"nodes": (known["nodes"],), "limit": (known["limit"],)}
    else:
        todo, known = _read(tasks, runs, seconds, typed)
    made = _made(todo, known | typed, snapshot, asked)
    submit = batches.write(
        made,
        output,
        options={name: value for name, value in asked.items() if value is not None},
        jobs=None if jobs is None else io.parse_integer(jobs, "--jobs", 1, 10**6),
        rest_of=tasks if look.rest else None,
    )
    for line in made.lines():
        report.say(line)
    report.say(f"wrote {submit.parent}: {shlex.join(['bash', str(submit)])}")


def _read(
    path: Path, runs: Path | None, seconds: str | None, typed: dict[str, Any]
) -> tuple[batches.TaskList, dict[str, Any]]:
    """Tasks, and what a node has."""
    if "limit" not in typed:
        raise InvalidInstance("expected --time, as 4h or 4:00:00, or auto")
    node: dict[str, Any] = {}
    codes = Codes.read(path) if path.suffix == ".toml" else None
    if codes is not None:
        known = dict(codes.capacity)
        node = {"cores": codes.procs, "memory": known.pop("memory", math.inf)}
        node["gpus"] = known.pop("gpus", 0)
        needy = next((name for name, code in codes.items() if code.gpus), None)
        if needy is not None and "gpus" not in codes.capacity:
            raise InvalidInstance(
                f"{path}: task {shorten(needy)} needs GPUs: expected those of a node, as gpus in "
                "[capacity]"
            )
        node["licences"] = {k.partition(".")[2]: v for k, v in known.items()}
    node = {"nodes": (1,), **node, **typed}
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


def _seconds(text: str, name: str, unit: float = 60.0) -> float:
    """Of a time; a bare number is in units of so many seconds."""
    if unit != 60.0 and io.is_number(text):
        return io.parse_positive(text, name)
    seconds = seconds_of_time(text, name)
    if not 0 < seconds < math.inf:
        raise InvalidInstance(f"{name} {shorten(text)}: expected a time, as 4h")
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
            "time": one.time,
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
        f"auto: allocations of {found[best].problem.nodes} for {found[best].time / 3600:g} h: "
        f"expected to start in {begin:.0f} min, to be over in {end:.0f} min"
    )
    return found[best]


def _path(made: execution.Batches) -> float:
    """Seconds of the longest chain of allocations."""
    ends: list[float] = []
    for one in made.allocations:
        ends.append(one.end + max((ends[k] for k in one.after), default=0.0))
    return max(ends)


add = adds(batch=batch)
