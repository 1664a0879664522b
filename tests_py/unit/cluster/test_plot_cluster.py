"""Pictures of the cluster family: what is drawn has the areas that the numbers say."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection

import cosched as cs
from cosched.cli import report
from cosched.cluster import plots as plot_cluster

HOUR = 3600.0


@pytest.fixture(scope="module")
def inst():
    jobs = cs.workloads.rescale_load(cs.workloads.lublin(150, 16, seed=2), 16, 0.7)
    return cs.cluster.Instance(jobs, 16)


@pytest.fixture(scope="module", params=["EASY", "GreedyPM */per/opt=min/minvt=600"])
def res(request, inst):
    return cs.cluster.solve(inst, request.param)


def areas(ax):
    polygons = [p for c in ax.collections if isinstance(c, PolyCollection) for p in c.get_paths()]
    return [np.ptp(p.vertices[:, 0]) * np.ptp(p.vertices[:, 1]) for p in polygons]


def given_cpu(res):
    """Seconds of a whole node's CPU that jobs hold, penalties included."""
    frame, jobs = res.schedule.to_frame(), res.instance.jobs
    share = (jobs.cpu * jobs.tasks)[frame.task].to_numpy() * frame.yield_
    return ((frame.end - frame.start) * share).sum()


def integral(line):
    """Of a step function drawn with where="post"."""
    x, y = line.get_data()
    return float(np.sum(np.diff(x) * y[:-1]))


def test_bars_are_what_jobs_hold(res):
    ax = plot_cluster.occupation(res)
    assert ax.get_xlabel() == "time (h)"
    # Bars are at least 4% of a node high, and cut where rounding would put them above it.
    assert sum(areas(ax)) * HOUR == pytest.approx(given_cpu(res), rel=0.02)
    assert ax.get_ylim() == (0, 16)
    own_axes = plt.figure().subplots()
    assert plot_cluster.occupation(res, own_axes) is own_axes


def test_the_load_of_nodes_is_what_jobs_hold(res, monkeypatch):
    monkeypatch.setattr(plot_cluster, "MOST_BARS", 10)
    ax = plot_cluster.occupation(res)
    load = ax.images[0].get_array()
    assert load.shape == (16, 1200)
    assert load.min() > -1e-9
    assert load.max() < 1 + 1e-9
    assert load.mean() * 16 * res.span == pytest.approx(given_cpu(res))


def test_utilization_shows_the_underutilization(res, monkeypatch):
    jobs = res.instance.jobs
    work = (jobs.runtime * jobs.cpu * jobs.tasks).sum()
    for bins in (1200, 100):  # as it is, and as means over slices of time
        monkeypatch.setattr(plot_cluster, "_BINS", bins)
        ax = plot_cluster.utilization(res)
        not_used, used = (collection.get_paths()[0].vertices for collection in ax.collections)
        could, did = (
            0.5 * abs(np.dot(v[:, 0], np.roll(v[:, 1], 1)) - np.dot(v[:, 1], np.roll(v[:, 0], 1)))
            for v in (not_used, used)
        )
        assert did * HOUR == pytest.approx(work)
        assert (could - did) * HOUR == pytest.approx(res.underutilization * work, rel=1e-6)


def test_a_picture_has_two_spellings(res):
    assert cs.plot.utilisation(res).get_ylabel() == cs.plot.utilization(res).get_ylabel()


def test_jobs_of_no_length_have_pictures():
    columns = ("submit", "tasks", "cpu", "memory", "runtime")
    jobs = dict(zip(columns, ([0], [1], [1], [1], [0]), strict=True))
    res = cs.cluster.solve(cs.cluster.Instance(jobs, 1), "EASY")
    for picture in (cs.plot.utilization, cs.plot.queue_length, cs.plot.occupation):
        picture(res).figure.canvas.draw()  # no warning either


def test_queue_length_shows_waiting_times(res):
    ax = plot_cluster.queue_length(res)
    waiting, running = ax.lines
    frame = res.schedule.to_frame()
    inside = (res.jobs.end - res.instance.jobs.submit).sum()
    node_seconds = (frame.end - frame.start).sum()
    assert integral(running) * HOUR == pytest.approx(node_seconds)
    assert integral(waiting) * HOUR == pytest.approx(inside - node_seconds, rel=1e-6, abs=1)
    if res.algorithm == "EASY":
        waited = (res.jobs.start - res.instance.jobs.submit).sum()
        assert integral(waiting) * HOUR == pytest.approx(waited)


def test_time_axis_has_the_unit_that_fits():
    jobs = {"submit": [0.0], "tasks": [1], "cpu": [1.0], "memory": [1.0], "runtime": [100.0]}
    one_job = cs.cluster.solve(cs.cluster.Instance(jobs, 1), "FCFS")
    assert plot_cluster.queue_length(one_job).get_xlabel() == "time (s)"
    assert plot_cluster.occupation(one_job).get_xlim() == (0, 100)


def test_lines_of_a_table():
    frame = pd.DataFrame(
        {
            "load": [0.1, 0.1, 0.5] * 2,
            "algorithm": ["EASY"] * 3 + ["FCFS"] * 3,
            "degradation": [2.0, 4.0, 30.0, 1.0, 1.0, 50.0],
        }
    )
    ax = cs.plot.lines(frame, "load", "degradation")
    assert ax.lines[0].get_xydata().tolist() == [[0.1, 3.0], [0.5, 30.0]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["EASY", "FCFS"]
    bars = cs.plot.lines(frame, "load", "degradation", bars=True).containers[0].lines[2][0]
    assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[2, 4], [30, 30]]
    with pytest.raises(cs.InvalidInstance, match="no rows"):
        cs.plot.lines(frame[:0], "load", "degradation")
    with pytest.raises(cs.InvalidInstance, match="stretch"):
        cs.plot.lines(frame, "load", "stretch")


def test_the_command_line_draws_three_panels(res, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(cs.plot, "save", lambda figure, path: drawn.append(len(figure.axes)))
    report.draw(
        [("one", res), ("two", res)], cs.registry.presentation("cluster"), tmp_path / "x.png"
    )
    assert drawn == [6]
    assert {"occupation", "queue_length", "utilisation"} <= set(cs.plot.__all__)
