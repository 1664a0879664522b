"""A time limit alone is a budget, work alone is fixed work, and what ended a search is said."""

import functools
import importlib.util
from pathlib import Path

import numpy as np
import pytest

import cosched as cs
from cosched import registry
from cosched.core.limits import PATIENCE, Patience
from cosched.core.options import accepted_options
from cosched.errors import SolverError


def _packs():
    return cs.workloads.packs_ii(seed=0, max_tasks=4)


def _moldable():
    return cs.workloads.moldable("mixed", 40, 16, seed=1)


def _bags():
    return cs.workloads.bags_random(6, seed=3)


#: Instance, algorithm, what it proves nothing on.
SEARCHES = [
    (_packs, "local-search"),
    (_moldable, "local-search"),
    (_moldable, "demt-best"),
    (_bags, "ttb-best"),
]


@pytest.fixture(params=SEARCHES, ids=lambda pair: f"{pair[0].__name__[1:]}-{pair[1]}")
def search(request):
    make, name = request.param
    instance = instance_of(make)
    module = getattr(cs, instance.family)

    def searched(**options):
        return module.solve(instance, name, **options) if options else default_of(make, name)

    return searched


@functools.cache
def instance_of(make):
    return make()


@functools.cache
def default_of(make, name):
    """With the default work, which several tests compare with."""
    instance = instance_of(make)
    return getattr(cs, instance.family).solve(instance, name)


def test_a_time_limit_alone_is_used(search):
    result = search(time_limit=0.2)
    assert (result.stopped_by, result.status) in (("time", "time_limit"), ("proved", "ok"))
    assert result.metrics()["stopped_by"] == result.stopped_by


def test_work_alone_is_fixed_work(search):
    once, twice = search(work=20_000), search(work=20_000)
    assert once.stopped_by in ("work", "proved")
    assert once.status == "ok"
    assert once.value == twice.value
    assert search().value == search(work=None, time_limit=None).value


def test_of_both_the_first_ends_it(search):
    assert search(work=500, time_limit=1000).stopped_by in ("work", "proved")
    assert search(work=10**15, time_limit=0.05).stopped_by in ("time", "proved")


def test_more_work_than_the_default_is_never_worse(search):
    default, with_more_work = search(), search(work=_larger_work(search))
    better = max if with_more_work.maximise else min
    assert better(with_more_work.value, default.value) == pytest.approx(
        with_more_work.value, rel=0.02
    )


def _larger_work(search):
    """Twice the default work of a search."""
    of = {
        ("packs", "local-search"): cs.packs.algorithms.LOCAL_SEARCH_WORK,
        ("moldable", "local-search"): cs.moldable.algorithms.SEARCH_WORK,
        ("moldable", "demt-best"): cs.moldable.algorithms.BEST_WORK,
        ("bags", "ttb-best"): cs.bags.algorithms.BEST_WORK,
    }
    result = search(work=0)
    return 2 * of[result.family, result.algorithm]


def test_the_patience_of_compare_is_a_ceiling():
    frame = cs.moldable.compare(_moldable(), ["local-search", "demt"])
    assert frame["stopped_by"].tolist()[0] == "work"
    assert frame["value"][0] == cs.moldable.solve(_moldable(), "local-search").value
    frame = cs.moldable.compare(_moldable(), ["local-search"], time_limit=0.2)
    assert frame["stopped_by"].tolist() == ["time"]
    assert isinstance(PATIENCE, Patience)
    frame = cs.moldable.compare(_moldable(), ["local-search"], time_limit=Patience(1e-6))
    assert frame["stopped_by"].tolist() == ["time"]


def test_the_command_line_shows_what_ended_a_search(tmp_path, capsys):
    from cosched.cli import main

    assert main(["generate", "packs_ii", "-o", str(tmp_path / "t.csv")]) == 0
    call = ["compare", "packs", str(tmp_path / "t.csv"), "--max-tasks", "4", "--algorithms",
            "local-search", "sequential", "-o", str(tmp_path / "t.json")]  # fmt: skip
    assert main([*call, "--time-limit", "0.1"]) == 0
    rows = cs.io.read_json(tmp_path / "t.json")
    assert {row["algorithm"]: row["stopped_by"] for row in rows}["local-search"] == "time"
    assert "stopped by" in capsys.readouterr().out


@pytest.mark.parametrize("n", [1, 5, 9, 12])
def test_few_moldable_jobs_are_proved(n):
    rng = np.random.default_rng(n)
    times = np.full((n, 8), np.inf)
    times[np.arange(n), rng.integers(0, 8, n)] = rng.uniform(1, 9, n)
    inst = cs.moldable.Instance(times, rng.uniform(1, 3, n), rng.uniform(0, 9, n) * (n % 2))
    for objective in ("makespan", "minsum"):
        best = cs.moldable.solve(inst, "optimal", objective=objective)
        search = cs.moldable.solve(inst, "local-search", objective=objective)
        assert best.stopped_by == "proved"
        gap = search.gap if objective == "makespan" else search.minsum_gap
        assert gap <= 1e-9


def test_a_bound_that_fails_costs_its_part_only(monkeypatch, capsys):
    def fails(instance):
        raise SolverError("columns: no progress")

    monkeypatch.setattr(cs.packs.Result, "_bound_of", classmethod(lambda cls, inst: fails(inst)))
    monkeypatch.setitem(cs.packs.BOUNDS, "columns", fails)
    inst = _packs()
    result = cs.packs.solve(inst, "sequential")
    assert result.bound.method in ("area", "longest")
    assert "columns: no progress" in result.bound.note
    assert result.gap >= 0
    frame = cs.packs.compare(inst, ["sequential", "pack-by-pack-1"])
    assert (frame["status"] == "ok").all()
    assert frame["bound"].notna().all()
    assert "columns: no progress" in frame.attrs["bound_notes"][0]


def test_a_minsum_bound_that_fails_in_part_keeps_the_rows(monkeypatch):
    from cosched.moldable import bounds

    def fails(*_, **__):
        raise SolverError("minsum: singular")

    monkeypatch.setattr(bounds, "minsum_bound", fails)
    frame = cs.moldable.compare(_moldable(), ["demt", "gang"])
    assert (frame["status"] == "ok").all()
    assert (frame["minsum_gap"] >= 0).all()
    assert "minsum: singular" in cs.moldable.solve(_moldable(), "demt").minsum_bound.note


def searches():
    """(family, algorithm) of all that take a time limit."""
    search_names = set()
    for name in registry.FAMILIES:
        family = registry.family(name)
        for algorithm in set(family.algorithms) - family.registered:
            if "time_limit" in (accepted_options(family.algorithm(algorithm)) or ()):
                search_names.add((name, algorithm))
    return search_names


def bench(name):
    path = Path(__file__).parents[2] / "bench" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_search_has_an_anytime_curve():
    curves = bench("bench_anytime").CURVES
    drawn = {(inst.family, name) for _, inst, name, _, _ in curves}
    assert drawn >= searches(), (
        f"tests_py/bench/bench_anytime.py: add {searches() - drawn} to CURVES"
    )
    assert drawn <= searches(), f"tests_py/bench/bench_anytime.py: {drawn - searches()} in CURVES"


#: Where each search proves nothing for long.
HARD = {
    ("packs", "optimal"): lambda: cs.workloads.packs_iii(seed=0, max_tasks=6),
    ("packs", "ilp"): lambda: cs.workloads.packs_ii(seed=1, max_tasks=4),
    ("packs", "local-search"): _packs,
    ("dags", "hlp-best"): lambda: cs.workloads.layered(60, 0.2, units=(4, 2), ccr=1.0, seed=1),
    ("dags", "optimal"): lambda: cs.workloads.layered(40, 0.2, units=(4, 2), ccr=1.0, seed=1),
    ("moldable", "demt-best"): _moldable,
    ("moldable", "local-search"): _moldable,
    ("moldable", "optimal"): lambda: cs.workloads.moldable("cirne", 14, 11, seed=3),
    ("bags", "ttb-best"): _bags,
}


@pytest.mark.parametrize(("family", "name"), sorted(searches()))
@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.1])
def test_what_ended_a_search_is_true(family, name, seconds):
    assert (family, name) in HARD, (
        f"tests_py/unit/core/test_budgets.py: add {family} {name} to HARD"
    )
    result = registry.family(family).solve(HARD[family, name](), name, time_limit=seconds)
    result.schedule.validate()
    assert (result.stopped_by, result.status) in (("time", "time_limit"), ("proved", "ok"))
    assert result.metrics()["stopped_by"] == result.stopped_by
    assert result.stopped_by == "time" or result.gap <= 1e-9


def test_an_integer_programme_that_is_cut_short_is_no_worse_than_a_heuristic():
    inst = _packs()
    best = cs.packs.solve(inst, "pack-by-pack-9").value
    assert cs.packs.solve(inst, "ilp", time_limit=0.0).value <= best


def test_an_exact_search_of_a_graph_that_is_too_large_finds_better_schedules():
    inst = cs.workloads.layered(150, 0.2, units=(4, 2), ccr=1.0, seed=4)
    fixed = cs.dags.solve(inst, "optimal", work=20_000)
    assert fixed.stopped_by == "work"
    limits = (4.0, 16.0, 64.0)  # seconds, of which a busy machine gives a part
    values = (cs.dags.solve(inst, "optimal", time_limit=limit).value for limit in limits)
    assert any(value < 0.95 * fixed.value for value in values)


def test_extreme_inputs_cost_no_row():
    campaign = bench("bench_extremes")
    makers = {make.__name__ for make in campaign.MAKERS}
    assert makers == set(registry.FAMILIES), "tests_py/bench/bench_extremes.py: MAKERS"
    for make in campaign.MAKERS:
        for seed in range(5):
            frame = campaign.rows_of(make, seed)
            assert not (frame.status == "error").any(), (make.__name__, seed, frame.message)
