"""What must hold for every instance of packs."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings, strategies as st

import cosched as cs
from support import packs_optimum, tables


@st.composite
def instances(draw, most_tasks=7, most_procs=7):
    n = draw(st.integers(1, most_tasks))
    p = draw(st.integers(1, most_procs))
    k = draw(st.integers(1, most_tasks + 1))
    return cs.packs.Instance(tables(draw, n, p), k)


@given(instances(), st.integers(0, 2**32))
@settings(max_examples=120)
def test_every_schedule_is_valid_and_above_every_bound(inst, seed):
    given_times = inst.times.copy()
    bounds = [float(cs.packs.bound(inst, name)) for name in cs.packs.BOUNDS]
    for name in cs.packs.ALGORITHMS:
        if (name == "pairs" and inst.max_tasks > 2) or (name == "ilp" and inst.tasks > 3):
            continue
        res = cs.packs.solve(inst, name, seed=seed)
        res.schedule.validate()
        assert res.procs.min() >= 1
        assert np.bincount(res.pack_of).max() <= inst.max_tasks
        assert np.bincount(res.pack_of, weights=res.procs).max() <= inst.procs
        longest = [
            max(inst.times[i, res.procs[i] - 1] for i in np.flatnonzero(res.pack_of == pack))
            for pack in range(res.pack_of.max() + 1)
        ]
        assert res.value == np.float64(sum(longest)) or abs(res.value / sum(longest) - 1) < 1e-12
        assert 0 < res.packing_ratio <= 1 + 1e-9
        for bound in bounds:
            assert bound <= res.value * (1 + 1e-9)
    assert np.array_equal(inst.times, given_times)


@given(instances(most_tasks=6, most_procs=5))
@settings(max_examples=120)
def test_optimal_is_optimal_and_columns_is_a_bound(inst):
    best = packs_optimum(inst.times, inst.max_tasks)
    result = cs.packs.solve(inst, "optimal")
    assert abs(result.value / best - 1) < 1e-9
    assert float(cs.packs.bound(inst)) <= best * (1 + 1e-9)
    assert float(cs.packs.bound(inst)) >= float(cs.packs.bound(inst, "area")) * (1 - 1e-9)


@given(instances(), st.integers(0, 5))
@settings(max_examples=30)
def test_local_search_never_loses_and_repeats(inst, seed):
    start = cs.packs.solve(inst, "pack-by-pack-9").value
    first = cs.packs.solve(inst, "local-search", seed=seed)
    repeated = cs.packs.solve(inst, "local-search", seed=seed)
    assert first.value <= start
    assert first.pack_of.tolist() == repeated.pack_of.tolist()
    assert first.procs.tolist() == repeated.procs.tolist()


@given(instances())
@settings(max_examples=40)
def test_larger_packs_never_cost_more(inst):
    values = [cs.packs.optimal(inst.with_max_tasks(k)).value for k in range(1, inst.max_tasks + 2)]
    assert all(a >= b * (1 - 1e-9) for a, b in pairwise(values))


@given(st.lists(st.lists(st.floats(1e-3, 1e3), min_size=4, max_size=4), min_size=1, max_size=4))
@settings(max_examples=60)
def test_monotone_repairs_once(rows):
    once = cs.packs.monotone(rows)
    assert (np.diff(once, axis=1) <= 0).all()
    q = np.arange(1, 5)
    assert (np.diff(q * once, axis=1) >= -1e-9 * once[:, 1:]).all()
    assert np.allclose(cs.packs.monotone(once), once, rtol=1e-12)
    assert (once[:, 0] == np.array(rows)[:, 0]).all()
