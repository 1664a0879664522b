"""Box plots of reports: the statistics of all rows, and few points."""

import pandas as pd
import pytest

from cosched.experiments import html
from cosched.experiments.boxes import boxes


def test_boxes_show_the_quartiles_of_all_rows_and_the_farthest_points():
    values = [*range(1, 101), *range(1000, 1050)]
    frame = pd.DataFrame({"value": values, "kind": "a", "draw": range(150)})
    (trace,) = boxes(frame, "kind", "value", says=["draw"]).data
    low, middle, high = pd.Series(values).quantile([0.25, 0.5, 0.75])
    assert (trace.q1[0], trace.median[0], trace.q3[0]) == (low, middle, high)
    assert trace.mean[0] == pytest.approx(sum(values) / 150, rel=1e-5)
    assert (trace.lowerfence[0], trace.upperfence[0]) == (1, 1049 if high > 999 else 100)


def test_points_beyond_the_whiskers_are_the_farthest_twenty():
    frame = pd.DataFrame({"x": [1.0] * 200 + [float(k) for k in range(100, 150)]})
    frame["task"] = range(250)
    (trace,) = boxes(frame, None, "x", says=["task"]).data
    assert sorted(trace.y[0]) == [float(k) for k in range(130, 150)]
    assert trace.customdata[0][0] == "task 249"
    assert (trace.lowerfence[0], trace.upperfence[0]) == (1, 1)


def test_a_box_a_group_and_a_trace_a_colour():
    frame = pd.DataFrame({"g": ["a", "a", "b"], "c": ["x", "y", "x"], "v": [1.0, 2.0, 3.0]})
    chart = boxes(frame, "g", "v", "c", flat=True, log=True)
    assert [(trace.name, list(trace.y)) for trace in chart.data] == [
        ("x", ["a", "b"]),
        ("y", ["a"]),
    ]
    assert chart.layout.xaxis.type == "log"
    assert all(len(points) for trace in chart.data for points in trace.x)  # else it is not drawn


def test_the_tables_library_is_compressed():
    script = html._tables_library()
    assert len(script) < 400_000
    assert "DecompressionStream" in script
    assert script.count("await unpacked(base64") == 2
    assert " atob(base64" not in script
