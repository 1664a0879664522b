"""A schedule of the cluster family: where each job ran, at which share of the CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from cosched import _core, core
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine
from cosched.cluster.schedule import rows as of_rows
from cosched.cluster.schedule.held import check_held, check_held_by_cores
from cosched.core.arrays import flag, integer_array, real, real_array
from cosched.core.text import require_columns
from cosched.errors import InvalidInstance, InvalidSchedule
from cosched.lazy import pd

#: What is known of each job without the rows.
TOTALS = ("start", "end", "preemptions", "migrations")


class Schedule(core.Schedule):
    """A row a (job, constant mapping and yield): where a job ran, at which share of the CPU.

    ``units`` and ``nodes`` have one entry a task, so a node may be there twice. ``progress``
    is the yield, or 0 while the job pays a rescheduling penalty.

    The rows are made when they are first asked for (by running the policy again, which gives
    the same), so that a result over a whole log stays small.

    Parameters
    ----------
    instance : Instance
    totals : mapping
        Arrays ``start, end, preemptions, migrations`` by job.
    rows : tuple, optional
        Columns (job, unit_begin, unit, start, end, yield, progress, cause).
    replay : callable, optional
        ``replay(instance)`` gives those columns; what pickles in place of the rows.
    penalty : float
        Rescheduling penalty (s).
    exclusive : bool
        A batch policy: one task a node.
    checked : bool
        The validator was told everything while the policy ran.
    threshold : float
        Shortest time of the bounded stretch that goes with it (s).
    recorded : bool
        What a log has: starts are checked against it, nodes may be in use twice.
    by_cores : Machine, optional
        Where each core of a job holds its part of the memory, as Slurm has it: the nodes.

    Raises
    ------
    InvalidSchedule
        When the rows are asked for: there are neither rows nor a replay, or their columns have
        different lengths.

    Examples
    --------
    >>> jobs = {"submit": [0, 0], "tasks": [1, 1], "cpu": [1, 1], "memory": [0.3, 0.3],
    ...         "runtime": [60.0, 30.0]}
    >>> inst = cs.cluster.Instance(jobs, nodes=1)
    >>> schedule = cs.cluster.solve(inst, "Greedy */opt=min").schedule
    >>> schedule
    <cluster.Schedule of 2 jobs, last end 90 s>
    >>> schedule.task.tolist(), schedule.start.tolist(), schedule.yield_.tolist()
    ([0, 1, 0, 0], [0.0, 0.0, 0.0, 60.0], [1.0, 0.5, 0.5, 1.0])
    """

    instance: Instance

    def __init__(
        self,
        instance: Instance,
        totals: Mapping[str, np.ndarray],
        *,
        rows: tuple | None = None,
        replay: Callable[[Instance], tuple] | None = None,
        penalty: float,
        exclusive: bool,
        checked: bool = False,
        threshold: float = THRESHOLD,
        recorded: bool = False,
        by_cores: Machine | None = None,
    ) -> None:
        self.instance = instance
        self.totals = totals
        self.penalty = penalty
        self.exclusive = exclusive
        self.threshold = threshold
        self.recorded = recorded
        self.by_cores = by_cores
        self._replay = replay
        self._checked = checked
        #: Whether another process gets the rows, and not what makes them again.
        self._keeps_rows = rows is not None
        self._rows = None if rows is None else of_rows.ScheduleRows(instance, rows)

    @property
    def rows(self) -> of_rows.ScheduleRows:
        """All rows; the policy runs again where they were not kept."""
        if self._rows is None:
            if self._replay is None:
                raise InvalidSchedule("neither rows nor a way to make them")
            self._rows = of_rows.ScheduleRows(self.instance, self._replay(self.instance))
        return self._rows

    def release_rows(self) -> None:
        """Free the rows where the policy can make them again, which gives the same.

        A row has a number for each task: of a long log they need more memory than its jobs.
        """
        if self._replay is not None:
            self._rows, self._keeps_rows = None, False

    # The columns of the rows, so that a schedule of this family reads like any other.
    task = property(lambda self: self.rows.task, doc="Job of each row.")
    kind = property(lambda self: self.rows.kind, doc="Resource type of each row: 0, nodes.")
    unit_begin = property(
        lambda self: self.rows.unit_begin,
        doc="First entry of each row in `unit`, and the end of the last.",
    )
    unit = property(lambda self: self.rows.unit, doc="Nodes, one entry per task.")
    start = property(lambda self: self.rows.start, doc="Begin of each row (s).")
    end = property(lambda self: self.rows.end, doc="End of each row (s).")
    yield_ = property(
        lambda self: self.rows.yield_, doc="Share of its CPU need that the job gets, 0..1."
    )
    progress = property(
        lambda self: self.rows.progress,
        doc="The yield, or 0 while the job pays a rescheduling penalty.",
    )
    cause = property(
        lambda self: self.rows.cause, doc="Why each row began: a position in ``CAUSES``."
    )

    def __reduce__(self) -> tuple:
        rows = self._rows.columns if self._keeps_rows and self._rows is not None else None
        made_by = partial(
            Schedule,
            self.instance,
            self.totals,
            rows=rows,
            replay=self._replay,
            penalty=self.penalty,
            exclusive=self.exclusive,
            checked=self._checked,
            threshold=self.threshold,
            recorded=self.recorded,
            by_cores=self.by_cores,
        )
        return made_by, ()

    @property
    def makespan(self) -> float:
        """Last completion (s)."""
        return float(np.max(self.totals["end"]))

    def __repr__(self) -> str:
        return f"<cluster.Schedule of {len(self.instance)} jobs, last end {self.makespan:.6g} s>"

    def validate(self) -> None:
        """Check the rows: CPU, memory and GPUs of each node at each time, each job's work, counts.

        Notes
        -----
        The checker shares no code with simulator and policies. It is told everything while a
        DFRS policy runs; as long as nobody has asked for the rows, which come from a second
        run, there is nothing more to check; nor is there of the rows of a log, which are made up
        of its counts of nodes. Else it reads the rows: O(r log r + their tasks).
        """
        if self._checked and self._rows is None:
            return
        totals = self.totals
        if self.recorded:
            of_rows.check_recorded(self.instance, totals, self._rows)
            return
        of_rows.check_partitions(self.instance, self.rows)
        rows = (
            self.task,
            self.unit_begin,
            self.unit,
            self.start,
            self.end,
            self.yield_,
            self.progress,
            self.cause,
        )
        _core.cluster.validate(
            self.instance._core,
            rows,
            totals["start"],
            totals["end"],
            totals["preemptions"],
            totals["migrations"],
            self.penalty,
            self.exclusive,
        )
        if self.by_cores is not None:
            check_held_by_cores(self.instance, self.rows, self.by_cores)
        elif self.exclusive:
            check_held(self.instance, self.rows)
        return

    def to_frame(self) -> pd.DataFrame:
        """The rows as a table.

        Returns
        -------
        pandas.DataFrame
            ``task`` (the job), ``id`` (what its log calls it), ``kind, units`` (tuple, a node
            a task), ``start, end`` (s), ``nodes`` (the units again), ``hosts`` (tuple, the names
            of the nodes, where slurm.conf gives them), ``yield_, progress`` (0..1), ``cause``
            (start, resume, move, go on), ``exclusive`` (whether the policy gives a task a whole
            node); ``killed, preempted``, where some jobs were ended at their limit or for another;
            ``name``, the id as a text, where the jobs have one.

        Examples
        --------
        >>> jobs = {"submit": [0, 0], "tasks": [2, 1], "cpu": [1, 1], "memory": [0.3, 0.3],
        ...         "runtime": [60.0, 30.0]}
        >>> schedule = cs.cluster.solve(cs.cluster.Instance(jobs, nodes=2), "FCFS").schedule
        >>> schedule.to_frame()[["task", "nodes", "start", "end", "cause"]].to_numpy().tolist()
        [[0, (0, 1), 0.0, 60.0, 'start'], [1, (0,), 60.0, 90.0, 'start']]
        """
        frame = super().to_frame()
        frame.insert(1, "id", self._ids())
        frame["nodes"] = frame["units"]
        if (hosts := self.hosts()) is not None:
            frame["hosts"] = hosts
        frame["yield_"] = self.yield_
        frame["progress"] = self.progress
        frame["cause"] = [of_rows.CAUSES[code] for code in self.cause]
        frame["exclusive"] = self.exclusive
        if len(killed := self._killed()):
            frame["killed"] = np.isin(frame["task"], killed)
            frame["preempted"] = np.isin(frame["task"], self._preempted())
        return frame

    def hosts(self) -> list[tuple[str, ...]] | None:
        """Names of the nodes of each row.

        Returns
        -------
        list of tuple of str, or None
            As slurm.conf has them; None for a machine whose nodes have no names.
        """
        return of_rows.hosts_of(self.instance, self.by_cores, self.rows)

    def _killed(self) -> np.ndarray:
        """Return jobs that were ended at their limit, or for another."""
        return np.flatnonzero(self.totals.get("at_limit", ()))

    def _preempted(self) -> np.ndarray:
        """Return those of the killed jobs that were ended for another."""
        return np.flatnonzero(self.totals.get("preempted", ()))

    def _ids(self) -> list:
        """Return what each row's job is called; -1 where there is no such job."""
        ids = self.instance.ids.tolist()
        return [ids[job] if 0 <= job < len(ids) else -1 for job in self.task.tolist()]

    def to_dict(self) -> dict[str, Any]:
        """Rows and job totals as plain data: what ``cosched solve -o x.json`` writes.

        Returns
        -------
        dict
            ``placements`` (task, id, kind, units, start, end, yield, progress, cause, and hosts
            where the nodes have names), ``jobs``
            (lists ``start, end, preemptions, migrations``), ``penalty, exclusive, threshold``;
            ``killed`` (jobs), where some were ended at their limit, or (``preempted``) for another.
        """
        rows = super().to_dict()["placements"]
        columns = (self._ids(), self.yield_, self.progress, self.cause)
        for row, id_, y, p, c in zip(rows, *columns, strict=True):
            row.update(
                {"id": id_, "yield": float(y), "progress": float(p), "cause": of_rows.CAUSES[c]}
            )
        for row, hosts_of_row in zip(rows, self.hosts() or (), strict=False):
            row["hosts"] = list(hosts_of_row)
        totals = {key: np.asarray(self.totals[key]).tolist() for key in TOTALS}
        data = {
            "placements": rows,
            "jobs": totals,
            "penalty": self.penalty,
            "exclusive": self.exclusive,
            "threshold": self.threshold,
        }
        if len(killed := self._killed()):
            data["killed"] = killed.tolist()
        if len(preempted := self._preempted()):
            data["preempted"] = preempted.tolist()
        flags = {"recorded": self.recorded, "by_cores": self.by_cores is not None}
        return data | {name: True for name, is_so in flags.items() if is_so}

    @classmethod
    def from_frame(
        cls, instance: Any, frame: pd.DataFrame, *, penalty: float | None = None
    ) -> Schedule:
        """The schedule of a table like :meth:`to_frame`'s; ``kind`` and ``nodes`` may be left out.

        Starts, ends and counts of pauses and moves are those of its rows.

        Parameters
        ----------
        frame : pandas.DataFrame
            ``task, units, start, end`` (s), ``yield_, progress`` (0..1), ``cause``; optionally
            ``exclusive``, the same in all rows (False), and ``killed, preempted`` (nobody).
        penalty : float, optional
            What a resumed or moved job pays (s), >= 0. None: what the first of them pays here, so
            that all others have to pay the same.

        Raises
        ------
        InvalidSchedule
            A column is missing, or an entry is none of its column's values.
        """
        Instance.require(instance)
        require_columns(frame, (), "frame")
        try:
            rows = [{**row, "yield": row["yield_"]} for row in frame.to_dict("records")]
            jobs, cause = frame.groupby("task"), frame["cause"]
            every = range(len(instance))
            totals = {
                "start": jobs["start"].min().reindex(every, fill_value=0.0),
                "end": jobs["end"].max().reindex(every, fill_value=0.0),
                "preemptions": (cause == "resume").groupby(frame["task"]).sum(),
                "migrations": (cause == "move").groupby(frame["task"]).sum(),
            }
        except (KeyError, TypeError) as error:
            raise InvalidSchedule(f"not a schedule of the cluster family ({error})") from None
        for key in ("preemptions", "migrations"):
            totals[key] = totals[key].reindex(every, fill_value=0)
        paid = of_rows.penalty_paid(frame) if penalty is None else penalty
        data = {
            "placements": rows,
            "jobs": totals,
            "penalty": paid,
            "exclusive": of_rows.unwrap_single(frame),
        }
        if "killed" in frame:
            data["killed"] = np.unique(frame["task"][frame["killed"] == True])  # noqa: E712
        if "preempted" in frame:
            data["preempted"] = np.unique(frame["task"][frame["preempted"] == True])  # noqa: E712
        return cls.from_dict(instance, data)

    @classmethod
    def from_dict(cls, instance: Any, data: Mapping[str, Any]) -> Schedule:
        """Read what :meth:`to_dict` wrote.

        Parameters
        ----------
        data : mapping
            ``placements, jobs, penalty, exclusive`` and optionally ``threshold``.
        """
        base_schedule = core.Schedule.from_dict(instance, data)
        try:
            placements, totals = data["placements"], data["jobs"]
            rows = (
                base_schedule.task,
                base_schedule.unit_begin,
                base_schedule.unit,
                base_schedule.start,
                base_schedule.end,
                [row["yield"] for row in placements],
                [row["progress"] for row in placements],
                [of_rows.CAUSES.index(row["cause"]) for row in placements],
            )
            outcome: dict[str, np.ndarray] = {
                key: real_array(totals[key], f"jobs.{key}", 1) for key in TOTALS
            }
            for key in ("preemptions", "migrations"):
                outcome[key] = integer_array(totals[key], f"jobs.{key}", 1)
            penalty, exclusive = real(data["penalty"], "penalty"), data["exclusive"]
            exclusive = flag(exclusive, "exclusive")
            threshold = real(data.get("threshold", THRESHOLD), "threshold")
            recorded = flag(data.get("recorded", False), "recorded")
            by_cores = flag(data.get("by_cores", False), "by_cores")
            killed, preempted = (
                integer_array(data.get(name, ()), name, 1, 0, len(instance) - 1)
                for name in ("killed", "preempted")
            )
        except InvalidInstance as error:
            raise InvalidSchedule(str(error)) from None
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidSchedule(f"not a schedule of the cluster family ({error})") from None
        if base_schedule.kind.any():
            row = int(np.flatnonzero(base_schedule.kind)[0])
            raise InvalidSchedule(f"placement {row}: kind {base_schedule.kind[row]}: expected 0")
        if not 0 <= penalty < np.inf:
            raise InvalidSchedule(f"penalty = {penalty}: expected seconds >= 0")
        if not 0 < threshold < np.inf:
            raise InvalidSchedule(f"threshold = {threshold}: expected seconds > 0")
        if len(killed):
            outcome["at_limit"] = np.isin(np.arange(len(instance)), killed)
            outcome["preempted"] = np.isin(np.arange(len(instance)), preempted)
            run_times = np.bincount(
                base_schedule.task, base_schedule.end - base_schedule.start, len(instance)
            )
            instance = of_rows.cut_at_limits(instance, outcome, run_times)
        return cls(
            instance,
            outcome,
            rows=rows,
            penalty=penalty,
            exclusive=exclusive,
            threshold=threshold,
            recorded=recorded,
            by_cores=instance.machine if by_cores else None,
        )
