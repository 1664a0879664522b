"""``moldable.step``: valid starts, a gap that holds, refusals in one line."""

import numpy as np
import pytest

import cosched as cs


def drawn(random, jobs, most_processors):
    alone, serial = random.uniform(1, 50, jobs), random.uniform(0, 1, jobs)
    counts = np.arange(1, most_processors + 1)
    times = alone[:, None] * (serial[:, None] + (1 - serial[:, None]) / counts)
    times[random.random(times.shape) < 0.1] = np.inf
    times[:, -1] = np.where(np.isfinite(times).any(axis=1), times[:, -1], 1.0)
    return times


def test_a_loop_of_steps_runs_all_jobs_within_twice_the_bound():
    random = np.random.default_rng(1)
    for most_processors in (1, 4, 8):
        times = drawn(random, 60, most_processors)
        remaining_jobs, free, now, end, state = (
            list(range(60)),
            np.zeros(most_processors),
            0.0,
            0.0,
            None,
        )
        bound = None
        while remaining_jobs:
            step = cs.moldable.step(times[remaining_jobs], free, budget=0.002, state=state)
            state, bound = step.state, bound or step.bound
            assert step.gap >= 0
            for row, units in step.start:
                assert (free[list(units)] == 0).all()
                free[list(units)] = seconds = times[remaining_jobs[row], len(units) - 1]
                end = max(end, now + seconds)
            started_rows = {row for row, _ in step.start}
            remaining_jobs = [
                job for row, job in enumerate(remaining_jobs) if row not in started_rows
            ]
            assert (free > 0).any()
            passed = free[free > 0].min()
            now, free = now + passed, np.maximum(free - passed, 0.0)
        assert end <= 2.02 * bound


@pytest.mark.parametrize("ready", [[], (), np.empty((0, 3))])
@pytest.mark.parametrize("machine", [3, [0.0, 5.0, 0.0]])
def test_without_ready_jobs_nothing_starts(ready, machine):
    step = cs.moldable.step(ready, machine, state=1.25)
    assert step == cs.moldable.Step((), 0.0, 0.0, 1.25)
    assert step.gap == 0
    with pytest.raises(cs.InvalidInstance, match="budget"):
        cs.moldable.step(ready, machine, budget=0)
    with pytest.raises(cs.InvalidInstance, match=r"machine\[1\]"):
        cs.moldable.step(ready, [0.0, -1.0])
    with pytest.raises(cs.InvalidInstance, match="state"):
        cs.moldable.step(ready, machine, state=-1.0)


def test_the_bound_counts_what_can_still_be_decided():
    """A processor that is busy for long made every plan of the others look perfect."""
    step = cs.moldable.step([[8.0, 4.0], [8.0, 4.0]], [0.0, 0.0, 1000.0], budget=0.01)
    assert step.makespan == 8
    assert 7 < step.bound <= 8


def test_an_instance_gives_what_its_table_gives():
    times = drawn(np.random.default_rng(2), 30, 4)
    table = cs.moldable.step(times, 4, budget=1e-9)
    assert cs.moldable.step(cs.moldable.Instance(times), 4, budget=1e-9) == table


def test_ten_thousand_jobs_are_one_call():
    times = drawn(np.random.default_rng(3), 10_000, 16)
    step = cs.moldable.step(times, 16, budget=1e-9)
    assert step.start
    assert 0 <= step.gap <= 1.02


@pytest.mark.parametrize(
    ("ready", "machine", "options", "said"),
    [
        ([[1.0]], 0, {}, "machine"),
        ([[1.0]], [], {}, "machine"),
        ([[1.0]], [-1.0], {}, r"machine\[0\]"),
        ([[1.0]], [np.inf], {}, "machine"),
        ([[1.0]], 1, {"budget": 0}, "budget"),
        ([[1.0]], 1, {"budget": np.nan}, "budget"),
        ([[1.0]], 1, {"state": -1.0}, "state"),
        ([[1.0, -2.0]], 2, {}, "-2"),
        (cs.moldable.Instance([[1.0], [1.0]], edges=[(0, 1)]), 1, {}, "edges"),
        (cs.moldable.Instance([[1.0, 1.0]]), 3, {}, "3 processors"),
    ],
)
def test_bad_input_is_one_line(ready, machine, options, said):
    with pytest.raises(cs.InvalidInstance, match=said) as caught:
        cs.moldable.step(ready, machine, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("late", [6.1e307, 1.7e308])
def test_times_whose_sums_are_infinite_are_refused(late):
    with pytest.raises(cs.InvalidInstance, match="before 1e300 s"):
        cs.moldable.step([[1.0]], [late], budget=0.01)
    with pytest.raises(cs.InvalidInstance, match="overflow"):
        cs.moldable.step([[late]] * 3, 1, budget=0.01)


def test_instances_of_other_families_are_refused():
    dag = cs.dags.Instance([[1.0, 2.0], [1.0, 2.0]], [(0, 1)], (1, 1))
    shared = {"resources": {"memory": [1, 1]}, "capacity": {"memory": 1}}
    packs = cs.packs.Instance([[1.0, 1.0], [1.0, 1.0]], **shared)
    for other in (dag, packs):
        with pytest.raises(cs.InvalidInstance, match="ready = "):
            cs.moldable.step(other, 2)
