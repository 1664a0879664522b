"""Generated task graphs: counts, structure, the worst cases' numbers."""

from math import comb

import numpy as np
import pytest

import cosched as cs
from cosched import workloads as make


@pytest.mark.parametrize("t", [1, 2, 3, 5, 12])
def test_tiled_counts(t):
    squares = (t - 1) * t * (2 * t - 1) // 6
    chol = make.cholesky(t)
    assert len(chol.times) == comb(t + 2, 3)
    assert len(chol.edges) == 3 * comb(t + 1, 3)
    kinds = {kernel: chol.kernels.count(kernel) for kernel in ("potrf", "trsm", "syrk", "gemm")}
    assert list(kinds.values()) == [t, comb(t, 2), comb(t, 2), comb(t, 3)]
    for graph, update in ((make.lu(t), "gemm"), (make.qr(t), "tsmqr")):
        assert len(graph.times) == t + t * (t - 1) + squares
        assert len(graph.edges) == t * (t - 1) + 3 * squares
        assert graph.kernels.count(update) == squares


@pytest.mark.parametrize(
    "graph",
    [
        make.cholesky(6),
        make.lu(6),
        make.qr(6),
        make.fork_join(7, 3),
        make.layered(80, 0.5, jump=3),
        make.theorem2(4),
        make.theorem4(9, 4),
    ],
)
def test_topological_and_simple(graph):
    assert (graph.edges[:, 0] < graph.edges[:, 1]).all()
    assert len(np.unique(graph.edges, axis=0)) == len(graph.edges)


def depth(graph):
    level = np.ones(len(graph.times), dtype=int)
    for i, j in sorted(graph.edges.tolist(), key=lambda e: e[1]):
        level[j] = max(level[j], level[i] + 1)
    return level.max()


def test_critical_paths_of_tiled_graphs():
    for t in (2, 3, 6):
        assert depth(make.cholesky(t)) == 3 * t - 2
        assert depth(make.lu(t)) == 3 * t - 2
        # geqrt(k), tsqrt(k+1, k), tsmqr(k+1, k+1, k), geqrt(k+1)
        assert depth(make.qr(t)) == 3 * t - 2


def test_tiled_times():
    rows = {"potrf": [1, np.inf], "trsm": [2, 1], "syrk": [3, 1], "gemm": [4, 1]}
    graph = make.cholesky(4, times=rows)
    assert {k: t.tolist() for k, t in zip(graph.kernels, graph.times, strict=True)} == rows
    noisy = make.cholesky(4, times=rows, spread=0.1, seed=1)
    ratio = noisy.times[:, 0] / graph.times[:, 0]
    assert 0.9 <= ratio.min() < ratio.max() <= 1.1
    with pytest.raises(cs.InvalidInstance, match="no kernel 'syrk'"):
        make.cholesky(3, times={"potrf": [1], "trsm": [1]})
    with pytest.raises(cs.InvalidInstance, match="tiles = 0"):
        make.lu(0)


@pytest.mark.parametrize("types", [2, 3])
def test_fork_join(types):
    graph = make.fork_join(100, 5, types=types, seed=4)
    assert graph.times.shape == (506, types)
    assert len(graph.edges) == 1000
    assert (graph.times > 0).all()
    for kind in range(1, types):
        factor = graph.times[:, 0] / graph.times[:, kind]
        assert 0.1 <= factor.min() < factor.max() <= 50
        phases = factor[1:].reshape(5, 101)[:, :100]
        # round(5% of 100) a phase; uniform in [0.5, 50] is at or above 0.5.
        assert ((phases < 0.5).sum(axis=1) == 5).all()
        assert (factor[::101] >= 0.5).all()
    assert graph.times[:, 0].mean() == pytest.approx(5, rel=0.05)
    assert graph.times[:, 0].std() == pytest.approx(1.25, rel=0.15)
    repeated = make.fork_join(100, 5, types=types, seed=4)
    assert (repeated.times == graph.times).all()


def test_layered():
    assert len(make.layered(30, 0.5, fat=0.0, regularity=1.0).edges) == 29
    assert len(make.layered(30, 0.5, fat=1.0, regularity=1.0).edges) == 0
    sparse, dense = (make.layered(400, d, seed=2) for d in (0.1, 0.9))
    assert len(sparse.edges) < len(dense.edges)
    graph = make.layered(3000, 0.2, acceleration=[(1, 2), (3, 4)], cpu_only=0.3, seed=1)
    alone = np.isinf(graph.times[:, 1])
    assert 0.25 < alone.mean() < 0.35
    assert (np.isinf(graph.times[:, 2]) == alone).all()
    factor = graph.times[~alone, 0] / graph.times[~alone, 2]
    assert 3 <= factor.min() < factor.max() <= 4
    assert graph.times[:, 0].mean() == pytest.approx(10, rel=0.05)
    for bad in ({"density": 2.0}, {"fat": -1.0}, {"jump": 0}, {"n": 0}, {"task_cv": 0.0}):
        with pytest.raises(cs.InvalidInstance, match=next(iter(bad))):
            make.layered(**bad)


def test_worst_cases():
    m, k = 5, 2
    first = make.theorem1(m, k)
    assert first.times.shape == (m * (m + k), 2)
    r = m / (m + k)
    # A sets on the GPUs and B sets on the CPUs, as HEFT does it: the paper's makespan.
    a = [t for t, kernel in zip(first.times, first.kernels, strict=True) if kernel[0] == "A"]
    assert sum(t[1] for t in a) / k == pytest.approx(m / k * (1 - r**m))
    second = make.theorem2(m)
    assert second.times.shape == (4 * m + 3, 2)
    assert len(second.edges) == (2 * m + 1) ** 2
    assert second.times[0].tolist() == [m * (2 * m + 1) / (m - 1), np.inf]
    assert second.times[1].tolist() == [2 * m - 1, 1]
    assert second.times[-1].tolist() == [1, 2 * m - 1]
    last = make.theorem4(9, 4)
    assert last.times[[0, 4]].tolist() == [[3, 3], [3, 2]]
    assert last.edges.tolist() == [[i, i + 1] for i in range(4, 12)]
    with pytest.raises(cs.InvalidInstance, match="k = 5"):
        make.theorem4(4, 5)


def test_communication_is_drawn_to_its_ratio():
    for ccr in (0.0, 0.1, 5.0):
        inst = cs.workloads.layered(200, 0.4, ccr=ccr, bandwidth=2e6, cpu_only=0.3, seed=3)
        means = [row[np.isfinite(row)].mean() for row in inst.times]
        assert inst.data.mean() / 2e6 == pytest.approx(ccr * np.mean(means))
        same = {}  # a task sends the same to each successor
        for (i, _), amount in zip(inst.edges.tolist(), inst.data, strict=True):
            assert same.setdefault(i, amount) == amount
    plain = cs.workloads.layered(200, 0.4, cpu_only=0.3, seed=3)
    assert plain.data is None
    assert np.array_equal(plain.times, inst.times)
    assert np.array_equal(plain.edges, inst.edges)
    for wrong in ({"ccr": -1}, {"ccr": float("nan")}, {"ccr": 1, "bandwidth": 0}):
        with pytest.raises(cs.InvalidInstance):
            cs.workloads.layered(20, **wrong)


@pytest.mark.parametrize("name", ["cholesky", "lu", "qr"])
def test_each_edge_moves_a_tile(name):
    make_one = cs.workloads.WORKLOADS[name]
    inst = make_one(4, tile_bytes=1e6, bandwidth=[[1, 2], [4, 8]], latency=0.5, memories="unit")
    assert set(inst.data) == {1e6}
    assert inst.transfer(0, (0, 0), (1, 0)) == 0.5 + 1e6 / 2
    assert inst.transfer(0, (0, 0), (0, 1)) == 0.5 + 1e6
    assert make_one(4).data is None
    assert np.array_equal(make_one(4).times, inst.times)
    with pytest.raises(cs.InvalidInstance, match="tile_bytes"):
        make_one(4, tile_bytes=-1)


def test_trees_and_chains_as_saga_draws_them():
    for kind in ("in-tree", "out-tree", "chains"):
        for seed in range(12):
            inst = cs.workloads.saga(kind, nodes=3, ccr=2.0, seed=seed)
            assert inst.units == (1, 1, 1)
            assert inst.memories == "unit"
            assert np.array_equal(inst.bandwidth, inst.bandwidth.T)
            assert inst.data.mean() == pytest.approx(2 * inst.times.mean())
            into, out = (np.bincount(column, minlength=inst.tasks) for column in inst.edges.T[::-1])
            if kind == "in-tree":
                assert set(out) == {0, 1}
                assert len(inst.edges) == inst.tasks - 1
            elif kind == "out-tree":
                assert set(into) == {0, 1}
                assert len(inst.edges) == inst.tasks - 1
            else:
                assert max(into.max(), out.max()) == 1
    with pytest.raises(cs.InvalidInstance, match="kind = 'tree'"):
        cs.workloads.saga("tree")
