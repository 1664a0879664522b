"""moldable: the lower bound on the weighted completion."""

import numpy as np
import pytest

import cosched as cs

MOLDABLE = cs.moldable


def test_the_minsum_bound_by_hand():
    # Two jobs of 4 s of work each, linear, on 2 processors; 2C = 8. Intervals (0,2], (2,4], ...
    inst = MOLDABLE.Instance([[4.0, 2.0], [4.0, 2.0]], [1, 1])
    # One job ends by 2 at the earliest possible time, 2; the other may end from 2 on.
    assert float(MOLDABLE.bound(inst, "minsum", grid=[2, 4])) == pytest.approx(4)
    # Of the second job, half its area fits into (2, 3], the rest into (3, 4].
    assert float(MOLDABLE.bound(inst, "minsum", grid=[0, 2, 3, 4])) == pytest.approx(2 + 2.5)
    assert float(MOLDABLE.bound(inst, "minsum", grid=[2, 4], tight=False)) == pytest.approx(2)
    assert float(MOLDABLE.bound(inst, "minsum", refine=200)) == pytest.approx(5, rel=0.01)
    with pytest.raises(cs.InvalidInstance, match="3003 intervals"):
        MOLDABLE.bound(inst, "minsum", refine=1001)
    with pytest.raises(cs.InvalidInstance, match="intervals"):
        MOLDABLE.bound(inst, "minsum", grid=np.arange(1, 3000))


def test_finer_grids_raise_the_minsum_bound():
    inst = cs.workloads.moldable("highly", 50, 30, seed=2)
    grid = MOLDABLE.default_grid(inst)
    assert grid[-1] == 2 * grid[-2] == 4 * grid[-3]
    fine = np.sort(np.concatenate([grid, (grid[1:] + grid[:-1]) / 2]))
    values = [float(MOLDABLE.bound(inst, "minsum", refine=2**k)) for k in range(5)]
    assert values == sorted(values)
    assert values[-1] > 1.2 * values[0]
    assert values[0] == float(MOLDABLE.bound(inst, "minsum", grid=grid))
    assert float(MOLDABLE.bound(inst, "minsum", grid=fine)) >= values[0]
    paper = float(MOLDABLE.bound(inst, "minsum", tight=False))
    assert paper <= values[0]


@pytest.mark.parametrize("grid", [[], [0], [1, 1], [2, 1], [-1, 2], [1, np.inf], [[1, 2]], "x"])
def test_bad_grids(grid):
    with pytest.raises(cs.InvalidInstance, match="grid"):
        MOLDABLE.bound(MOLDABLE.Instance([[4.0, 2.0]], [1]), "minsum", grid=grid)


@pytest.mark.parametrize("kind", ["weakly", "highly", "mixed", "cirne"])
def test_glpk_gives_the_same_minsum_bound(kind):
    inst = cs.workloads.moldable(kind, 60, 40, seed=3)
    for options in ({}, {"refine": 3}, {"tight": False}, {"grid": [1, 2, 3, 5, 8, 13]}):
        value = float(MOLDABLE.bound(inst, "minsum", **options))
        glpk = float(MOLDABLE.bound(inst, "minsum", method="glpk", **options))
        assert glpk == pytest.approx(value, rel=1e-9)


def test_glpk_gives_the_same_minsum_bound_with_release_dates():
    inst = MOLDABLE.Instance(
        [[4.0, 2.5, 2.0], [9.0, 5.0, 3.5], [1.0, 0.8, 0.8]], [2, 1, 5], release=[0, 3, 7]
    )
    for refine in (1, 4):
        value = float(MOLDABLE.bound(inst, "minsum", refine=refine))
        glpk = float(MOLDABLE.bound(inst, "minsum", refine=refine, method="glpk"))
        assert glpk == pytest.approx(value, rel=1e-9)
    with pytest.raises(cs.InvalidInstance, match=r"tight = .*: expected true or false"):
        MOLDABLE.bound(inst, "minsum", tight="no")
    with pytest.raises(cs.InvalidInstance, match="method = 'clp': expected 'structured' or 'glpk'"):
        MOLDABLE.bound(inst, "minsum", method="clp")
    many = cs.workloads.moldable("weakly", 400, 4, seed=1)
    with pytest.raises(cs.InvalidInstance, match="coefficients: expected at most"):
        MOLDABLE.bound(many, "minsum", refine=100, method="glpk")


def test_minsum_bound_equals_an_independent_lp():
    from scipy.optimize import linprog

    inst = cs.workloads.moldable("mixed", 12, 6, seed=4)
    ends = MOLDABLE.default_grid(inst)
    n, width = inst.jobs, len(ends) + 1  # the last interval has no end
    q = np.arange(1, inst.machines + 1)
    begins = np.concatenate([[0], ends])
    area = np.zeros((n, width))
    for i in range(n):
        for j, end in enumerate(ends):
            fits = inst.times[i] <= end
            area[i, j] = (q * inst.times[i])[fits].min() if fits.any() else np.nan
    cost = inst.weights[:, None] * np.maximum(begins, inst.times.min(axis=1)[:, None])
    surface = [
        np.where(np.arange(width) <= j, np.nan_to_num(area), 0).ravel() for j in range(width - 1)
    ]
    parts = np.kron(np.eye(n), -np.ones(width))
    possible = [(0, 0 if np.isnan(a) else None) for a in area.ravel()]
    solution = linprog(
        cost.ravel(),
        A_ub=np.vstack([surface, parts]),
        b_ub=np.concatenate([inst.machines * ends, -np.ones(n)]),
        bounds=possible,
    )
    assert float(MOLDABLE.bound(inst, "minsum")) == pytest.approx(solution.fun, rel=1e-8)


def test_what_metrics_share_is_of_an_instance():
    inst = MOLDABLE.Instance([[4.0, 2.0], [4.0, 2.0]], [1, 1])
    MOLDABLE.Result.prepare(inst)
    assert float(MOLDABLE.solve(inst, "demt").minsum_bound) <= 8
    with pytest.raises(cs.InvalidInstance, match=r"got int"):
        MOLDABLE.Result.prepare(7)
