"""``cosched batch``: many small tasks in few Slurm jobs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import InputPath, Integer, Number, OutputFolder, TextType
from cosched.cli.shared_options import (
    analysis_option,
    execution_option,
    input_option,
    job_option,
    json_option,
    output_option,
    require_output,
)

if TYPE_CHECKING:
    from cosched import execution
    from cosched.execution import batches

#: Shapes of allocations that ``auto`` tries: nodes, and time limits (s).
NODE_COUNTS = (1, 2, 4)
TIME_LIMITS = (3600.0, 14400.0, 43200.0)
#: Simulated scenarios for the waits of each shape.
_N_SCENARIOS = 40
_BYTES_PER_GB = 1e9


class NodeCount(TextType["tuple[int, ...]"]):
    """A number of nodes, or ``auto``: those that are tried."""

    name = "integer|auto"

    def read(self, text: str, name: str) -> tuple[int, ...]:
        return NODE_COUNTS if text == "auto" else (Integer().read(text, name),)


class TimeLimits(TextType["tuple[float, ...]"]):
    """A time limit as sbatch takes it, or ``auto``: those that are tried."""

    name = "time|auto"

    def read(self, text: str, name: str) -> tuple[float, ...]:
        from cosched.execution.batches import limit_of

        seconds = TIME_LIMITS if text == "auto" else (read_time(text, name),)
        return tuple(map(limit_of, seconds))


class Gigabytes(TextType[float]):
    """An amount of memory: a number of GB (1e9 bytes), or one with its unit, as ``512MB``."""

    name = "size"

    def read(self, text: str, name: str) -> float:
        from cosched import io
        from cosched.errors import InvalidInstance, shorten
        from cosched.units import parse_bytes

        expected = "a positive number of GB, or one with its unit, as 512MB"
        if io.is_number(text):
            return io.parse_positive(text, name, expected)
        n_bytes = parse_bytes(text)
        if not n_bytes:
            raise InvalidInstance(f"{name}: {shorten(text)}: expected {expected}")
        return n_bytes / _BYTES_PER_GB


class TimesOfTasks(TextType["list[float]"]):
    """Times of a task with blanks between them; bare numbers are seconds."""

    name = "seconds ..."

    def read(self, text: str, name: str) -> list[float]:
        return [read_time(part, name, 1.0) for part in text.split()]


def read_time(text: str, name: str, unit: float = 60.0) -> float:
    """The seconds of a time; a bare number is in units of so many seconds."""
    from cosched import io
    from cosched.errors import InvalidInstance, shorten
    from cosched.slurm.conf.lines import seconds_of_time

    if unit != 60.0 and io.is_number(text):
        return io.parse_positive(text, name)
    seconds = seconds_of_time(text, name)
    if not 0 < seconds < math.inf:
        raise InvalidInstance(f"{name} {shorten(text)}: expected a time, as 4h")
    return seconds


@click.command("batch", cls=Command)
@click.argument(
    "tasks",
    type=InputPath(),
    help="codes.toml, or a CSV of command lines (command,seconds[,cores,memory,after,name]), or "
    "with --seconds or --runs a command in each line, or - for standard input; with --status, "
    "--wait and --rest the folder of the scripts.",
)
@input_option(
    "--runs",
    type=InputPath(),
    help="Measurements by profile, of the codes, or of tasks by their names or commands.",
)
@input_option(
    "--seconds",
    type=TimesOfTasks(),
    help='Time of each task that has none, as 90 or 5m; several measurements: "60 62 58".',
)
@input_option(
    "--snapshot",
    type=InputPath(),
    help="With auto: the state of Slurm that snapshot wrote; default: this host's Slurm.",
)
@job_option("--nodes", type=NodeCount(), help="Nodes of an allocation, or auto; default: 1.")
@job_option(
    "--time",
    "limit",
    type=TimeLimits(),
    help="Time limit of an allocation, as 4h, or as sbatch takes it; or auto.",
)
@job_option(
    "--cores-per-node",
    "cores",
    type=Integer(),
    help="Cores per node; default: procs of the codes.",
)
@job_option(
    "--memory-per-node",
    "memory",
    type=Gigabytes(),
    help="Memory per node in GB, or as 512MB; default: that of the codes.",
)
@job_option("--partition", metavar="NAME", help="Partition of the jobs.")
@job_option("--account", metavar="NAME", help="Account of the jobs.")
@analysis_option(
    "--chance",
    type=Number(0),
    help="Confidence that an allocation ends in time, below 1; default: 0.95.",
)
@analysis_option(
    "--spread",
    type=Number(0, includes_low=True),
    help="Standard deviation of the logarithm of all run times, where no task was measured twice; "
    "0: they are exact; default: 0.1.",
)
@execution_option(
    "--jobs", type=Integer(), help="Allocations in the queue at a time; default: all."
)
@execution_option(
    "--status", is_flag=True, help="Show the state of the tasks of a folder, later rounds included."
)
@execution_option(
    "--watch",
    is_flag=True,
    help="With --status: show progress until nothing runs or waits in the queue.",
)
@execution_option(
    "--wait", is_flag=True, help="Wait until nothing runs or waits in the queue, then --status."
)
@execution_option(
    "--rest",
    is_flag=True,
    help="Bundle the tasks that have not completed and do not run, in allocations of the "
    "same nodes and time unless others are given; with a longer limit where the limit ended tasks.",
)
@output_option("-o", "--output", type=OutputFolder(), help="New folder for the scripts.")
@json_option
def batch(
    tasks: Path,
    runs: Path | None,
    seconds: list[float] | None,
    snapshot: Path | None,
    nodes: tuple[int, ...] | None,
    limit: tuple[float, ...] | None,
    cores: int | None,
    memory: float | None,
    partition: str | None,
    account: str | None,
    chance: float | None,
    spread: float | None,
    jobs: int | None,
    status: bool,
    watch: bool,
    wait: bool,
    rest: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Bundle many small tasks into few Slurm jobs.

    The tasks are packed into identical allocations, in few node-hours, with a lower bound.

    \b
    Example: cosched batch list.csv --nodes 2 --time 4:00:00 --cores-per-node 16 -o jobs
    """
    import shlex

    from cosched.cli import report
    from cosched.cli.batch_folders import show_folder, watch_folder
    from cosched.errors import InvalidInstance
    from cosched.execution import batches

    shape: dict[str, Any] = {
        "nodes": nodes,
        "limit": limit,
        "cores": cores,
        "memory": memory,
        "chance": chance,
        "spread": spread,
    }
    shape_options = {name: value for name, value in shape.items() if value is not None}
    sbatch_options = {"partition": partition, "account": account}
    other_options = {
        "runs": runs,
        "seconds": seconds,
        "jobs": jobs,
        "snapshot": snapshot,
        "-o": output,
        **sbatch_options,
    }
    if watch and not status:
        raise InvalidInstance("--watch: expected --status, too")
    require_one_mode({"status": status, "wait": wait, "rest": rest}, shape_options, other_options)
    if status or wait:
        if watch or wait:
            watch_folder(tasks, says_progress=watch)
        show_folder(tasks, as_json=as_json)
        return
    folder = require_output(output, "new folder for the scripts")
    if rest:  # what has not completed, in the shape that it had
        limits = shape_options.get("limit", ())
        todo, measured_shape = batches.rest(tasks, limit=max(limits, default=None))
        measured_shape |= {"nodes": (measured_shape["nodes"],), "limit": (measured_shape["limit"],)}
    else:
        todo, measured_shape = _read_tasks(tasks, runs, seconds, shape_options)
    batches_made = _make_batches(todo, measured_shape | shape_options, snapshot, sbatch_options)
    submit = batches.write(
        batches_made,
        folder,
        options={name: value for name, value in sbatch_options.items() if value is not None},
        jobs=jobs,
        rest_of=tasks if rest else None,
    )
    if as_json:
        report.print_json({"submit": str(submit), "lines": batches_made.lines()})
        return
    for line in batches_made.lines():
        report.say(line)
    report.say(f"wrote {submit.parent}: {shlex.join(['bash', str(submit)])}")


def require_one_mode(
    modes: dict[str, bool], shape_options: dict[str, Any], other_options: dict[str, Any]
) -> None:
    """Refuse two questions about a folder, and options that say nothing beside one."""
    from cosched.errors import InvalidInstance

    chosen_modes = [name for name, is_chosen in modes.items() if is_chosen]
    if len(chosen_modes) > 1:
        names = " and ".join(f"--{name}" for name in chosen_modes)
        raise InvalidInstance(f"{names}: expected one of them")
    if not chosen_modes:
        return
    for name in ("runs", "seconds"):
        if other_options[name] is not None:
            raise InvalidInstance(
                f"--{name}: the times are those of the folder: expected it without"
            )
    has_others = bool(shape_options) or any(value is not None for value in other_options.values())
    if chosen_modes != ["rest"] and has_others:
        raise InvalidInstance(f"--{chosen_modes[0]}: expected the folder, and nothing beside it")


def _read_tasks(
    path: Path, runs: Path | None, seconds: list[float] | None, shape_options: dict[str, Any]
) -> tuple[batches.TaskList, dict[str, Any]]:
    """Read the tasks, and what a node has."""
    from cosched.errors import InvalidInstance, shorten
    from cosched.execution import batches
    from cosched.execution.codes import Codes

    if "limit" not in shape_options:
        raise InvalidInstance("missing --time: 4h, 4:00:00, or auto")
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
        raise InvalidInstance("missing --cores-per-node")
    if codes is None:
        return batches.TaskList.read(path, seconds=seconds or [], runs=runs), node
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
    from cosched import execution
    from cosched.errors import InvalidInstance

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


def _first_to_end(
    all_batches: list[execution.Batches],
    snapshot: Path | None,
    sbatch_options: dict[str, str | None],
) -> execution.Batches:
    """Return the choice that ends first by the waits that `when` expects: of those that end about
    as early, the one with the fewest node-seconds.

    All allocations wait at once, so the wait of one is the wait of all.
    """
    from cosched import slurm
    from cosched.cli import report
    from cosched.core.text import count_of
    from cosched.units import format_duration

    snapshot_read = slurm.Snapshot.read(snapshot) if snapshot else slurm.Snapshot.ask("14days")
    paths = [_longest_chain(candidate) for candidate in all_batches]
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
        frame = slurm.when(snapshot_read, None, requests, draws=_N_SCENARIOS)
    rows = frame.tail(len(all_batches)).reset_index(drop=True)
    ends = rows["p50"] + paths
    close = [k for k in range(len(all_batches)) if ends[k] <= 1.05 * ends.min()]
    best_number = min(close, key=lambda k: all_batches[k].node_seconds)
    begin, end = format_duration(rows["p50"][best_number]), format_duration(ends[best_number])
    report.say(
        f"auto: allocations of {count_of(all_batches[best_number].problem.nodes, 'node')} for "
        f"{format_duration(all_batches[best_number].time)}: "
        f"expected to start in {begin}, and to end in {end}"
    )
    return all_batches[best_number]


def _longest_chain(candidate: execution.Batches) -> float:
    """Return seconds of the longest chain of allocations."""
    ends: list[float] = []
    for allocation in candidate.allocations:
        ends.append(allocation.end + max((ends[k] for k in allocation.after), default=0.0))
    return max(ends)
