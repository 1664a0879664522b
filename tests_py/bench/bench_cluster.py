"""Figures of cluster: EASY and FCFS against plain Python, the bound against its LP, whole logs.

Run by ``make bench``. The real log where COSCHED_DATA has it, else a generated stream; the full
Table 2 (20 policies x 182 weeks, a few minutes) only with the argument ``--table2``. CLP takes
part where it is installed (``pip install cylp``).
"""

import heapq
import resource
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from archives import DATA
from scipy.optimize import linprog
from scipy.sparse import coo_array, csc_matrix

import cosched as cs
from cosched import workloads
from cosched.cluster.algorithms import TABLE_2

try:  # pip install cylp
    from cylp.cy import CyClpSimplex
    from cylp.py.modeling.CyLPModel import CyLPArray, CyLPModel
except ImportError:
    CyClpSimplex = None

sys.path.append(str(Path(__file__).parents[1]))
from support import plain_mcb8, plain_mcb8_search

LOGS = DATA / "pwa"
HPC2N = LOGS / "HPC2N-2002-2.1-cln.swf.gz"
NODES = 120
BEST = ("GreedyPM */per/opt=min/minvt=600", "GreedyP */per/opt=min/minvt=600")


def seconds(work, repetitions=1):
    """Least processor seconds of some calls, and the last call's answer."""
    best = np.inf
    for _ in range(repetitions):
        begin = time.process_time()  # other work on the machine does not count
        answer = work()
        best = min(best, time.process_time() - begin)
    return best, answer


def peak_gb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def plain_easy(submit, tasks, runtime, nodes):
    """EASY with perfect estimates as a good Python programmer writes it; starts by job."""
    n = len(submit)
    order = sorted(range(n), key=submit.__getitem__)
    start = [0.0] * n
    ends, queue = [], []  # heap of (end, job); waiting jobs in order
    free, nxt, done = nodes, 0, 0
    while done < n:
        now = ends[0][0] if ends else float("inf")
        if nxt < n:
            now = min(now, submit[order[nxt]])
        while ends and ends[0][0] <= now:
            free += tasks[heapq.heappop(ends)[1]]
            done += 1
        while nxt < n and submit[order[nxt]] <= now:
            queue.append(order[nxt])
            nxt += 1
        head = 0
        while head < len(queue) and tasks[queue[head]] <= free:
            job = queue[head]
            head += 1
            start[job] = now
            free -= tasks[job]
            heapq.heappush(ends, (now + runtime[job], job))
        if head:
            del queue[:head]
        if not queue or not free:
            continue
        first = queue[0]
        shadow, then = now, free
        for end, job in sorted(ends):  # nodes at the shadow time
            if then >= tasks[first] and end > shadow:
                break
            then += tasks[job]
            shadow = end
        extra = then - tasks[first]
        completed_jobs = [first]
        for job in queue[1:]:
            need = tasks[job]
            in_time = now + runtime[job] <= shadow
            if need > free or not (in_time or need <= extra):
                completed_jobs.append(job)
                continue
            if not in_time:
                extra -= need
            start[job] = now
            free -= need
            heapq.heappush(ends, (now + runtime[job], job))
        queue = completed_jobs
    return start


def mcb8(mean_tasks, shrink, jobs=100, nodes=128):
    """The public calls beside plain Python; `tests_cpp/bench/cluster_bench.cpp` has plain C++."""
    random = np.random.default_rng(1)
    tasks = random.integers(1, 2 * mean_tasks, jobs).tolist()
    cpu = [0.25 if count == 1 else 1.0 for count in tasks]
    small = random.random(jobs) < 0.55
    memory = (shrink * np.where(small, 0.1, 0.1 * random.integers(2, 11, jobs))).tolist()
    items = (tasks, cpu, memory, nodes)
    many = range(100)  # a call is shorter than the clock's tick
    packing = cs.cluster.mcb8_search(*items)
    fast, _ = seconds(lambda: [cs.cluster.mcb8_search(*items) for _ in many], 5)
    slow, expected = seconds(lambda: plain_mcb8_search(*items), 3)
    fast /= len(many)
    share = packing[0]
    line = f"mcb8, {jobs} jobs, {sum(tasks)} tasks, {nodes} nodes: yield {share:.3f}; "
    line += f"whole search {1e6 * fast:.0f} us, plain Python {1e3 * slow:.1f} ms: "
    line += f"ratio {slow / fast:.0f}, {'the same' if packing == expected else 'OTHER'} placements"
    fast, _ = seconds(lambda: [cs.cluster.mcb8(*items, yield_=share) for _ in many], 5)
    slow, _ = seconds(lambda: plain_mcb8(tasks, [share * need for need in cpu], memory, nodes), 5)
    fast /= len(many)
    print(f"{line}; one call {1e6 * fast:.0f} us, plain {1e3 * slow:.2f} ms: {slow / fast:.0f}")


def whole_log():
    if HPC2N.exists():
        return "HPC2N", cs.cluster.from_swf(HPC2N, NODES, convention="dfrs")
    jobs = workloads.lublin(20_000, 128, seed=1)
    return "lublin 20,000", cs.cluster.Instance(workloads.rescale_load(jobs, 128, 0.7), 128)


def batch(name, inst):
    n = len(inst)
    columns = (inst.column(c).tolist() for c in ("submit", "tasks", "runtime"))
    submit, tasks, runtime = columns
    tasks = [int(k) for k in tasks]
    plain, starts = seconds(lambda: plain_easy(submit, tasks, runtime, inst.nodes))
    for policy, function in (
        ("FCFS", cs.cluster.fcfs),
        ("EASY", partial(cs.cluster.easy, estimates="perfect")),
    ):
        fast, jobs = seconds(lambda f=function: f(inst).jobs, 5)
        line = f"{policy} on {name}, {n} jobs, table included: {1e3 * fast:.0f} ms"
        line += f", {1e6 * fast / n:.3f} us a job"
        if policy == "EASY":
            same = "the same starts" if np.allclose(jobs.start, starts) else "OTHER STARTS"
            line += (
                f"; plain Python {1e6 * plain / n:.2f} us a job: ratio {plain / fast:.0f}, {same}"
            )
        print(line)


def conservative():
    """On whole processors, with perfect and with requested estimates, in times of EASY's."""
    rigid = cs.cluster.from_swf(HPC2N, convention="rigid")
    for estimates in ("perfect", "requested"):
        work = partial(cs.cluster.solve, rigid, estimates=estimates)
        easy, _ = seconds(lambda w=work: w("EASY").jobs, 3)
        elapsed, _ = seconds(lambda w=work: w("conservative").jobs)
        print(
            f"conservative on HPC2N, {estimates} estimates: {elapsed:.2f} s, "
            f"{elapsed / easy:.0f} times EASY's {1e3 * easy:.0f} ms; peak {peak_gb():.2f} GB"
        )


def bounds(name, inst):
    elapsed, bound = seconds(lambda: cs.cluster.bound(inst))
    print(
        f"bound on all of {name}: S = {float(bound):.6f} in {elapsed:.2f} s; "
        f"peak {peak_gb():.2f} GB"
    )


def bounds_of_archive_logs():
    """Whole processors, as in --convention rigid."""
    for path in sorted(LOGS.glob("*.swf.gz")):
        inst = cs.cluster.from_swf(path, convention="rigid", drop="too-wide")
        elapsed, bound = seconds(lambda i=inst: cs.cluster.bound(i), 3)
        print(
            f"bound on {path.name.partition('-')[0]}, {len(inst)} jobs: S = {float(bound):.6f} "
            f"in {elapsed:.3f} s, {1e6 * elapsed / len(inst):.1f} us a job"
        )


def stretch_lp(inst, stretch):
    """Theorem 1's linear system: find a >= 0 with work a = runtime, full a <= room, a <= upper."""
    release, runtime = inst.column("submit"), inst.column("runtime")
    rate = inst.column("cpu") * inst.column("tasks")
    deadline = release + stretch * np.maximum(runtime, 10)
    points = np.unique(np.concatenate([release, deadline]))
    lengths = np.diff(points)
    inside = (release[:, None] <= points[:-1]) & (points[1:] <= deadline[:, None])
    job, interval = np.nonzero(inside)
    edge = np.arange(len(job))
    work = coo_array((np.ones(len(job)), (job, edge)), shape=(len(inst), len(job)))
    full = coo_array((rate[job], (interval, edge)), shape=(len(lengths), len(job)))
    return work.tocsc(), runtime, full.tocsc(), inst.nodes * lengths, lengths[interval]


def by_highs(method, work, runtime, full, room, upper):
    limits = np.column_stack([np.zeros(len(upper)), upper])
    equal, below = {"A_eq": work, "b_eq": runtime}, {"A_ub": full, "b_ub": room}
    solve = partial(linprog, np.zeros(len(upper)), **equal, **below, bounds=limits, method=method)
    elapsed, answer = seconds(solve)
    return elapsed, answer.status == 0


def by_clp(work, runtime, full, room, upper):
    model = CyLPModel()
    a = model.addVariable("a", len(upper))
    model += csc_matrix(work) * a == CyLPArray(runtime)
    model += csc_matrix(full) * a <= CyLPArray(room)
    model += a >= 0
    model += a <= CyLPArray(upper)
    solver = CyClpSimplex(model)
    solver.logLevel = 0
    elapsed, status = seconds(solver.primal)
    return elapsed, status == "optimal"


def bound_against_lp(n=1000, nodes=128, tests=15):
    """The whole search against one feasibility test of Theorem 1; bisection needs some 15."""
    jobs = workloads.rescale_load(workloads.lublin(n, nodes, seed=1), nodes, 0.9)
    inst = cs.cluster.Instance(jobs, nodes)
    fast, bound = seconds(lambda: cs.cluster.bound(inst), 5)
    lp = stretch_lp(inst, 1.001 * float(bound))
    print(f"bound, {n} Lublin jobs at load 0.9: S = {float(bound):.6f} in {1e3 * fast:.1f} ms")
    solvers = {f"HiGHS, {m}": partial(by_highs, m) for m in ("highs-ds", "highs-ipm")}
    if CyClpSimplex is not None:
        solvers["CLP, primal simplex"] = by_clp
    for name, solve in solvers.items():
        elapsed, feasible = solve(*lp)
        print(
            f"  {name}: one test of {len(lp[-1])} columns {elapsed:.2f} s "
            f"({'feasible' if feasible else 'NOT FEASIBLE'}): ratio {elapsed / fast:.0f}, "
            f"with {tests} tests {tests * elapsed / fast:.0f}"
        )


def best_policies(name, inst):
    for policy in BEST:
        elapsed, res = seconds(lambda p=policy: cs.cluster.solve(inst, p).metrics())
        print(
            f"{policy} on all of {name}: {elapsed:.1f} s, "
            f"{1e6 * elapsed / len(inst):.0f} us a job, "
            f"maximum stretch {res['max_stretch']:.1f}; peak {peak_gb():.2f} GB"
        )


def weeks(table_2):
    week_instances = [cs.cluster.Instance(week, NODES) for week in workloads.hpc2n_weeks(HPC2N)]
    bound_seconds = [seconds(lambda i=inst: cs.cluster.bound(i))[0] for inst in week_instances]
    print(
        f"bound, {len(week_instances)} weeks of HPC2N: {sum(bound_seconds):.2f} s in all, "
        f"median {1e3 * np.median(bound_seconds):.1f} ms, worst {max(bound_seconds):.3f} s"
    )
    if not table_2:
        return
    spent = 0.0
    for policy in TABLE_2:
        policy_seconds = sum(
            seconds(lambda i=i, p=policy: cs.cluster.solve(i, p).value)[0] for i in week_instances
        )
        print(f"  {policy:34} {policy_seconds:6.1f} s")
        spent += policy_seconds
    print(
        f"Table 2, {len(TABLE_2)} policies x {len(week_instances)} weeks: {spent:.0f} s on one core"
    )


def main():
    mcb8(16, 0.2)
    mcb8(4, 0.8)
    name, inst = whole_log()
    print(f"{name} is there: peak {peak_gb():.2f} GB")
    batch(name, inst)
    bound_against_lp()
    bounds(name, inst)
    bounds_of_archive_logs()
    if HPC2N.exists():
        conservative()
        weeks("--table2" in sys.argv)
    best_policies(name, inst)


if __name__ == "__main__":
    main()
