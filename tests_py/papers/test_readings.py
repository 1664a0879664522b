"""Other readings of the papers: a weaker bound, other counts, another order of arrival."""

import numpy as np
import pytest

import cosched as cs
from cosched import experiments
from cosched.experiments.cluster import readings
from cosched.experiments.dags import studies as dags_studies
from cosched.experiments.packs import studies as packs_studies


def trace(seed, jobs=60, nodes=8):
    frame = cs.workloads.lublin(jobs, nodes, types="typed", seed=seed)
    return cs.cluster.Instance(cs.workloads.rescale_load(frame, nodes, 0.9), nodes)


@pytest.mark.parametrize("seed", range(5))
def test_the_pooled_bound_is_the_weaker_one(seed):
    inst = trace(seed)
    pooled = readings.pooled_bound(inst)
    assert 1 <= pooled <= float(cs.cluster.bound(inst)) * (1 + 1e-9)


def test_the_pooled_bound_of_jobs_that_share_a_processor():
    jobs = {"submit": [0, 0], "tasks": [1, 1], "cpu": [1, 1], "memory": [0.1, 0.1]}
    alone = cs.cluster.Instance({**jobs, "runtime": [100.0, 100.0]}, nodes=1)
    assert readings.pooled_bound(alone) == pytest.approx(2, rel=1e-3)  # one after the other
    assert readings.pooled_bound(alone) <= 2
    # At 0 and 50: pooled on two nodes, the first is done when the second comes; (1d) has no say.
    two = cs.cluster.Instance({**jobs, "submit": [0, 50], "runtime": [100.0, 100.0]}, nodes=2)
    assert readings.pooled_bound(two) == 1


def test_easy_that_backfills_less_is_between_the_two():
    inst = trace(1)
    fcfs, easy = (cs.cluster.solve(inst, name).max_stretch for name in ("FCFS", "EASY"))
    stretches = {variant: readings.max_stretch(inst, variant) for variant in readings.EASY}
    assert stretches["FCFS"] == pytest.approx(fcfs)
    assert stretches["textbook"] == pytest.approx(easy)


def test_counts_move_pauses_to_migrations_and_lose_none():
    moved = 0.0
    for seed in range(4):
        inst = trace(seed, jobs=150)
        metrics = cs.cluster.solve(inst, "GreedyP */per/opt=min").metrics()
        other = readings.costs(inst, "GreedyP */per/opt=min")
        for unit in ("hour", "job"):
            both = [f"{event}_per_{unit}" for event in ("preemptions", "migrations")]
            assert sum(other[name] for name in both) == pytest.approx(
                sum(metrics[name] for name in both)
            )
            assert other[both[0]] <= metrics[both[0]] + 1e-12
        moved += other["migrations_per_job"] - metrics["migrations_per_job"]
        assert 0 <= other["preemption_bandwidth"] <= metrics["preemption_bandwidth"] / 2 + 1e-12
    assert moved > 0


def test_arrival_by_level_respects_precedence():
    name = f"{dags_studies._GENERATED}:cholesky 5"
    level, graph = dags_studies._levels(name), dags_studies._graph(name, 2)
    edges = np.asarray(graph.edges)
    assert (level[edges[:, 0]] < level[edges[:, 1]]).all()
    assert level.min() == 0


def test_the_study_of_packs_has_the_paper_s_pack_approx():
    inst = cs.workloads.packs_ii(seed=1, max_tasks=2)
    paper, ours = (
        packs_studies.solved(inst, name, 0) for name in ("pack-approx", packs_studies.REOPTIMISED)
    )
    assert paper.value == cs.packs.pack_approx(inst, reoptimise=False).value
    assert ours.value == cs.packs.solve(inst, "pack-approx").value
    assert paper.value > ours.value


@pytest.mark.parametrize(
    ("name", "column"), [("packs-theorems", "ratio"), ("moldable-sections", "makespan")]
)
def test_quick_runs_of_theorems(name, column):
    study = experiments.find(name)
    for task in study.plan(True)[::4]:
        row = study.run(task)
        assert row[column] >= 1 - 1e-9
