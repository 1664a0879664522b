"""What studies and readers do with archives, on made-up ones (small_archives.py)."""

import sys

import numpy as np
import pandas as pd
import pytest

import cosched as cs
import small_archives
from cosched import experiments


def forget_what_was_read():
    for name, module in list(sys.modules.items()):
        if name.startswith("cosched.experiments"):
            for value in list(vars(module).values()):
                getattr(value, "cache_clear", lambda: None)()


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    folder = small_archives.make(tmp_path_factory.mktemp("archives"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSCHED_DATA", str(folder))
        forget_what_was_read()
        yield folder
    forget_what_was_read()


def rows_of(name, wanted=lambda task: True):
    study = experiments.find(name)
    assert study.missing(quick=True) == []
    tasks = [task for task in study.plan(True) if wanted(task)]
    assert tasks
    return study, pd.DataFrame([{**task, **study.run(task)} for task in tasks])


def test_a_table_of_openbenchmarking(archives):
    (path,) = (archives / "etc_apc" / "openbenchmarking").iterdir()
    with pytest.raises(cs.InvalidInstance, match=r"line 12, column 8 \(Program 4"):
        cs.bags.Instance.read(path, gamma=1.2)
    inst = cs.bags.Instance.read(path, gamma=1.2, missing="drop")
    assert inst.etc.shape == (5, 9)
    assert np.argwhere(~inst.allowed).tolist() == [[4, 5], [4, 6]]
    theirs = cs.bags.Instance.read(archives / "etc_apc" / "tarplee_9machBig", gamma=1.2)
    assert np.allclose(inst.etc[inst.allowed], theirs.etc[inst.allowed], atol=0.01)
    machines = cs.bags.Instance.read(path, gamma=1.2, missing="drop-machines", machines=2)
    assert (machines.machines.tolist(), machines.etc.shape) == ([2] * 7, (5, 7))


def test_profit_of_programs_and_of_a_folder(archives, tmp_path):
    """bags-table1: rows and tables."""
    result = experiments.run("bags-table1", quick=True, out=tmp_path / "bags", workers=0)
    assert not len(result.errors)
    assert (result.frame.bound >= result.frame.value * (1 - 1e-9)).all()
    assert set(result.tables) >= {"table1", "advantage", "tarplee-gap", "tarplee-over-tms"}
    values = result.frame.pivot_table(
        index=["data", "draw", "gamma"], columns="algorithm", values="value"
    )
    assert (values["ttb-best"] >= values["ttb"] * (1 - 1e-9)).all()


def test_measured_codes_beside_their_optimum(archives):
    study, frame = rows_of("packs-fig2a")
    best = frame[frame.algorithm == "optimal"]
    assert best.tasks.tolist() == [10, 10]
    assert (best.gap == 0).all()  # proved
    over_optimal = study.tables(frame)["over-optimal"].drop(columns="max_tasks")
    assert (over_optimal >= 1 - 1e-9).all(axis=None)
    assert (over_optimal["random-proc-1"] > 1.05).all()


def test_logs_as_they_were_and_under_other_policies(archives):
    study, frame = rows_of("cluster-archive", lambda task: "Greedy" not in task["policy"])
    tables = study.tables(frame)
    assert len(tables) == 4
    ctc = tables["CTC-SP2-1996"].set_index("policy")
    assert ctc.loc["as-logged", "calibration median"] == 0
    assert (ctc.gap.dropna() >= 0).all()
    assert ctc.loc["as-logged", "mean_wait"] == ctc.loc["FCFS", "mean_wait"]  # as it was made
    atlas = tables["LLNL-Atlas-2006"].set_index("policy")
    assert "no waits" in atlas.loc["as-logged", "says"]


def test_weeks_of_a_log(archives):
    _, frame = rows_of(
        "cluster-table4",
        lambda task: task["traces"] == "weeks" and task["algorithm"] in ("EASY", "FCFS"),
    )
    assert (frame.degradation >= 1 - 1e-9).all()
    log = archives / "pwa" / "HPC2N-2002-2.1-cln.swf.gz"
    weeks = cs.workloads.hpc2n_weeks(log)
    assert len(weeks) == 182
    week_instance = cs.cluster.from_swf(log, week=5)
    assert week_instance.nodes == 120  # a known machine
    assert np.array_equal(week_instance.column("submit"), weeks[5].submit)
    assert frame[frame.trace == 5].jobs.unique().tolist() == [len(weeks[5])]


def test_memory_of_known_machines(archives):
    logs = archives / "pwa"
    atlas = cs.cluster.from_swf(logs / "LLNL-Atlas-2006-2.1-cln.swf.gz", drop="too-wide")
    assert atlas.nodes == 1152
    assert any("16 GB a node (known machine: https://" in note for note in atlas.notes)
    with pytest.raises(cs.InvalidInstance, match="memory_per_node \\(--memory-per-node"):
        cs.cluster.from_swf(logs / "CTC-SP2-1996-3.1-cln.swf.gz")


@pytest.mark.parametrize("name", ["dags-fig3-4", "dags-fig5", "dags-fig6-7"])
def test_graphs_of_an_archive(archives, name):
    graph_files = tuple(f"{graph_name}.txt" for graph_name in small_archives.GRAPHS)
    study, frame = rows_of(
        name,
        lambda task: task["graph"].endswith(graph_files) and set(task["units"]) <= {16, 2}
        and task["algorithm"] != "hlp-best",
    )  # fmt: skip
    assert frame.application.nunique() == 3
    frame["machine"] = frame.units.map(str)
    values = frame.pivot(index=["graph", "machine"], columns="algorithm", values="value")
    assert len(values) == 5 * frame.machine.nunique()
    assert values.ge(values["LP*"] * (1 - 1e-9), axis=0).all(axis=None)
    assert study.tables(frame)


def test_workflows_on_links(archives):
    _, frame = rows_of("dags-transfers", lambda task: task["source"] == "workflows")
    assert set(frame.graph) == {"srasearch-chameleon-10a-001"}
    assert (frame.value > 0).all()
