"""More work is never worse: with one seed a search returns the best that less work found."""

import numpy as np
import pytest

import cosched as cs

SEARCH = cs.moldable.SEARCH_WORK


def moldable(jobs):
    return cs.workloads.moldable("cirne", jobs, 16, seed=2)


def with_edges():
    jobs = moldable(20)
    edges = [(max(0, k - 1 - k % 4), k) for k in range(1, 20)]
    return cs.moldable.Instance(jobs.times, jobs.weights, edges=edges)


def graph(ccr):
    return cs.workloads.layered(40, density=0.2, units=(4, 2), ccr=ccr, seed=1)


def packs():
    return cs.packs.Instance(cs.workloads.packs_ii(seed=2, max_tasks=3).times[:16, :8], max_tasks=3)


def sharing(family):
    jobs = moldable(20)
    slowdowns = 1 + 0.4 * np.random.default_rng(3).random((20, 20))
    if family == "packs":
        return cs.packs.Instance(jobs.times, max_tasks=3, slowdowns=slowdowns)
    return cs.moldable.Instance(jobs.times, jobs.weights, slowdowns=slowdowns)


WORKS = [1, 1000, 5000, 20_000, 60_000, SEARCH // 2, SEARCH, SEARCH * 5 // 4, SEARCH * 4]
PACKS_WORKS = [1, 20_000, 10**5, 10**6, 5 * 10**6, 6 * 10**6, 2 * 10**7]
#: Instance, algorithm, options, work.
SEARCHES = {
    "moldable": (moldable(31), "local-search", {}, WORKS),
    "moldable minsum": (moldable(31), "local-search", {"objective": "minsum"}, WORKS),
    "moldable few": (moldable(11), "local-search", {}, WORKS[:-2]),
    "moldable edges": (with_edges(), "local-search", {}, WORKS),
    "moldable slow-downs": (sharing("moldable"), "local-search", {}, WORKS[:-4]),
    "moldable slow-downs minsum": (sharing("moldable"), "local-search", {"objective": "minsum"},
                                   WORKS[:-3]),
    "packs": (packs(), "local-search", {}, PACKS_WORKS),
    "packs slow-downs": (sharing("packs"), "local-search", {}, PACKS_WORKS[:-1]),
    "dags": (graph(0.0), "hlp-best", {}, [0, 10, 100, 400, 1000, 2000]),
    "dags data": (graph(1.0), "hlp-best", {}, [0, 10, 100, 400, 1000, 2000, 4000]),
    "dags rounds": (graph(0.0), "hlp-best", {"time_limit": 600}, [10, 500, 3000, 9000]),
    "dags data rounds": (graph(1.0), "hlp-best", {"time_limit": 600}, [10, 500, 3000, 9000]),
    "bags": (cs.workloads.bags_random(6, seed=3), "ttb-best", {}, [0, 10, 1000, 30_000]),
}  # fmt: skip


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_more_work_is_never_worse(name, seed):
    instance, algorithm, options, works = SEARCHES[name]
    if algorithm != "ttb-best":
        options = options | {"seed": seed}
    solve = getattr(cs, instance.family).solve
    results = [solve(instance, algorithm, work=work, **options) for work in works]
    minsum = options.get("objective") == "minsum"
    values = [result.weighted_completion if minsum else result.value for result in results]
    np.testing.assert_array_less(values[1:], np.minimum.accumulate(values)[:-1] * (1 + 1e-9))
