"""dags: the bound transfers, its relaxation, its certificate."""

import pickle

import numpy as np
import pytest

import cosched as cs
from cosched.dags import Instance
from support import library

TWO = [[2.0, 1.0], [1.0, 2.0]]


def with_data(graph, ccr, *, memories="host", seed=1, bandwidth=1.0):
    """Data of about `ccr` mean times a edge, at a byte a second."""
    times = graph.times[np.isfinite(graph.times)]
    data = np.random.default_rng(seed).uniform(0, 2, len(graph.edges)) * times.mean() * ccr
    return Instance(
        graph.times, graph.edges, graph.units, data=data, bandwidth=bandwidth, memories=memories
    )


def layered(n, ccr, seed=1, **links):
    return with_data(cs.workloads.layered(n, seed=seed, units=(3, 2)), ccr, **links)


def slower(inst, factor):
    """The same instance with links slower by a factor."""
    return Instance(
        inst.times,
        inst.edges,
        inst.units,
        data=inst.data,
        bandwidth=inst.bandwidth / factor,
        latency=inst.latency,
        memories=inst.memories,
    )


def test_it_is_the_default_where_there_is_data():
    inst = layered(30, 1)
    bound = cs.dags.transfers(inst)
    assert bound.complete
    assert cs.dags.bound(inst).method == "transfers"
    assert cs.dags.bound(inst).value == bound.value == bound.certificate.bound(inst)
    assert bound.value > cs.dags.windows(inst).value * 1.01
    assert cs.dags.solve(inst, "eft").bound == cs.dags.bound(inst)
    plain = Instance(inst.times, inst.edges, inst.units)
    assert cs.dags.bound(plain).method == "windows"
    assert cs.dags.transfers(plain).value == cs.dags.windows(plain).value


def test_without_data_that_costs_it_is_the_old_bound():
    inst = layered(40, 1)
    old = cs.dags.windows(inst).value
    for data, bandwidth in ((inst.data * 0, 1.0), (inst.data, np.inf)):
        free = Instance(inst.times, inst.edges, inst.units, data=data, bandwidth=bandwidth)
        assert cs.dags.transfers(free).value == old
    # All units in one memory.
    together = with_data(Instance(inst.times, inst.edges, inst.units), 1, memories=[4] * 5)
    assert cs.dags.transfers(together).value == old


@pytest.mark.parametrize("memories", ["host", "unit", (0, 0, 1, 1, 2)])
def test_a_slower_network_has_no_lower_bound(memories):
    for seed in range(4):
        fast = layered(14, 0.7, seed, memories=memories)
        proof = cs.dags.transfers(fast).certificate
        slow = slower(fast, 1.7)
        # What is proved for the fast one holds for the slow one, by the same certificate; the
        # search on its own finds as much, up to its tolerance.
        assert proof.bound(slow) >= proof.bound(fast)
        assert cs.dags.transfers(slow).value >= proof.bound(fast) * (1 - 1e-3)


def test_all_methods_solve_the_relaxation():
    library("highspy")
    for types in (1, 2, 3):
        random = np.random.default_rng(types)
        times = random.uniform(1, 9, (25, types))
        times[3, 1:] = np.inf
        graph = Instance(times, cs.workloads.layered(25, seed=2).edges, (2,) * types)
        inst = with_data(graph, 1, memories="unit")
        structured, glpk, highs = (
            cs.dags.transfers_relaxation(inst, method=method)
            for method in ("structured", "glpk", "highs")
        )
        assert structured.value == pytest.approx(glpk.value, rel=1e-6)
        assert highs.value == pytest.approx(glpk.value, rel=1e-6)
        for bound in (structured, glpk, highs):
            assert bound.certificate.bound(inst) == pytest.approx(glpk.value, rel=2e-6)
            assert bound.x.shape == (25, types)
            assert np.allclose(bound.x.sum(axis=1), 1)
            ends = bound.C
            assert all(ends[i] <= ends[j] + 1e-6 for i, j in inst.edges)
        assert glpk.value >= cs.dags.hlp(inst).value * (1 - 1e-9)
    with pytest.raises(ValueError, match="method = 'simplex'"):
        cs.dags.transfers_relaxation(inst, method="simplex")


def test_the_relaxation_sees_what_a_change_of_type_costs():
    for bytes_, value in ((0, 2), (1.5, 2.5), (3, 3), (9, 3)):
        inst = Instance(TWO, [(0, 1)], (1, 1), data=[bytes_], bandwidth=3.0)
        assert cs.dags.transfers_relaxation(inst).value == pytest.approx(value, rel=1e-6)


@pytest.fixture(scope="module")
def proved():
    inst = with_data(cs.workloads.layered(60, seed=1, units=(2, 1)), 0.3)
    bound = cs.dags.transfers(inst)
    assert any(stage["edge_flow"].any() for stage in bound.certificate.fields["stages"])
    return inst, bound.certificate


def changed(proof, **fields):
    return cs.dags.Certificate("transfers", {**proof.fields, **fields})


@pytest.mark.parametrize(
    "damage",
    [
        {"loads": [1.0]},
        {"loads": [1.0, -1.0]},
        {"loads": [1.0, np.inf]},
        {"task_flow": [1.0]},
        {"edge_flow": [1.0]},
        {"edge_flow": np.zeros(0)},
        {"shift": [[1.0, 2.0]]},
        {"intervals": [[7.0, 0.0, 1.0, 1.0]]},
        {"raise_heads": [0.7, 0.7]},
    ],
)
def test_a_damaged_stage_is_refused(proved, damage):
    inst, proof = proved
    stages = list(proof.fields["stages"])
    place = next(k for k, stage in enumerate(stages) if len(stage["edge_flow"]))
    stages[place] = {**stages[place], **damage}
    with pytest.raises((cs.SolverError, cs.InvalidInstance)):
        changed(proof, stages=stages).bound(inst)


def test_a_certificate_proves_no_more_than_it_says(proved):
    inst, proof = proved
    assert pickle.loads(pickle.dumps(proof)).bound(inst) == proof.bound(inst)
    with pytest.raises(cs.SolverError, match="is not refuted"):
        changed(proof, makespan=proof.fields["makespan"] * 1.2).bound(inst)
    without = changed(proof, makespan=0.0, stages=[])
    assert without.bound(inst) == cs.dags.windows(inst).value


def test_limits_and_what_is_refused():
    inst = layered(60, 1)
    bound = cs.dags.transfers(inst, time_limit=0)
    assert not bound.complete
    assert cs.dags.bound(inst, time_limit=0).status == "time_limit"
    assert bound.certificate.bound(inst) == bound.value > 0
    with pytest.raises(cs.InvalidInstance, match="upper"):
        cs.dags.transfers(inst, upper=-1)
    two_tasks = Instance(TWO, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
    assert cs.dags.transfers(two_tasks, upper=3.0).value == pytest.approx(3, rel=1e-8)


def test_edges_in_any_order():
    random = np.random.default_rng(3)
    pairs = [(i, j) for j in range(12) for i in range(j) if random.random() < 0.3]
    random.shuffle(pairs)
    data, times = random.uniform(0, 9, len(pairs)), random.uniform(1, 5, (12, 2))
    mixed = Instance(times, pairs, (2, 1), data=data, bandwidth=3.0)
    rows = sorted(range(len(pairs)), key=lambda row: tuple(pairs[row]))
    by_tasks = Instance(times, [pairs[k] for k in rows], (2, 1), data=data[rows], bandwidth=3.0)
    assert mixed.edges.tolist() == [list(pair) for pair in pairs]
    assert mixed == by_tasks
    bound, same = cs.dags.transfers(mixed), cs.dags.transfers(by_tasks)
    assert bound.value == same.value == bound.certificate.bound(mixed)
    proofs = [cs.dags.transfers_relaxation(inst).certificate for inst in (mixed, by_tasks)]
    flows = [proof.fields["stages"][0]["edge_flow"] for proof in proofs]
    assert flows[0].any()
    np.testing.assert_array_equal(*flows)  # in the order of the tasks
    assert proofs[0].bound(mixed) == proofs[1].bound(by_tasks) > 0
