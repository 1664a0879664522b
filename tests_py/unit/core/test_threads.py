"""Other threads of Python go on during long calls, in processes of any kind."""

import functools
import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import cosched as cs

RANDOM = np.random.default_rng(1)


@functools.cache
def packs(n=4000):
    alone = RANDOM.uniform(1, 1000, (n, 1))
    return cs.packs.Instance(alone / np.arange(1, 33) ** 0.8, max_tasks=8)


@functools.cache
def graph():
    return cs.workloads.layered(40_000, density=0.24, units=(16, 4), seed=1)


@functools.cache
def jobs():
    trace = cs.workloads.lublin(20_000, 128, seed=1)
    return cs.cluster.Instance(cs.workloads.rescale_load(trace, 128, 0.95), 128)


@functools.cache
def moldable():
    return cs.workloads.moldable("mixed", 2000, 500, seed=1)


def bag():
    counts = RANDOM.integers(1, 600, 300)
    etc, apc = RANDOM.uniform(10, 1000, (300, 60)), RANDOM.uniform(50, 200, (300, 60))
    return cs.bags.Instance(counts, np.full(60, 40), etc, apc, gamma=1.3)


def run_repeatedly(call):
    """Called until the limit around it has passed."""
    while True:
        call()


def schedule(family, inst, name):
    return family.solve(inst, name).schedule


#: An instance, and a call that goes on until a limit ends it.
CALLS = {
    "packs search": (packs, lambda instance: cs.packs.local_search(instance, work=2**50)),
    "packs exact": (packs, lambda instance: cs.packs.solve(instance, "optimal")),
    "packs bound": (packs, lambda instance: run_repeatedly(lambda: cs.packs.bound(instance))),
    "packs check": (
        lambda: schedule(cs.packs, packs(), "sequential"),
        lambda instance: run_repeatedly(instance.validate),
    ),
    "dags search": (graph, lambda instance: cs.dags.hlp_best(instance, evaluations=10**9)),
    "dags lists": (graph, lambda instance: run_repeatedly(lambda: cs.dags.etf(instance))),
    "dags bound": (graph, lambda instance: cs.dags.hlp(instance, method="glpk")),
    "dags check": (
        lambda: schedule(cs.dags, graph(), "heft"),
        lambda instance: run_repeatedly(instance.validate),
    ),
    "cluster simulation": (jobs, lambda instance: cs.cluster.solve(instance, "MCB8 */per/opt=avg")),
    "cluster bound": (jobs, lambda instance: run_repeatedly(lambda: cs.cluster.bound(instance))),
    "cluster check": (
        lambda: schedule(cs.cluster, jobs(), "EASY"),
        lambda instance: run_repeatedly(instance.validate),
    ),
    "moldable search": (moldable, lambda instance: cs.moldable.local_search(instance, work=2**50)),
    "moldable bound": (
        moldable,
        lambda instance: run_repeatedly(lambda: cs.moldable.minsum_bound(instance)),
    ),
    "moldable check": (
        lambda: schedule(cs.moldable, moldable(), "list-shelf"),
        lambda instance: run_repeatedly(instance.validate),
    ),
    "bags search": (bag, lambda instance: run_repeatedly(lambda: cs.bags.solve(instance, "ttb"))),
    "bags bound": (bag, lambda instance: run_repeatedly(lambda: cs.bags.bound(instance))),
    "bags check": (
        lambda: schedule(cs.bags, bag(), "min-energy"),
        lambda instance: run_repeatedly(instance.validate),
    ),
}


def ticks_during(call):
    """How often another thread woke up while the call was under way: 0 where it never could."""
    count, has_ended = 0, threading.Event()

    def tick():
        nonlocal count
        while not has_ended.wait(0.002):
            count += 1

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        call()
    finally:
        has_ended.set()
        thread.join()
    return count


def limited(call):
    try:
        with cs.time_limit(0.2):
            call()
    except cs.errors.TimeLimit:
        pass


def goes_on(call):
    """Whether another thread does during a call; on a busy machine not each time."""
    return any(ticks_during(lambda: limited(call)) >= 10 for _ in range(30))


@pytest.mark.parametrize("name", CALLS)
def test_another_thread_goes_on(name):
    make, call = CALLS[name]
    argument = make()
    assert goes_on(lambda: call(argument))


def write_jobs(folder):
    path = folder / "jobs.csv"
    jobs().write(path)
    return lambda: cs.cluster.Instance.read(path, nodes=128)


def write_graph(folder):
    path = folder / "graph.json"
    cs.workloads.layered(4000, density=0.24, units=(16, 4), seed=1).write(path)
    return lambda: cs.dags.Instance.read(path)


def write_packs(folder):
    path = folder / "times.csv"
    packs(20_000).write(path)
    return lambda: cs.packs.Instance.read(path)


@pytest.mark.parametrize("write", [write_jobs, write_graph, write_packs])
def test_another_thread_goes_on_while_a_file_is_read(write, tmp_path):
    read = write(tmp_path)
    assert goes_on(lambda: run_repeatedly(read))


def a_thread_goes_on(inst):
    """Beside a search, and an answer."""
    search = goes_on(lambda: cs.packs.local_search(inst, work=2**50))
    return search, cs.packs.solve(inst, "pack-by-pack-9").value


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_processes_of_any_kind(method):
    inst = cs.workloads.packs_iii(seed=1, max_tasks=8)
    # Unlike multiprocessing.Pool, an executor fails at once where the other process cannot import
    # this file; a pool would wait for it.
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        free, value = executor.submit(a_thread_goes_on, inst).result(timeout=120)
    assert free
    assert value == cs.packs.solve(inst, "pack-by-pack-9").value
