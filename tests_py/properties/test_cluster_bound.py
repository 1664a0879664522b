"""The bound of Theorem 1 against its linear programme; no policy beats it."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

import cosched as cs

THRESHOLD = 10.0


def overload(inst: cs.cluster.Instance, stretch: float) -> float:
    """Node seconds that find no place by the deadlines r + S max(p, 10): 0 iff S is feasible."""
    release, runtime = inst.column("submit"), inst.column("runtime")
    rate = inst.column("cpu") * inst.column("tasks")
    deadline = release + stretch * np.maximum(runtime, THRESHOLD)
    points = np.unique(np.concatenate([release, deadline]))
    lengths = np.diff(points)
    jobs, intervals = np.nonzero(
        (release[:, None] <= points[:-1]) & (points[1:] <= deadline[:, None])
    )
    n, edges = len(release), len(jobs)
    # Columns: seconds of each job in each interval of its window; seconds that find no place.
    places = np.concatenate([jobs, np.arange(n)])
    work = coo_array((np.ones(edges + n), (places, np.arange(edges + n))), shape=(n, edges + n))
    full = coo_array((rate[jobs], (intervals, np.arange(edges))), shape=(len(lengths), edges + n))
    answer = linprog(
        np.concatenate([np.zeros(edges), rate]),
        A_ub=full.tocsr(),
        b_ub=inst.nodes * lengths,
        A_eq=work.tocsr(),
        b_eq=runtime,
        bounds=np.column_stack(
            [np.zeros(edges + n), np.concatenate([lengths[intervals], runtime])]
        ),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert answer.status == 0, answer.message
    return float(answer.fun)


def random_instance(seed: int) -> cs.cluster.Instance:
    random = np.random.default_rng(seed)
    n, nodes = int(random.integers(2, 25)), int(random.integers(1, 6))
    jobs = {
        "submit": np.floor(random.uniform(0, 60 * n / nodes, n)),
        "tasks": random.integers(1, nodes + 1, n),
        "cpu": random.choice([0.25, 0.5, 1.0], n),
        "memory": random.choice([0.1, 0.3, 0.5], n),
        "runtime": np.ceil(random.exponential(100, n)),
    }
    return cs.cluster.Instance(jobs, nodes)


@pytest.mark.parametrize("seed", range(60))
def test_the_bound_is_the_least_feasible_stretch(seed):
    inst = random_instance(seed)
    bound = float(cs.cluster.bound(inst))
    runtime, rate = inst.column("runtime"), inst.column("cpu") * inst.column("tasks")
    work = float(runtime @ rate)
    assert bound >= 1
    assert overload(inst, bound * (1 + 1e-6)) <= 1e-9 * work
    if bound > 1:
        assert overload(inst, bound * (1 - 1e-6)) > 1e-9 * work


def test_both_kinds_of_instances_are_there():
    bounds = [float(cs.cluster.bound(random_instance(seed))) for seed in range(60)]
    assert sum(bound > 1.001 for bound in bounds) > 20
    assert sum(bound == 1 for bound in bounds) > 3


@hypothesis.settings(max_examples=60)
@hypothesis.given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(["FCFS", "EASY", *cs.cluster.paper_policies()]),
    penalty=st.sampled_from([0.0, 30.0]),
)
def test_no_policy_beats_the_bound(seed, name, penalty):
    inst = random_instance(seed)
    options = {} if name in ("FCFS", "EASY") else {"period": 100.0, "penalty": penalty}
    res = cs.cluster.solve(inst, name, **options)
    res.schedule.validate()
    assert res.max_stretch >= float(cs.cluster.bound(inst)) * (1 - 1e-9)
