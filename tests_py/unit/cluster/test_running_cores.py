"""How the cores of running jobs are split among their nodes."""

import numpy as np
import pytest

from cosched.cluster.judgement.running_cores import split_running_jobs


def test_equal_parts_where_there_is_room():
    assert split_running_jobs([6], [[1, 2, 3]], np.full(4, 4)) == [{1: 2, 2: 2, 3: 2}]
    assert split_running_jobs([5], [[0, 1]], np.full(2, 4)) == [{0: 3, 1: 2}]


def test_a_job_whose_nodes_have_hardly_more_cores_than_it_needs_comes_first():
    # In equal parts the job of 8 would leave 13 cores for the job of 14.
    parts = split_running_jobs([8, 14], [[3, 4, 5], [0, 1, 2, 3]], np.full(6, 4))
    assert [sum(part.values()) for part in parts] == [8, 14]
    assert parts[0][3] + parts[1][3] == 4


def test_jobs_on_one_node_come_first():
    parts = split_running_jobs([9, 3], [[0, 1, 2], [1]], np.full(3, 4))
    assert parts == [{0: 4, 1: 1, 2: 4}, {1: 3}]


def test_jobs_without_nodes_or_room_have_no_place():
    assert split_running_jobs([2, 9], [[], [0, 1]], np.full(2, 4)) == [{}, {}]


@pytest.mark.parametrize("seed", range(200))
def test_no_node_has_more_cores_in_use_than_it_has(seed):
    rng = np.random.default_rng(seed)
    node_cores = rng.integers(1, 9, 6)
    free = node_cores.copy()
    core_counts, nodes_of_jobs = [], []
    for _ in range(int(rng.integers(1, 7))):  # a placement that is possible
        nodes = [node for node in rng.permutation(6)[: rng.integers(1, 4)].tolist() if free[node]]
        parts = [int(rng.integers(1, free[node] + 1)) for node in nodes]
        if nodes:
            free[nodes] -= parts
            core_counts.append(sum(parts))
            nodes_of_jobs.append(nodes)
    parts_of_jobs = split_running_jobs(core_counts, nodes_of_jobs, node_cores)
    used = np.zeros(6, dtype=int)
    for count, nodes, parts in zip(core_counts, nodes_of_jobs, parts_of_jobs, strict=True):
        assert not parts or (sum(parts.values()) == count and set(parts) == set(nodes))
        for node, cores in parts.items():
            used[node] += cores
    assert (used <= node_cores).all()
