"""A schedule as columns: a row a placement."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.core import paje
from cosched.core.arrays import integer, integer_array, real, real_array
from cosched.core.instance import Instance
from cosched.core.text import require_columns
from cosched.errors import InvalidInstance, InvalidSchedule, shorten
from cosched.lazy import pd


class Schedule:
    """Placements of an instance's tasks on units of its resource types.

    Row r says: task ``task[r]`` runs on units ``unit[unit_begin[r]:unit_begin[r+1]]``
    (0-based, within resource type ``kind[r]``) from ``start[r]`` to ``end[r]`` seconds.
    The arrays are read-only. Families whose placements say more (a yield, counts of
    identical tasks) subclass this.

    Parameters
    ----------
    instance : Instance
        What is scheduled; :meth:`validate` checks against it.
    task, kind : array_like of int, shape (r,)
        Task of each row; resource type, 0 where there is one.
    unit_begin : array_like of int, shape (r + 1,)
        First entry of each row in `unit`, and the length of `unit`.
    unit : array_like of int
        Units of all rows, one row after the other; kept as int32.
    start, end : array_like of float, shape (r,)
        Seconds.

    Examples
    --------
    >>> inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]])
    >>> schedule = Schedule(inst, [0, 1], [0, 0], [0, 1, 2], [0, 1], [0.0, 0.0], [4.0, 3.0])
    >>> schedule.validate()
    >>> schedule
    <Schedule of 2 placements, makespan 4 s>
    """

    def __init__(
        self,
        instance: Instance,
        task: object,
        kind: object,
        unit_begin: object,
        unit: object,
        start: object,
        end: object,
    ) -> None:
        Instance.require(instance)
        self.instance = instance
        # Any sign and size is representable: whether it is *right* is validate()'s question.
        low, high = -(2**31), 2**31 - 1
        self.task = integer_array(task, "task", 1, low, high)
        self.kind = integer_array(kind, "kind", 1, low, high)
        self.unit_begin = integer_array(unit_begin, "unit_begin", 1, 0, 2**53)
        # A long log has more units than anything else: four bytes hold each.
        self.unit = integer_array(unit, "unit", 1, low, high, np.int32)
        self.start = real_array(start, "start", 1)
        self.end = real_array(end, "end", 1)
        rows = len(self.task)
        lengths = (len(self.kind), len(self.start), len(self.end), len(self.unit_begin) - 1)
        if any(length != rows for length in lengths):
            raise InvalidInstance(f"a schedule of {rows} tasks has columns of lengths {lengths}")
        if (np.diff(self.unit_begin, prepend=0) < 0).any() or self.unit_begin[-1] != len(self.unit):
            raise InvalidInstance("unit_begin: expected 0 = u[0] <= u[1] <= ... <= len(unit)")
        for column in (self.task, self.kind, self.unit_begin, self.unit, self.start, self.end):
            column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.task)

    def __repr__(self) -> str:
        return f"<Schedule of {len(self)} placements, makespan {self.makespan:.6g} s>"

    @property
    def makespan(self) -> float:
        """Latest end (s)."""
        return float(self.end.max(initial=0.0))

    def units(self, row: int) -> tuple[int, ...]:
        """Unit numbers of one placement.

        Parameters
        ----------
        row : int
            From 0.

        Returns
        -------
        tuple of int
            0-based, within the resource type of the row.

        Raises
        ------
        IndexError
            No such row.
        """
        row = operator.index(row)
        return tuple(self.unit[self.unit_begin[row] : self.unit_begin[row + 1]].tolist())

    def validate(self) -> None:
        """Check every rule of the instance by code that no solver shares.

        Raises
        ------
        InvalidSchedule
            Names the first breach.
        """
        if not self.instance.plain_schedules:
            raise InvalidSchedule(
                f"placements alone are no schedule of this family: expected what "
                f"cosched.{self.instance.family}.Schedule.from_frame makes"
            )
        columns = self.task, self.kind, self.unit_begin, self.unit, self.start, self.end
        self.instance._core.validate(*columns)

    def to_frame(self) -> pd.DataFrame:
        """The placements as a table.

        A row a placement: ``task, kind, units`` (tuple), ``start, end`` (s); where the instance has
        labels of its tasks, ``name`` as well.

        Examples
        --------
        >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
        >>> cs.packs.solve(inst, "sequential").schedule.to_frame()["units"].tolist()
        [(0, 1, 2), (0, 1, 2), (0, 1, 2)]
        """
        return pd.DataFrame(
            {
                "task": self.task,
                "kind": self.kind,
                "units": [self.units(row) for row in range(len(self))],
                "start": self.start,
                "end": self.end,
                **self._named("name", self.task, self.instance.given_names),
            }
        )

    def write(self, path: str | PathLike[str]) -> None:
        """Write the placements as a Paje trace, which ViTE and PajeNG show.

        Parameters
        ----------
        path : str or path-like
            Ends in .paje.

        Raises
        ------
        InvalidSchedule
            Tasks share a unit: a trace has one state a unit at a time.

        Examples
        --------
        >>> inst = cs.workloads.cholesky(3, units=(2, 1))
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "plan.paje"
        >>> cs.dags.heft(inst).schedule.write(path)
        >>> path.read_text().splitlines()[0]
        '%EventDef PajeDefineContainerType 0'
        """
        io.check_suffix(path, (".paje",))
        io.write_text("\n".join(paje.lines(self)) + "\n", path)

    @staticmethod
    def _named(column: str, numbers: Any, names: Sequence[str] | None) -> dict[str, list[str]]:
        """Return a column of labels; none where there are none, and an empty label where a number
        is off.

        A schedule may hold any number: whether it is right is validate()'s question.
        """
        if names is None:
            return {}
        valid_rows = range(len(names))
        return {column: [names[k] if k in valid_rows else "" for k in numbers.tolist()]}

    @classmethod
    def from_frame(cls, instance: Instance, frame: pd.DataFrame) -> Schedule:
        """The schedule of a table like :meth:`to_frame`'s; ``kind`` may be left out (0).

        Parameters
        ----------
        frame : pandas.DataFrame
            ``task, units, start, end`` (s), optionally ``kind`` and ``name``, which has to be the
            task's.

        Raises
        ------
        InvalidSchedule
            A column is missing or a row holds something else; names row and column.
        """
        require_columns(frame, (), "frame")
        return cls.from_dict(instance, {"placements": frame.to_dict("records")})

    def to_dict(self) -> dict[str, Any]:
        """What ``cosched solve -o x.json`` writes, and :meth:`from_dict` reads.

        ``placements``: a mapping a row, with the columns of :meth:`to_frame`.
        """
        names = self._named("name", self.task, self.instance.given_names).get("name")
        return {
            "placements": [
                {
                    "task": int(self.task[row]),
                    "kind": int(self.kind[row]),
                    "units": list(self.units(row)),
                    "start": float(self.start[row]),
                    "end": float(self.end[row]),
                    **({} if names is None else {"name": names[row]}),
                }
                for row in range(len(self))
            ]
        }

    @staticmethod
    def _require_name(label: object, number: int, names: Sequence[str] | None, where: str) -> None:
        """Refuse a label that is another task's: the schedule is of another instance."""
        if names is None or not isinstance(label, str) or not 0 <= number < len(names):
            return
        if label != names[number]:
            raise InvalidSchedule(
                f"{where}: {shorten(label)}: expected {shorten(names[number])}, as the instance "
                f"names number {number}"
            )

    @classmethod
    def from_dict(cls, instance: Instance, data: Mapping[str, object]) -> Schedule:
        """Read what :meth:`to_dict` wrote.

        Parameters
        ----------
        data : mapping
            ``placements``: a mapping a row.

        Raises
        ------
        InvalidSchedule
            A key is missing or an entry is bad; the message names it.
        """
        rows = data.get("placements") if isinstance(data, Mapping) else None
        if not isinstance(rows, list):
            raise InvalidSchedule("expected an object with a list 'placements'")
        Instance.require(instance)
        names = instance.given_names
        task: list[int] = []
        kind: list[int] = []
        unit_begin, unit = [0], list[int]()
        start: list[float] = []
        end: list[float] = []
        for number, row in enumerate(rows):
            where = f"placements[{number}]"
            try:
                task.append(integer(row["task"], f"{where}.task", -(2**31)))
                cls._require_name(row.get("name"), task[-1], names, f"{where}.name")
                kind.append(integer(row.get("kind", 0), f"{where}.kind", -(2**31)))
                unit.extend(integer(u, f"{where}.units", -(2**31)) for u in row["units"])
                start.append(real(row["start"], f"{where}.start"))
                end.append(real(row["end"], f"{where}.end"))
            except (KeyError, TypeError, AttributeError) as error:
                raise InvalidSchedule(
                    f"{where}: expected task, kind, units, start and end ({error})"
                ) from None
            except InvalidInstance as error:
                raise InvalidSchedule(str(error)) from None
            unit_begin.append(len(unit))
        return cls(instance, task, kind, unit_begin, unit, start, end)
