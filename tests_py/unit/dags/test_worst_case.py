"""The adversary: instances on which algorithms are far from the best schedule known."""

import math

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.dags.adversary import LEAST, MOST, Space

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


def found(algorithm, **options):
    return cs.dags.worst_case(algorithm, **({"tasks": 7, "work": WORK} | options))


@pytest.mark.parametrize("algorithm", PAPER)
def test_the_search_beats_as_many_random_instances(algorithm):
    worst = found(algorithm)
    drawn = found(algorithm, method="random")
    assert worst.ratio > drawn.ratio >= 1
    assert worst.evaluations <= WORK
    assert drawn.evaluations == WORK
    assert worst.stopped_by == drawn.stopped_by == "work"


@pytest.mark.parametrize("algorithm", PAPER)
def test_no_value_over_the_optimum_passes_a_proven_ratio(algorithm):
    for units in ((4, 2), (2, 2)):
        worst = found(algorithm, units=units, seed=1)
        optimum = cs.dags.optimal(worst.instance)
        assert optimum.stopped_by == "proved"
        again = cs.dags.solve(worst.instance, algorithm, seed=1)
        again.schedule.validate()
        worst.best.schedule.validate()
        assert again.value == worst.result.value
        assert worst.ratio <= again.value / optimum.value * (1 + 1e-9)
        assert worst.ratio == pytest.approx(again.value / optimum.value)
        assert worst.ratio <= worst.upper * (1 + 1e-9)
        ratio = {"hlp-est": 6.0, "hlp-ols": 6.0, "er-ls": 4 * math.sqrt(units[0] / units[1])}
        proven = ratio.get(algorithm, math.nan)
        assert worst.proven == proven or (math.isnan(proven) and math.isnan(worst.proven))
        assert not worst.upper > worst.proven * (1 + 1e-9)


def test_found_instances_are_small():
    """Without any one of its tasks or edges the ratio of the instance is less."""
    worst = found("heft", work=1500)
    inst = worst.instance

    def ratio(times, edges):
        other = cs.dags.Instance(times, edges, inst.units)
        return cs.dags.heft(other).value / cs.dags.optimal(other).value

    for edge in range(len(inst.edges)):
        assert ratio(inst.times, np.delete(inst.edges, edge, axis=0)) < worst.ratio
    for task in range(inst.tasks):
        kept = inst.edges[(inst.edges != task).all(axis=1)]
        edges = kept - (kept > task)
        assert ratio(np.delete(inst.times, task, axis=0), edges) < worst.ratio


def test_the_same_work_and_seed_give_the_same_instance(tmp_path):
    one, two = found("er-ls", seed=3), found("er-ls", seed=3)
    assert one.instance == two.instance
    assert (one.ratio, one.seed) == (two.ratio, 3)
    assert found("er-ls", seed=4).instance != one.instance
    one.instance.write(tmp_path / "worst.json")
    assert cs.dags.Instance.read(tmp_path / "worst.json") == one.instance
    assert repr(one).startswith("<WorstCase of er-ls against best: ")


def test_against_an_algorithm_a_bound_and_with_data():
    pisa = found("heft", against="peft", transfers=True)
    assert pisa.ratio == pisa.result.value / cs.dags.peft(pisa.instance).value
    assert pisa.instance.data is not None
    assert math.isnan(pisa.proven)
    assert found("hlp-est", transfers=True, work=50).proven != 6.0
    bound = found("heft", against="bound")
    assert 1 <= bound.ratio <= bound.upper
    three = found("hlp-ols", units=(2, 1, 1), work=50)
    assert three.proven == 12


def test_more_tasks_than_the_exact_search_takes():
    worst = found("heft", tasks=20, work=60)
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


def test_one_of_ones_own_can_be_judged():
    cs.register("dags", "all on the first", lambda inst: cs.dags.est(inst, [0] * inst.tasks))
    worst = found("all on the first", units=(1, 4))
    assert worst.ratio > 10


def test_time_ends_a_search_with_what_it_has(monkeypatch):
    worst = found("heft", work=None, seconds=0.5)
    assert worst.stopped_by == "time"
    assert worst.ratio >= 1
    with cs.time_limit(0.0), pytest.raises(cs.TimeLimit):
        found("heft")


def test_the_command_line_writes_what_is_found(tmp_path, capsys):
    path = tmp_path / "worst.json"
    options = ("algorithm=heft", "tasks=5", "units=2,1", "work=100")
    command = ["generate", "worst-case", *(word for one in options for word in ("--option", one))]
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
