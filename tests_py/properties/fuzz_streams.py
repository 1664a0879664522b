"""One random call each of dags and cluster, also from the text of a file."""

import numpy as np
from fuzz_input import damaged, ints, limit, number, numbers, rnd, table, written

import cosched as cs


def one_dag():
    dags = cs.dags
    if rnd.random() < 0.3:
        return graph_file()
    times = table()
    n = len(times) if isinstance(times, (list, np.ndarray)) else 1
    if rnd.random() < 0.6:  # a graph that is one
        n, q = rnd.randrange(1, 9), rnd.choice([2, 2, 3])
        times = [[rnd.choice([0.0, 1.0, rnd.uniform(0.1, 9)]) for _ in range(q)] for _ in range(n)]
        times[0][-1] = rnd.choice([float("inf"), 2.0])
        edges = [(i, j) for i in range(n) for j in range(i + 1, n) if rnd.random() < 0.3]
        units = [rnd.randrange(1, 4) for _ in range(q)]
    else:
        edges = [ints(2) for _ in range(rnd.randrange(0, 6))] if rnd.random() < 0.8 else table()
        units = ints(rnd.randrange(0, 4)) if rnd.random() < 0.5 else (2, 1)
    inst = dags.Instance(times, edges, units)
    online = ["er-ls", "eft", "greedy", "random", "r1-ls", "r2-ls", "r3-ls"]
    calls = [
        lambda: dags.solve(inst, rnd.choice(list(dags.DEFAULT_COMPARE))).schedule.validate(),
        lambda: dags.solve(inst, rnd.choice(online), order=ints(n)),
        lambda: dags.solve(inst, rnd.choice(online), order=rnd.sample(range(n), n)),
        lambda: dags.est(inst, ints(n)),
        lambda: dags.ols(inst, [rnd.randrange(2) for _ in range(n)]),
        lambda: dags.hlp(inst, method=rnd.choice(["auto", "structured", "glpk", "x"])),
        lambda: dags.round_allocation(inst.times, table()),
        lambda: dags.round_allocation(inst.times, np.ones((n, 2)) / 2, threshold=number()),
        lambda: dags.hlp_best(inst, time_limit=rnd.choice([0, limit()])),
        lambda: dags.bound(inst, rnd.choice(list(dags.BOUNDS))),
        lambda: inst.with_units(ints(rnd.randrange(0, 4))),
        lambda: cs.Schedule(
            inst, ints(n), ints(n), ints(n + 1), ints(n), ints(n), ints(n)
        ).validate(),
    ]
    rnd.choice(calls)()
    return None


GRAPHS = {
    "a.txt": "7 3.5 -1\n9 2 1 7\nx 1 0 7,9\ny 4 2 7 9,x\n",
    "a.stg": "3\n 0 0 0\n 1 5 1 0\n 2 0 1 0\n 3 4 2 1 2\n 4 0 1 3\n# end\n",
    "a.dot": 'digraph g { a [cpu=1, gpu=2]; b [times="1,2"]; a -> b; b -> "c d" [w=1] }',
    "wf.json": '{"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [{"id": "a", '
    '"name": "a", "children": ["b"], "parents": []}, {"id": "b", "name": "b", "children": [], '
    '"parents": ["a"]}]}, "execution": {"tasks": [{"id": "a", "runtimeInSeconds": 1.5}, '
    '{"id": "b", "runtimeInSeconds": 2}]}}}',
    "own.json": '{"names": ["a", "b"], "times": [[1, 2], [3, null]], '
    '"edges": [[0, 1]], "units": [2, 1]}',
    "a.graphml": '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>'
    '<edge source="a" target="b"/></graph></graphml>',
}


def graph_file():
    name = rnd.choice(list(GRAPHS))
    path = written(name, damaged(GRAPHS[name]))
    inst = cs.dags.Instance.read(
        path,
        units=rnd.choice([(2, 1), (2,), None, (1, 1, 1)]),
        **rnd.choice([{}, {}, {"acceleration": 2}, {"acceleration": number()}]),
    )
    cs.dags.solve(inst, rnd.choice(["heft", "hlp-ols", "eft"])).schedule.validate()


def jobs(n):
    def column(make):
        return [number() if rnd.random() < 0.02 else make() for _ in range(n)]

    table = {
        "submit": column(lambda: rnd.uniform(0, 900)),
        "tasks": column(lambda: rnd.randrange(1, 5)),
        "cpu": column(lambda: rnd.choice([0.25, 0.5, 1.0, rnd.uniform(0.01, 1)])),
        "memory": column(lambda: rnd.choice([0.1, 0.5, 1.0])),
        "runtime": column(lambda: rnd.choice([0.0, 1.0, rnd.uniform(1, 2000)])),
    }
    if rnd.random() < 0.3:
        table["estimate"] = column(lambda: rnd.choice([float("nan"), 60.0, 5000.0]))
    if rnd.random() < 0.05:
        table[rnd.choice(list(table))] = number()
    return table


def policy_name():
    parts = ["Greedy", "GreedyP", "GreedyPM", "MCB8", "", " *", "*", "/per", "/stretch-per",
             "/opt=min", "/opt=avg", "/opt=max", "/minvt=600", "/minft=300", "/minvt=-1", "/opt=",
             "/minft=1e999", "FCFS", "EASY", "x", "/"]  # fmt: skip
    return "".join(rnd.choice(parts) for _ in range(rnd.randrange(1, 5)))


def log_file():
    line = "1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n"
    text = damaged("; MaxProcs: 8\n" + line + line.replace("1 0 5", "2 30 0") + damaged(line))
    path = written("log.swf", text)
    table, report = cs.workloads.read_swf(path)
    assert len(table) == report.kept
    str(report)
    inst = cs.cluster.from_swf(path, 8, convention=rnd.choice(["dfrs", "rigid", "x"]))
    cs.cluster.solve(inst, rnd.choice(["FCFS", "EASY"])).schedule.validate()


def one_cluster():
    cluster = cs.cluster
    if rnd.random() < 0.2:
        return log_file()
    n = rnd.randrange(0, 7) if rnd.random() < 0.1 else rnd.randrange(1, 7)
    inst = cluster.Instance(jobs(n), number() if rnd.random() < 0.05 else rnd.randrange(1, 7))
    nodes = inst.nodes
    names = [policy_name(), rnd.choice(cluster.paper_policies()), "FCFS", "EASY"]
    mapping = [[rnd.randrange(nodes) for _ in range(rnd.randrange(1, 4))] for _ in range(n)]
    calls = [
        lambda: cluster.solve(inst, rnd.choice(names)).schedule.validate(),
        lambda: cluster.solve(inst, rnd.choice(names), log=True).metrics(),
        lambda: cluster.dfrs(inst, rnd.choice(names), period=number(), penalty=number()),
        lambda: cluster.easy(inst, estimates=rnd.choice(["perfect", "requested", "x"])),
        lambda: cluster.bound(inst, threshold=number()),
        lambda: cluster.bound(inst),
        lambda: cluster.yields(mapping, [rnd.uniform(0.01, 1) for _ in range(n)], nodes,
                               opt=rnd.choice([None, "min", "avg", "x"])),
        lambda: cluster.yields([ints(2) for _ in range(n)], numbers(n), rnd.randrange(-1, 5)),
        lambda: cluster.mcb8(ints(n), numbers(n), numbers(n), ints(1)[0], yield_=number()),
        lambda: cluster.mcb8_search(ints(n), numbers(n), numbers(n), ints(1)[0]),
        lambda: cluster.mcb8_search([2] * n, numbers(n), [0.3] * n, nodes),
        lambda: cluster.mcb8([2] * n, [0.5] * n, [0.3] * n, nodes, yield_=rnd.random()),
    ]  # fmt: skip
    rnd.choice(calls)()
    return None
