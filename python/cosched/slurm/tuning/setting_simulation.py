"""Simulate weeks of a log under a setting, all settings with the same random scheduler timing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple, TypedDict

import numpy as np

from cosched import _core
from cosched.cluster.analysis.what_if import what_if
from cosched.cluster.instance import Instance
from cosched.errors import CoschedError, InfeasibleError
from cosched.notes import Note
from cosched.slurm.tuning.space import BASELINE, Setting, TuningMeasure, what_if_text
from cosched.slurm.tuning.weeks import Block
from cosched.slurm.twin.backfill import never_starting_jobs, times_of, with_remedy
from cosched.slurm.twin.host_clocks import clocks_of
from cosched.slurm.twin.prepare_jobs import without_suspensions
from cosched.slurm.twin.twin import Twin


class Task(TypedDict):
    """One simulation of the search, as plain data."""

    #: Values of the dimensions; empty: the machine as it is.
    setting: Sequence[str]
    #: Number of the block.
    block: int
    #: Which draw of the block's clocks.
    draw: int


class MeasureRow(TypedDict):
    """What a task gives, as plain data."""

    #: For each measure its value in each draw; empty where there are none.
    values: list[list[float]]
    #: Why there are no values; empty where there are some.
    why: str


@dataclass(frozen=True)
class BlockSimulation:
    """When the measured jobs of a block start and end under a setting."""

    #: The measured jobs.
    jobs: Instance
    #: Starts (s), shape (draws, jobs).
    start: np.ndarray
    #: Ends (s), shape (draws, jobs).
    end: np.ndarray
    #: What the simulator leaves out.
    notes: tuple[Note, ...]
    #: What the setting changes for jobs, in words; empty: nothing.
    change_effect: str

    @classmethod
    def joined(cls, simulations: Sequence[BlockSimulation]) -> BlockSimulation:
        """Return successive blocks, which have the same number of draws, as one simulation."""
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

    def draw(self, number: int) -> BlockSimulation:
        """Return one draw alone."""
        start, end = (
            np.ascontiguousarray(times[number : number + 1]) for times in (self.start, self.end)
        )
        return replace(self, start=start, end=end)

    @property
    def waits(self) -> np.ndarray:
        """Waits (s), shape (draws, jobs).

        A wait is not below 0: the controller starts jobs in whole seconds, which may be before
        the fraction of a second at which a job was submitted.
        """
        waits: np.ndarray = np.maximum(self.start - self.jobs.column("eligible"), 0)
        return waits


@dataclass(frozen=True, eq=False)
class SimulationContext:
    """All that the run of a task needs; it is pickled for workers that are other processes."""

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

    def simulate(self, setting: Setting, number: int, first: int, last: int) -> BlockSimulation:
        """Simulate a block under a setting.

        All settings have the same clocks: those of the draws of the block.

        Parameters
        ----------
        setting : tuple of str
            Values by :attr:`keys`; empty: the machine as it is.
        number : int
            Of the block.
        first, last : int
            The draws `first` to `last` - 1.

        Raises
        ------
        CoschedError
            The setting contradicts itself, lets a job never start, or ends one before it is done
            today.
        """
        block = self.blocks[number]
        with _TWIN_LOCK:
            setting_twin = _cached_twin(self, setting, number)
        changed_instance = setting_twin.instance
        clocks = clocks_of(block.instance, self.draws, self.seed + number)[first:last]
        table = setting_twin.twin.simulate_many(clocks)
        if never_starting_count := int(np.isnan(table.start_times).any(axis=0).sum()):
            raise InfeasibleError(f"{never_starting_count:,} jobs would never start")
        start, end, is_ended_at_limit = _times_of_table(changed_instance, table)
        # Where the log does not tell partitions, only the simulator knows the limits of jobs.
        is_cut_short = is_ended_at_limit.all(axis=0) & ~np.isin(changed_instance.ids, block.ended)
        if setting and is_cut_short.any():
            runtime = changed_instance.column("runtime").copy()
            runtime[is_cut_short] = (end - start)[:, is_cut_short].mean(axis=0)
            _require_work(block.instance, changed_instance.replace(runtime=runtime))
        rows = block.measured_rows(changed_instance)
        jobs = changed_instance.take(rows).without_bound()
        return BlockSimulation(
            jobs,
            start[:, rows],
            end[:, rows],
            tuple(setting_twin.twin.notes),
            setting_twin.change_effect,
        )

    def measure(self, simulation: BlockSimulation) -> list[list[float]]:
        """Return the value of each measure in each draw."""
        return [
            measure.evaluate(simulation.jobs, simulation.start, simulation.end).tolist()
            for measure in self.measures
        ]

    def run(self, task: Task) -> MeasureRow:
        """Return the measures of a task, or why there are none."""
        setting = tuple(task["setting"])
        try:
            simulation = self.simulate(setting, task["block"], task["draw"], task["draw"] + 1)
        except CoschedError as error:
            if setting == BASELINE:
                raise
            return {"values": [], "why": str(error)}
        return {"values": self.measure(simulation), "why": ""}

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


class _SettingTwin(NamedTuple):
    """What all draws of a block under a setting share."""

    #: The jobs of the block, as the setting changes them.
    instance: Instance
    #: What the setting changes for jobs, in words.
    change_effect: str
    #: The simulator of these jobs.
    twin: Twin


#: One twin is built at a time: draws that run at the same time share it.
_TWIN_LOCK = Lock()


# Draws of a block under a setting follow each other, and some run at the same time.
@lru_cache(maxsize=8)
def _cached_twin(context: SimulationContext, setting: Setting, number: int) -> _SettingTwin:
    """Return what all draws of a block under a setting share."""
    block = context.blocks[number]
    changed_instance, change_effect = block.instance, ""
    if setting:
        changed_instance, change_effect = what_if(
            block.instance, what_if_text(context.keys, setting)
        )
        _require_work(block.instance, changed_instance)
    twin = Twin(changed_instance, changed_instance.machine, {}, approximate=True)
    return _SettingTwin(changed_instance, change_effect, twin)


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


def _times_of_table(
    instance: Instance, table: _core.slurm.ReplicationTable
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return starts, ends, and which jobs were ended at their limit, shape (draws, jobs)."""
    return times_of(instance, table.start_times, table.kill_times, table.paused_seconds)


class StartableBlock(NamedTuple):
    """A block whose jobs all start as the machine is."""

    #: The jobs.
    block: Block
    #: The block under :data:`BASELINE` in all draws: what has shown that its jobs start.
    baseline: BlockSimulation


def drop_unstartable_jobs(block: Block, draws: int, seed: int) -> StartableBlock:
    """Return a block without jobs that never start as the machine is: Slurm refuses them, or lets
    them wait for ever.

    Parameters
    ----------
    block : Block
        Of the log.
    draws, seed : int
        Of the clocks: a job that does not start in one of the draws is left out.

    Raises
    ------
    InfeasibleError
        The machine does not hold a job at all.
    """
    instance = without_suspensions(block.instance, block.instance.machine)
    block = replace(block, instance=instance)
    try:
        twin = Twin(instance, instance.machine, {}, approximate=True)
    except InfeasibleError as error:
        raise with_remedy(error, instance) from None
    table = twin.simulate_until(clocks_of(block.instance, draws, seed))
    rows = list(never_starting_jobs(twin, table.start_times, table.blocked_by_limit))
    if not rows:
        ended = block.instance.ids[~np.isnan(table.kill_times).all(axis=0)]
        measured = block.measured_rows(instance)
        start, end, _ = _times_of_table(instance, table)
        baseline = BlockSimulation(
            instance.take(measured).without_bound(),
            start[:, measured],
            end[:, measured],
            tuple(twin.notes),
            "",
        )
        return StartableBlock(replace(block, ended=tuple(ended.tolist())), baseline)
    startable_rows = np.delete(np.arange(len(instance)), rows)
    startable_jobs = block.instance.take(startable_rows).without_bound()
    return drop_unstartable_jobs(replace(block, instance=startable_jobs), draws, seed)
