"""The adversary: instances on which algorithms are far from the best schedule known."""

import math

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.dags.adversary import LEAST, MOST, NetworkSpace, Space
from cosched.dags.adversary.networks import LEAST_WEIGHT

PAPER = (
    "hlp-est",
    "hlp-ols",
    "heft",
    "er-ls",
    "eft",
    "greedy",
    "random",
    "r1-ls",
    "r2-ls",
    "r3-ls",
)
WORK = 200


def find_worst_case(algorithm, **options):
    return cs.dags.worst_case(algorithm, **({"tasks": 7, "work": WORK} | options))


@pytest.mark.parametrize("algorithm", PAPER)
def test_the_search_beats_as_many_random_instances(algorithm):
    worst = find_worst_case(algorithm)
    drawn = find_worst_case(algorithm, method="random")
    assert worst.ratio > drawn.ratio >= 1
    assert worst.evaluations <= WORK
    assert drawn.evaluations == WORK
    assert worst.stopped_by == drawn.stopped_by == "work"


@pytest.mark.parametrize("algorithm", PAPER)
def test_no_value_over_the_optimum_passes_a_proven_ratio(algorithm):
    for units in ((4, 2), (2, 2)):
        worst = find_worst_case(algorithm, units=units, seed=1)
        optimum = cs.dags.optimal(worst.instance)
        assert optimum.stopped_by == "proved"
        repeated = cs.dags.solve(worst.instance, algorithm, seed=1)
        repeated.schedule.validate()
        worst.best.schedule.validate()
        assert repeated.value == worst.result.value
        assert worst.ratio <= repeated.value / optimum.value * (1 + 1e-9)
        assert worst.ratio == pytest.approx(repeated.value / optimum.value)
        assert worst.ratio <= worst.upper * (1 + 1e-9)
        ratio = {"hlp-est": 6.0, "hlp-ols": 6.0, "er-ls": 4 * math.sqrt(units[0] / units[1])}
        proven = ratio.get(algorithm, math.nan)
        assert worst.proven == proven or (math.isnan(proven) and math.isnan(worst.proven))
        assert not worst.upper > worst.proven * (1 + 1e-9)


def test_found_instances_are_small():
    """Without any one of its tasks or edges the ratio of the instance is less."""
    worst = find_worst_case("heft", work=1500)
    inst = worst.instance

    def ratio(times, edges):
        other = cs.dags.Instance(times, edges, inst.units)
        return cs.dags.heft(other).value / cs.dags.optimal(other).value

    for edge in range(len(inst.edges)):
        assert ratio(inst.times, np.delete(inst.edges, edge, axis=0)) < worst.ratio
    for task in range(inst.tasks):
        remaining_edges = inst.edges[(inst.edges != task).all(axis=1)]
        edges = remaining_edges - (remaining_edges > task)
        assert ratio(np.delete(inst.times, task, axis=0), edges) < worst.ratio


def test_the_same_work_and_seed_give_the_same_instance(tmp_path):
    first, two = find_worst_case("er-ls", seed=3), find_worst_case("er-ls", seed=3)
    assert first.instance == two.instance
    assert (first.ratio, first.seed) == (two.ratio, 3)
    assert find_worst_case("er-ls", seed=4).instance != first.instance
    first.instance.write(tmp_path / "worst.json")
    assert cs.dags.Instance.read(tmp_path / "worst.json") == first.instance
    assert repr(first).startswith("<WorstCase of er-ls against best: ")


def test_against_an_algorithm_a_bound_and_with_data():
    pisa = find_worst_case("heft", against="peft", transfers=True)
    assert pisa.ratio == pisa.result.value / cs.dags.peft(pisa.instance).value
    assert pisa.instance.data is not None
    assert math.isnan(pisa.proven)
    assert find_worst_case("hlp-est", transfers=True, work=50).proven != 6.0
    bound = find_worst_case("heft", against="bound")
    assert 1 <= bound.ratio <= bound.upper
    three = find_worst_case("hlp-ols", units=(2, 1, 1), work=50)
    assert three.proven == 12


def test_more_tasks_than_the_exact_search_takes():
    worst = find_worst_case("heft", tasks=20, work=60)
    assert worst.instance.tasks <= 20
    assert 1 < worst.ratio <= worst.upper * (1 + 1e-9)


def test_times_stay_within_two_orders_of_magnitude():
    rng = np.random.default_rng(0)
    space = Space(6, (2, 1), True)
    candidate = space.drawn(rng)
    for _ in range(500):
        candidate = space.moved(candidate, rng)
        for amounts in (candidate.times, candidate.data):
            assert amounts.min() >= LEAST * (1 - 1e-12)
            assert amounts.max() <= MOST
        assert not np.tril(candidate.edge).any()


def find_on_network(algorithm, **options):
    """The worst case on networks of four nodes whose speeds differ."""
    return find_worst_case(
        algorithm, **({"tasks": 5, "units": (1,) * 4, "machines": "network"} | options)
    )


def test_on_a_network_times_are_costs_over_speeds():
    worst = find_on_network("cpop", against="heft")
    inst = worst.instance
    assert inst.units == (1,) * inst.types
    assert inst.memories == "unit"
    costs = inst.times[:, :1] / inst.times[0, 0]
    assert inst.times == pytest.approx(costs * inst.times[:1])
    assert np.array_equal(inst.bandwidth, inst.bandwidth.T)
    assert worst.ratio == cs.dags.cpop(inst).value / cs.dags.heft(inst).value
    assert worst.ratio > find_on_network("cpop", against="heft", method="random").ratio > 1
    assert math.isnan(worst.proven)


def test_on_a_network_the_same_work_and_seed_give_the_same_instance():
    assert find_on_network("heft", seed=2).instance == find_on_network("heft", seed=2).instance
    assert find_on_network("heft", seed=2).instance != find_on_network("heft", seed=3).instance


def test_on_a_network_nothing_can_be_left_out():
    """Without any one of its nodes, tasks or edges the ratio of the instance is less."""
    worst = find_on_network("min-min", against="heft", work=1500)
    inst, ratio = worst.instance, worst.ratio
    assert 1 < inst.types <= 4

    def ratio_of(nodes, tasks, edges):
        index = {task: row for row, task in enumerate(tasks)}
        pairs = [(index[i], index[j]) for i, j in inst.edges[edges].tolist()]
        part = cs.dags.Instance(
            inst.times[np.ix_(tasks, nodes)],
            pairs,
            (1,) * len(nodes),
            data=inst.data[edges],
            bandwidth=inst.bandwidth[np.ix_(nodes, nodes)],
            memories="unit",
        )
        return cs.dags.solve(part, "min-min").value / cs.dags.heft(part).value

    nodes, tasks, edges = range(inst.types), range(inst.tasks), range(len(inst.edges))
    assert ratio_of(list(nodes), list(tasks), list(edges)) == pytest.approx(ratio)
    for node in nodes:
        assert ratio_of([k for k in nodes if k != node], list(tasks), list(edges)) < ratio
    for task in tasks:
        other_edges = [e for e in edges if task not in inst.edges[e]]
        assert ratio_of(list(nodes), [j for j in tasks if j != task], other_edges) < ratio
    for edge in edges:
        assert ratio_of(list(nodes), list(tasks), [e for e in edges if e != edge]) < ratio


def test_weights_of_networks_stay_within_the_range_of_pisa():
    rng = np.random.default_rng(0)
    space = NetworkSpace(tasks=5, nodes=3)
    first = candidate = space.drawn(rng)
    for _ in range(500):
        candidate = space.moved(candidate, rng)
        upper_links = candidate.links[np.triu_indices(3, 1)]
        for weights in (candidate.costs, candidate.data, candidate.speeds, upper_links):
            assert weights.min() >= LEAST_WEIGHT
            assert weights.max() <= MOST
        assert not np.tril(candidate.edge).any()
    for name in ("costs", "data", "speeds", "links", "edge"):
        assert not np.array_equal(getattr(first, name), getattr(candidate, name)), name


def test_one_of_ones_own_can_be_judged():
    cs.register("dags", "all on the first", lambda inst: cs.dags.est(inst, [0] * inst.tasks))
    worst = find_worst_case("all on the first", units=(1, 4))
    assert worst.ratio > 10


def test_time_ends_a_search_with_what_it_has(monkeypatch):
    worst = find_worst_case("heft", work=None, seconds=0.5)
    assert worst.stopped_by == "time"
    assert worst.ratio >= 1
    with cs.time_limit(0.0), pytest.raises(cs.TimeLimit):
        find_worst_case("heft")


def test_the_command_line_writes_what_is_found(tmp_path, capsys):
    path = tmp_path / "worst.json"
    options = ("algorithm=heft", "tasks=5", "units=2,1", "work=100")
    command = [
        "generate",
        "worst-case",
        *(word for option in options for word in ("--option", option)),
    ]
    assert main([*command, "--seed", "2", "-o", str(path)]) == 0
    expected = cs.workloads.worst_case("heft", tasks=5, units=(2, 1), work=100, seed=2)
    assert cs.dags.Instance.read(path) == expected.instance
    assert repr(expected) in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"algorithm": "hft"}, "unknown dags algorithm 'hft'"),
        ({"against": "worst"}, "unknown dags algorithm 'worst'"),
        ({"method": "luck"}, "method = 'luck'"),
        ({"machines": "cloud"}, "machines = 'cloud'"),
        ({"tasks": 0}, "tasks"),
        ({"units": "4,2"}, "units"),
        ({"work": 0}, "work = 0: expected at least 1"),
        ({"algorithm": "er-ls", "units": (1, 1, 1)}, "er-ls is defined for 2 resource types"),
        ({"algorithm": "as-executed"}, "no run was recorded"),
    ],
)
def test_bad_questions_are_refused(options, error):
    with pytest.raises(ValueError, match=error):
        cs.dags.worst_case(**({"algorithm": "heft", "work": 5} | options))
