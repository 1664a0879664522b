"""Results of the cluster family: what happened to each job, and the paper's measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cosched import _core, core
from cosched.cluster.instance import Instance
from cosched.cluster.stretch_bound import THRESHOLD
from cosched.core.arrays import integer_array, real_array
from cosched.errors import InvalidSchedule

if TYPE_CHECKING:
    import pandas as pd

CAUSES = ("start", "resume", "move", "go on")
#: Both ways, for 8 GB of memory a node (Section 6.2 of the paper).
_GIGABYTES = 2 * 8.0


class Schedule(core.Schedule):
    """A row a (job, constant mapping and yield): where a job ran, at which share of the CPU.

    ``units`` and ``nodes`` have one entry a task, so a node may be there twice. ``progress``
    is the yield, or 0 while the job pays a rescheduling penalty.

    The rows are made when they are first asked for (by running the policy again, which gives
    the same), so that a result over a whole log stays small.

    Parameters
    ----------
    instance : Instance
    outcome : mapping
        Arrays ``start, end, preemptions, migrations`` by job.
    rows : tuple, optional
        Columns (job, unit_begin, unit, start, end, yield, progress, cause).
    replay : tuple, optional
        (function, arguments) that gives the rows.
    penalty : float
        Rescheduling penalty (s).
    exclusive : bool
        A batch policy: one task a node.
    checked : bool
        The validator was told everything while the policy ran.
    threshold : float
        Shortest time of the bounded stretch that goes with it (s).
    """

    instance: Instance

    def __init__(
        self,
        instance: Instance,
        outcome: Mapping[str, np.ndarray],
        *,
        rows: tuple | None = None,
        replay: tuple | None = None,
        penalty: float,
        exclusive: bool,
        checked: bool = False,
        threshold: float = THRESHOLD,
    ) -> None:
        # What makes it again in another process: the replay where there is one, not its rows.
        self._made_by = partial(
            Schedule, instance, outcome, rows=rows, replay=replay, penalty=penalty,
            exclusive=exclusive, checked=checked, threshold=threshold,
        )  # fmt: skip
        self.instance = instance
        self.penalty = penalty
        self.exclusive = exclusive
        self.threshold = threshold
        self._outcome = outcome
        self._replay = replay
        self._checked = checked
        if rows is not None:
            self._load(rows)

    def _load(self, rows: tuple) -> None:
        job, unit_begin, unit, start, end, yield_, progress, cause = rows
        super().__init__(self.instance, job, np.zeros(len(job)), unit_begin, unit, start, end)
        self.yield_ = real_array(yield_, "yield_", 1)
        self.progress = real_array(progress, "progress", 1)
        self.cause = integer_array(cause, "cause", 1, 0, len(CAUSES) - 1)
        for column in (self.yield_, self.progress, self.cause):
            if len(column) != len(self.task):
                raise InvalidSchedule("the schedule's columns have different lengths")
            column.flags.writeable = False

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not there yet: the columns of a schedule not yet replayed.
        columns = ("task", "kind", "unit_begin", "unit", "start", "end", "yield_", "progress",
                   "cause")  # fmt: skip
        if name not in columns or self.__dict__.get("_replay") is None:
            raise AttributeError(name)
        function, arguments = self.__dict__["_replay"]
        self._load(function(self.instance, *arguments))
        return self.__dict__[name]

    def __reduce__(self) -> tuple:
        return self._made_by, ()

    @property
    def makespan(self) -> float:
        """Last completion (s)."""
        return float(np.max(self._outcome["end"]))

    def __repr__(self) -> str:
        return f"<cluster.Schedule of {len(self.instance)} jobs, last end {self.makespan:.6g} s>"

    def validate(self) -> None:
        """Check the rows: memory and CPU of each node at each time, each job's work, its counts.

        Raises
        ------
        InvalidSchedule
            Names the first breach.

        Notes
        -----
        The checker shares no code with simulator and policies. It is told everything while a
        DFRS policy runs; as long as nobody has asked for the rows, which come from a second
        run, there is nothing more to check. Else it reads the rows: O(r log r + their tasks).
        """
        if self._checked and "task" not in self.__dict__:
            return
        outcome = self._outcome
        _core.cluster.validate(
            self.instance._core, self.task, self.unit_begin, self.unit, self.start, self.end,
            self.yield_, self.progress, self.cause, outcome["start"], outcome["end"],
            outcome["preemptions"], outcome["migrations"], self.penalty, self.exclusive,
        )  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """``task`` (the job), ``kind, units, start, end, nodes, yield_, progress, cause``."""
        frame = super().to_frame()
        frame["nodes"] = frame["units"]
        frame["yield_"] = self.yield_
        frame["progress"] = self.progress
        frame["cause"] = [CAUSES[code] for code in self.cause]
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Rows and job totals as plain data."""
        rows = super().to_dict()["placements"]
        for row, y, p, c in zip(rows, self.yield_, self.progress, self.cause, strict=True):
            row.update({"yield": float(y), "progress": float(p), "cause": CAUSES[c]})
        totals = {key: np.asarray(self._outcome[key]).tolist() for key in _TOTALS}
        return {
            "placements": rows,
            "jobs": totals,
            "penalty": self.penalty,
            "exclusive": self.exclusive,
            "threshold": self.threshold,
        }

    @classmethod
    def from_frame(cls, instance: Any, frame: pd.DataFrame, *, penalty: float = 300.0) -> Schedule:
        """The schedule of a table like :meth:`to_frame`'s; ``kind`` and ``nodes`` may be left out.

        Starts, ends and counts of pauses and moves are those of its rows; `penalty` is what a
        resumed or moved job pays (s).
        """
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
        data = {"placements": rows, "jobs": totals, "penalty": penalty, "exclusive": False}
        return cls.from_dict(instance, data)

    @classmethod
    def from_dict(cls, instance: Any, data: Mapping[str, Any]) -> Schedule:
        """Read what :meth:`to_dict` wrote."""
        plain = core.Schedule.from_dict(instance, data)
        try:
            placements, totals = data["placements"], data["jobs"]
            rows = (
                plain.task, plain.unit_begin, plain.unit, plain.start, plain.end,
                [row["yield"] for row in placements], [row["progress"] for row in placements],
                [CAUSES.index(row["cause"]) for row in placements],
            )  # fmt: skip
            outcome = {key: real_array(totals[key], f"jobs.{key}", 1) for key in _TOTALS}
            for key in ("preemptions", "migrations"):
                outcome[key] = integer_array(totals[key], f"jobs.{key}", 1)
            penalty, exclusive = float(data["penalty"]), bool(data["exclusive"])
            threshold = float(data.get("threshold", THRESHOLD))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidSchedule(f"not a schedule of the cluster family ({error})") from None
        if plain.kind.any():
            row = int(np.flatnonzero(plain.kind)[0])
            raise InvalidSchedule(f"placement {row}: kind {plain.kind[row]}: expected 0")
        if not 0 <= penalty < np.inf:
            raise InvalidSchedule(f"penalty = {penalty}: expected seconds >= 0")
        if not 0 < threshold < np.inf:
            raise InvalidSchedule(f"threshold = {threshold}: expected seconds > 0")
        return cls(
            instance, outcome, rows=rows, penalty=penalty, exclusive=exclusive, threshold=threshold
        )


_TOTALS = ("start", "end", "preemptions", "migrations")


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(core.Result):
    """What happened to each job. ``value`` is the maximum bounded stretch.

    Attributes
    ----------
    stretches : numpy.ndarray, shape (n,)
        Bounded stretch of each job, in input order.
    log : pandas.DataFrame or None
        With ``log=True``: why a job started, waited, was paused or moved, a row an event:
        ``time, job, action, reason``.
    """

    family: ClassVar[str] = "cluster"

    instance: Instance
    outcome: Mapping[str, Any] = field(default_factory=dict)
    stretches: np.ndarray = field(default_factory=lambda: np.zeros(0))
    log: Any = None

    @property
    def jobs(self) -> pd.DataFrame:
        """A row a job in input order: ``start, end, stretch, preemptions, migrations``."""
        import pandas as pd

        return pd.DataFrame(
            {
                "start": self.outcome["start"],
                "end": self.outcome["end"],
                "stretch": self.stretches,
                "preemptions": self.outcome["preemptions"],
                "migrations": self.outcome["migrations"],
            }
        )

    @property
    def max_stretch(self) -> float:
        """Largest bounded stretch: max(turnaround, 10 s) / max(run time, 10 s), or `threshold`."""
        return float(self.stretches.max())

    @property
    def mean_stretch(self) -> float:
        """Mean bounded stretch."""
        return float(self.stretches.mean())

    @property
    def underutilisation(self) -> float:
        """Integral of min(P, D(t)) - u(t), divided by the CPU work of all jobs."""
        return _core.cluster.underutilisation(self.instance._core, self.outcome["demand_area"])

    @property
    def span(self) -> float:
        """First submission to last completion (s)."""
        return float(np.max(self.outcome["end"]) - self.instance.column("submit").min())

    def metrics(self) -> dict[str, float]:
        """The paper's measures (Tables 2 to 4).

        Stretches; underutilisation; preemptions and migrations a job and an hour, and their
        bandwidth in GB/s: 2 x 8 GB x memory fraction x tasks, over the span.
        """
        preemptions = int(np.sum(self.outcome["preemptions"]))
        migrations = int(np.sum(self.outcome["migrations"]))
        hours, jobs = self.span / 3600, len(self.stretches)

        def rate(amount: float, time: float) -> float:
            return amount / time if time > 0 else 0.0

        return {
            "max_stretch": self.max_stretch,
            "mean_stretch": self.mean_stretch,
            "underutilisation": self.underutilisation,
            "preemptions_per_job": preemptions / jobs,
            "migrations_per_job": migrations / jobs,
            "preemptions_per_hour": rate(preemptions, hours),
            "migrations_per_hour": rate(migrations, hours),
            "preemption_bandwidth": rate(_GIGABYTES * self.outcome["preempted_memory"], self.span),
            "migration_bandwidth": rate(_GIGABYTES * self.outcome["migrated_memory"], self.span),
        }
