"""Throw random and malformed input at the border: `fuzz_border.py SEED SECONDS`."""

import faulthandler
import random
import sys
import time
import warnings

import numpy as np

import cosched as cs
from cosched import _core

rnd = random.Random()
NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    7,
    16,
    1.5,
    -0.0,
    1e-300,
    5e-324,
    1e300,
    1.7e308,
    float("nan"),
    float("inf"),
    -float("inf"),
    2**31 - 1,
    2**31,
    2**63 - 1,
    -(2**63),
    2**64,
    10**400,
    True,
    None,
    "",
    "1",
    "x" * 1000,
    b"1",
    1j,
    [],
    {},
    np.nan,
    np.int8(3),
    np.float32(2),
]


def number():
    return rnd.choice(NUMBERS) if rnd.random() < 0.4 else rnd.uniform(0.1, 9)


def table(depth=2):
    kind = rnd.random()
    n, p = rnd.randrange(0, 7), rnd.randrange(0, 9)
    if kind < 0.5:
        return np.sort(
            np.abs(np.random.default_rng(rnd.getrandbits(32)).normal(5, 3, (n, p))) + 0.1
        )[:, ::-1]
    if kind < 0.7:
        return [[number() for _ in range(p)] for _ in range(n)]
    if kind < 0.8:
        return np.full((n, p), number(), dtype=object)
    if kind < 0.9:
        return np.random.default_rng(0).random((n, p, 2)[: rnd.randrange(1, 4)])
    return number()


def ints(n):
    return [rnd.choice(NUMBERS) if rnd.random() < 0.1 else rnd.randrange(-1, 9) for _ in range(n)]


def numbers(n):
    return [number() for _ in range(n)]


def one_moldable():
    moldable = cs.moldable
    n, m = rnd.randrange(0, 6), rnd.randrange(0, 7)
    if rnd.random() < 0.3:
        inst = moldable.Instance.from_downey(numbers(n), numbers(n), numbers(n), numbers(n), m)
    else:
        times = table()
        rows = len(times) if isinstance(times, (list, np.ndarray)) and np.ndim(times) else 1
        weights = numbers(rows) if rnd.random() < 0.2 else np.ones(rows)
        release = numbers(rows) if rnd.random() < 0.2 else None
        machines = number() if rnd.random() < 0.1 else rnd.choice([None, 1, 3, 40])
        inst = moldable.Instance(times, weights, release, machines=machines)
    calls = [
        lambda: moldable.solve(
            inst, rnd.choice(list(moldable.ALGORITHMS)), seed=rnd.getrandbits(9)
        ),
        lambda: moldable.demt_best(inst, work=number(), time_limit=rnd.choice([0, None, number()])),
        lambda: moldable.demt(inst, horizon=number(), shuffles=rnd.randrange(-1, 3)),
        lambda: moldable.online(inst, "dual-approximation", tolerance=number()),
        lambda: moldable.bound(inst, rnd.choice(list(moldable.BOUNDS))),
        lambda: moldable.bound(inst, "minsum", grid=ints(3), refine=rnd.randrange(0, 5)),
        lambda: inst.select(ints(2)),
        lambda: inst.time(ints(1)[0], ints(1)[0]),
        lambda: moldable.solve(inst, "demt").minsum_gap,
        lambda: _core.moldable.schedule(
            inst._core, np.array([rnd.randrange(-1, 9) for _ in range(n)]), np.ones(n), np.ones(n)
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
        lambda: bags.solve(inst, "ttb-best", time_limit=number()),
        lambda: bags.relaxation(inst, number(), method=rnd.choice(["front", "glpk"])),
        lambda: bags.round_relaxation(inst, bags.relaxation(inst, rnd.uniform(1, 90))),
        lambda: bags.round_relaxation(inst, entries(t, m)),
        lambda: bags.local_assignment(inst, [ints(m) for _ in range(t)]),
        lambda: bags.spread(ints(m), number(), number()),
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
    inst = packs.Instance(table(), number() if rnd.random() < 0.3 else rnd.randrange(1, 9))
    n = inst.tasks
    calls = [
        lambda: packs.solve(
            inst,
            rnd.choice([a for a in packs.ALGORITHMS if a != "ilp"]),
            seed=number() if rnd.random() < 0.2 else rnd.getrandbits(40),
        ),
        lambda: packs.solve(inst, "ilp", time_limit=0.05),
        lambda: packs.solve(inst, "optimal", time_limit=number()),
        lambda: packs.solve(inst, "local-search", work=number()),
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


def main() -> None:
    seed, seconds = int(sys.argv[1]), float(sys.argv[2])
    faulthandler.enable()
    warnings.filterwarnings("ignore", "price = .* every plan is a loss")
    rnd.seed(seed)
    end, rounds, refused = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        rounds += 1
        try:
            rnd.choice([one_packs, one_moldable, one_bag])()
        except (cs.CoschedError, TypeError, ValueError) as error:
            refused += 1
            if len(str(error)) > 2000:
                raise
        except Exception:
            print(f"round {rounds} of seed {seed}", file=sys.stderr)
            raise
    print(rounds, refused)


if __name__ == "__main__":
    main()
