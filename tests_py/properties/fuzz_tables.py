"""One random call each of packs, moldable and bags."""

import numpy as np
from fuzz_input import damaged, ints, limit, number, numbers, rnd, table, written

import cosched as cs
from cosched import _core


def one_moldable():
    moldable = cs.moldable
    n, m = rnd.randrange(0, 6), rnd.randrange(0, 7)
    if rnd.random() < 0.3:
        inst = moldable.Instance.from_downey(numbers(n), numbers(n), numbers(n), numbers(n), m)
    else:
        times = table()
        rows = len(times) if isinstance(times, (list, np.ndarray)) else 1
        weights = numbers(rows) if rnd.random() < 0.2 else np.ones(rows)
        release = numbers(rows) if rnd.random() < 0.2 else None
        machines = number() if rnd.random() < 0.1 else rnd.choice([None, 1, 3, 40])
        inst = moldable.Instance(times, weights, release, machines=machines)
    calls = [
        lambda: moldable.solve(
            inst, rnd.choice(list(moldable.ALGORITHMS)), seed=rnd.getrandbits(9)
        ),
        lambda: moldable.demt_best(inst, work=number(), time_limit=0.02),
        lambda: moldable.demt_best(inst, work=rnd.randrange(-1, 9999), time_limit=None),
        lambda: moldable.demt(inst, horizon=number(), shuffles=rnd.randrange(-1, 3)),
        lambda: moldable.online(inst, "dual-approximation", tolerance=number()),
        lambda: moldable.bound(inst, rnd.choice(list(moldable.BOUNDS))),
        lambda: moldable.bound(inst, "minsum", grid=ints(3), refine=rnd.randrange(0, 5)),
        lambda: inst.select(ints(2)),
        lambda: inst.time(ints(1)[0], ints(1)[0]),
        lambda: moldable.solve(inst, "demt").minsum_gap,
        lambda: _core.moldable.schedule(
            inst._core, (np.array([rnd.randrange(-1, 9) for _ in range(n)]), np.ones(n), np.ones(n))
        ),
        lambda: _core.moldable.by_batches(
            inst._core, lambda jobs: (np.ones(rnd.randrange(4), int), np.ones(2), np.ones(2))
        ),
    ]
    rnd.choice(calls)()


def one_bag():
    bags = cs.bags
    t, m = rnd.randrange(1, 5), rnd.randrange(1, 4)

    def entries(rows, columns):
        if rnd.random() < 0.2:
            return table()
        return [[rnd.uniform(0.1, 9) for _ in range(columns)] for _ in range(rows)]

    def maybe(value):
        return number() if rnd.random() < 0.1 else value

    inst = bags.Instance(
        maybe([maybe(rnd.randrange(1, 40)) for _ in range(t)]),
        maybe([maybe(rnd.randrange(1, 4)) for _ in range(m)]),
        entries(t, m),
        entries(t, m),
        energy_cost=maybe(1.0),
        gamma=maybe(rnd.uniform(1, 3)),
        idle_power=maybe(rnd.choice([None, 0.01])),
        power_cap=maybe(rnd.choice([None, 50.0])),
        allowed=None if rnd.random() < 0.8 else [[rnd.random() < 0.8 for _ in range(m)]] * t,
    )
    calls = [
        lambda: bags.solve(inst, rnd.choice(list(bags.ALGORITHMS))).schedule.validate(),
        lambda: bags.solve(inst, "ttb", eps=number()),
        lambda: bags.solve(inst, "ttb-best", time_limit=limit()),
        lambda: bags.relaxation(inst, number(), method=rnd.choice(["front", "glpk"])),
        lambda: bags.round_relaxation(inst, bags.relaxation(inst, rnd.uniform(1, 90))),
        lambda: bags.round_relaxation(inst, entries(t, m)),
        lambda: bags.local_assignment(inst, [ints(m) for _ in range(t)]),
        lambda: bags.front(inst).energy_at(rnd.uniform(0, 90)),
        lambda: bags.bound(inst, rnd.choice(list(bags.BOUNDS))),
        lambda: bags.Schedule(inst, *(ints(t) for _ in range(6))).validate(),
        lambda: bags.Schedule(inst, *(ints(t) for _ in range(6))).expand(),
        lambda: bags.Schedule.from_dict(
            inst,
            {
                "placements": [
                    {key: number() for key in bags.solve(inst, "tms").schedule.to_frame()}
                    for _ in range(t)
                ]
            },
        ).validate(),
    ]
    rnd.choice(calls)()


def one_packs():
    packs = cs.packs
    times = table()
    if rnd.random() < 0.6:  # one that solvers take
        n, p = rnd.randrange(1, 9), rnd.randrange(1, 9)
        entry = rnd.choice(
            [
                lambda: rnd.randrange(1, 4),
                lambda: rnd.uniform(0.1, 9),
                lambda: rnd.choice([1e300, np.inf]),
                lambda: rnd.choice([np.inf, rnd.uniform(0.1, 9)]),
            ]
        )
        times = [[entry() for _ in range(p)] for _ in range(n)]
        if rnd.random() < 0.5:
            times = packs.monotone(times)
    inst = packs.Instance(times, number() if rnd.random() < 0.1 else rnd.randrange(1, 9))
    n = inst.tasks
    calls = [
        lambda: packs.solve(
            inst,
            rnd.choice([a for a in packs.ALGORITHMS if a != "ilp"]),
            seed=number() if rnd.random() < 0.1 else rnd.getrandbits(40),
        ),
        lambda: packs.solve(inst, "ilp", time_limit=0.05),
        lambda: packs.solve(inst, "optimal", time_limit=limit()),
        lambda: packs.solve(inst, "local-search", work=number(), time_limit=0.02),
        lambda: packs.local_search(inst, work=rnd.randrange(9999)).schedule.validate(),
        lambda: packs.pack_by_pack(inst, epsilons=[number(), number()]),
        lambda: packs.random_pack(inst, draws=rnd.choice([1, 2, 0, -1, 1.5, "x", None])),
        lambda: packs.make_pack(inst, ints(n), reoptimise=rnd.random() < 0.5),
        lambda: packs.one_pack(table(), rnd.randrange(-1, 9)),
        lambda: packs.one_pack_dynamic_programme(table(), rnd.randrange(-1, 9)),
        lambda: packs.monotone(table()),
        lambda: packs.bound(inst, rnd.choice(list(packs.BOUNDS))),
        lambda: cs.Schedule(
            inst, ints(n), ints(n), ints(n + 1), ints(n), ints(n), ints(n)
        ).validate(),
        lambda: cs.Schedule(
            inst, range(n), [0] * n, range(n + 1), ints(n), ints(n), ints(n)
        ).validate(),
        lambda: cs.Schedule.from_dict(
            inst,
            {
                "placements": [
                    {"task": number(), "units": ints(2), "start": number(), "end": number()}
                    for _ in range(n)
                ]
            },
        ).validate(),
        lambda: _core.packs.schedule(
            inst._core,
            np.array([rnd.randrange(-1, 9) for _ in range(n)]),
            np.array([rnd.randrange(-1, 2**40) for _ in range(n)]),
        ),
    ]
    rnd.choice(calls)()


def one_profile():
    """Profiles of packs, dense and sparse."""
    texts = [
        "task,1,2,4\na,8,5,3\nb,6,4,3\n",
        "task,processors,seconds\na,1,8\na,4,3\nb,1,6\nb,2,3.5\n",
        "task,weight,1,2,4,8\na,2,,5,,3\nb,1,6,4,,\n",
        "task,processors,seconds,weight,release,x\na,1,8,2,,y\na,1,9,,,\na,4,,,1,\nb,4,6,,,\n",
    ]
    path = written("times.csv", damaged(rnd.choice(texts)))
    options = {
        "fit": rnd.choice(["interpolation", "amdahl", "power-law"]),
        "extrapolate": rnd.random() < 0.3,
        "counts": rnd.choice(["all", "measured"]),
    }
    if rnd.random() < 0.5:
        inst = cs.packs.Instance.read(path, max_tasks=rnd.choice([1, 2, 3]), **options)
        cs.packs.solve(inst, rnd.choice(["sequential", "pairs"])).schedule.validate()
    else:
        jobs = cs.moldable.Instance.read(path, machines=rnd.choice([None, 3, 9]), **options)
        cs.moldable.solve(jobs, rnd.choice(["sequential", "demt"])).schedule.validate()
