"""Any small graph: every algorithm is valid and above the bound, whatever the numbers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

import cosched as cs
from cosched.dags import Instance

#: Algorithms that are defined for two resource types.
TWO_TYPES = ("er-ls", "heteroprio")
TIME = st.one_of(st.integers(0, 9).map(float), st.floats(1e-3, 1e3), st.just(float("inf")))


@st.composite
def instances(draw, most=9, types=(1, 2, 3, 4)):
    n, q = draw(st.integers(1, most)), draw(st.sampled_from(types))
    dead = draw(st.integers(0, 2 * q))  # a type on which nothing can run, sometimes
    times = [draw(st.lists(TIME, min_size=q, max_size=q)) for _ in range(n)]
    for row in times:
        if dead < q:
            row[dead] = float("inf")
        if not np.isfinite(row).any():
            row[draw(st.integers(0, q - 1))] = 1.0
    pairs = list(itertools.combinations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(pairs), max_size=12)) if pairs else []
    units = draw(st.lists(st.integers(1, 3), min_size=q, max_size=q))
    return Instance(times, edges, units)


@given(instances())
def test_every_algorithm_is_valid_and_above_every_bound(instance):
    bounds = [cs.dags.bound(instance, name).value for name in cs.dags.BOUNDS]
    optimum = cs.dags.optimal(instance)
    assert optimum.gap == 0
    for name in cs.dags.DEFAULT_COMPARE:
        if name in TWO_TYPES and instance.types != 2:
            continue
        options = {"evaluations": 10} if name == "hlp-best" else {}
        res = cs.dags.solve(instance, name, **options)
        res.schedule.validate()
        for bound in (*bounds, optimum.value):
            assert res.value >= bound * (1 - 1e-9)
        if name.startswith("hlp-"):
            assert res.value <= instance.types * (instance.types + 1) * bounds[0] * (1 + 1e-9)


def proven(instance, certificate):
    """The bound of a certificate, from its definition; it must be a flow within the weights."""
    fields = certificate.fields
    n, flow = instance.tasks, fields["task_flow"]
    weights, path = fields["weights"][:-1], fields["weights"][-1]
    assert fields["weights"].min() >= 0
    assert fields["weights"].sum() == pytest.approx(1, abs=1e-9)
    graph = set(map(tuple, instance.edges.tolist()))
    into, out = np.zeros(n), np.zeros(n)
    for (i, j), amount in zip(fields["edges"].tolist(), fields["edge_flow"], strict=True):
        assert (i, j) in graph
        assert amount >= 0
        out[i] += amount
        into[j] += amount
    assert (into <= flow + 1e-9).all()
    assert (out <= flow + 1e-9).all()
    assert (flow - into).sum() <= path + 1e-9
    price = weights / np.array(instance.units) + flow[:, None]
    runs = np.isfinite(instance.times)
    costs = np.where(runs, np.where(runs, instance.times, 0) * price, np.inf)
    return costs.min(axis=1).sum()


@given(instances(most=12))
def test_the_relaxation_by_three_methods(instance):
    relaxations = {
        name: cs.dags.hlp(instance, method=name) for name in ("structured", "glpk", "highs")
    }
    value = relaxations["structured"].value
    for name, relaxation in relaxations.items():
        exact = 1e-9 if name == "structured" else 1e-6
        assert relaxation.value == pytest.approx(value, rel=1e-7, abs=1e-9)
        bound = relaxation.certificate.bound(instance)
        assert bound == pytest.approx(value, rel=exact, abs=1e-9)
        assert proven(instance, relaxation.certificate) == pytest.approx(bound, rel=1e-9, abs=1e-9)


@given(instances(types=(2,)), st.floats(1e-6, 1e6))
def test_the_unit_of_time_does_not_matter(instance, scale):
    scaled = Instance(instance.times * scale, instance.edges, instance.units)
    assert cs.dags.hlp(scaled).value == pytest.approx(scale * cs.dags.hlp(instance).value, rel=1e-8)
    assert cs.dags.heft(scaled).value >= scale * cs.dags.bound(instance).value * (1 - 1e-9)


@given(instances(), st.integers(0, 2), st.integers(1, 3))
def test_more_units_never_raise_the_relaxation(instance, which, more):
    units = list(instance.units)
    units[which % len(units)] += more
    assert cs.dags.hlp(instance.with_units(units)).value <= cs.dags.hlp(instance).value * (1 + 1e-9)
