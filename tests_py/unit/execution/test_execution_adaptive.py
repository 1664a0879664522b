"""Few measurements, a guaranteed plan: bounds are bounds, and few are needed."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import cosched as cs
from cosched.errors import InvalidInstance
from cosched.execution import (
    Adaptive,
    Local,
    bounds_of_times,
    guarantee,
    measure_adaptively,
    profile,
)
from execution_codes import shell_notes
from support import tables


@st.composite
def some_known(draw):
    """A monotone table, and which of its times were measured (at least one a row)."""
    n, p = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    times = tables(draw, n, p, kinds=("monotone",))
    is_measured = np.array(draw(st.lists(st.booleans(), min_size=n * p, max_size=n * p))).reshape(
        n, p
    )
    is_measured[np.arange(n), draw(st.lists(st.integers(0, p - 1), min_size=n, max_size=n))] = True
    return times, is_measured


@given(some_known())
def test_bounds_hold_whatever_is_missing(case):
    times, is_measured = case
    lower, upper = bounds_of_times(np.where(is_measured, times, np.nan))
    assert (lower <= times * (1 + 1e-9)).all()
    assert (times <= upper * (1 + 1e-9)).all()
    assert (lower[is_measured] == times[is_measured]).all()
    assert (upper[is_measured] == times[is_measured]).all()


@given(some_known())
def test_the_guarantee_holds_for_the_true_times(case):
    times, is_measured = case
    answer = guarantee(np.where(is_measured, times, np.nan))
    answer.plan.schedule.validate()
    rows = np.arange(len(times))
    assert (
        times[rows, answer.plan.procs - 1] <= answer.upper[rows, answer.plan.procs - 1] * (1 + 1e-9)
    ).all()
    best = cs.packs.solve(cs.packs.Instance(times), "optimal").value  # a schedule like others
    assert answer.bound <= best * (1 + 1e-6)
    if is_measured.all():
        assert answer.next is None


def test_assumptions_can_be_switched_off():
    table = [[8.0, np.nan, 3.0]]
    low, high = bounds_of_times(table, monotone_time=False)
    assert (low[0, 1], high[0, 1]) == (4.0, 4.5)
    low, high = bounds_of_times(table, monotone_work=False)
    assert (low[0, 1], high[0, 1]) == (3.0, 8.0)
    low, high = bounds_of_times(table, monotone_time=False, monotone_work=False)
    assert (low[0, 1], high[0, 1]) == (0.0, np.inf)
    low, high = bounds_of_times(table, [[True, False, True]])
    assert np.isinf(low[0, 1])


@pytest.mark.parametrize("name", ["packs_ii", "packs_iii"])
@pytest.mark.parametrize("seed", [0, 1])
def test_less_than_half_of_the_measurements(name, seed):
    """The paper's workloads: times are looked up instead of run, and those alone are known."""
    true = getattr(cs.workloads, name)(seed=seed).times
    asked = []

    def look_up(task, count):
        asked.append((task, count))
        return float(true[task, count - 1])

    table, answer = measure_adaptively(look_up, np.full(true.shape, np.nan))
    assert answer.gap <= 0.05
    assert len(asked) == len(set(asked)) == np.isfinite(table).sum() < true.size / 2
    # The plan, run with the true times: each starts when its processors are free.
    schedule = answer.plan.schedule
    free = np.zeros(true.shape[1])
    for row in np.lexsort((schedule.end, schedule.start)):
        units = list(schedule.units(row))
        free[units] = free[units].max() + true[schedule.task[row], len(units) - 1]
    assert free.max() <= answer.plan.value * (1 + 1e-9)
    # Nothing that is known of the true times ends before the bound.
    moldable = cs.moldable.Instance(true, np.ones(len(true)))
    best = cs.moldable.solve(moldable, "list-shelf").value
    assert answer.bound <= best * (1 + 1e-9)


def test_a_task_that_runs_nowhere_is_refused():
    with pytest.raises(InvalidInstance, match="task 0 can run on none"):
        measure_adaptively(lambda task, count: np.inf, [[np.nan, np.nan]])


def test_profile_adaptively(tmp_path):
    codes = shell_notes(tmp_path, dict.fromkeys("abc", "sleep 0.05"), procs=8)
    proofs = []
    frame = profile(
        codes,
        repeat=1,
        out=tmp_path / "runs.csv",
        adaptive=Adaptive(watch=proofs.append),
        tolerance=0.4,
        launcher=Local(oversubscribe=True),
    )
    assert proofs[-1].gap <= 0.4 or proofs[-1].next is None
    assert len(frame) == len(set(zip(frame.task, frame.processors, strict=True)))
    repeated = profile(
        codes, repeat=1, out=tmp_path / "runs.csv", adaptive=True, tolerance=0.4, oversubscribe=True
    )
    assert len(repeated) == len(frame)


@pytest.mark.parametrize("allowed", [[[True]], [[1, 2], [3]], 1.5, {"a": 1}, len, [["a"] * 4] * 2])
def test_counts_that_are_allowed_are_a_table(allowed):
    measured = np.full((2, 4), np.nan)
    for call in (
        lambda: cs.execution.bounds_of_times(measured, allowed),
        lambda: cs.execution.measure_adaptively(lambda task, count: 1.0, measured, allowed),
    ):
        with pytest.raises(cs.InvalidInstance, match="allowed"):
            call()
