"""A limit around any calls of the package: solvers, checks and readers are inside one budget."""

import json
import threading
import time
from functools import partial

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from support import library


@pytest.fixture(scope="module")
def inst():
    return cs.workloads.packs_ii(seed=0, max_tasks=4)


def test_what_has_something_to_show_returns_it(inst):
    with cs.time_limit(0.0):
        res = cs.packs.solve(inst, "local-search")
    assert res.status == "time_limit"
    res.schedule.validate()


@pytest.mark.parametrize("name", ["demt-best", "local-search"])
@pytest.mark.parametrize("released", [False, True])
def test_what_a_search_of_moldable_jobs_has_found_becomes_a_schedule(name, released):
    n = 4000  # enough that numbering the processors looks at the clock
    times = 100 / np.arange(1, 129) ** np.linspace(0.3, 1, n)[:, None]
    many = cs.moldable.Instance(times, np.ones(n), np.arange(n) * 0.01 if released else None)
    with cs.time_limit(0.0):
        res = cs.moldable.solve(many, name)
    assert res.status == "time_limit"
    res.schedule.validate()


def test_the_earliest_of_nested_limits_holds(inst):
    with cs.time_limit(0.0), cs.time_limit(100.0):
        assert cs.packs.solve(inst, "local-search", time_limit=50.0).status == "time_limit"
    assert cs.packs.solve(inst, "local-search", work=20).status == "ok"  # and is gone afterwards


def test_none_is_no_limit_of_its_own(inst):
    with cs.time_limit(None):
        assert cs.packs.solve(inst, "local-search", work=20).status == "ok"
    with cs.time_limit(0.0), cs.time_limit(None):
        assert cs.packs.solve(inst, "local-search").status == "time_limit"


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_not_a_time(seconds):
    with pytest.raises(cs.InvalidInstance), cs.time_limit(seconds):
        pass


def test_a_limit_is_of_its_thread(inst):
    statuses = []
    with cs.time_limit(0.0):
        thread = threading.Thread(
            target=lambda: statuses.append(cs.packs.solve(inst, "local-search", work=20).status)
        )
        thread.start()
        thread.join()
    assert statuses == ["ok"]


def test_checks_of_schedules():
    jobs = cs.workloads.lublin(3000, 64, seed=0)
    schedule = cs.cluster.solve(cs.cluster.Instance(jobs, 64), "EASY").schedule
    with pytest.raises(cs.TimeLimit), cs.time_limit(0.0):
        schedule.validate()


def _stg(n):
    return f"{n}\n" + "\n".join(f"{k} 5 0" for k in range(n))


def _dot(n):
    return (
        "digraph {"
        + "".join(f"t{k} [time=3]; t0 -> t{k + 1};" for k in range(n))
        + f"t{n} [time=1]}}"
    )


def _wfformat(n):
    tasks = [{"name": f"t{k}", "id": f"t{k}", "parents": [], "children": []} for k in range(n)]
    times = [{"id": f"t{k}", "runtimeInSeconds": 1.0} for k in range(n)]
    specification, execution = {"tasks": tasks}, {"tasks": times}
    return json.dumps({"workflow": {"specification": specification, "execution": execution}})


def _own_json(n):
    edges = [[k, k + 1] for k in range(n - 1)]
    return json.dumps({"times": [[1.0, None]] * n, "edges": edges, "units": [2, 1]})


def _amaris(n):
    return "\n".join(f"t{k} 5 1" for k in range(n))


def _table(n):
    return "task,1,2\n" + "\n".join(f"c{k},8,5" for k in range(n))


def _long_table(n):
    return "task,processors,seconds\n" + "\n".join(f"c{k},1,8" for k in range(n))


def _jobs(n):
    return "submit,tasks,cpu,memory,runtime\n" + "\n".join(f"{k},1,1,0.1,8" for k in range(n))


READERS = {
    "stg": (_stg, lambda path: cs.dags.Instance.read(path, units=(2,))),
    "dot": (_dot, lambda path: cs.dags.Instance.read(path, units=(2,))),
    "json": (_wfformat, lambda path: cs.dags.Instance.read(path, units=(2,))),
    "own.json": (_own_json, lambda path: cs.dags.Instance.read(path)),
    "txt": (_amaris, lambda path: cs.dags.Instance.read(path, units=(2, 1))),
    "csv": (_table, lambda path: cs.packs.Instance.read(path, max_tasks=2)),
    "long.csv": (_long_table, lambda path: cs.moldable.Instance.read(path, machines=1)),
    "jobs.csv": (_jobs, lambda path: cs.cluster.Instance.read(path, nodes=4)),
    "swf": (
        lambda n: "\n".join(f"{k} {k} 0 5 1 1 1 1 5 1 1 1 1 1 1 1 1 1" for k in range(1, n + 1)),
        lambda path: cs.workloads.read_swf(path),
    ),
}


@pytest.mark.parametrize("suffix", READERS)
def test_readers(suffix, tmp_path):
    text, read = READERS[suffix]
    path = tmp_path / f"file.{suffix}"
    path.write_text(text(60))
    read(path)  # a sound file
    with pytest.raises(cs.TimeLimit), cs.time_limit(0.0):
        read(path)


@pytest.mark.parametrize(("text", "units"), [(_own_json, (2, 1)), (_wfformat, (2,))])
def test_a_limit_that_passes_while_json_is_parsed_ends_the_reading(
    text, units, tmp_path, monkeypatch
):
    path = tmp_path / "graph.json"
    path.write_text(text(60))
    parsed, loads = [], json.loads

    def slow(text, **options):  # the library's own loop looks at no clock
        parsed.append(loads(text, **options))
        while True:
            try:
                cs._core.check_interrupt()
            except cs.TimeLimit:
                return parsed[0]

    monkeypatch.setattr(json, "loads", slow)
    with pytest.raises(cs.TimeLimit), cs.time_limit(0.05):
        cs.dags.Instance.read(path, units=units)
    assert len(parsed) == 1
    monkeypatch.setattr(json, "loads", loads)
    assert cs.dags.Instance.read(path, units=units).tasks == 60


def test_a_row_whose_schedule_cannot_be_checked_in_time_is_no_result(inst, monkeypatch):
    def endless(self):
        with cs.time_limit(None):
            while True:
                cs.packs.solve(inst, "pack-by-pack-1")

    monkeypatch.setattr(cs.Schedule, "validate", endless)
    table = cs.packs.compare(inst, ["sequential", "pack-by-pack-1"], time_limit=0.2)
    assert list(table.status) == ["time_limit", "time_limit"]
    assert table.value.isna().all()


def test_a_job_with_very_many_tasks():
    jobs = {"submit": [0.0], "tasks": [10_000_000], "cpu": [1.0], "memory": [0.1], "runtime": [9.0]}
    inst = cs.cluster.Instance(jobs, 10_000_000)
    for name in ("EASY", "GreedyPM */per/opt=min/minvt=600", "MCB8 */opt=min"):
        begin = time.monotonic()
        try:
            with cs.time_limit(1.0):
                cs.cluster.solve(inst, name)
        except cs.TimeLimit:
            pass
        assert time.monotonic() - begin < 60, name  # it ends; how soon, tests_py/bench/limits.py


def test_a_bound_that_a_limit_cut_short_says_so():
    large = cs.workloads.packs_iii(seed=1, max_tasks=8)
    assert cs.packs.bound(large, time_limit=0.0).status == "time_limit"
    assert cs.packs.bound(cs.workloads.packs_ii(seed=1, max_tasks=4)).status == "ok"
    table = cs.packs.compare(large, ["pack-by-pack-1"], time_limit=1e-6)
    assert table.attrs == {"bounds": ["columns"], "bound_notes": [], "bound_cut": True}


def test_who_proved_the_bound(capsys, tmp_path):
    path = tmp_path / "three.csv"
    path.write_text("task,1,2\na,8,5\nb,6,3.5\nc,2,1.2\n")
    inst = cs.packs.Instance.read(path, max_tasks=2)
    assert cs.packs.compare(inst, ["sequential", "optimal"]).attrs["bounds"] == ["optimal"]
    main(["compare", "packs", str(path), "--max-tasks", "2", "--algorithms", "sequential"])
    assert "(columns): no pack schedule can be below it" in capsys.readouterr().out
    large = tmp_path / "large.json"
    cs.workloads.packs_iii(seed=1, max_tasks=8).write(large)
    args = ["compare", "packs", str(large), "--max-tasks", "8", "--algorithms", "pack-by-pack-1"]
    main([*args, "--time-limit", "0.02"])
    assert "a limit cut the bound short" in capsys.readouterr().out


def test_a_limit_around_reaches_solvers_with_a_clock_of_their_own():
    library("highspy")
    instance = cs.workloads.layered(3000, 0.3, units=(64, 16), seed=1)
    with cs.time_limit(0.0), pytest.raises(cs.TimeLimit):
        cs.dags.hlp(instance, method="highs")


def test_highs_in_a_process_of_its_own_gives_the_same_and_can_be_ended(monkeypatch):
    library("highspy")
    make = partial(cs.workloads.layered, 60, 0.2, units=(6, 2), seed=1)
    here = cs.dags.hlp(make(), method="highs")
    monkeypatch.setattr("cosched.dags.bounds.highs.APART_FROM", 0)
    apart = cs.dags.hlp(make(), method="highs")
    assert apart.value == here.value
    assert np.array_equal(apart.x, here.x)
    with cs.time_limit(0.1), pytest.raises(cs.TimeLimit):  # less than the process needs to start
        cs.dags.hlp(make(), method="highs")
    monkeypatch.setattr("cosched.dags.bounds.highs._CHILD", "raise SystemExit('HiGHS: unbounded')")
    with pytest.raises(cs.SolverError, match="HiGHS: unbounded"):
        cs.dags.hlp(make(), method="highs")


def test_a_stretch_bound_that_a_limit_ends_says_what_was_proved():
    jobs = {"submit": [0.0, 0.0], "tasks": [1, 1], "cpu": [1, 1], "memory": [1, 1],
            "runtime": [100.0, 100.0]}  # fmt: skip
    inst = cs.cluster.Instance(jobs, nodes=1)
    with cs.time_limit(0.0):
        bound = cs.cluster.max_stretch_bound(inst)
    assert (bound.method, bound.status, bound.value) == ("max-stretch so far", "time_limit", 1.0)
    exact = cs.cluster.max_stretch_bound(inst)
    assert (exact.method, exact.status, round(exact.value, 6)) == ("max-stretch", "ok", 2.0)
