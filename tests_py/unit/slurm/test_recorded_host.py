"""What recordings tell of their host, and the typical run of what they leave open."""

import numpy as np
import pytest

from cosched.cluster import Machine, NodeType
from cosched.cluster.instance import Instance
from cosched.slurm.recordings.host import NEAR, host_of, lengths_of, typical_run
from cosched.slurm.recordings.recorded_runs import RecordedRun, Recording
from cosched.slurm.twin.core_clocks import core_clocks
from cosched.slurm.twin.host_clocks import HOST, host_at
from cosched.slurm.twin.twin import Twin

MACHINE = Machine((NodeType("n", 2, 4, 0.0, 0),), ())
COST, TEST, START, NAP = 0.01, 0.004, 0.02, 1.003


def a_recording(runs, **columns):
    jobs = {"runtime": np.full(4, 70.0), "estimate": np.full(4, 200.0)} | columns
    return Recording("a", MACHINE, jobs, tuple(runs), 20.0, "")


def a_run(cycles=(), plans=(), begins=None, ends=(), passes=()):
    start, end = np.zeros(4), np.full(4, 72.0)
    return RecordedRun(
        np.zeros(4), start, end, ((),) * 4, -20.0, 0, cycles=tuple(cycles), plans=tuple(plans),
        begins=begins or {}, ends=tuple(ends), passes=tuple(passes),
    )  # fmt: skip


def cycles_of(tested, started, naps):
    """When cycles begin that test and start so many jobs, behind so many looks for work."""
    times = [10.0]
    for tests, starts, looks in zip(tested, started, naps, strict=True):
        cost = COST + tests * TEST + starts * START
        times.append(times[-1] + 30 + cost + looks * NAP)
    return times


def test_costs_of_cycles_by_what_they_did():
    tested, started = [0, 3, 1, 5, 2, 4, 0, 6, 2, 1], [0, 1, 0, 0, 1, 1, 0, 0, 0, 0]
    naps = [0, 0, 0, 0, 0, 0, 20, 0, 0, 12]
    times = cycles_of(tested, started, naps)
    plans, begins = [], {}
    for time, tests, starts in zip(times, tested, started, strict=False):
        plans += [(time + 0.001, 0, 0.0, 1.0, ("n1",), "")] * (tests - starts)
        if starts:
            begins[len(begins)] = time + 0.01
    host = host_of(a_recording([run := a_run(times, plans, begins)]), run, 30.0)
    assert host["cycle_cost"] + host["sleep_extra"] == pytest.approx(COST, abs=1e-9)
    assert host["test_cost"] == pytest.approx(TEST, abs=1e-9)
    assert host["start_cost"] == pytest.approx(START, abs=1e-9)
    assert host["nap_extra"] == pytest.approx(NAP - 1, abs=1e-6)


def test_recorded_ends_of_cycles_tell_what_each_took():
    times = [10.0 + 30.5 * k for k in range(8)]
    jobs = [0, 5, 10, 20, 40, 0, 5, 10]
    ends = [(time + 0.1 + 0.005 * n, n) for time, n in zip(times, jobs, strict=True)]
    host = host_of(a_recording([run := a_run(times, ends=ends)]), run, 30.0)
    assert host["cycle_cost"] == pytest.approx(0.1)
    assert host["test_cost"] == pytest.approx(0.005)


def test_another_run_of_the_recording_tells_where_this_one_does_not():
    long_run = a_run(cycles_of([4] * 8, [0] * 8, [0] * 8))
    silent = a_run()
    recording = a_recording([silent, long_run])
    assert host_of(recording, silent, 30.0) == host_of(recording, long_run, 30.0)
    alone = host_of(a_recording([silent]), silent, 30.0)
    assert alone["cycle_cost"] == HOST["cycle_cost"]


def test_ticks_by_passes_that_are_near_each_other():
    times = np.cumsum([1.04, 3.12, 2.08, 60.3, 4.16, 3.12, 1.04, 30.7, 5.2, 3.12])
    run = a_run(passes=[(time, False) for time in times])
    assert host_of(a_recording([run]), run, 30.0)["tick_period"] == pytest.approx(1.04)


def test_a_launch_of_each_run_with_exact_starts_else_of_all():
    exact = a_run(begins=dict.fromkeys(range(4), 0.5))
    first, second = a_run(), a_run()
    object.__setattr__(second, "end", np.full(4, 73.0))
    recording = a_recording([exact, first, second])
    assert host_of(recording, exact, 30.0)["launch"] == 2.0
    assert host_of(recording, first, 30.0)["launch"] == 2.5


def test_the_typical_run_is_the_one_that_most_others_are_like():
    jobs = {
        "submit": [0.0, 1.0, 2.0], "tasks": [1, 1, 2], "cpu": [1] * 3, "memory": [1] * 3,
        "runtime": [60.0, 90.0, 30.0], "estimate": [60.0, 90.0, 30.0],
    }  # fmt: skip
    twin = Twin(Instance(jobs, nodes=2), None, {})
    clocks = core_clocks(host_at(20) | {"controller_start": -20.0, "epoch": 0.0})
    bounds = np.array([60.1, 90.1, 30.1]), np.array([61.1, 91.1, 31.1])
    drawn, alike = typical_run(twin, clocks, bounds)
    assert (drawn, alike) == typical_run(twin, clocks, bounds)  # nothing is left to chance
    assert all(
        low <= length < high for length, low, high in zip(drawn.run_lengths, *bounds, strict=True)
    )
    assert 0 <= drawn.tick_offset < clocks.tick_period
    assert 0.9 < alike <= 1
    starts = twin.run(drawn).start
    assert np.abs(starts - twin.run(clocks).start).max() <= NEAR


def test_lengths_of_jobs_that_ended_by_themselves():
    run = a_run(begins={0: 0.5, 1: 2.5, 2: 0.5})
    recording = a_recording([run], estimate=np.array([200.0, 200.0, 72.0, 200.0]))
    shortest, longest = lengths_of(recording, run)
    assert (shortest[0], longest[0]) == (71.5, 72.5)
    assert (round(shortest[1], 3), longest[1]) == (70.05, 70.5)  # it ran at least its run time
    assert np.isnan(longest[2:]).all()  # ended by its limit; no exact start
