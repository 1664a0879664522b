"""Few moldable jobs of every kind: proofs and searches against complete enumeration."""

import numpy as np
import pytest
from moldable_exact import KINDS, name_of, optimum, random_instance, value_of

import cosched as cs

HOW_MANY = [6, pytest.param(200, marks=pytest.mark.thorough)]


@pytest.mark.parametrize("objective", ["makespan", "minsum"])
@pytest.mark.parametrize("kind", KINDS, ids=name_of)
@pytest.mark.parametrize("instances", HOW_MANY)
def test_the_optimum_is_found_and_proved(kind, objective, instances):
    random = np.random.default_rng((7, KINDS.index(kind)))
    for _ in range(instances):
        jobs = int(random.integers(2, 5))
        inst = random_instance(random, kind, jobs, int(random.integers(1, 4)))
        results = [
            cs.moldable.solve(inst, name, objective=objective)
            for name in ("local-search", "optimal")
        ]
        best = optimum(
            inst, objective, upper_bound=min(value_of(result, objective) for result in results)
        )
        for result in results:
            result.schedule.validate()
            assert value_of(result, objective) == pytest.approx(best, rel=1e-9)
            assert result.stopped_by == "proved"
            bound = result.bound if objective == "makespan" else result.minsum_bound
            assert float(bound) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("objective", ["makespan", "minsum"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if any(kind)], ids=name_of)
def test_more_jobs_are_searched_with_waits(kind, objective):
    """Above the jobs of a proof: never worse than the jobs in the order of their releases."""
    random = np.random.default_rng((8, KINDS.index(kind)))
    inst = random_instance(random, kind, 20, 4)
    result = cs.moldable.local_search(inst, objective=objective, work=3_000)
    result.schedule.validate()
    longer = cs.moldable.local_search(inst, objective=objective, work=30_000)
    assert value_of(longer, objective) <= value_of(result, objective) * (1 + 1e-12)
    repeated = cs.moldable.local_search(inst, objective=objective, work=3_000)
    assert np.array_equal(result.start, repeated.start)
