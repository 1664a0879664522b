"""FCFS and EASY against textbook event loops written here, job by job, on real logs."""

import bisect
import heapq
from collections import deque

import numpy as np
import pytest

import cosched as cs
from support import data


def textbook(jobs, nodes, backfill, expected=None):
    """Start times: completions, then submissions, then one pass, at each instant."""
    submit, tasks, run = (jobs[c].tolist() for c in ("submit", "tasks", "runtime"))
    expected = run if expected is None else expected
    arrivals = deque(sorted(range(len(submit)), key=lambda j: (submit[j], j)))
    start = [None] * len(submit)
    ends, queue, running, free = [], deque(), set(), nodes

    def begin(job, now):
        nonlocal free
        start[job] = now
        free -= tasks[job]
        heapq.heappush(ends, (now + run[job], job))
        running.add(job)

    while arrivals or ends:
        now = min(submit[arrivals[0]] if arrivals else np.inf, ends[0][0] if ends else np.inf)
        while ends and ends[0][0] <= now:
            job = heapq.heappop(ends)[1]
            running.discard(job)
            free += tasks[job]
        while arrivals and submit[arrivals[0]] <= now:
            queue.append(arrivals.popleft())
        while queue and tasks[queue[0]] <= free:
            begin(queue.popleft(), now)
        if not queue or not backfill or free == 0:
            continue
        head, idle = queue[0], free
        released = sorted((max(start[j] + expected[j], now), tasks[j]) for j in running)
        for index, (shadow, count) in enumerate(released):  # noqa: B007
            idle += count
            if idle >= tasks[head]:
                break
        last = bisect.bisect_right(released, (shadow, np.inf))
        extra = free + sum(count for _, count in released[:last]) - tasks[head]
        for job in list(queue)[1:]:
            if tasks[job] > free:
                continue
            if now + expected[job] > shadow:
                if tasks[job] > extra:
                    continue
                extra -= tasks[job]
            queue.remove(job)
            begin(job, now)
    return np.array(start)


def random_jobs(seed, n=60, nodes=8):
    random = np.random.default_rng(seed)
    runtime = random.integers(1, 40, n).astype(float)
    return {
        "submit": np.sort(random.integers(0, 300, n)).astype(float),
        "tasks": random.integers(1, nodes + 1, n),
        "cpu": np.ones(n),
        "memory": np.ones(n),
        "runtime": runtime,
        "estimate": runtime * random.uniform(0.5, 3, n).round(1),
    }


@pytest.mark.parametrize("seed", range(25))
def test_small_streams(seed):
    jobs = random_jobs(seed)
    inst = cs.cluster.Instance(jobs, 8)
    for name, backfill in (("FCFS", False), ("EASY (perfect estimates)", True)):
        res = cs.cluster.solve(inst, name)
        assert res.jobs.start.tolist() == textbook(jobs, 8, backfill).tolist()
        res.schedule.validate()
    res = cs.cluster.solve(inst, "EASY", estimates="requested")
    expected = jobs["estimate"].tolist()
    assert res.jobs.start.tolist() == textbook(jobs, 8, True, expected).tolist()


@pytest.mark.data
@pytest.mark.parametrize("log", ["NASA-iPSC-1993-3.1-cln", "CTC-SP2-1996-3.1-cln"])
@pytest.mark.parametrize("name", ["FCFS", "EASY (perfect estimates)"])
def test_real_logs(log, name):
    inst = cs.cluster.from_swf(data("pwa", f"{log}.swf.gz"), convention="rigid")
    table = inst.jobs
    res = cs.cluster.solve(inst, name)
    jobs = {column: table[column].to_numpy() for column in table}
    assert res.jobs.start.tolist() == textbook(jobs, inst.nodes, name != "FCFS").tolist()
    assert (res.jobs.end - res.jobs.start - table.runtime.to_numpy()).abs().max() < 1e-6
    res.schedule.validate()
