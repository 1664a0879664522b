"""A Slurm site on paper: a slurm.conf, and what sacct would print of jobs that ran there.

Jobs depend on others, begin later, are arrays, are requeued, want memory and GPUs, and count
threads; names hold bars. They are started first come, first served, in the order in which they
become eligible, so that no node ever has more than it has.
"""

from datetime import datetime, timedelta, timezone

import numpy as np

NODES, CORES, THREADS, MEMORY, GPUS = 12, 16, 2, 64000, 4  # of each; GPUs on the first third
CONF = f"""SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=g[1-{NODES // 3}] CPUs={CORES * THREADS} Sockets=2 CoresPerSocket={CORES // 2} \\
  ThreadsPerCore={THREADS} RealMemory={MEMORY} Gres=gpu:a100:{GPUS}
NodeName=n[1-{NODES - NODES // 3}] Sockets=2 CoresPerSocket={CORES // 2} ThreadsPerCore={THREADS} \\
  RealMemory={MEMORY}
PartitionName=main Nodes=ALL Default=YES
PartitionName=gpu Nodes=g[1-{NODES // 3}]
"""
COLUMNS = (
    "JobID|JobName|User|Group|Partition|State|Submit|Eligible|Start|End|Elapsed|Timelimit|NNodes|"
    "NCPUS|ReqMem|ReqTRES|AllocTRES|NodeList"
)
HOSTS = [f"g{k + 1}" if k < NODES // 3 else f"n{k + 1 - NODES // 3}" for k in range(NODES)]


def clock(second):
    moment = datetime(2026, 3, 1, tzinfo=timezone.utc) + timedelta(seconds=int(second))
    return moment.strftime("%Y-%m-%dT%H:%M:%S")


def span(seconds):
    days, rest = divmod(int(seconds), 86400)
    text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text


class Site:
    """Free cores, memory and GPUs by node, and the runs that hold them."""

    def __init__(self):
        gpus = np.where(np.arange(NODES) < NODES // 3, GPUS, 0)
        self.free = np.stack([np.full(NODES, CORES), np.full(NODES, MEMORY), gpus], axis=1)
        self.running = []  # (end, nodes, what each of them gives)
        self.now = 0

    def start(self, ready, nodes, each, length):
        """Where and when the job starts: `each` = cores, memory, GPUs on each of its nodes."""
        self.now = max(self.now, ready)
        while True:
            for end, run_nodes, run_shares in [run for run in self.running if run[0] <= self.now]:
                self.free[run_nodes] += run_shares
                self.running.remove((end, run_nodes, run_shares))
            fits = np.flatnonzero((self.free >= each).all(axis=1))
            if len(fits) >= nodes:
                break
            self.now = min(run[0] for run in self.running)
        run_nodes = fits[:nodes].tolist()
        self.free[run_nodes] -= each
        self.running.append((self.now + length, run_nodes, tuple(each)))
        return self.now, run_nodes


def rows_of(job, name, state, submit, eligible, begun, length, limit, job_nodes, each, rng):
    """A row of the job's, and some of its steps."""
    cores, memory, gpus = each
    cpus, many = cores * THREADS * len(job_nodes), len(job_nodes)
    of_gpus = f",gres/gpu:a100={gpus * many},gres/gpu={gpus * many}" if gpus else ""
    size = f"{memory}M" if rng.random() < 0.5 else f"{memory / 1024:.2f}G".replace(".00G", "G")
    total = f"{memory * many}M" if size.endswith("M") or many > 1 else size
    allocated_tres = f"billing={cpus},cpu={cpus}{of_gpus},mem={total},node={many}"
    asked = (f"{size}n", f"{size}n", total)[rng.integers(3)]
    wanted = f"billing={cpus},cpu={max(1, cpus - 1)},mem={total},node={many}"
    node_list = "" if state == "PENDING" else ",".join(HOSTS[k] for k in job_nodes)
    user = f"u{rng.integers(8)}"
    part = "gpu" if gpus else "main"
    times = "|".join(map(clock, (submit, eligible, begun, begun + length)))
    front = f"{name}|{user}|staff|{part}"
    back = (
        f"{span(length)}|{span(limit)}|{many}|{cpus}|{asked}|{wanted}|{allocated_tres}|{node_list}"
    )
    yield f"{job}|{front}|{state}|{times}|{back}"
    for step in ("batch", "0")[: rng.integers(0, 3)]:
        run_cells = f"{state}|{times}|{span(length)}"
        yield f"{job}.{step}|{step}||staff||{run_cells}||{many}|{cpus}||||{node_list}"


def dump(jobs, seed):
    """The text of a dump with about so many jobs."""
    rng = np.random.default_rng(seed)
    wishes, submit = [], 0  # (eligible, submit, id, name, nodes, each, length, after)
    number = 100
    while len(wishes) < jobs:
        submit += int(rng.exponential(240))
        number += 1
        gpus = int(rng.integers(1, GPUS + 1)) if rng.random() < 0.2 else 0
        nodes = int(rng.integers(1, 4)) if rng.random() < 0.3 else 1
        memory = int(rng.choice([500, 1024, 4096, 16384, 60000]))
        each = (int(rng.integers(1, CORES + 1)), memory, gpus)
        name = str(rng.choice(["run", "a|b", "x || y", "relax-1"]))
        kind = rng.choice(["plain", "array", "begin", "after"], p=[0.6, 0.1, 0.1, 0.2])
        tasks = int(rng.integers(2, 9)) if kind == "array" else 1
        wait = int(rng.integers(600, 90_000)) if kind == "begin" else 0
        after = len(wishes) - 1 if kind == "after" and wishes else None
        for task in range(tasks):
            job = f"{number}_{task}" if kind == "array" else str(number)
            length = int(rng.integers(0, 20_000)) if rng.random() < 0.95 else 0
            wishes.append((submit + wait, submit, job, name, nodes, each, length, after))
    ends, lines, site, queue = {}, [COLUMNS], Site(), []
    for at, wish in enumerate(wishes):
        queue.append((wish[0], at, wish, 0))
    while queue:
        queue.sort(key=lambda item: (item[0], item[1]))
        ready, at, wish, run = queue.pop(0)
        _, arrival, job, name, nodes, each, length, after = wish
        if after is not None and run == 0 and ready < ends.get(after, np.inf):
            if after not in ends:  # it waits for one that has not ended: looked at again later
                ahead = [item[0] for item in queue if item[1] == after]
                queue.append((max(ahead[0], ready) + 1, at, wish, 0))
            else:
                queue.append((ends[after], at, wish, 0))
            continue
        if after is not None and run == 0:
            ready = max(ends[after], arrival)
        begun, job_nodes = site.start(max(ready, arrival), nodes, each, length)
        is_requeued = run < 2 and rng.random() < 0.05 and length > 600
        run_seconds = int(rng.integers(1, length)) if is_requeued else length
        if is_requeued:  # the node failed, or it was preempted: its place is free before its time
            site.running[-1] = (begun + run_seconds, job_nodes, tuple(each))
        state = (
            "REQUEUED"
            if is_requeued
            else str(rng.choice(["COMPLETED", "FAILED", "CANCELLED by 7"]))
        )
        sent = arrival if run == 0 else ready - 121
        lines += rows_of(
            job,
            name,
            state,
            sent,
            max(ready, arrival),
            begun,
            run_seconds,
            2 * length + 60,
            job_nodes,
            each,
            rng,
        )
        if is_requeued:
            queue.append((begun + run_seconds + 121, at, wish, run + 1))
        else:
            ends[at] = begun + run_seconds
    for extra in range(5):
        never = (
            f"{number + extra + 1}_[1-9]|z|u1|staff|main|PENDING|{clock(submit)}|{clock(submit)}"
        )
        lines.append(f"{never}|Unknown|Unknown|00:00:00|01:00:00|1|1|1G|cpu=1,mem=1G,node=1||")
    body = lines[1:]
    rng.shuffle(body)
    return "\n".join([lines[0], *body]) + "\n"
