"""What was run: planned against real, for every launcher the same record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any, NamedTuple

from cosched import io
from cosched.core.arrays import flag, integer, nonnegative, real
from cosched.core.text import listed
from cosched.errors import InvalidInstance, InvalidSchedule, shorten
from cosched.lazy import pd
from cosched.notes import Note, note_records, notes_of_json

FORMAT, VERSION = "cosched-execution", 1
#: Sums of needs may pass a capacity by that much: rounding.
_ROUNDING = 1e-9

STATES = ("completed", "failed", "timeout", "cancelled", "pending")


@dataclass(frozen=True, kw_only=True)
class TaskRun:
    """One task of an execution: its last attempt.

    Attributes
    ----------
    task : int
    name : str
    kind : int
        Resource type of the units.
    units : tuple of int
    planned_start, planned_end : float
        Seconds.
    start, end : float
        Seconds since the run began; nan where it did not (or has not ended).
    state : {"completed", "failed", "timeout", "cancelled", "pending"}
    exit_code : int or None
        Negative: the signal that ended it.
    attempt : int
        From 1; 0: not started.
    pack : int or None
    cpu_seconds : float or None
        Processor seconds, where they are known.
    needs : mapping
        What it held of what is limited: ``memory`` (GB), ``gpus``, ``licences.NAME``.

    Examples
    --------
    >>> TaskRun(task=0, name="fem", kind=0, units=(0,), planned_start=0.0, planned_end=2.0).state
    'pending'
    """

    task: int
    name: str
    kind: int
    units: tuple[int, ...]
    planned_start: float
    planned_end: float
    start: float = math.nan
    end: float = math.nan
    state: str = "pending"
    exit_code: int | None = None
    attempt: int = 0
    pack: int | None = None
    cpu_seconds: float | None = None
    needs: Mapping[str, float] = field(default_factory=dict)


def _amounts(amounts: object, where: str) -> dict[str, float]:
    if not isinstance(amounts, Mapping):
        raise InvalidInstance(f"{where} = {shorten(amounts)}: expected a table of numbers")
    return {str(key): nonnegative(value, f"{where}.{key}") for key, value in amounts.items()}


def task_run(row: Any, where: str) -> TaskRun:
    try:
        return _checked_task(row, where)
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInstance(f"{where}: expected the columns of a task ({error})") from None


def _checked_task(row: Mapping[str, Any], where: str) -> TaskRun:
    def seconds(key: str) -> float:
        moment = math.nan if row[key] is None else real(row[key], f"{where}.{key}")
        if math.isinf(moment):  # is not written
            raise InvalidInstance(f"{where}.{key} = {moment}: expected seconds")
        return moment

    state, code, pack = row["state"], row["exit_code"], row.get("pack")
    used = math.nan if row.get("cpu_seconds") is None else seconds("cpu_seconds")
    if state not in STATES:
        raise InvalidInstance(f"{where}.state = {shorten(state)}: expected {', '.join(STATES)}")
    return TaskRun(
        task=integer(row["task"], f"{where}.task"),
        name=str(row["name"]),
        kind=integer(row.get("kind", 0), f"{where}.kind"),
        units=tuple(integer(unit, f"{where}.units") for unit in row["units"]),
        planned_start=seconds("planned_start"),
        planned_end=seconds("planned_end"),
        start=seconds("start"),
        end=seconds("end"),
        state=state,
        exit_code=None if code is None else integer(code, f"{where}.exit_code", -(2**31)),
        attempt=integer(row["attempt"], f"{where}.attempt"),
        pack=None if pack is None else integer(pack, f"{where}.pack"),
        cpu_seconds=None if math.isnan(used) else used,
        needs=_amounts(row.get("needs", {}), f"{where}.needs"),
    )


class PackRun(NamedTuple):
    """A pack: its tasks, planned and real seconds, real / planned - 1, and the seconds from the
    end of the pack before to its first start."""

    pack: int
    tasks: int
    planned: float
    real: float
    error: float
    overhead: float


def violations(tasks: Sequence[TaskRun], capacity: Mapping[str, float]) -> list[str]:
    """A line for each capacity that was passed, where it was passed most, and for each unit that
    two tasks had at once. O(n log n + pairs that overlap). Shares no code with the driver.
    """
    tasks_with_time = sorted((t for t in tasks if t.start < t.end), key=lambda t: t.start)
    worst: dict[str, tuple[float, float, list[str]]] = {}
    holder: dict[tuple[int, int], TaskRun] = {}
    messages = []
    running: list[TaskRun] = []
    for task in tasks_with_time:
        running = [other for other in running if other.end > task.start]
        for unit in task.units:
            before = holder.get((task.kind, unit))
            if before is not None and before.end > task.start:
                messages.append(
                    f"unit {unit}: {shorten(task.name)} began at {task.start:.6g} s, "
                    f"{shorten(before.name)} had it until {before.end:.6g} s"
                )
                break
        for unit in task.units:
            holder[task.kind, unit] = task
        running.append(task)
        for what, most in capacity.items():
            amount = math.fsum(other.needs.get(what, 0.0) for other in running)
            if amount > max(most * (1 + _ROUNDING), worst.get(what, (0.0,))[0]):
                names = [other.name for other in running if other.needs.get(what)]
                worst[what] = (amount, task.start, names)
    for what, (amount, when, names) in worst.items():
        gigabytes = " GB" if what == "memory" else ""
        messages.append(
            f"{what}: {amount:g}{gigabytes} at {when:.6g} s ({listed(names)}), capacity is "
            f"{capacity[what]:g}"
        )
    return messages


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The record of a run; made by :func:`cosched.execution.run`.

    Attributes
    ----------
    family : str
        Of the plan.
    launcher : str
        ``"local"`` or ``"slurm"``.
    barrier : bool
        Whether a pack waited for the end of the one before.
    tasks : tuple of TaskRun
        By planned start.
    host : str
        Where the driver ran.
    notes : tuple of Note
        What has to be known beside the numbers.
    capacity : mapping
        What there is of what tasks need.
    bound : float or None
        No schedule ends before (s), with the times that the tasks had; None: nobody worked it out.

    Examples
    --------
    >>> one = TaskRun(task=0, name="fem", kind=0, units=(0,), planned_start=0.0, planned_end=2.0,
    ...               start=0.1, end=2.3, state="completed", exit_code=0, attempt=1)
    >>> execution = Execution(family="moldable", launcher="local", barrier=True, tasks=(one,))
    >>> execution.makespan, execution.planned_makespan, execution.good
    (2.3, 2.0, True)
    """

    family: str
    launcher: str
    barrier: bool
    tasks: tuple[TaskRun, ...]
    host: str = ""
    notes: tuple[Note, ...] = ()
    capacity: Mapping[str, float] = field(default_factory=dict)
    bound: float | None = None

    @property
    def makespan(self) -> float:
        """Latest real end, in seconds since the run began; nan where nothing has ended."""
        return max((t.end for t in self.tasks if not math.isnan(t.end)), default=math.nan)

    @property
    def planned_makespan(self) -> float:
        """Latest planned end (s)."""
        return max((t.planned_end for t in self.tasks), default=0.0)

    @property
    def good(self) -> bool:
        """Whether every task completed."""
        return all(t.state == "completed" for t in self.tasks)

    def validate(self) -> None:
        """Check that the run, as it happened, kept processors and capacities.

        Raises
        ------
        InvalidSchedule
            Two tasks had one unit at once, or together more of something than there is.

        Examples
        --------
        >>> one = dict(kind=0, planned_start=0.0, planned_end=2.0, start=0.0, end=2.0,
        ...            needs={"memory": 3.0})
        >>> tasks = (TaskRun(task=0, name="a", units=(0,), **one),
        ...          TaskRun(task=1, name="b", units=(1,), **one))
        >>> Execution(family="moldable", launcher="local", barrier=True, tasks=tasks,
        ...           capacity={"memory": 5.0}).validate()
        Traceback (most recent call last):
            ...
        cosched.errors.InvalidSchedule: memory: 6 GB at 0 s (a, b), capacity is 5
        """
        if messages := violations(self.tasks, self.capacity):
            raise InvalidSchedule("; ".join(messages))

    def to_frame(self) -> pd.DataFrame:
        """The record as a table.

        A row a task: ``task, name, units, planned_start, planned_end, start, end, state, exit_code,
        attempt``.

        Examples
        --------
        >>> one = TaskRun(task=0, name="fem", kind=0, units=(0,), planned_start=0, planned_end=2)
        >>> execution = Execution(family="packs", launcher="local", barrier=True, tasks=(one,))
        >>> execution.to_frame()[["name", "units", "planned_end", "start", "state"]]
          name units  planned_end  start    state
        0  fem  (0,)            2    NaN  pending
        """
        columns = ["task", "name", "units", "planned_start", "planned_end", "start", "end"]
        columns += ["state", "exit_code", "attempt"]
        rows = [{name: getattr(task, name) for name in columns} for task in self.tasks]
        frame = pd.DataFrame(rows, columns=columns)
        return frame.astype({"exit_code": "Int64"})

    def packs(self) -> list[PackRun]:
        """Planned against real for each pack; empty where the family has no packs."""
        rows = []
        before = 0.0
        for pack in sorted({t.pack for t in self.tasks if t.pack is not None}):
            pack_tasks = [t for t in self.tasks if t.pack == pack]
            starts = [t.start for t in pack_tasks if not math.isnan(t.start)]
            ends = [t.end for t in pack_tasks if not math.isnan(t.end)]
            planned = max(t.planned_end for t in pack_tasks) - min(
                t.planned_start for t in pack_tasks
            )
            real = max(ends) - min(starts) if starts and ends else math.nan
            overhead = min(starts) - before if starts else math.nan
            error = real / planned - 1 if planned > 0 else math.nan
            rows.append(PackRun(pack, len(pack_tasks), planned, real, error, overhead))
            before = max(ends, default=before)
        return rows

    def to_dict(self) -> dict[str, Any]:
        """What :meth:`write` writes."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "family": self.family,
            "launcher": self.launcher,
            "barrier": self.barrier,
            "host": self.host,
            "notes": list(self.notes),
            "note_records": note_records(self.notes),
            "planned_makespan": self.planned_makespan,
            "makespan": self.makespan,
            **({} if self.bound is None else {"bound": self.bound}),
            "capacity": dict(self.capacity),
            "tasks": [asdict(task) for task in self.tasks],
        }

    def write(self, path: str | PathLike[str]) -> None:
        """Write the record as .json."""
        io.check_suffix(path, (".json",))
        io.write_json(self.to_dict(), path)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Execution:
        """Read what :meth:`write` wrote.

        Raises
        ------
        InvalidInstance
            Not such a file; the message names what is wrong.
        """
        data = io.read_json(path)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise InvalidInstance(f"{path}: expected an object with format = {FORMAT!r}")
        if data.get("version") != VERSION:
            raise InvalidInstance(
                f"{path}: version = {shorten(data.get('version'))}: expected {VERSION}"
            )
        rows, bound = data.get("tasks"), data.get("bound")
        if not isinstance(rows, list):
            raise InvalidInstance(f"{path}: tasks: expected a list")
        return cls(
            family=str(data.get("family", "")),
            launcher=str(data.get("launcher", "")),
            barrier=flag(data.get("barrier", True), f"{path}: barrier"),
            host=str(data.get("host", "")),
            notes=notes_of_json(data.get("notes", ()), data.get("note_records"), f"{path}: notes"),
            tasks=tuple(task_run(row, f"{path}: tasks[{k}]") for k, row in enumerate(rows)),
            capacity=_amounts(data.get("capacity", {}), f"{path}: capacity"),
            bound=None if bound is None else nonnegative(bound, f"{path}: bound"),
        )
