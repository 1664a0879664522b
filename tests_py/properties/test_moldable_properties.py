"""What must hold for every instance of moldable jobs."""

import numpy as np
from hypothesis import given, settings, strategies as st

import cosched as cs
from support import moldable_optima, tables


@st.composite
def instances(draw, most_jobs=8, most_machines=6, releases=None):
    n, m = draw(st.integers(1, most_jobs)), draw(st.integers(1, most_machines))
    columns = draw(st.integers(1, m))
    rows = tables(draw, n, columns)
    weights = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    release = None
    if releases or (releases is None and draw(st.booleans())):
        release = draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))
    return cs.moldable.Instance(rows, weights, release, machines=m)


@given(instances(), st.integers(0, 2**32))
@settings(max_examples=80)
def test_every_schedule_is_valid_and_above_every_bound(inst, seed):
    names = [n for n in cs.moldable.BOUNDS if n != "minsum"]
    bounds = [float(cs.moldable.bound(inst, name)) for name in names]
    minsum = [float(cs.moldable.bound(inst, "minsum", refine=k)) for k in (1, 2, 4)]
    assert minsum[0] <= minsum[1] * (1 + 1e-9) <= minsum[2] * (1 + 2e-9)
    for name in cs.moldable.ALGORITHMS:
        options = {"work": 3000} if name in ("demt-best", "local-search") else {}
        res = cs.moldable.solve(inst, name, seed=seed, **options)
        res.schedule.validate()
        assert 1 <= res.procs.min() <= res.procs.max() <= inst.machines
        assert (res.start >= inst.release).all()
        lengths = [inst.time(i, q) for i, q in enumerate(res.procs)]
        assert np.allclose(res.end - res.start, lengths, rtol=1e-9)
        assert max(bounds) <= res.makespan * (1 + 1e-9)
        assert max(minsum) <= res.weighted_completion * (1 + 1e-9)
        repeated = cs.moldable.solve(inst, name, seed=seed, **options)
        assert repeated.start.tolist() == res.start.tolist()


@given(instances(most_jobs=4, most_machines=3))
@settings(max_examples=120)
def test_guarantees_against_the_optimum(inst):
    times = np.array(
        [[inst.time(i, q) for q in range(1, inst.machines + 1)] for i in range(inst.jobs)]
    )
    makespan, minsum = moldable_optima(times, inst.weights, inst.release)
    res = cs.moldable.solve(inst, "dual-approximation", tolerance=0.001)
    ratio = (1.5 if inst._core.monotone_work else 2) * (2 if inst.has_releases else 1)
    assert np.isclose(res.ratio, 1.001 * ratio)
    assert res.makespan <= res.ratio * makespan * (1 + 1e-9)
    assert float(res.bound) <= makespan * (1 + 1e-9)
    assert float(res.minsum_bound) <= minsum * (1 + 1e-9)
    best = cs.moldable.solve(inst, "demt-best", work=20_000)
    demt = cs.moldable.solve(inst, "demt")
    if not inst.has_releases:
        assert best.makespan <= demt.makespan
        assert best.weighted_completion <= demt.weighted_completion


@given(
    st.lists(
        st.tuples(st.floats(0.1, 100), st.floats(1, 300), st.floats(0, 9), st.floats(0, 10)),
        min_size=1,
        max_size=8,
    ),
    st.integers(1, 40),
)
@settings(max_examples=50)
def test_formulas_and_their_table_are_the_same(jobs, machines):
    t1, A, sigma, weights = map(list, zip(*jobs, strict=True))
    formulas = cs.moldable.Instance.from_downey(t1, A, sigma, weights, machines)
    table = cs.moldable.Instance(formulas.times, weights)
    assert table.monotone
    for name in ("demt", "list-saf", "gang", "sequential"):
        of_formulas, other = cs.moldable.solve(formulas, name), cs.moldable.solve(table, name)
        assert of_formulas.start.tolist() == other.start.tolist()
    of_formulas, other = (float(cs.moldable.bound(inst, "minsum")) for inst in (formulas, table))
    assert np.isclose(of_formulas, other, rtol=1e-9)
