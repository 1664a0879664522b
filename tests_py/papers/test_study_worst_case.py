"""dags-worst-case: plan, rows, table, pictures and the sentences of its page."""

import json

import pandas as pd
import pytest

import cosched as cs
from cosched import experiments
from cosched.experiments.dags import adversary as module


@pytest.fixture(scope="module")
def study():
    return experiments.find("dags-worst-case")


@pytest.fixture(scope="module")
def frame(study):
    chosen = [t for t in study.plan(True) if t["algorithm"] in ("heft", "hlp-ols", "er-ls")]
    rows = [{"task": k, "status": "ok", **t, **study.run(t)} for k, t in enumerate(chosen)]
    return pd.DataFrame(rows)


def test_plans(study):
    full = study.plan(False)
    assert {task["algorithm"] for task in full} >= set(module.TWO)
    assert len(full) == (len(module.TWO) + len(module.THREE)) * 2 * module.SEEDS
    assert len(study.plan(True)) * module.SEEDS == len(full)
    assert {task["method"] for task in full} == {"annealing", "random"}


def test_rows_hold_their_instances(frame):
    for row in frame.itertuples():
        data = json.loads(row.instance)
        units = tuple(map(int, row.units.split(",")))
        inst = cs.dags.Instance(data["times"], data["edges"], units)
        again = cs.dags.solve(inst, row.algorithm, seed=row.draw)
        assert again.value == row.value
        assert row.ratio == pytest.approx(row.value / cs.dags.optimal(inst).value)
        assert row.ratio <= row.upper * (1 + 1e-9)


def test_table_pictures_and_sentences(study, frame):
    table = study.tables(frame)["worst"]
    assert table.proven.tolist() == ["6", "none", "5.657", "12", "none"]
    assert (table.upper >= table.ratio).all()
    pictures = study.figures(frame)
    assert list(pictures) == ["hlp-ols-4-2", "heft-4-2", "er-ls-4-2", "hlp-ols-4-2-2", "heft-4-2-2"]
    titles = [ax.get_title() for ax in pictures["heft-4-2"].axes]
    assert titles[0].startswith("heft: ")
    assert titles[1].startswith("optimal: ")
    sentences = study.remarks(frame)
    assert "of 5 worst instances 5 have a proved optimum" in sentences[0]
    assert sentences[1].startswith(
        "No ratio passes a proven one. The nearest is er-ls on 4,2 units"
    )
