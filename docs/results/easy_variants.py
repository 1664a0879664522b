"""How much EASY gains on FCFS when it backfills less: ratios of mean degradations from the bound.

`python docs/results/easy_variants.py LOG` with the HPC2N log; a few minutes. See cluster-table2.md.
"""

import bisect
import heapq
import sys
from collections import deque

import numpy as np

import cosched as cs

VARIANTS = ("textbook", "no extra nodes", "jobs just submitted only", "next in the queue only")


def max_stretch(jobs, nodes, variant):
    """A plain event loop; `variant` None is FCFS."""
    submit, tasks, run = (np.asarray(jobs[c]).tolist() for c in ("submit", "tasks", "runtime"))
    arrivals = deque(sorted(range(len(submit)), key=lambda j: (submit[j], j)))
    start = [0.0] * len(submit)
    ends, queue, running, free = [], deque(), set(), nodes
    while arrivals or ends:
        now = min(
            submit[arrivals[0]] if arrivals else np.inf,
            ends[0][0] if ends else np.inf,
        )
        while ends and ends[0][0] <= now:
            job = heapq.heappop(ends)[1]
            running.discard(job)
            free += tasks[job]
        new = set()
        while arrivals and submit[arrivals[0]] <= now:
            new.add(arrivals[0])
            queue.append(arrivals.popleft())
        chosen = []
        while queue and tasks[queue[0]] <= free:
            chosen.append(queue.popleft())
            free -= tasks[chosen[-1]]
        for job in chosen:
            start[job] = now
            heapq.heappush(ends, (now + run[job], job))
            running.add(job)
        if not queue or not free or variant is None:
            continue
        released = sorted((start[j] + run[j], tasks[j]) for j in running)
        idle = free + np.cumsum([count for _, count in released])
        shadow = released[int(np.argmax(idle >= tasks[queue[0]]))][0]
        extra = idle[bisect.bisect_right(released, (shadow, np.inf)) - 1] - tasks[queue[0]]
        if variant == "no extra nodes":
            extra = 0
        behind = list(queue)[1:]
        if variant == "jobs just submitted only":
            behind = [job for job in behind if job in new]
        if variant == "next in the queue only":
            behind = behind[:1]
        for job in behind:
            in_time = now + run[job] <= shadow
            if tasks[job] > free or not (in_time or tasks[job] <= extra):
                continue
            extra -= 0 if in_time else tasks[job]
            free -= tasks[job]
            queue.remove(job)
            start[job] = now
            heapq.heappush(ends, (now + run[job], job))
            running.add(job)
    runtime = np.array(run)
    turnaround = np.array(start) + runtime - np.array(submit)
    return (np.maximum(turnaround, 10) / np.maximum(runtime, 10)).max()


def main(log):
    weeks = cs.workloads.hpc2n_weeks(log)
    sets = {
        "182 real weeks (paper 0.85)": [(jobs, 120) for jobs in weeks],
        "100 unscaled traces (paper 0.91)": [
            (cs.workloads.lublin(1000, 128, types="typed", seed=seed), 128) for seed in range(100)
        ],
    }
    for title, traces in sets.items():
        bounds = [float(cs.cluster.bound(cs.cluster.Instance(*trace))) for trace in traces]

        def mean(variant, traces=traces, bounds=bounds):
            found = [max_stretch(*trace, variant) for trace in traces]
            return np.mean(np.array(found) / bounds)

        batch = mean(None)
        print(title)
        for variant in VARIANTS:
            print(f"  EASY, {variant}: {mean(variant) / batch:.2f} x FCFS", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
