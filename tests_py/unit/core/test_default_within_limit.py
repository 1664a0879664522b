"""A time limit that leaves time for the default work is never worse than the default."""

import time

import numpy as np
import pytest

import cosched as cs

SLOWER = 6  # times: a busy machine gives a second run less of itself
thorough = pytest.mark.thorough


def amdahl(random, jobs, machines):
    serial = random.uniform(0.02, 0.35, (jobs, 1))
    return random.uniform(1, 50, (jobs, 1)) * (serial + (1 - serial) / np.arange(1, machines + 1))


def moldable(jobs, *names):
    random = np.random.default_rng(len(names) + jobs)
    extra_arguments = {}
    if "releases" in names:
        extra_arguments["release"] = random.uniform(0, 40, jobs)
    if "edges" in names:
        extra_arguments["edges"] = [(max(0, k - 1 - k % 4), k) for k in range(1, jobs)]
    if "resources" in names:
        extra_arguments["resources"] = {"memory": random.uniform(1, 6, jobs)}
        extra_arguments["capacity"] = {"memory": 9.0}
    if "slow-downs" in names:
        extra_arguments["slowdowns"] = 1 + 0.6 * random.random((jobs, jobs))
    return cs.moldable.Instance(
        amdahl(random, jobs, 6), random.uniform(1, 9, jobs), **extra_arguments
    )


def packs(tasks, *names):
    random = np.random.default_rng(tasks)
    extra_arguments = {}
    if "slow-downs" in names:
        extra_arguments["slowdowns"] = 1 + 0.5 * random.random((tasks, tasks))
    if "resources" in names:
        extra_arguments["resources"] = {"memory": random.uniform(1, 6, tasks)}
        extra_arguments["capacity"] = {"memory": 9.0}
    return cs.packs.Instance(amdahl(random, tasks, 8), max_tasks=3, **extra_arguments)


def graph(tasks, ccr, **extra_arguments):
    return cs.workloads.layered(
        tasks, density=0.2, units=(4, 2), ccr=ccr, seed=1, **extra_arguments
    )


def bags():
    return cs.workloads.bags_random(6, machine_types=3, machines_per_type=4, seed=3)


MINSUM = {"objective": "minsum"}
#: Name: how to make the instance, algorithm, options.
SEARCHES = {
    "moldable slow-downs resources": (lambda: moldable(4, "slow-downs", "resources"),
                                      "local-search", {}),
    "moldable slow-downs releases": (lambda: moldable(4, "slow-downs", "releases"),
                                     "local-search", MINSUM),
    "moldable edges releases": (lambda: moldable(14, "edges", "releases"), "local-search", {}),
    "dags": (lambda: graph(40, 0.0), "hlp-best", {}),
    "dags data": (lambda: graph(30, 1.0), "hlp-best", {}),
    "bags": (bags, "ttb-best", {}),
}  # fmt: skip
#: The same, of longer runs.
MORE = {
    "moldable": (lambda: moldable(16), "local-search", {}),
    "moldable minsum": (lambda: moldable(16), "local-search", MINSUM),
    "moldable few": (lambda: moldable(11), "local-search", {}),
    "moldable releases": (lambda: moldable(13, "releases"), "local-search", {}),
    "moldable resources": (lambda: moldable(13, "resources"), "local-search", {}),
    "moldable resources minsum": (lambda: moldable(13, "resources"), "local-search", MINSUM),
    "moldable resources releases": (lambda: moldable(13, "resources", "releases"),
                                    "local-search", {}),
    "moldable edges": (lambda: moldable(13, "edges"), "local-search", {}),
    "moldable edges resources releases": (
        lambda: moldable(13, "edges", "resources", "releases"), "local-search", MINSUM),
    "moldable slow-downs": (lambda: moldable(10, "slow-downs"), "local-search", {}),
    "moldable few slow-downs resources": (lambda: moldable(6, "slow-downs", "resources"),
                                          "local-search", MINSUM),
    "moldable both criteria": (lambda: moldable(14), "demt-best", {}),
    "moldable optimal": (lambda: moldable(14), "optimal", {}),
    "moldable optimal minsum": (lambda: moldable(13), "optimal", MINSUM),
    "moldable optimal resources": (lambda: moldable(12, "resources"), "optimal", {}),
    "moldable optimal edges": (lambda: moldable(12, "edges"), "optimal", MINSUM),
    "packs": (lambda: packs(24), "local-search", {}),
    "packs slow-downs": (lambda: packs(12, "slow-downs"), "local-search", {}),
    "packs resources": (lambda: packs(14, "resources"), "local-search", {}),
    "packs optimal": (lambda: packs(16), "optimal", {}),
    "packs optimal slow-downs": (lambda: packs(9, "slow-downs", "resources"), "optimal", {}),
    "packs ilp": (lambda: packs(6), "ilp", {}),
    "dags larger": (lambda: graph(120, 0.0), "hlp-best", {}),
    "dags larger data": (lambda: graph(110, 1.0), "hlp-best", {}),
    "dags optimal": (lambda: graph(14, 0.0), "optimal", {}),
    "dags optimal data": (lambda: graph(14, 1.0), "optimal", {}),
}  # fmt: skip


def value_of(result, options):
    return result.weighted_completion if options == MINSUM else result.value


@pytest.mark.parametrize(
    "name", [*SEARCHES, *(pytest.param(name, marks=thorough) for name in MORE)]
)
def test_a_limit_that_leaves_time_for_the_default_is_never_worse(name):
    make, algorithm, options = (SEARCHES | MORE)[name]
    inst = make()
    solve = getattr(cs, inst.family).solve
    begin = time.monotonic()
    default = solve(inst, algorithm, **options)
    limit = 1 + SLOWER * (time.monotonic() - begin)
    limited = solve(inst, algorithm, time_limit=limit, **options)
    limited.schedule.validate()
    default_value, limited_value = value_of(default, options), value_of(limited, options)
    if default.maximise:
        assert limited_value >= default_value * (1 - 1e-9)
    else:
        assert limited_value <= default_value * (1 + 1e-9)
