"""dags-fig3-4, -fig5, -fig6-7: plans, rows, tables and figures, with and without real data."""

import json

import pandas as pd
import pytest

import cosched as cs
from cosched import experiments
from cosched.experiments import catalogue, ledger
from cosched.experiments.dags import studies as module
from cosched.experiments.dags.studies import BOUND, OFFLINE, ONLINE
from support import data

NAMES = ("dags-fig3-4", "dags-fig5", "dags-fig6-7")


def small(task):
    """Some tasks of a quick plan that take little time."""
    graph = task["graph"]
    return graph.endswith(("cholesky 5", "lu 5", "fork_join 2", "-512-5.txt", "-2-100.txt"))


def frame_of(name):
    """The frame that the tables of a study get, for a part of its quick plan."""
    study = experiments.find(name)
    tasks = [task for task in study.plan(True) if small(task)]
    rows = [{"task": k, "status": "ok", **t, **study.run(t)} for k, t in enumerate(tasks)]
    frame = pd.DataFrame(rows)
    return frame.assign(units=[json.dumps(units) for units in frame.units])


@pytest.fixture(scope="module", params=NAMES)
def generated(request, tmp_path_factory):
    """A study where no real data is there: name, frame, outputs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSCHED_DATA", str(tmp_path_factory.mktemp("empty")))
        frame = frame_of(request.param)
    return request.param, frame, experiments.find(request.param).tables(frame)


def test_full_plans_are_the_whole_benchmark():
    plans = {name: experiments.find(name).plan(False) for name in NAMES}
    sizes = {
        "dags-fig3-4": 105 * 16 * (1 + len(OFFLINE)),
        "dags-fig5": 110 * 64 * (1 + len(OFFLINE)),
        "dags-fig6-7": 105 * 16 * (1 + len(ONLINE)),
    }
    assert {name: len(plan) for name, plan in plans.items()} == sizes


@pytest.mark.data
@pytest.mark.parametrize("types", [2, 3])
def test_the_plan_names_every_file_of_the_archive(types):
    from cosched.io import archive_members

    archive = data("amaris_het", f"formatedTasks_{types}.tar.gz")
    planned = [path.partition(":")[2] for _, path in module._files(types)]
    assert sorted(planned) == sorted(archive_members(archive))


def test_rows_without_real_data(generated):
    name, frame, _ = generated
    instances = frame.pivot(index=["graph", "units"], columns="algorithm", values="value")
    ratios = instances.drop(columns=BOUND).div(instances[BOUND], axis=0)
    assert ratios.notna().all(axis=None)
    assert (ratios >= 1 - 1e-9).all(axis=None)
    if name != "dags-fig6-7":
        assert (ratios["hlp-best"] <= ratios[["hlp-ols", "heft"]].min(axis=1)).all()


def test_rows_are_what_the_algorithms_give(generated):
    name, frame, _ = generated
    if name != "dags-fig3-4":
        pytest.skip("one study suffices")
    row = frame[(frame.graph == "generated:fork_join 2") & (frame.units == "[64, 8]")]
    value = row.set_index("algorithm").value
    inst = cs.workloads.fork_join(100, 2, units=(64, 8), seed=0)
    assert value["heft"] == cs.dags.solve(inst, "heft").value
    assert value[BOUND] == cs.dags.hlp(inst).value


def test_tables(generated):
    name, frame, tables = generated
    ratio = tables["ratio-to-lp"].set_index("application")
    assert {"fork-join", "potrf", "getrf", "all", "greatest"} <= set(ratio.index)
    heuristic = "heft" if name != "dags-fig6-7" else "eft"
    wide = frame.pivot(index=["application", "graph", "units"], columns="algorithm", values="value")
    expected = (wide[heuristic] / wide[BOUND]).groupby("application").mean()["potrf"]
    assert ratio[heuristic]["potrf"] == pytest.approx(expected, abs=1e-4)
    pairs = tables["pairs"]
    assert (pairs.least <= pairs["mean"]).all()
    assert (pairs["mean"] <= pairs.greatest).all()


def test_figures(generated, tmp_path):
    name, frame, _ = generated
    study = experiments.find(name)
    numbers = {"dags-fig3-4": ("3", "4"), "dags-fig5": ("5",), "dags-fig6-7": ("6", "7")}[name]
    figures = study.figures(frame)
    assert {figure[3] for figure in figures} == set(numbers)
    for title, figure in figures.items():
        cs.plot.save(figure, tmp_path / f"{title}.png")


@pytest.mark.data
@pytest.mark.parametrize("name", NAMES)
def test_findings_on_a_few_real_graphs(name):
    for types in (2, 3):
        data("amaris_het", f"formatedTasks_{types}.tar.gz")
    frame = frame_of(name)
    assert set(frame.application) == {"fork-join", *module._CHAMELEON.values()}
    findings = ledger.findings(catalogue.claims_of(name), name, frame)
    # A mean that small graphs show as well: its sign at least.
    findings_by_study = {"dags-fig3-4": "close to 8%", "dags-fig5": "QHEFT presents 5%"}
    rows = findings[
        findings["the paper says"].str.contains(findings_by_study.get(name, "by EFT by 11%"))
    ]
    assert (rows.paper.astype(float) * rows.here.astype(float) > 0).all()
    assert len(rows) == 1


def test_a_scheduler_of_one_s_own_takes_part(own_algorithm):
    study = experiments.find("dags-fig3-4")
    before = {task["algorithm"] for task in study.plan(True)}

    def own_scheduler(instance, *, seed):
        return cs.dags.solve(instance, "random", seed=seed)

    own_algorithm("dags", "mine", own_scheduler)
    plan = study.plan(True)
    assert {task["algorithm"] for task in plan} - before == {"mine"}
    row = study.run(next(task for task in plan if task["algorithm"] == "mine"))
    assert row["value"] > 0
