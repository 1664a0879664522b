"""A schedule of a bag: runs of identical tasks, not single tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosched import core
from cosched.core.arrays import any_array, integer, integer_array, real
from cosched.errors import InvalidInstance, InvalidSchedule
from cosched.lazy import pd

if TYPE_CHECKING:
    from cosched.bags.instance import Instance

_MOST_COUNT = 2**53


class Schedule(core.Schedule):
    """Row r: ``count[r]`` tasks of one type, one after the other, on one machine.

    Its size depends on the numbers of types and machines, not on the number of tasks.

    Parameters
    ----------
    instance : Instance
    task_type, machine_type, machine : array_like of int, shape (r,)
        The machine's number counts from 0 within its type.
    count : array_like of int, shape (r,)
        Tasks of the row.
    start, end : array_like of float, shape (r,)
        Seconds.

    Examples
    --------
    >>> inst = cs.bags.Instance([3], [2], [[10.0]], [[90.0]], price=9000)
    >>> schedule = Schedule(inst, [0, 0], [0, 0], [0, 1], [2, 1], [0.0, 0.0], [20.0, 10.0])
    >>> schedule.validate()
    >>> schedule
    <bags.Schedule of 3 tasks in 2 runs, makespan 20 s>
    """

    instance: Instance

    def __init__(
        self,
        instance: Instance,
        task_type: object,
        machine_type: object,
        machine: object,
        count: object,
        start: object,
        end: object,
    ) -> None:
        rows = np.arange(any_array(task_type, "task_type", 1).size + 1)
        super().__init__(instance, task_type, machine_type, rows, machine, start, end)
        self.count = integer_array(count, "count", 1, -_MOST_COUNT, _MOST_COUNT)
        if len(self.count) != len(self.task):
            raise InvalidInstance(
                f"a schedule of {len(self.task)} rows has {len(self.count)} counts"
            )
        self.count.flags.writeable = False

    @property
    def task_type(self) -> NDArray[np.int64]:
        """Task type of each row."""
        return self.task

    @property
    def machine_type(self) -> NDArray[np.int64]:
        """Machine type of each row."""
        return self.kind

    @property
    def machine(self) -> NDArray[np.int64]:
        """Machine of each row, counted from 0 within its type."""
        return self.unit

    def validate(self) -> None:
        """Check every rule of the bag by code that no solver shares."""
        self.instance._core.validate(
            self.task_type, self.machine_type, self.machine, self.count, self.start, self.end
        )

    def __repr__(self) -> str:
        return (
            f"<bags.Schedule of {self.count.sum()} tasks in {len(self)} runs, "
            f"makespan {self.makespan:.6g} s>"
        )

    def to_frame(self) -> pd.DataFrame:
        """The runs as a table.

        A row a run: ``task_type, machine_type, machine, count, start, end`` (s); where the instance
        has labels, ``name`` (of the task type) and ``machine_name`` (of the machine type) as well.
        """
        return pd.DataFrame(
            {
                "task_type": self.task_type,
                "machine_type": self.machine_type,
                "machine": self.machine,
                "count": self.count,
                "start": self.start,
                "end": self.end,
                **self._labels(self.task_type, self.machine_type),
            }
        )

    def _labels(self, types: np.ndarray, kinds: np.ndarray) -> dict[str, list[str]]:
        of = self.instance
        names = self._named("name", types, of.given_names)
        return names | self._named("machine_name", kinds, of.given_machine_names)

    def expand(self, limit: int = 10_000_000) -> pd.DataFrame:
        """A row a task instead of a row a run.

        Tasks are numbered by type (the first T_0 are of type 0, and so on), within a type in
        the order of this schedule's rows.
        ``task, task_type, machine_type, machine, start, end`` (s), and labels as :meth:`to_frame`
        has them.

        Parameters
        ----------
        limit : int
            Most tasks to write out.

        Raises
        ------
        InvalidSchedule
            The schedule is not valid.
        InvalidInstance
            More tasks than `limit`.

        Examples
        --------
        >>> inst = cs.bags.Instance([3], [2], [[10.0]], [[90.0]], price=9000)
        >>> tasks = cs.bags.solve(inst, "ttb").schedule.expand()
        >>> tasks[["task", "machine", "start", "end"]].to_numpy().tolist()
        [[0.0, 0.0, 0.0, 10.0], [1.0, 0.0, 10.0, 20.0], [2.0, 1.0, 0.0, 10.0]]
        """
        self.validate()
        total = int(self.count.sum())
        if total > integer(limit, "limit", 0, _MOST_COUNT):
            raise InvalidInstance(
                f"limit = {limit}: the schedule has {total} tasks; its runs are in to_frame()"
            )
        order = np.argsort(self.task_type, kind="stable")
        row = np.repeat(order, self.count[order])
        first = np.repeat(np.cumsum(self.count[order]) - self.count[order], self.count[order])
        within = np.arange(total) - first
        length = (self.end - self.start) / self.count
        return pd.DataFrame(
            {
                "task": np.arange(total),
                "task_type": self.task_type[row],
                "machine_type": self.machine_type[row],
                "machine": self.machine[row],
                "start": self.start[row] + within * length[row],
                "end": self.start[row] + (within + 1) * length[row],
                **self._labels(self.task_type[row], self.machine_type[row]),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """What ``cosched solve -o x.json`` writes, and :meth:`from_dict` reads.

        ``placements``: a mapping a run, with the columns of :meth:`to_frame`.
        """
        return {"placements": self.to_frame().to_dict(orient="records")}

    @classmethod
    def from_dict(cls, instance: Any, data: Mapping[str, object]) -> Schedule:
        """Read what :meth:`to_dict` wrote.

        Parameters
        ----------
        data : mapping
            ``placements``: a mapping a run.
        """
        rows = data.get("placements") if isinstance(data, Mapping) else None
        if not isinstance(rows, list):
            raise InvalidSchedule("expected an object with a list 'placements'")
        core.Instance.require(instance)
        integers = ("task_type", "machine_type", "machine")
        columns: dict[str, list[Any]] = {name: [] for name in (*integers, "count", "start", "end")}
        for number, row in enumerate(rows):
            where = f"placements[{number}]"
            try:
                for name in integers:
                    columns[name].append(integer(row[name], f"{where}.{name}", -(2**31)))
                for key, which, names in (
                    ("name", columns["task_type"][-1], instance.given_names),
                    ("machine_name", columns["machine_type"][-1], instance.given_machine_names),
                ):
                    cls._require_name(row.get(key), which, names, f"{where}.{key}")
                columns["count"].append(
                    integer(row["count"], f"{where}.count", -_MOST_COUNT, _MOST_COUNT)
                )
                columns["start"].append(real(row["start"], f"{where}.start"))
                columns["end"].append(real(row["end"], f"{where}.end"))
            except (KeyError, TypeError, AttributeError) as error:
                raise InvalidSchedule(f"{where}: expected {', '.join(columns)} ({error})") from None
            except InvalidInstance as error:
                raise InvalidSchedule(str(error)) from None
        return cls(instance, **columns)
