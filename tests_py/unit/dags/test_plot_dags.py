"""Pictures of dags: lanes, colours by kernel, ratio plots."""

import numpy as np
import pandas as pd
import pytest

import cosched as cs


def test_gantt_of_five_thousand_tasks_has_a_lane_a_unit_and_a_colour_a_kernel():
    inst = cs.workloads.cholesky(30, units=(16, 4), seed=1)
    assert inst.tasks == 4960
    ax = cs.plot.gantt(cs.dags.solve(inst, "heft").schedule)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["CPU", "GPU"]
    assert ax.get_ylim() == (19.5, -0.5)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(legend) == ["gemm", "potrf", "syrk", "trsm"]
    boxes = sum(len(collection.get_paths()) for collection in ax.collections)
    assert boxes == inst.tasks
    colours = {tuple(c) for collection in ax.collections for c in collection.get_facecolor()}
    assert len(colours) == 4


def test_gantt_names_three_types():
    inst = cs.dags.Instance([[1, 2, 3]] * 4, [], (2, 1, 1))
    ax = cs.plot.gantt(cs.dags.solve(inst, "heft").schedule)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["CPU", "GPU1", "GPU2"]


@pytest.fixture
def frame():
    random = np.random.default_rng(1)
    lp = random.uniform(1, 2, 40)
    return pd.DataFrame(
        {
            "application": ["a", "b"] * 20,
            "cpus": [16, 64] * 20,
            "gpus": [4, 4, 2, 2] * 10,
            "lp": lp,
            "heft": lp * 1.5,
            "hlp-ols": lp * 1.2,
        }
    )


def test_ratios_mark_the_mean_of_each_group(frame):
    ax = cs.plot.ratios(frame, ["heft", "hlp-ols"])
    means = [line.get_ydata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert means == pytest.approx([1.5, 1.5, 1.2, 1.2])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b"]
    ax = cs.plot.ratios(frame, {"HEFT / HLP-OLS": ("heft", "hlp-ols")})
    assert "hlp-ols" in ax.get_ylabel()
    with pytest.raises(cs.InvalidInstance, match="greedy"):
        cs.plot.ratios(frame, ["greedy"])
