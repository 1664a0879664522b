"""What a recording or a log of sacct tells of its host; what it leaves open is drawn."""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.judgement.log_start import start_of_log
from cosched.cluster.machine import Machine
from cosched.notes import Note
from cosched.slurm.recordings.recorded_runs import RecordedRun, Recording
from cosched.slurm.twin.host_clocks import host_at
from cosched.slurm.twin.twin import Twin

#: Looks for work a second apart: so many at least, and less beyond them than this part of a second.
_MIN_CYCLES, _MAX_FRACTION = 5.0, 0.5
#: A cycle that begins sooner than that (s) behind an interval waited for nothing.
_AT_ONCE = 1.0
#: Passes nearer than that (s) tell how many ticks are between them.
_NEAR = 8.0
#: Where in its second a start or end is on average (s).
_MEAN_FRACTION = 0.5


def host_of(recording: Recording, run: RecordedRun, interval: float) -> dict[str, float]:
    """Return what launches, ticks, cycles and sleeps took in a recorded run, else in the others
    of its recording, else on the usual host; `interval`: bf_interval (s)."""
    host = host_at(recording.speed)
    runtime, limit = recording.jobs["runtime"], recording.jobs["estimate"]
    runs_alike = (
        [run] if run.begins else [run_alike for run_alike in recording.runs if not run_alike.begins]
    )
    host["launch"] = float(np.mean([run_alike.launch(runtime, limit) for run_alike in runs_alike]))
    runs_with_cycles = [
        run_alike for run_alike in recording.runs if len(run_alike.cycles) > _MIN_CYCLES
    ]
    runs_with_cycles = [run] if len(run.cycles) > _MIN_CYCLES else runs_with_cycles
    costs = [_costs(run_alike, interval, host) for run_alike in runs_with_cycles]
    for name in costs[0] if costs else ():
        host[name] = float(np.mean([run_alike.get(name, host[name]) for run_alike in costs]))
    host["tick_period"] = _tick_period(run, host["tick_period"])
    return host


def _costs(run: RecordedRun, interval: float, usual: dict[str, float]) -> dict[str, float]:
    """Return what cycles take, each job that they test and each that they start; how much longer
    the backfill thread sleeps than it means to, as its cycles tell: those that nothing kept from
    a cycle, and those that looked for work once a second."""
    cycles = np.array(run.cycles)
    tests, starts = _work_of_cycles(run)
    cycle_ends = cycles + usual["cycle_cost"]
    for end, jobs in run.ends:
        cycle = bisect(run.cycles, end) - 1
        cycle_ends[cycle], tests[cycle] = end, jobs
    beyond = np.diff(cycles) - interval
    rows = np.column_stack([np.ones(len(cycles)), tests, starts])[:-1]
    is_at_once = beyond < _AT_ONCE
    if run.ends:
        cost = _least_squares(rows, (cycle_ends - cycles)[:-1])
        extra = float(np.median((beyond + cycles[:-1] - cycle_ends[:-1])[is_at_once]))
    else:
        cost = _least_squares(rows[is_at_once], beyond[is_at_once])
        extra = min(usual["sleep_extra"], cost[0])
        cost[0] -= extra
    costs = dict(zip(("cycle_cost", "test_cost", "start_cost"), cost.tolist(), strict=True))
    costs["sleep_extra"] = extra
    delays = beyond - rows @ cost - extra
    delays = delays[(delays > _MIN_CYCLES) & (delays % 1 < _MAX_FRACTION)]
    naps = delays % 1 / np.floor(delays)
    return costs | ({"nap_extra": float(np.median(naps))} if len(naps) else {})


def _work_of_cycles(run: RecordedRun) -> tuple[np.ndarray, np.ndarray]:
    """Return how many jobs each cycle tested, and how many it started. Those that it planned or
    started; else all that waited, of which some start, so that starts are in the price of tests."""
    cycles = np.array(run.cycles)
    if not run.plans:
        start = np.array(
            [run.begins.get(row, second + _MEAN_FRACTION) for row, second in enumerate(run.start)]
        )
        waits = (run.submit[:, None] < cycles) & ~(start[:, None] < cycles)
        return waits.sum(axis=0).astype(float), np.zeros(len(cycles))
    starts, tests = np.zeros((2, len(cycles)))
    for begin in run.begins.values():
        cycle = bisect(run.cycles, begin) - 1
        if cycle >= 0 and run.decision_before(begin) == cycles[cycle]:
            starts[cycle] += 1
    for when, *_ in run.plans:
        tests[bisect(run.cycles, when) - 1] += 1
    return tests + starts, starts


def _least_squares(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return factors of the columns, none below 0."""
    from scipy.optimize import nnls

    factors: np.ndarray = nnls(rows, values)[0]
    return factors


def _tick_period(run: RecordedRun, usual: float) -> float:
    """Return seconds from one tick of the background loop to the next: passes come at ticks."""
    times = [time for time, _ in run.passes]
    gaps = np.diff(times)
    gaps = gaps[(gaps > usual / 2) & (gaps < _NEAR)]
    return float(gaps.sum() / np.round(gaps / usual).sum()) if len(gaps) > _MIN_CYCLES else usual


#: So many runs, and how far starts of jobs that are alike are apart at most (s).
DRAWS, NEAR = 100, 5.0
#: A job has worked at least that long beyond its run time (s).
_LAUNCH = 0.05

#: From the shortest to the longest that each job may have run (s); nan: by the rules.
Lengths = tuple[np.ndarray, np.ndarray]


def typical_run(
    twin: Twin, clocks: _core.slurm.Clocks, lengths: Lengths
) -> tuple[_core.slurm.Clocks, float]:
    """Return the clocks of the simulation that agrees most with the others, and how far two of them
    agree.

    Drawn are the phase of the ticks and each job's length within its bounds, without a look at
    what the recorded run decided: the seed is fixed, and the runs judge each other.

    Parameters
    ----------
    clocks : _core.slurm.Clocks
        Those of the recorded run, with recorded times where they replace the rules.
    lengths : pair of numpy.ndarray, shape (jobs,)
        Bounds of each job's length (s).

    Returns
    -------
    clocks : _core.slurm.Clocks
        Of the run that has most jobs in common with the others; of equal ones the nearest to them.
    agreement : float
        The share of jobs on the same nodes within five seconds, two runs taken at random.
    """
    rng = np.random.default_rng(0)
    shortest, longest = lengths
    drawn_clocks = []
    for _ in range(DRAWS):
        offset = rng.uniform(0, clocks.tick_period)
        lengths_of_run = shortest + (longest - shortest) * rng.uniform(size=len(shortest))
        drawn_clocks.append(clocks.replace(tick_offset=offset, run_lengths=lengths_of_run.tolist()))
    agreements, differences = _pairwise_agreement(
        [twin.run(clocks_of_run) for clocks_of_run in drawn_clocks], twin
    )
    best = int(np.lexsort((differences.sum(axis=1), -agreements.sum(axis=1)))[0])
    mean_agreement = (agreements.sum() - len(agreements)) / (
        len(agreements) * (len(agreements) - 1)
    )
    return drawn_clocks[best], float(mean_agreement)


def lengths_of(recording: Recording, run: RecordedRun) -> Lengths:
    """Return the shortest and longest run of jobs that ended by themselves, as starts tell
    exactly and ends in whole seconds."""
    runtime, limit = recording.jobs["runtime"], recording.jobs["estimate"]
    begin = np.array([run.begins.get(row, np.nan) for row in range(len(run.start))])
    longest = run.end + 1 - begin
    has_ended_by_itself = (run.end - run.start < limit) & (longest > runtime + _LAUNCH)
    longest = np.where(has_ended_by_itself, longest, np.nan)
    return np.maximum(longest - 1, runtime + _LAUNCH), longest


def _pairwise_agreement(
    outcomes: Sequence[_core.slurm.Outcome], twin: Twin
) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each two runs, the share of jobs on the same nodes with starts near each
    other, and how far these are apart."""
    never = -1e12  # alike among each other
    start = np.nan_to_num(np.array([outcome.start for outcome in outcomes]), nan=never)
    numbers: dict[bytes, int] = {}
    where = np.array(
        [
            [numbers.setdefault(nodes.tobytes(), len(numbers)) for nodes in twin.nodes_of(outcome)]
            for outcome in outcomes
        ]
    )
    differences = np.array(
        [np.minimum(np.abs(start - starts_of_run), 2 * NEAR) for starts_of_run in start]
    )
    is_near = (differences <= NEAR) & np.array([where == nodes for nodes in where])
    return is_near.mean(axis=2), (differences * is_near).mean(axis=2)


@dataclass(frozen=True)
class LogState:
    """A log as the simulator takes it."""

    #: From the first end that the log has, where it begins in the middle of things: jobs that run
    #: then are on their nodes.
    instance: Instance
    epilog: float | None  # s from a job's end until its nodes are free; None: it does not tell
    notes: tuple[Note, ...]  # what was taken from the log, and what it does not tell


def read_log(
    log: str | PathLike[str],
    machine: Machine,
    *,
    approximate: bool = False,
    drop: str | None = None,
) -> Instance:
    """Read what ``sacct -P`` printed as a test of the simulator: jobs as long as they were, those
    that run still until the log's end.

    `approximate`: see :meth:`Machine.approximated`; `drop`: see :meth:`Instance.read`.
    """
    if approximate:
        machine = machine.approximated()
    return Instance.read(log, machine=machine, no_bound=True, include_running=True, drop=drop)


def read_state(
    log: str | PathLike[str], machine: Machine, *, approximate: bool = False
) -> LogState:
    """Return the log of :func:`read_log` from where on all its jobs are known."""
    start = start_of_log(read_log(log, machine, approximate=approximate))
    return LogState(start.instance, start.epilog, start.notes)
