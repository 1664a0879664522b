"""What was run: planned against real, for every launcher the same record."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, NamedTuple

from cosched import io
from cosched.core.arrays import flag, nonnegative
from cosched.core.text import texts
from cosched.errors import InvalidInstance, shorten
from cosched.execution.task_run import TaskRun, task_run
from cosched.lazy import pd

FORMAT, VERSION = "cosched-execution", 1


class PackRun(NamedTuple):
    """A pack: its tasks, planned and real seconds, real / planned - 1, and the seconds from the
    end of the pack before to its first start."""

    pack: int
    tasks: int
    planned: float
    real: float
    error: float
    overhead: float


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
    notes : tuple of str
        What has to be known beside the numbers.
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
    notes: tuple[str, ...] = ()
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

    def to_frame(self) -> pd.DataFrame:
        """The record as a table.

        Returns
        -------
        pandas.DataFrame
            A row a task: ``task, name, units, planned_start, planned_end, start, end, state,
            exit_code, attempt``.

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
            mine = [t for t in self.tasks if t.pack == pack]
            starts = [t.start for t in mine if not math.isnan(t.start)]
            ends = [t.end for t in mine if not math.isnan(t.end)]
            planned = max(t.planned_end for t in mine) - min(t.planned_start for t in mine)
            real = max(ends) - min(starts) if starts and ends else math.nan
            overhead = min(starts) - before if starts else math.nan
            error = real / planned - 1 if planned > 0 else math.nan
            rows.append(PackRun(pack, len(mine), planned, real, error, overhead))
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
            "planned_makespan": self.planned_makespan,
            "makespan": self.makespan,
            **({} if self.bound is None else {"bound": self.bound}),
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

        Examples
        --------
        >>> Execution.read("nowhere.json")
        Traceback (most recent call last):
            ...
        FileNotFoundError: [Errno 2] No such file or directory: 'nowhere.json'
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
            notes=tuple(texts(data.get("notes", ()), f"{path}: notes")),
            tasks=tuple(task_run(row, f"{path}: tasks[{k}]") for k, row in enumerate(rows)),
            bound=None if bound is None else nonnegative(bound, f"{path}: bound"),
        )
