"""FCFS, EASY and conservative backfilling on nodes with cores, memory and GPUs, in plain loops.

A node is (cores, KB, GPUs, type of its GPUs, partitions that have it); nodes are in the order in
which they are filled. A job is a dict: submit, runtime, expected (infinite: it has no limit),
cores, kb, gpus, type (of its GPUs, or ""), partition, nodes (0: not known), and optionally may (the
nodes that its features allow). Shares no code with the package.
"""

from math import inf


def holds(free, cores, kb, gpus):
    return free[0] >= cores and free[1] >= kb and free[2] >= gpus


def right_type(nodes, node, job):
    is_known_type = any(job["type"] == other[3] for other in nodes)
    return not job["type"] or not is_known_type or nodes[node][3] in ("", job["type"])


def usable(nodes, job, open_to):
    may = job.get("may", open_to)
    return [k for k in open_to if job["partition"] in nodes[k][4] and k in may]


#: Conservative plans of jobs without a limit: longer than any other, and each longer than the one
#: planned before it.
NO_END = 1e13


def place(nodes, free, job, open_to, equal):
    """{node: (cores, KB, GPUs)}, or None."""
    usable_nodes = usable(nodes, job, open_to)
    if equal:
        many = job["nodes"]
        low, extra_cores = divmod(job["cores"], many)
        kb, gpus = job["kb"] // many, job["gpus"] // many
        fit = [k for k in usable_nodes if not gpus or right_type(nodes, k, job)]
        big = [k for k in fit if holds(free[k], low + 1, kb, gpus)][:extra_cores]
        rest = [k for k in fit if k not in big and holds(free[k], low, kb, gpus)][
            : many - extra_cores
        ]
        if len(big) < extra_cores or len(rest) < many - extra_cores:
            return None
        return {k: (low + (k in big), kb, gpus) for k in big + rest}
    needs, placement = [job["cores"], job["kb"], job["gpus"]], {}
    for k in usable_nodes:
        shares = [min(needs[r], free[k][r]) for r in range(3)]
        if not right_type(nodes, k, job):
            shares[2] = 0
        if any(shares):
            placement[k] = tuple(shares)
            needs = [needs[r] - shares[r] for r in range(3)]
    return None if any(needs) else placement


def added(free, share, sign):
    new = [list(node_free) for node_free in free]
    for k, amounts in share.items():
        for r in range(3):
            new[k][r] += sign * amounts[r]
    return new


def ends_in_time(ends, shadow):
    """Whether a job ends before others start; one without a limit never does."""
    return ends < inf and ends <= shadow


class Naive:
    def __init__(self, nodes, jobs, rule):
        self.nodes, self.jobs, self.rule = nodes, jobs, rule
        self.every = list(range(len(nodes)))
        self.empty = [list(node[:3]) for node in nodes]
        self.equal = [
            0 < job["nodes"] <= job["cores"] and job["gpus"] % job["nodes"] == 0 for job in jobs
        ]
        for j, job in enumerate(jobs):
            if self.equal[j] and job["nodes"] > 1 and self.find(j, self.empty) is None:
                self.equal[j] = False
        self.fits = [self.find(j, self.empty) is not None for j in range(len(jobs))]

    def find(self, j, free, open_to=None):
        open_to = self.every if open_to is None else open_to
        return place(self.nodes, free, self.jobs[j], open_to, self.equal[j])

    def run(self):
        jobs = self.jobs
        order = sorted(range(len(jobs)), key=lambda j: jobs[j]["submit"])
        self.running, self.queue, self.start, self.slots = {}, [], {}, {}
        self.overdue, done, self.now, self.wake = False, 0, 0.0, inf
        self.endless = {}  # conservative: how long each job without a limit is planned
        self.planned_so_far = 0  # jobs without a limit
        while done < len(jobs):
            ends = [self.start[j] + jobs[j]["runtime"] for j in self.running]
            soon = [jobs[order[0]]["submit"]] if order else []
            self.now = max(self.now, min([*ends, *soon, self.wake]))
            early = False
            for j in list(self.running):
                if self.start[j] + jobs[j]["runtime"] <= self.now:
                    expected = self.jobs[j]["expected"]
                    early |= expected == inf or self.start[j] + self.planned(j) > self.now
                    del self.running[j]
                    done += 1
            while order and jobs[order[0]]["submit"] <= self.now:
                self.queue.append(order.pop(0))
            if self.rule == "conservative":
                self.plan(early)
            else:
                self.backfill()
        return [self.start[j] for j in range(len(jobs))]

    def free(self):
        free = self.empty
        for share in self.running.values():
            free = added(free, share, -1)
        return free

    def begin(self, j, share):
        self.start[j] = self.now
        self.running[j] = share

    # FCFS and EASY

    def backfill(self):
        blocked, reserved, waiting = set(), [], []  # nodes; (job, shadow, free then)
        for j in self.queue:
            usable_nodes = set(usable(self.nodes, self.jobs[j], self.every))
            others = [k for k in self.every if k not in blocked]
            if self.rule == "FCFS":
                share = self.find(j, self.free(), others)
            else:
                share = self.first(j, others, [k for k in self.every if k in blocked])
                ends = self.now + self.jobs[j]["expected"]
                after = [
                    (
                        h,
                        shadow,
                        then if ends_in_time(ends, shadow) or not share else added(then, share, -1),
                    )
                    for h, shadow, then in reserved
                ]
                if share and all(
                    ends_in_time(ends, shadow) or self.find(h, then) is not None
                    for h, shadow, then in after
                ):
                    reserved = after
                else:
                    share = None
            if share is not None:
                self.begin(j, share)
                continue
            waiting.append(j)
            if self.rule == "EASY" and not usable_nodes <= blocked:
                reserved.append(self.reserve(j))
            blocked |= usable_nodes
        self.queue = waiting

    def first(self, j, others, blocked):
        """On nodes that nobody waits for first."""
        order = others + blocked
        return place(self.nodes, self.free(), self.jobs[j], order, self.equal[j])

    def reserve(self, j):
        ends = {k: max(self.now, self.start[k] + self.jobs[k]["expected"]) for k in self.running}
        for shadow in sorted({self.now, *ends.values()}):
            then = self.free()
            for k, end in ends.items():
                if end <= shadow:
                    then = added(then, self.running[k], +1)
            if self.find(j, then) is not None:
                return j, shadow, then
        raise AssertionError("it fits on the empty machine")

    # conservative

    def planned(self, j):
        if self.jobs[j]["expected"] == inf:
            return self.endless[j]
        return self.jobs[j]["expected"] or (1 if self.rule == "conservative" else 0)

    def plan(self, early):
        is_overdue = any(
            self.start[j] + self.planned(j) <= self.now < self.start[j] + self.jobs[j]["runtime"]
            for j in self.running
        )
        if is_overdue or self.overdue:
            self.slots = {}
        for j in self.queue:
            if j not in self.slots:
                if self.jobs[j]["expected"] == inf:
                    self.planned_so_far += 1
                    self.endless[j] = NO_END + self.planned_so_far
                self.slots[j] = self.earliest(j, inf)
            elif early:
                slot = self.slots.pop(j)
                self.slots[j] = self.earliest(j, slot[0]) or slot
        self.overdue = is_overdue
        waiting = []
        for j in self.queue:
            begin, share = self.slots[j]
            free = self.free()
            if begin <= self.now and all(holds(free[k], *amounts) for k, amounts in share.items()):
                del self.slots[j]
                self.begin(j, share)
            else:
                waiting.append(j)
        self.queue = waiting
        times = [begin for begin, _ in self.slots.values()]
        times += [self.start[j] + self.planned(j) for j in self.running]
        self.wake = min((time for time in times if time > self.now), default=inf)

    def earliest(self, j, before):
        reservations = [(self.start[k], self.start[k] + self.planned(k), share)
                for k, share in self.running.items()]  # fmt: skip
        reservations += [
            (begin, begin + self.planned(k), share) for k, (begin, share) in self.slots.items()
        ]
        reservations = [reservation for reservation in reservations if reservation[1] > self.now]
        points = {
            self.now,
            *(time for reservation in reservations for time in reservation[:2] if time > self.now),
        }
        for begin in sorted(points):
            if begin >= before:
                return None
            end = begin + self.planned(j)
            least_free = self.empty
            for time in (begin, *(point for point in points if begin < point < end)):
                free = self.empty
                for a, b, share in reservations:
                    if a <= time < b:
                        free = added(free, share, -1)
                least_free = [[min(x, y) for x, y in zip(a, b, strict=True)]
                         for a, b in zip(least_free, free, strict=True)]  # fmt: skip
            share = self.find(j, least_free)
            if share is not None:
                return begin, share
        return None
