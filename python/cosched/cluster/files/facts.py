"""What a log says of its jobs beside their needs, and of the machine that it ran on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.cluster.files.swf import KNOWN, exceeds_run
from cosched.cluster.files.unmet_constraints import without_unmet_constraints
from cosched.cluster.machine.parts import lacks, room, site_of, wider_than_nodes
from cosched.core.arrays import (
    OVERUSE_RATIO,
    OVERUSE_SHARE,
    integer,
    positive,
    share_above,
    step_function,
)
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.notes import Note, NoteKind
from cosched.units import BYTES_OF_UNIT

if TYPE_CHECKING:
    from cosched.cluster.machine import Machine

#: What a job used: GB at its peak, in equal parts on its nodes; processor seconds; the parts of the
#: processor time, and of the GPUs, that it had.
USED = ("used_memory_gb", "cpu_seconds", "cpu_efficiency", "gpu_efficiency")
#: Columns of an instance's jobs that no algorithm needs, where known.
FACTS = ("user", "group", "account", "qos", "partition", "status", "line", "wait", "running", "ran",
         "held", "memory_gb", "gpus", "gpu_type", "threads", "nodes", "priority",
         "constraint", "memory_per", "gpus_per", "exclusive", "licenses", "dependency", "name",
         "nodelist", "exclude", "nice", "array", "job_name", "comment", "suspended", "hosts",
         *USED)  # fmt: skip
#: Those that are numbers >= 0, or not known, and their largest, which the core can count with: s;
#: GB (2^53 KB), GPUs, hardware threads, nodes of the whole job; the batch system's priority.
MEASURES = {"wait": 2.0**53, "ran": 2.0**53, "suspended": 2.0**53, "memory_gb": 2.0**33,
            "gpus": 2**31 - 1, "threads": 2**31 - 1, "nodes": 2**31 - 1, "priority": 2.0**64,
            **dict.fromkeys(USED, 2.0**53)}  # fmt: skip

_KB_OF_GB = 2.0**20
_STATUS = {0: "failed", 1: "completed", 2: "partial", 3: "partial", 4: "partial", 5: "cancelled"}


def swf_facts(table: pd.DataFrame, header: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Return ``id`` and ``FACTS`` of the jobs of a log, without columns that it does not know."""
    facts = {"id": whole_numbers_as_text(table["job"].to_numpy())}
    for name in ("user", "group"):
        facts[name] = whole_numbers_as_text(table[name].to_numpy())
    facts["partition"] = _names_of_numbers(
        table["partition"].to_numpy(), header.get("Partition", "")
    )
    codes = table["status"].to_numpy()
    facts["status"] = np.array([_STATUS.get(code, "unknown") for code in codes.tolist()])
    facts["wait"] = table["wait"].to_numpy(dtype=float)
    facts |= _swf_use(table)
    facts["line"] = table["line"].to_numpy(dtype=np.int64)
    return {  # those that say something
        name: column
        for name, column in facts.items()
        if not (column.dtype.kind == "f" and np.isnan(column).all())
    }


def _swf_use(table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return requested memory and usage (fields 10, 7 and 6, per processor), and the number of the
    program; a zero means that nothing was measured."""

    def positive_column(name: str) -> np.ndarray:
        values = table[name].to_numpy(dtype=float)
        return np.where(values > 0, values, np.nan)

    requested_procs, allocated_procs = (
        table["processors"].to_numpy(dtype=float),
        positive_column("allocated_procs"),
    )
    allocated_procs = np.where(np.isnan(allocated_procs), requested_procs, allocated_procs)
    seconds, program = positive_column("average_cpu"), table["executable"].to_numpy()
    usage_columns = {
        "memory_gb": positive_column("requested_memory") * requested_procs / _KB_OF_GB,
        "used_memory_gb": positive_column("used_memory") * allocated_procs / _KB_OF_GB,
        "cpu_seconds": seconds * allocated_procs,
        "cpu_efficiency": np.where(
            exceeds_run(table), np.nan, np.minimum(seconds / positive_column("run"), 1.0)
        ),
    }
    if not np.isnan(program).all():
        usage_columns["job_name"] = np.array(
            ["" if np.isnan(k) else f"{k:g}" for k in program.tolist()]
        )
    return usage_columns


def whole_numbers_as_text(values: np.ndarray) -> np.ndarray:
    """Integers where all values are."""
    good = np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) < 2**53)
    return values.astype(np.int64) if good.all() else values


def _names_of_numbers(numbers: np.ndarray, names: str) -> np.ndarray:
    """Return partitions by the names that the header gives them."""
    if np.isnan(numbers).all():
        return numbers
    name_of_number: dict[float, str] = {}
    for line in names.splitlines():
        number, _, name = line.strip().partition(" ")
        if number.isdecimal() and name.strip():
            name_of_number[float(number)] = name.strip()
    return np.array(
        ["" if np.isnan(k) else name_of_number.get(k, f"{k:g}") for k in numbers.tolist()],
        dtype=str,
    )


#: What ``drop`` may name: which rows of the jobs (on so many nodes) it leaves out.
DROPS: dict[str, Callable[[pd.DataFrame, int, Machine | None], Any]] = {
    "too-wide": lambda jobs, nodes, machine: _too_wide(jobs, nodes, machine),
    "cancelled": lambda jobs, *_: _status(jobs) == "cancelled",
    "failed": lambda jobs, *_: _status(jobs) == "failed",
    "partial": lambda jobs, *_: _status(jobs) == "partial",
    "unknown-status": lambda jobs, *_: _status(jobs) == "unknown",
    "unknown-partition": lambda jobs, _, machine: (
        np.zeros(len(jobs), dtype=bool)
        if machine is None or "partition" not in jobs
        else lacks(machine, jobs["partition"])
    ),
    "run-0": lambda jobs, *_: jobs["runtime"] <= 0,
    "no-estimate": lambda jobs, *_: _estimates(jobs).isna(),
    "no-wait": lambda jobs, *_: _column(jobs, "wait", np.nan).isna(),
}


#: Why jobs are left out that run still; the subject of the note about them.
NOT_ENDED = "not ended yet"


def dropped(
    jobs: pd.DataFrame, nodes: int, drop: str | Iterable[str] | None, machine: Machine | None = None
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The jobs that are left, and how many are left out for each reason; a job is counted under the
    first that holds."""
    counts = {}
    for name in drop_names(drop):
        out = np.asarray(DROPS[name](jobs, nodes, machine), dtype=bool)
        counts[name] = int(out.sum())
        jobs = jobs[~out]
    if not len(jobs):
        raise InvalidInstance(f"drop = {','.join(drop_names(drop))}: no job is left")
    return jobs.reset_index(drop=True), counts


def note_of_dropped(counts: Mapping[str, int], kept_jobs: int | None = None) -> Note:
    """A note of the jobs that ``drop`` leaves out, by reason, and of how many are kept."""
    reasons = ", ".join(f"{count} {name}" for name, count in counts.items())
    text = f"assumed: left out: {reasons or 'nothing (--drop)'}"
    if kept_jobs is not None and counts:
        text += f"; {kept_jobs} jobs are left"
    return Note(NoteKind.DROPPED, text, subject="drop", count=sum(counts.values()))


def note_of_columns(jobs: pd.DataFrame) -> Note:
    """A note of how many jobs lack what, and how they ended."""
    return Note(NoteKind.ASSUMED, f"assumed: {described(jobs)}", subject="columns", count=len(jobs))


def _too_wide(jobs: pd.DataFrame, nodes: int, machine: Machine | None) -> np.ndarray:
    """Return jobs that its partition's nodes (else all) do not hold, with memory, GPUs and features
    where known; on a Slurm also those whose own number of nodes does not hold their cores."""
    if machine is None:
        return jobs["tasks"].to_numpy() > nodes
    queued = machine.partitions and "partition" in jobs
    max_tasks = room(machine, jobs["partition"]) if queued else np.full(len(jobs), nodes)
    is_too_wide = (jobs["tasks"].to_numpy() > max_tasks) | wider_than_nodes(machine, jobs)
    site = site_of(without_unmet_constraints(jobs, machine)[0], machine, [])
    if site is not None:
        is_too_wide[site.unfit] = True
    return is_too_wide


def drop_names(drop: str | Iterable[str] | None) -> list[str]:
    """Names out of ``"too-wide,cancelled"`` or a sequence, checked."""
    names = drop.split(",") if isinstance(drop, str) else list(drop or ())
    names = [name.strip() if isinstance(name, str) else name for name in names]
    for name in names:
        if name not in DROPS:
            raise InvalidInstance(f"drop = {shorten(name)}: expected some of {', '.join(DROPS)}")
    return names


def described(jobs: pd.DataFrame) -> str:
    """How many jobs lack what, and how they ended: one line."""
    unlimited = int(np.isinf(_estimates(jobs)).sum())
    parts = [f"{int(_estimates(jobs).isna().sum()):,} without estimate (their run time is taken)"]
    if unlimited:
        parts.append(f"{unlimited:,} without a time limit (plans expect no end of them)")
    parts.append(f"{int((jobs['runtime'] <= 0).sum()):,} of run time 0")
    if "wait" in jobs:
        unknown_waits = int(jobs["wait"].isna().sum())
        counts_as_none = " (counted as 0 s)" if unknown_waits else ""
        parts.append(f"{unknown_waits:,} without a logged wait{counts_as_none}")
    if "status" in jobs:
        counts = pd.Series(jobs["status"]).value_counts()
        parts.append("status " + ", ".join(f"{name} {n:,}" for name, n in counts.items()))
    return f"{len(jobs):,} jobs: " + "; ".join(parts)


def _column(jobs: pd.DataFrame, name: str, missing: object) -> pd.Series:
    return jobs[name] if name in jobs else pd.Series(missing, index=jobs.index)


def _status(jobs: pd.DataFrame) -> pd.Series:
    return _column(jobs, "status", "")


def _estimates(jobs: pd.DataFrame) -> pd.Series:
    return _column(jobs, "estimate", np.nan)


@dataclass(frozen=True)
class LogMachine:
    """Nodes of a log's machine; cores and memory where the convention needs them."""

    #: How many nodes.
    nodes: int
    #: Cores of a node.
    cores: int
    #: Memory of a node (KB).
    memory_kb: float
    #: One line per number: what it is, and its source.
    notes: tuple[str, ...]


def rigid_machine(path: object, header: Mapping[str, str], nodes: int | None) -> LogMachine:
    """Return a machine of one-processor nodes: `nodes`, else the header's MaxProcs (MaxNodes)."""
    if nodes is not None:
        return LogMachine(nodes, 1, 1, (f"{nodes} processors (option)",))
    for key in ("MaxProcs", "MaxNodes"):
        processors = _number(header, key)
        if processors:
            return LogMachine(processors, 1, 1, (f"{processors} processors (header: {key})",))
    raise InvalidInstance(
        f"{path}: nodes are missing: expected the number of processors (no MaxProcs in the header)"
    )


def shared_machine(
    path: object,
    header: Mapping[str, str],
    nodes: int | None,
    cores_per_node: int | None,
    memory_per_node: float | str | None,
) -> LogMachine:
    """Return nodes with cores and memory, by options, the header, or a known machine."""
    known_machine = _find_known_machine(header)
    count, from_nodes = _nodes(path, header, nodes, known_machine)
    cores, from_cores = _cores(path, header, count, cores_per_node)
    memory, from_memory = _memory(path, header, memory_per_node, known_machine)
    notes = (
        f"{count} nodes ({from_nodes})",
        f"{cores} {'core' if cores == 1 else 'cores'} a node ({from_cores})",
        f"{memory / 1024**2:.6g} GB a node ({from_memory})",
    )
    return LogMachine(count, cores, memory, notes)


def memory_kb(value: object, name: str = "memory_per_node") -> float:
    """Return the KB of a number (KB, as in logs) or of a text with a unit, such as ``"2GB"``."""
    if not isinstance(value, str):
        return positive(value, name, "a positive number of KB, or a text as 2GB")
    size_match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*)\s*([KMGT]B)?\s*", value, flags=re.IGNORECASE)
    if not size_match or float(size_match[1]) <= 0:
        raise InvalidInstance(f"{name} = {shorten(value)}: expected KB, or a size as 2GB")
    return float(size_match[1]) * BYTES_OF_UNIT[(size_match[2] or "KB")[0].upper()] / 1024


def _nodes(
    path: object, header: Mapping[str, str], nodes: object, known_machine: dict[str, Any] | None
):
    if nodes is not None:
        return integer(nodes, "nodes", 1), "option"
    if known_machine is not None:
        return known_machine["nodes"], f"known machine: {known_machine['source']}"
    node_count = _number(header, "MaxNodes")
    if node_count:
        return node_count, "header: MaxNodes"
    raise InvalidInstance(
        f"{path}: nodes are missing: expected their number (the log's header has no MaxNodes)"
    )


def _cores(path: object, header: Mapping[str, str], nodes: int, cores: object) -> tuple[int, str]:
    if cores is not None:
        return integer(cores, "cores_per_node", 1), "option"
    processors = _number(header, "MaxProcs")
    if not processors:
        raise InvalidInstance(
            f"{path}: cores a node are unknown (no MaxProcs in the header): expected "
            "cores_per_node (--cores-per-node), or the convention rigid"
        )
    if processors % nodes:
        raise InvalidInstance(
            f"{path}: cores a node are unknown: the header's MaxProcs {processors} is no multiple "
            f"of {nodes} nodes: expected cores_per_node (--cores-per-node)"
        )
    return processors // nodes, f"header: MaxProcs {processors} / {nodes} nodes"


def _memory(
    path: object, header: Mapping[str, str], memory: object, known_machine: dict[str, Any] | None
):
    if memory is not None:
        return memory_kb(memory), "option"
    largest_memory = _number(header, "MaxMemory")
    if largest_memory:
        return float(largest_memory), "header: MaxMemory"
    if known_machine is not None:
        return known_machine["memory_kb"], f"known machine: {known_machine['source']}"
    raise InvalidInstance(
        f"{path}: the memory of a node is unknown (no MaxMemory in the header): expected "
        "memory_per_node (--memory-per-node, KB or as 2GB), or the convention rigid"
    )


def _find_known_machine(header: Mapping[str, str]) -> dict[str, Any] | None:
    computer, place = header.get("Computer", ""), header.get("Installation", "")
    candidates = (machine for machine in KNOWN["machines"] if machine["computer"] in computer)
    return next((machine for machine in candidates if machine["installation"] in place), None)


def _number(header: Mapping[str, str], key: str) -> int | None:
    number_match = re.match(r"[0-9]{1,18}(?!\S)", str(header.get(key, "")))
    return int(number_match[0]) if number_match and int(number_match[0]) > 0 else None


def overuse(jobs: pd.DataFrame, nodes: int, cause: Callable[[], str]) -> list[Note]:
    """Return a note where jobs hold 1% more nodes (cores) than exist for over 1% of the time."""
    if "wait" not in jobs:
        return []
    start = (jobs["submit"] + jobs["wait"]).to_numpy()
    has_start = ~np.isnan(start)
    if not has_start.any():
        return []
    end = start + jobs["runtime"].to_numpy()
    units = (jobs["tasks"] * jobs["cpu"]).to_numpy(dtype=float)
    times, level = step_function(start[has_start], end[has_start], units[has_start])
    if share_above(times, level, OVERUSE_RATIO * nodes) <= OVERUSE_SHARE:
        return []
    mean = float((level[:-1] * np.diff(times)).sum() / (times[-1] - times[0])) / nodes
    text = (
        f"  the log uses more than the machine has, {mean:.0%} of it on average and up to "
        f"{level.max() / nodes:.0%}: likely {cause()}"
    )
    return [Note(NoteKind.OVERUSE, text, subject="machine")]
