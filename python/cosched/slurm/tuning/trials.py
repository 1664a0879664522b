"""Runs of the simulator under settings, all with the same random scheduler timing."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from os import sched_getaffinity
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import io
from cosched.cluster.analysis.what_if import what_if
from cosched.cluster.instance import Instance
from cosched.errors import CoschedError, InfeasibleError, InvalidInstance, printable
from cosched.io.append_only import AppendOnlyFile
from cosched.notes import Note
from cosched.slurm.tuning.space import BASELINE, Setting, TuningMeasure, what_if_text
from cosched.slurm.tuning.weeks import Block
from cosched.slurm.twin.backfill import clocks_of, never_starting_jobs, times_of, with_remedy
from cosched.slurm.twin.twin import Twin, without_suspensions
from cosched.version import installed_version

#: Plain data: ``setting``, number of a ``block``, and which ``draw`` of its clocks.
Task = Mapping[str, Any]
#: Plain data: ``values``, a list of draws for each measure, or ``why`` there are none.
Row = dict[str, Any]


@dataclass(frozen=True)
class Simulated:
    """The jobs of a block under a setting, and when those that count start and end.

    Attributes
    ----------
    jobs : Instance
        Those that count.
    start, end : numpy.ndarray, shape (draws, n)
        Seconds.
    notes : tuple of Note
        What the twin leaves out.
    change_effect : str
        What the change does to jobs.
    """

    jobs: Instance
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    notes: tuple[Note, ...]
    change_effect: str

    @classmethod
    def joined(cls, simulations: Sequence[Simulated]) -> Simulated:
        """Return the jobs of successive blocks, which have the same number of draws, as one."""
        first = simulations[0]
        if len(simulations) == 1:
            return first
        names = first.jobs.raw_columns
        columns = [
            {"id": simulated.jobs.ids, **simulated.jobs.raw_columns} for simulated in simulations
        ]
        jobs = {name: np.concatenate([c[name] for c in columns]) for name in ("id", *names)}
        return cls(
            first.jobs.with_jobs(jobs).without_bound(),
            np.concatenate([simulated.start for simulated in simulations], axis=1),
            np.concatenate([simulated.end for simulated in simulations], axis=1),
            tuple(dict.fromkeys(note for simulated in simulations for note in simulated.notes)),
            first.change_effect,
        )

    @property
    def waits(self) -> NDArray[np.float64]:
        """Seconds, a row a draw."""
        # The controller starts jobs in whole seconds, which users do not wait for.
        waits: np.ndarray = np.maximum(self.start - self.jobs.column("eligible"), 0)
        return waits


@dataclass(frozen=True, eq=False)
class SimulationContext:
    """All that a run needs; it is pickled for workers that are other processes."""

    #: Keys of the dimensions of a setting.
    keys: tuple[str, ...]
    #: Weeks of the search, then test weeks.
    blocks: tuple[Block, ...]
    #: Objectives, then the measures of the constraints.
    measures: tuple[TuningMeasure, ...]
    #: Draws of the scheduler's clocks in each block.
    draws: int
    #: Of these draws; block k has the seed `seed` + k.
    seed: int

    def simulate(self, setting: Setting, number: int, first: int, last: int) -> Simulated:
        """Simulate a block under a setting, with draws [first, last) of the clocks of all settings.

        Raises
        ------
        CoschedError
            The setting contradicts itself, lets a job never start, or ends one before it is done
            today.
        """
        block = self.blocks[number]
        with _TWINS:
            changed_instance, change_effect, twin = _cached_twin(self, setting, number)
        clocks = clocks_of(block.instance, self.draws, self.seed + number)[first:last]
        begun, killed, paused = twin.futures(clocks)
        if never_starting_count := int(np.isnan(begun).any(axis=0).sum()):
            raise InfeasibleError(f"{never_starting_count:,} jobs would never start")
        start, end, is_ended_at_limit = times_of(changed_instance, begun, killed, paused)
        # The log may not say partitions: then it is the twin that knows limits.
        is_cut_short = is_ended_at_limit.all(axis=0) & ~np.isin(changed_instance.ids, block.ended)
        if setting and is_cut_short.any():
            runtime = changed_instance.column("runtime").copy()
            runtime[is_cut_short] = (end - start)[:, is_cut_short].mean(axis=0)
            _require_work(block.instance, changed_instance.replace(runtime=runtime))
        rows = block.measured_rows(changed_instance)
        jobs = changed_instance.take(rows).without_bound()
        return Simulated(jobs, start[:, rows], end[:, rows], tuple(twin.notes), change_effect)

    def run(self, task: Task) -> Row:
        """Return the measures of a task, or why there are none."""
        setting = tuple(task["setting"])
        try:
            simulated = self.simulate(setting, task["block"], task["draw"], task["draw"] + 1)
        except CoschedError as error:
            if setting == BASELINE:
                raise
            return {"values": [], "why": str(error)}
        values = [
            measure.evaluate(simulated.jobs, simulated.start, simulated.end)
            for measure in self.measures
        ]
        return {"values": [of_each.tolist() for of_each in values], "why": ""}

    def digest(self) -> str:
        """Return a digest of all that decides the rows of tasks: jobs, machines, measures, seed."""
        digest = hashlib.sha256()
        for block in self.blocks:
            machine: Any = block.instance.machine
            block_parts = (block.spans, machine.nodes, machine.partitions, machine.slurm)
            digest.update(repr(block_parts).encode())
            for name, column in sorted(block.instance.raw_columns.items()):
                digest.update(f"{name}{column.tolist()}".encode())
        search_parts = (
            self.keys,
            [str(measure) for measure in self.measures],
            self.draws,
            self.seed,
        )
        return hashlib.sha256(f"{digest.hexdigest()}{search_parts}".encode()).hexdigest()


_TWINS = Lock()


# Draws of a block under a setting follow each other, and some run at the same time.
@lru_cache(maxsize=8)
def _cached_twin(
    context: SimulationContext, setting: Setting, number: int
) -> tuple[Instance, str, Twin]:
    """Return what all draws of a block under a setting share: its jobs, what the change does to
    them, and the twin."""
    block = context.blocks[number]
    changed_instance, change_effect = block.instance, ""
    if setting:
        changed_instance, change_effect = what_if(
            block.instance, what_if_text(context.keys, setting)
        )
        _require_work(block.instance, changed_instance)
    return (
        changed_instance,
        change_effect,
        Twin(changed_instance, changed_instance.machine, {}, approximate=True),
    )


def _require_work(instance: Instance, changed_instance: Instance) -> None:
    """Check that a new limit ends no job before it is done: a machine is no better where less is
    done."""
    runtime_of_job = dict(
        zip(instance.ids.tolist(), instance.column("runtime").tolist(), strict=True)
    )
    runtime = changed_instance.column("runtime")
    pairs = zip(changed_instance.ids.tolist(), runtime.tolist(), strict=True)
    lost_seconds = np.array(
        [
            runtime_of_job.get(job, changed_runtime) - changed_runtime
            for job, changed_runtime in pairs
        ]
    )
    if (is_cut_short := lost_seconds > 0).any():
        hours = float((changed_instance.column("tasks") * lost_seconds)[is_cut_short].sum()) / 3600
        raise InfeasibleError(
            f"{is_cut_short.sum():,} jobs would end at the new limit, {hours:,.0f} core-hours of "
            "work lost"
        )


#: Where tasks run: it gives (place in the list, row) as they come.
Engine = Callable[[SimulationContext, Sequence[Task]], Iterable[tuple[int, Row]]]


def threads(context: SimulationContext, tasks: Sequence[Task]) -> Iterator[tuple[int, Row]]:
    """Run tasks on all processors that this process may use."""
    pool = ThreadPoolExecutor(len(sched_getaffinity(0)))
    try:
        yield from enumerate(pool.map(context.run, tasks))
    finally:
        pool.shutdown(cancel_futures=True)


def drop_unstartable_jobs(block: Block, draws: int, seed: int) -> Block:
    """Return a block without jobs that never start as the machine is: Slurm refuses them, or lets
    them wait for ever.

    InfeasibleError where the machine does not hold a job at all.
    """
    instance = without_suspensions(block.instance, block.instance.machine)
    block = replace(block, instance=instance)
    try:
        twin = Twin(instance, instance.machine, {}, approximate=True)
    except InfeasibleError as error:
        raise with_remedy(error, instance) from None
    _, starts, killed, _, limits = twin.draws(clocks_of(block.instance, draws, seed))
    rows = list(never_starting_jobs(twin, starts, limits))
    if not rows:
        ended = block.instance.ids[~np.isnan(killed).all(axis=0)]
        return replace(block, ended=tuple(ended.tolist()))
    startable_rows = np.delete(np.arange(len(instance)), rows)
    startable_jobs = block.instance.take(startable_rows).without_bound()
    return drop_unstartable_jobs(replace(block, instance=startable_jobs), draws, seed)


class RunCache:
    """The measures of all runs so far; a journal, where there is one, keeps every run at once."""

    def __init__(
        self,
        context: SimulationContext,
        engine: Engine,
        path: Path | None,
        resume: bool,
        head: object,
    ) -> None:
        self.context, self._engine, self._path = context, engine, path
        self._rows: dict[str, Row] = {}
        #: The journal, once this search has written to it.
        self._journal: AppendOnlyFile | None = None
        #: By setting and block: as many draws were requested.
        self._draws_requested: dict[tuple[Setting, int], int] = {}
        #: On the clock of time.monotonic(): no run begins after it.
        self.deadline = np.inf
        #: Whether some run did not begin because of the deadline.
        self.is_cut_short = False
        search = [] if path is None else [context.digest(), head]
        self._owner = json.dumps({"cosched": installed_version(), "search": search})
        if path is not None and path.exists():
            self._load_journal(path, resume)

    def _load_journal(self, path: Path, resume: bool) -> None:
        """Take over the rows of a journal of the same search, and write it anew without damage."""
        if not resume:
            raise InvalidInstance(
                f"{path}: runs of a search that did not end: --resume goes on with it, or remove it"
            )
        first, *lines = io.read_bytes(path).decode("utf-8", "replace").split("\n")
        if lines and first != self._owner:
            raise InvalidInstance(
                f"{path}: runs of another search (log, machine or options): remove it, if done"
            )
        for line in lines:
            try:
                (setting, block, draw), row = json.loads(line)
                key, why = _key(setting, block, draw), str(row["why"])
                shape = np.array(row["values"], dtype=float).shape
                if why or shape == (len(self.context.measures), 1):
                    self._rows[key] = {"values": row["values"], "why": why}
            except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
                continue  # its process was killed while it wrote, or the file is damaged
        rows_of_journal = (f"[{key}, {json.dumps(row)}]" for key, row in self._rows.items())
        lines_without_damage = "\n".join([self._owner, *rows_of_journal]) + "\n"
        self._journal = AppendOnlyFile(path)
        self._journal.replace(lines_without_damage.encode())

    def __enter__(self) -> RunCache:
        return self

    def __exit__(self, *_: object) -> None:
        """Let another search open the journal."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def remove_journal(self) -> None:
        """Remove the journal: the search has ended."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _keep(self, key: str, row: Row) -> None:
        """Append a row to the journal, if there is one: an interrupted search goes on from it."""
        if self._path is None:
            return
        head = ""
        if self._journal is None:
            self._journal = AppendOnlyFile(self._path)
            head = f"{self._owner}\n"
        self._journal.append(f"{head}[{key}, {json.dumps(row)}]\n".encode())

    @contextmanager
    def half_of_the_time(self) -> Iterator[None]:
        """Let no run begin after half of the remaining time, within the context."""
        deadline = self.deadline
        now = time.monotonic()
        self.deadline = now + (deadline - now) / 2
        try:
            yield
        finally:
            self.deadline = deadline

    @property
    def is_past_deadline(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() > self.deadline

    @property
    def count(self) -> int:
        """How many draws of blocks ran."""
        requested_draws = (
            (*setting_and_block, draw)
            for setting_and_block, count in self._draws_requested.items()
            for draw in range(count)
        )
        return sum(_key(*requested_draw) in self._rows for requested_draw in requested_draws)

    def evaluate(
        self, settings: Sequence[Setting], counts: Sequence[int]
    ) -> list[NDArray[np.float64] | str | None]:
        """Return the measures of settings on the first draws of each block, as many as `counts`.

        Returns
        -------
        list of (numpy.ndarray, shape (sum(counts), measures)) or str or None
            By block, then by draw; or why a setting has none; None: the time was over before.
        """
        tasks: list[Task] = []
        for setting in dict.fromkeys(settings):
            for block, last in enumerate(counts):
                first = self._draws_requested.get((setting, block), 0)
                self._draws_requested[setting, block] = max(first, last)
                # A draw is a task: the deadline is checked after each.
                missing_draws = range(first, last)
                tasks += [
                    {"setting": setting, "block": block, "draw": draw} for draw in missing_draws
                ]
        self._run([task for task in tasks if _key(**task) not in self._rows])
        return [self._collect_measures(setting, counts) for setting in settings]

    def _run(self, tasks: Sequence[Task]) -> None:
        """Run tasks until the deadline, and keep their rows."""
        rows = () if self.is_past_deadline or not tasks else self._engine(self.context, tasks)
        missing = len(tasks)
        for place, row in rows:
            key = _key(**tasks[place])
            if key not in self._rows:
                self._keep(key, row)
            self._rows[key] = row
            missing -= 1
            if self.is_past_deadline:
                break  # the engine lets go of what has not begun
        self.is_cut_short |= missing > 0

    def _collect_measures(self, setting: Setting, counts: Sequence[int]) -> np.ndarray | str | None:
        """Return the measures of a setting, a row per draw; why there are none; or None."""
        values_of_draws = []
        for block, count in enumerate(counts):
            for draw in range(count):
                row = self._rows.get(_key(setting, block, draw))
                if row is None:
                    return None
                if row["why"]:
                    return printable(row["why"])
                values_of_draws.append(np.array(row["values"]))
        return np.concatenate(values_of_draws, axis=1).T


def _key(setting: Sequence[str], block: int, draw: int) -> str:
    """Return the key of a run in the journal."""
    return json.dumps([list(setting), block, draw])
