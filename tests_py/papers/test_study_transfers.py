"""dags-transfers: plan, rows, tables, without real data."""

import pandas as pd
import pytest

import cosched as cs
from cosched import experiments
from cosched.experiments.dags import transfers as module


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSCHED_DATA", str(tmp_path_factory.mktemp("empty")))
        study = experiments.find("dags-transfers")
        tasks = [task for task in study.plan(True) if task["graph"] in ("cholesky 4", "30 0")]
        tasks += [
            {**task, "ccr": module.MACHINE}
            for task in tasks
            if task["graph"] == "cholesky 4" and task["ccr"] == 1
        ]
        rows = [{"task": k, "status": "ok", **t, **study.run(t)} for k, t in enumerate(tasks)]
    return pd.DataFrame(rows)


def test_plans():
    study = experiments.find("dags-transfers")
    quick, full = study.plan(True), study.plan(False)
    assert len(quick) < len(full) / 8
    names = {task["algorithm"] for task in full}
    assert {*module.BOUNDS, *module.ALGORITHMS} <= names
    assert set(module.ALGORITHMS) - {module.BLIND} <= set(cs.dags.ALGORITHMS)


def test_rows(frame):
    wide = frame.pivot(index=["graph", "ccr"], columns="algorithm", values="value")
    assert (wide[list(module.ALGORITHMS)].min(axis=1) >= wide.transfers * (1 - 1e-9)).all()
    assert (wide.transfers >= wide.windows * (1 - 1e-9)).all()
    assert (wide.windows >= wide.hlp * (1 - 1e-9)).all()
    heuristics = wide[["heft", "cpop", "peft", "hlp-ols"]]
    assert (wide["hlp-best"] <= heuristics.min(axis=1)).all()
    for row in frame[frame.ccr != module.MACHINE].itertuples():
        assert row.reached_ccr == pytest.approx(row.ccr)


def test_heft_blind_pays_afterwards():
    task = {"source": "layered", "graph": "30 1", "ccr": 3.0, "memories": "unit"}
    inst = module.instance_of(task)
    plain = cs.dags.heft(cs.dags.Instance(inst.times, inst.edges, inst.units))
    assert module.blind(inst) > plain.value
    free = cs.dags.Instance(inst.times, inst.edges, inst.units, data=inst.data * 0, bandwidth=1.0)
    assert module.blind(free) == pytest.approx(plain.value)


def test_links_of_the_machine():
    task = {"source": "tiles", "graph": "lu 4", "ccr": module.MACHINE, "memories": "host"}
    inst = module.instance_of(task)
    assert inst.transfer(0, (0, 0), (1, 0)) == pytest.approx(2**20 / 12e6 + 0.01)


def test_tables(frame):
    study = experiments.find("dags-transfers")
    tables = study.tables(frame)
    ratio = tables["ratio-to-bound"].set_index(["source", "ccr"])
    assert set(ratio.index.get_level_values("source")) == {"tiles", "layered", "all"}
    assert (ratio[list(module.ALGORITHMS)] >= 1).all(axis=None)
    tiles = tables["bounds"][tables["bounds"].source == "tiles"]
    assert tiles.ccr.tolist() == ["0.1", "1.0", "10.0", module.MACHINE]
    assert (tables["bounds"][list(module.BOUNDS)] <= 1).all(axis=None)
    assert (tables["ratio-to-best"]["hlp-best"] == 1).all()
