"""Conservative backfilling against a naive plan written here: a list of reservations, no more."""

import heapq
import os

import numpy as np
import pytest

import cosched as cs
from support import data

#: Of a hundred traces each; ten take half a minute.
BLOCKS = int(os.environ.get("COSCHED_BLOCKS", "2"))


def earliest(reserved, cells, allowed, now, tasks, length):
    """First start from which `tasks` nodes stay free, by counting at every point that matters.

    A share is a number of nodes of each cell (nodes that are in the same partitions).
    """

    def free(time):
        active_shares = [share for begin, end, share in reserved if begin <= time < end]
        return [cells[c] - sum(share[c] for share in active_shares) for c in range(len(cells))]

    for start in sorted({now, *(end for _, end, _ in reserved if end > now)}):
        points = [start, *(b for b, _, _ in reserved if start < b < start + length)]
        least_free = [min(at) for at in zip(*map(free, points), strict=True)]
        share = []
        for c, count in enumerate(least_free):
            share.append(min(max(count, 0), tasks - sum(share)) if c in allowed else 0)
        if sum(share) == tasks:
            return start, share
    raise AssertionError("the machine is large enough")


def naive(jobs, nodes, expected, key=None, allowed=None):
    """Start times, as the docstring of ``conservative`` says.

    With partitions `nodes` is the list of cells, and a job has the cells of ``allowed[job]``.
    """
    submit, tasks, run = (np.asarray(jobs[c]).tolist() for c in ("submit", "tasks", "runtime"))
    cells = nodes if isinstance(nodes, list) else [nodes]
    order = sorted(range(len(submit)), key=lambda j: (submit[j], j))
    expected = [seconds or 1 for seconds in expected]  # nothing else would hold the nodes
    rank = {j: r for r, j in enumerate(order)}
    start, promise, share, running, queue, ends = {}, {}, {}, set(), [], []
    free, next_, was_late, now = list(cells), 0, False, 0.0

    def plan(j):
        reservations = [(start[r], start[r] + expected[r], share[r]) for r in running]
        reservations += [
            (promise[q], promise[q] + expected[q], share[q]) for q in queue if q in promise
        ]
        open_to = {0} if allowed is None else allowed[j]
        promise[j], share[j] = earliest(reservations, cells, open_to, now, tasks[j], expected[j])

    while len(start) < len(submit) or running:
        times = [submit[order[next_]]] if next_ < len(order) else []
        times += [end for end, _ in ends] + [
            p for q, p in promise.items() if q in queue and p > now
        ]
        times += [start[r] + expected[r] for r in running if start[r] + expected[r] > now]
        now = max(now, min(times))
        early = False
        while ends and ends[0][0] <= now:
            j = heapq.heappop(ends)[1]
            running.discard(j)
            free = [a + b for a, b in zip(free, share[j], strict=True)]
            early |= start[j] + expected[j] > now
        while next_ < len(order) and submit[order[next_]] <= now:
            queue.append(order[next_])
            next_ += 1
        queue.sort(key=lambda j: (0 if key is None else key[j], rank[j]))
        is_overdue = any(start[r] + expected[r] <= now and start[r] + run[r] > now for r in running)
        if is_overdue or was_late:
            for j in queue:
                promise.pop(j, None)
            for j in queue:
                plan(j)
        else:
            for j in queue:
                if j not in promise:
                    plan(j)
                elif early and promise[j] > now:
                    old = promise.pop(j), share[j]
                    plan(j)
                    if promise[j] >= old[0]:
                        promise[j], share[j] = old
        was_late = is_overdue
        for j in list(queue):
            fits = all(a <= b for a, b in zip(share[j], free, strict=True))
            if promise[j] <= now and fits:
                queue.remove(j)
                start[j] = now
                del promise[j]
                running.add(j)
                free = [b - a for a, b in zip(share[j], free, strict=True)]
                heapq.heappush(ends, (now + run[j], j))
    return [start[j] for j in range(len(submit))]


def random_jobs(seed, n=24, nodes=8):
    random = np.random.default_rng(seed)
    runtime = random.integers(0, 40, n).astype(float)
    return {
        "submit": random.integers(0, 150, n).astype(float),
        "tasks": random.integers(1, nodes + 1, n),
        "cpu": np.ones(n),
        "memory": np.ones(n),
        "runtime": runtime,
        "estimate": np.ceil(runtime * random.choice([0.5, 1, 1, 2, 5], n))
        + random.integers(0, 3, n),
    }


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_traces(block):
    moved = 0
    for seed in range(100 * block, 100 * block + 100):
        jobs = random_jobs(seed)
        inst = cs.cluster.Instance(jobs, 8)
        perfect, asked = jobs["runtime"].tolist(), jobs["estimate"].tolist()
        res = cs.cluster.conservative(inst, estimates="perfect")
        assert res.jobs.start.tolist() == naive(jobs, 8, perfect)
        res.schedule.validate()
        res = cs.cluster.conservative(inst, estimates="requested")
        assert res.jobs.start.tolist() == naive(jobs, 8, asked)
        res.schedule.validate()
        moved += res.value != cs.cluster.easy(inst, estimates="requested").value
        cut = jobs | {"runtime": np.minimum(jobs["runtime"], jobs["estimate"])}
        res = cs.cluster.conservative(inst, estimates="requested", kill=True)
        assert res.jobs.start.tolist() == naive(cut, 8, asked)
        assert res.gap >= 0
        res = cs.cluster.conservative(inst, estimates="perfect", priority="smallest")
        assert res.jobs.start.tolist() == naive(jobs, 8, perfect, jobs["tasks"].tolist())
    assert moved > 10


MACHINE = """
[[nodes]]
name = "thin"
count = 5
cores = 1
[[nodes]]
name = "fat"
count = 3
cores = 1
[[nodes]]
name = "gpu"
count = 2
cores = 1
[[partitions]]
name = "any"
[[partitions]]
name = "short"
nodes = ["thin", "gpu"]
priority = 1
[[partitions]]
name = "large"
nodes = ["fat", "gpu"]
"""
CELLS = [5, 3, 2]
CELLS_OF = {"any": {0, 1, 2}, "short": {0, 2}, "large": {1, 2}}


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_traces_with_partitions(block, tmp_path):
    (tmp_path / "machine.toml").write_text(MACHINE)
    machine = cs.cluster.Machine.read(tmp_path / "machine.toml")
    apart = 0
    for seed in range(100 * block, 100 * block + 100):
        parts = np.random.default_rng(seed).choice(list(CELLS_OF), 14)
        jobs = random_jobs(seed, n=14) | {"partition": parts}
        jobs["submit"] = np.floor(jobs["submit"] / 2)
        largest = [sum(CELLS[c] for c in CELLS_OF[name]) for name in parts]
        jobs["tasks"] = np.minimum(jobs["tasks"], largest)
        inst = cs.cluster.Instance(jobs, 10, machine=machine)
        allowed = [CELLS_OF[name] for name in parts]
        key = [-1 if name == "short" else 0 for name in parts]
        perfect, asked = jobs["runtime"].tolist(), jobs["estimate"].tolist()
        res = cs.cluster.conservative(inst, estimates="perfect")
        assert res.jobs.start.tolist() == naive(jobs, CELLS, perfect, key, allowed)
        if seed % 10 == 0:
            apart += res.jobs.start.tolist() != naive(jobs, 10, perfect, key)
        res = cs.cluster.conservative(inst, estimates="requested")
        assert res.jobs.start.tolist() == naive(jobs, CELLS, asked, key, allowed)
        res.schedule.validate()
        cut = jobs | {"runtime": np.minimum(jobs["runtime"], jobs["estimate"])}
        res = cs.cluster.conservative(inst, estimates="requested", kill=True)
        assert res.jobs.start.tolist() == naive(cut, CELLS, asked, key, allowed)
        assert res.gap >= 0
    assert apart > 5  # partitions matter


@pytest.mark.parametrize("seed", range(40))
def test_with_kills_no_promise_is_broken(seed):
    jobs = random_jobs(seed)
    inst = cs.cluster.Instance(jobs, 8)
    res = cs.cluster.conservative(inst, estimates="requested", kill=True, log=True)
    wait_rows = res.log[(res.log.action == "wait")]
    for job, reason in zip(wait_rows.job, wait_rows.reason, strict=True):
        promised = float(reason.removeprefix("promised a start at ").removesuffix(" s"))
        assert res.jobs.start[job] <= promised


@pytest.mark.parametrize("seed", range(30))
def test_the_general_passes_are_those_of_fcfs_and_easy(seed):
    jobs = random_jobs(seed)
    inst = cs.cluster.Instance(jobs, 8)

    def by_submission(table):
        return table.submit

    for name in ("FCFS", "EASY"):
        for estimates in ("perfect", "requested"):
            plain = cs.cluster.solve(inst, name, estimates=estimates)
            same = cs.cluster.solve(inst, name, estimates=estimates, priority=by_submission)
            assert plain.jobs.start.tolist() == same.jobs.start.tolist()
            same.schedule.validate()


@pytest.mark.parametrize("name", ["FCFS", "EASY", "conservative"])
def test_orders_of_the_queue(name):
    jobs = {"submit": [0, 1, 2, 3], "tasks": [2, 2, 2, 1], "cpu": [1] * 4, "memory": [1] * 4,
            "runtime": [50.0, 40.0, 20.0, 30.0]}  # fmt: skip
    inst = cs.cluster.Instance(jobs, 2)

    def starts(**options):
        return cs.cluster.solve(inst, name, **options).jobs.start.tolist()

    assert starts() == [0, 50, 90, 110]
    if name == "conservative":  # promises hold, whatever comes
        assert starts(priority="shortest") == [0, 50, 90, 110]
    else:
        assert starts(priority="shortest") == [0, 100, 50, 70]
        assert starts(priority="smallest") == [0, 80, 120, 50]
        assert starts(priority=lambda jobs: -jobs.runtime) == [0, 50, 120, 90]
        # (wait / run)^3 tasks at 50 s: 2 (49/40)^3, 2 (48/20)^3, (47/30)^3
        assert starts(priority="wfp3")[2] == 50
    for wrong in ("longest", 3):
        with pytest.raises(cs.InvalidInstance, match=r"priority = .*: expected fcfs, shortest"):
            starts(priority=wrong)
    with pytest.raises(cs.InvalidInstance, match="expected a number for each of 4 jobs"):
        starts(priority=lambda jobs: [1, 2])
    with pytest.raises(cs.InvalidInstance, match="kill: the jobs have no estimate"):
        starts(kill=True)


def test_kill_ends_jobs_at_their_limit():
    jobs = {"submit": [0, 0], "tasks": [1, 1], "cpu": [1, 1], "memory": [1, 1],
            "runtime": [100.0, 50.0], "estimate": [60.0, 80.0]}  # fmt: skip
    res = cs.cluster.solve(cs.cluster.Instance(jobs, 1), "EASY", estimates="requested", kill=True)
    assert res.jobs.end.tolist() == [60, 110]
    assert res.metrics()["killed"] == 1
    assert res.bound.value <= res.value


@pytest.mark.data
@pytest.mark.parametrize("estimates", ["perfect", "requested"])
def test_a_month_of_a_real_log(estimates):
    inst = cs.cluster.from_swf(
        data("pwa", "CTC-SP2-1996-3.1-cln.swf.gz"), convention="rigid", until=4 * 86400
    )
    jobs = {c: inst.column(c) for c in ("submit", "tasks", "runtime", "estimate")}
    expected = jobs["runtime" if estimates == "perfect" else "estimate"].tolist()
    res = cs.cluster.conservative(inst, estimates=estimates)
    assert res.jobs.start.tolist() == naive(jobs, inst.nodes, expected)
    res.schedule.validate()
