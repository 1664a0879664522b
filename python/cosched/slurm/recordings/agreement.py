"""The twin of Slurm beside recordings of real ones."""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.slurm.conf.settings import PARAMETERS
from cosched.slurm.recordings.host import NEAR, host_of, lengths_of, typical_run
from cosched.slurm.recordings.recorded_runs import (
    RecordedRun as RecordedRun,
    Recording as Recording,
    node_shares,
)
from cosched.slurm.recordings.recording_files import read_recording as read_recording
from cosched.slurm.recordings.wait_errors import (
    DAY,
    Makespans,
    WindowedWaits,
    makespans,
    windowed_waits,
)
from cosched.slurm.requests.core_job_builder import running_state
from cosched.slurm.requests.request import Running
from cosched.slurm.twin.core_clocks import core_clocks
from cosched.slurm.twin.twin import Twin

#: Beyond so many seconds a start counts as another one; within `NEAR` as the same.
FAR = 60.0
#: Factors and priorities that differ by less are the same: age moves one or two points a second.
FACTOR, PRIORITY = 1e-4, 15.0
#: In real seconds, how long after the first command of a sample the others answer.
_ANSWER = 0.0125
#: A start that is known in whole seconds may seem to be before the submission, an exact one behind
#: the end in whole seconds: they are so far apart at least (s).
_SHORTEST = 0.001


@dataclass(frozen=True)
class Agreement:
    """The twin's run beside a recorded one; times are on the recording's time base (s).

    Examples
    --------
    >>> start, end, apart = np.array([[100.0], [160.0], [70.0]])
    >>> far = Agreement(start, end, (("n1",),), apart, np.array([True]), ())
    >>> far.off_by_60, far.good
    (1, 0)
    """

    start: NDArray[np.float64]  # the twin's
    end: NDArray[np.float64]  # the twin's
    nodes: tuple[tuple[str, ...], ...]  # the twin's
    apart: NDArray[np.float64]  # its starts minus the recorded ones
    same_nodes: NDArray[np.bool_]  # of bool
    #: Recorded cycles with plans: time, planned reservations, those that are equal.
    plans: tuple[tuple[float, int, int], ...]
    #: Where this is one run of many: the share of jobs in which two of them agree; else nan.
    alike: float = np.nan

    @property
    def off_by_60(self) -> int:
        """Jobs whose starts differ by more than 60 s."""
        return int((np.abs(self.apart) > FAR).sum())

    @property
    def good(self) -> int:
        """Jobs on the same nodes, with starts within 5 s."""
        return int(((np.abs(self.apart) <= NEAR) & self.same_nodes).sum())

    @property
    def planned(self) -> tuple[int, int]:
        """Recorded planned reservations, and those that are equal."""
        return sum(plan[1] for plan in self.plans), sum(plan[2] for plan in self.plans)

    @property
    def median(self) -> float:
        """Median difference of the starts (s)."""
        return float(np.median(np.abs(self.apart)))


def _twin_of(
    recording: Recording, run: RecordedRun, instance: Instance
) -> tuple[Twin, dict[str, float]]:
    """Return the twin for a run, and its clocks with the two numbers of that run."""
    twin = Twin(
        instance,
        recording.machine,
        {},
        requests=recording.requests_of(run),
        version=recording.slurm or None,
    )
    interval = twin.settings.parameters.get("bf_interval", PARAMETERS["bf_interval"])
    clocks = host_of(recording, run, interval)
    clocks.update(controller_start=run.controller_start, epoch=float(run.epoch))
    return twin, clocks


def _decay_of(run: RecordedRun) -> dict[str, float]:
    """Return when usage decayed first, where the run has it."""
    if run.decay_start is None:
        return {}
    return {"decay_after": run.decay_start - run.controller_start}


def retraced(
    recording: Recording, run: RecordedRun, times: Sequence[float]
) -> list[_core.slurm.Sample]:
    """Return what sshare and sprio show at these times of a recorded run: fair-share factors by
    association, and priorities by job (nan: it does not wait).

    Jobs start, end and run as recorded; usage, factors and priorities are the twin's. Where jobs
    share nodes: with the cores, memory and GPUs of each job that the recording tells, else its
    tasks in order over its nodes.
    """
    twin, clocks = _twin_of(recording, run, recording.instance(run))
    names, tasks = twin.settings.names, recording.jobs["tasks"]
    runs = []
    for row, nodes in enumerate(run.nodes):
        shares = run.shares[row] if run.shares else {}
        node_resources, gpus = node_shares(recording.machine, shares, nodes, int(tasks[row]), names)
        begin = run.begins.get(row, run.start[row]) if nodes else np.nan  # cancelled before it
        begin = np.maximum(begin, run.submit[row] + _SHORTEST)
        shares_and_gpus = running_state(Running(begin, node_resources, gpus))
        runs.append(
            _core.slurm.RecordedRun(
                start=begin,
                end=np.maximum(run.end[row], begin + _SHORTEST),
                shares=shares_and_gpus.shares,
                gpus=shares_and_gpus.gpus,
            )
        )
    return twin.retrace(clocks | _decay_of(run), runs, sorted(times), cycle_times=run.cycles)


def samples_off(recording: Recording, run: RecordedRun) -> tuple[int, int, int, int]:
    """Return how many fair-share factors the samples of a run have, how many of them the twin
    has otherwise; the same of priorities."""
    if not run.samples:
        return 0, 0, 0, 0
    delay = _ANSWER * recording.speed
    retraced_samples = retraced(recording, run, [sample.time + delay for sample in run.samples])
    factors = [
        abs(retraced_sample.factors[association] - recorded) < FACTOR
        for sample, retraced_sample in zip(run.samples, retraced_samples, strict=True)
        for association, recorded in sample.factors.items()
    ]
    priorities = [
        abs(retraced_sample.priorities[job] - recorded) <= PRIORITY
        for sample, retraced_sample in zip(run.samples, retraced_samples, strict=True)
        for job, recorded in sample.priorities.items()
    ]
    differing_counts = factors.count(False), priorities.count(False)
    return len(factors), differing_counts[0], len(priorities), differing_counts[1]


def agreement(recording: Recording, run: RecordedRun, *, replay: bool = False) -> Agreement:
    """Run the twin with the clocks of a recorded run, and compare.

    Given are the controller's start and the epoch, and where exact starts are recorded how long
    each job ran; the host's share is measured from the recording. `replay`: passes, backfill
    cycles and limit checks at the recorded times, too. Of what is left open within a second, the
    run that agrees with most others (:func:`typical_run`). Where a recording does not tell whether
    cycles rested in the middle of a job, all did or none: what agrees better.
    """
    return simulated_run(recording, run, replay=replay)[2]


def simulated_run(
    recording: Recording, run: RecordedRun, *, replay: bool = False
) -> tuple[Twin, _core.slurm.Clocks, Agreement]:
    """The simulator of a recorded run, the clocks of the simulation that :func:`agreement`
    compares, and the comparison."""
    instance = recording.instance(run)
    twin, clocks = _twin_of(recording, run, instance)
    if replay:
        clocks |= _decay_of(run)
    run_clocks = core_clocks(clocks)
    alike = np.nan
    if replay:
        lengths = recording.lengths(run)
        run_clocks = _with_exact_delays(
            run_clocks.replace(cycle_times=run.cycles, limit_check_times=run.checks), run
        )
        if run.passes:
            run_clocks = run_clocks.replace(main_passes=run.passes, run_lengths=lengths.tolist())
        else:
            run_clocks, alike = typical_run(twin, run_clocks, (lengths, lengths))
    elif run.begins:
        run_clocks, alike = typical_run(twin, run_clocks, lengths_of(recording, run))
    if not (replay and run.exact_ends):
        outcome = twin.run(run_clocks, with_plans=bool(run.plans))
        return twin, run_clocks, _compare(recording, run, twin, outcome, alike)
    is_unknown = any(amid is None for *_, amid in run.yields)
    simulations = []
    for yields_mid_job in (False, True) if is_unknown else (False,):
        slices = _cycle_slices(recording, run, twin, yields_mid_job)
        clocks_with_slices = run_clocks.replace(slices=slices)
        outcome = twin.run(clocks_with_slices, with_plans=bool(run.plans))
        simulations.append((twin, clocks_with_slices, _compare(recording, run, twin, outcome)))
    return max(simulations, key=lambda simulation: simulation[2].good + simulation[2].planned[1])


def _compare(
    recording: Recording,
    run: RecordedRun,
    twin: Twin,
    outcome: _core.slurm.Outcome,
    alike: float = np.nan,
) -> Agreement:
    """Return how far a run of the twin agrees with the recorded one."""
    names = twin.settings.names or tuple(f"n{k + 1}" for k in range(len(twin.node_cores)))
    nodes = tuple(tuple(names[k] for k in node_numbers) for node_numbers in twin.nodes_of(outcome))
    start = outcome.start
    has_same_nodes = np.array([set(a) == set(b) for a, b in zip(nodes, run.nodes, strict=True)])
    never = np.isnan(start) & np.isnan(run.start)
    differences = np.where(never, 0.0, np.nan_to_num(start - run.start, nan=np.inf))
    plans = _compare_plans(recording, run, outcome.notes, names, twin.partition_names)
    return Agreement(start, outcome.end, nodes, differences, has_same_nodes, plans, alike)


def waits_by_window(run: RecordedRun, agreement: Agreement, window: float = DAY) -> WindowedWaits:
    """Mean waits of a recorded run and of the twin's, by window of submissions (s)."""
    return windowed_waits(run.submit, run.start, agreement.start, window)


def makespans_of(run: RecordedRun, agreement: Agreement) -> Makespans:
    """Seconds from the first submission to the last end, in a recorded run and in the twin's; of
    jobs that started."""
    recorded_end = np.where(np.isnan(run.start), np.nan, run.end)
    return makespans(run.submit, recorded_end, agreement.end)


def _with_exact_delays(clocks: _core.slurm.Clocks, run: RecordedRun) -> _core.slurm.Clocks:
    """Return the clocks with how long passes and cycles had taken until they started jobs, and how
    long nodes were not free after them, where exact ends were recorded."""
    if not run.exact_ends:
        return clocks
    epilogs, delays = np.full((2, len(run.start)), np.nan)
    for row, (end, free_time) in run.exact_ends.items():
        epilogs[row] = free_time - end
        delays[row] = run.begins[row] - run.decision_before(run.begins[row])
    return clocks.replace(start_delays=delays.tolist(), epilog_delays=epilogs.tolist())


def _cycle_slices(
    recording: Recording, run: RecordedRun, twin: Twin, amid: bool
) -> list[list[_core.slurm.Slice]]:
    """Return what each recorded cycle did between two rests, as the twin takes it."""
    parameters = twin.settings.parameters
    longest = parameters.get(
        "bf_max_time", parameters.get("bf_interval", PARAMETERS["bf_interval"])
    )
    arrays = {row: request.array[0] for row, request in recording.requests.items() if request.array}
    return run.cycle_slices(longest, arrays, amid)


_SAME_CYCLE, _SAME_START = 2.0, 3.0


def _compare_plans(
    recording: Recording,
    run: RecordedRun,
    notes: list[_core.slurm.DecisionNote],
    names: tuple[str, ...],
    parts: list[str],
) -> tuple[tuple[float, int, int], ...]:
    """Return planned reservations of each recorded cycle, and how many the twin's nearest cycle
    shares."""
    first = {row: rows_of_job[0] for rows_of_job in recording.rows for row in rows_of_job}
    plans_by_row: dict[int, list[Any]] = {}
    for note in notes:
        if note.action is _core.slurm.Action.plan and note.nodes:
            planned_nodes = {names[k] for k in note.nodes}
            plan = (note.time, note.start, note.end, planned_nodes, parts[note.partition])
            plans_by_row.setdefault(first.get(note.job, note.job), []).append(plan)
    cycles: dict[float, list[int]] = {}
    for when, row, start, end, nodes, part in run.plans:
        position = bisect(run.cycles, when)
        count = cycles.setdefault(run.cycles[position - 1] if position else when, [0, 0])
        count[0] += 1
        count[1] += any(
            abs(t - when) <= _SAME_CYCLE
            and abs(a - start) <= _SAME_START
            and abs(b - end) <= _SAME_START
            and rows_of_job == set(nodes)
            and part in ("", where)
            for t, a, b, rows_of_job, where in plans_by_row.get(row, ())
        )
    return tuple((when, total, equal) for when, (total, equal) in cycles.items())
