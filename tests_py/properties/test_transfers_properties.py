"""Any small graph with any data: every schedule is valid; what moves for free changes nothing."""

import numpy as np
from hypothesis import given, strategies as st
from test_dags_properties import TWO_TYPES, instances

import cosched as cs
from cosched.dags import Instance

AMOUNT = st.one_of(st.just(0.0), st.integers(0, 9).map(float), st.floats(1e-3, 1e3))
RATE = st.one_of(st.integers(1, 9).map(float), st.floats(1e-3, 1e3), st.just(float("inf")))


@st.composite
def moving(draw):
    plain = draw(instances(most=8, types=(1, 2, 3)))
    q = plain.types

    def matrix(entry):
        rows = st.lists(st.lists(entry, min_size=q, max_size=q), min_size=q, max_size=q)
        return draw(st.one_of(entry, rows))

    count = sum(plain.units)
    numbers = st.lists(st.integers(0, 3), min_size=count, max_size=count)
    return Instance(
        plain.times,
        plain.edges,
        plain.units,
        data=draw(st.lists(AMOUNT, min_size=len(plain.edges), max_size=len(plain.edges))),
        bandwidth=matrix(RATE),
        latency=matrix(AMOUNT),
        memories=draw(st.one_of(st.sampled_from(["host", "unit"]), numbers)),
    )


def changed(inst, **changes):
    links = {name: getattr(inst, name) for name in ("data", "bandwidth", "latency", "memories")}
    return Instance(inst.times, inst.edges, inst.units, **(links | changes))


def runs(inst):
    for name in cs.dags.DEFAULT_COMPARE:
        if name in TWO_TYPES and inst.types != 2:
            continue
        options = {"evaluations": 30} if name == "hlp-best" else {}
        yield cs.dags.solve(inst, name, **options)


@given(moving())
def test_every_schedule_is_valid_and_no_bound_above_it(inst):
    bounds = [cs.dags.bound(inst, name).value for name in cs.dags.BOUNDS]
    values = {}
    for result in runs(inst):
        result.schedule.validate()
        values[result.algorithm] = result.value
        assert all(result.value >= bound * (1 - 1e-9) for bound in bounds)
    best_value = min(values[name] for name in ("heft", "cpop", "peft", "hlp-ols"))
    assert values["optimal"] <= min(values.values()) * (1 + 1e-9)
    assert values["hlp-best"] <= best_value * (1 + 1e-12)  # sums in another order


@given(moving())
def test_what_moves_for_free_changes_nothing(inst):
    plain = Instance(inst.times, inst.edges, inst.units)
    free = [
        changed(inst, data=inst.data * 0),
        changed(inst, memories=[2] * sum(inst.units)),
        changed(inst, bandwidth=float("inf"), latency=0.0),
    ]
    expected = list(runs(plain))
    for other in free:
        for expected_run, same in zip(expected, runs(other), strict=True):
            for field in ("kind", "unit", "start", "end"):
                assert np.array_equal(getattr(expected_run, field), getattr(same, field))
            assert expected_run.ratio == same.ratio
        for name in cs.dags.BOUNDS:
            assert cs.dags.bound(plain, name).value == cs.dags.bound(other, name).value
