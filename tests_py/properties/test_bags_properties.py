"""What must hold for every instance of bags."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import cosched as cs

bags = cs.bags


@st.composite
def instances(draw, most_types=4, most_tasks=30, most_machines=4, gammas=(1.0, 3.0)):
    types, machine_types = draw(st.integers(1, most_types)), draw(st.integers(1, 3))
    # Small integers make ties, the place where deterministic rules go wrong.
    entry = st.one_of(st.integers(1, 5).map(float), st.floats(0.01, 100))

    def table():
        row = st.lists(entry, min_size=machine_types, max_size=machine_types)
        return np.array(draw(st.lists(row, min_size=types, max_size=types)))

    counts = draw(st.lists(st.integers(1, most_tasks), min_size=types, max_size=types))
    machines = draw(
        st.lists(st.integers(1, most_machines), min_size=machine_types, max_size=machine_types)
    )
    etc, apc = table(), table()
    allowed = None
    if draw(st.booleans()):
        allowed = np.array(
            draw(
                st.lists(
                    st.lists(st.booleans(), min_size=machine_types, max_size=machine_types),
                    min_size=types,
                    max_size=types,
                )
            )
        )
        allowed[:, 0] = True
    extras = {}
    if draw(st.booleans()):
        extras["idle_power"] = apc.min(axis=0) * draw(st.floats(0, 0.9))
        extras["power_cap"] = (machines * extras["idle_power"]).sum() + draw(st.floats(0.1, 500))
    return bags.Instance(
        counts,
        machines,
        etc,
        apc,
        gamma=draw(st.floats(*gammas)),
        energy_cost=draw(st.sampled_from([1.0, 2.5e-8])),
        allowed=allowed,
        **extras,
    )


@given(instances())
@settings(max_examples=80)
def test_every_schedule_is_valid_and_below_every_bound(inst):
    bounds = [float(bags.bound(inst, name)) for name in bags.BOUNDS]
    assert bounds[1] <= bounds[0] + 1e-9 * abs(bounds[0])
    best = -np.inf
    for name in bags.ALGORITHMS:
        res = bags.solve(inst, name)
        res.schedule.validate()
        scale = 1e-9 * inst.price / res.makespan
        assert res.counts.sum(axis=1).tolist() == inst.counts.tolist()
        assert all(res.value <= bound + scale for bound in bounds)
        if name != "ttb-best":
            best = max(best, res.value)
    assert bags.solve(inst, "ttb-best").value >= best - scale


@given(instances(), st.floats(0, 1))
@settings(max_examples=80)
def test_rounding_never_raises_energy_nor_doubles_the_makespan(inst, where):
    front = bags.front(inst)
    shortest, longest = front.makespan[0], front.makespan[-1]
    makespan = shortest + where * (longest - shortest)
    relaxed = bags.relaxation(inst, makespan)
    assert relaxed.status == "optimal"
    counts = bags.round_relaxation(inst, relaxed)
    plan = bags.local_assignment(inst, counts)
    used = counts > 0
    dynamic = (counts[used] * inst.joules[used]).sum()
    positive = relaxed.x > 0
    fractional = (relaxed.x[positive] * inst.joules[positive]).sum()
    assert dynamic <= fractional * (1 + 1e-9)
    assert plan.makespan <= 2 * makespan * (1 + 1e-9)
    plan.schedule.validate()


@given(instances())
@settings(max_examples=50)
def test_front_equals_the_linear_programme(inst):
    front = bags.front(inst)
    assert (np.diff(front.makespan) >= 0).all()
    for makespan in front.makespan[0] + np.array([0.2, 0.5, 0.9]) * np.ptp(front.makespan):
        solved = bags.relaxation(inst, makespan, method="glpk")
        # Where a column opens the two may sit on different sides of the jump.
        assume(np.abs(inst.etc / makespan - 1).min() > 1e-9)
        assert solved.energy <= front.energy_at(makespan) * (1 + 1e-6)
        assert solved.energy >= front.energy_at(makespan) * (1 - 1e-6)


def optimum(inst):
    """Best profit rate by trying every counts matrix, and machines by exhaustive search."""
    splits = [
        [s for s in itertools.product(range(n + 1), repeat=len(inst.machines)) if sum(s) == n]
        for n in inst.counts
    ]
    best = -np.inf
    for rows in itertools.product(*splits):
        counts = np.array(rows)
        makespan = max(
            shortest([inst.etc[i, j] for i in range(len(counts)) for _ in range(counts[i, j])], m)
            for j, m in enumerate(inst.machines)
        )
        energy = (counts * inst.etc * inst.apc).sum()
        best = max(best, (inst.price - inst.energy_cost * energy) / makespan)
    return best


def shortest(tasks, machines):
    """Least longest load of `machines` machines."""
    best = [np.inf]

    def place(k, loads):
        if max(loads) >= best[0]:
            return
        if k == len(tasks):
            best[0] = max(loads)
            return
        for m in {load: m for m, load in enumerate(loads)}.values():
            loads[m] += tasks[k]
            place(k + 1, loads)
            loads[m] -= tasks[k]

    place(0, [0.0] * machines)
    return best[0]


@st.composite
def tiny(draw):
    types, machine_types = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    numbers = st.integers(1, 9).map(float)
    row = st.lists(numbers, min_size=machine_types, max_size=machine_types)
    table = st.lists(row, min_size=types, max_size=types)
    return bags.Instance(
        draw(st.lists(st.integers(1, 4), min_size=types, max_size=types)),
        draw(st.lists(st.integers(1, 2), min_size=machine_types, max_size=machine_types)),
        draw(table),
        draw(table),
        gamma=draw(st.sampled_from([1.0, 1.05, 1.4, 4.0])),
    )


@given(tiny(), st.sampled_from([0.01, 0.1, 1.0]))
@settings(max_examples=60)
def test_guarantees_against_brute_force(inst, eps):
    best = optimum(inst)
    scale = 1e-9 * inst.price
    assert bags.ttb(inst, eps=eps).value * (2 + 2 * eps) >= best - scale
    assert bags.ttb_exact(inst).value * 2 >= best - scale
    for name in bags.ALGORITHMS:
        assert bags.solve(inst, name).value <= best + scale
    for name in bags.BOUNDS:
        assert float(bags.bound(inst, name)) >= best - scale


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 9)), min_size=1, max_size=4),
    st.integers(1, 8),
)
@settings(max_examples=200)
def test_algorithm_b_is_lpt(types, machines):
    counts, seconds = zip(*types, strict=True)
    table = [[float(length)] for length in seconds]
    inst = bags.Instance(counts, [machines], table, table, price=1e6)
    loads = [0] * machines
    for count, length in sorted(types, key=lambda machine_type: -machine_type[1]):
        for _ in range(count):
            loads[loads.index(min(loads))] += length
    assert bags.local_assignment(inst, [[count] for count in counts]).loads[0].tolist() == loads


@pytest.mark.filterwarnings("ignore:price = .* every plan is a loss:UserWarning")
@given(instances(gammas=(0.0, 0.99)))
@settings(max_examples=20)
def test_a_loss_is_a_loss(inst):
    for name in ("ttb", "tms", "min-energy"):
        res = bags.solve(inst, name)
        assert res.profit_rate < 0
        assert res.bound.value <= 0
        res.schedule.validate()
