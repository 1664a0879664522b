"""The library of measures that rows of the papers' claims name: what each gives on small curves."""

import math

import numpy as np
import pandas as pd
import pytest

from cosched.experiments.bags import studies as bags
from cosched.experiments.cluster import measures as cluster
from cosched.experiments.cluster.table_cells import Cells, in_set, printed, with_interval
from cosched.experiments.dags.measures import Wide, outliers
from cosched.experiments.measures import (
    NUMBERS,
    CurveTable,
    among,
    at,
    box,
    exceeding,
    of,
    of_ratio,
    over,
    picture,
    places,
    points,
    sentence_of_values,
    several,
    share,
    tabled,
)  # fmt: skip
from cosched.experiments.tolerances import Curve, Seen

TABLE = CurveTable(
    pd.DataFrame({"a": [4.0, 2.0, 1.0], "b": [2.0, 2.0, 2.0], "c": [3, 1, math.nan]}, [10, 20, 30])
)


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (of("mean", "b"), 2),
        (of("count", "c"), 2),  # points that are not there are left out
        (of("last", "c"), 1),
        (of("last over first", "a"), 0.25),
        (of("greatest over least", "a"), 4),
        (of("share of falls", "a"), 1),
        (of("share of falls", "b"), 0),
        (at(20, "a"), 2),
        (among("least", of("greatest", "a"), of("greatest", "b")), 2),
        (over("greatest", ("a",), ("b",), ("c",)), 4 / 3),  # over the greater of the others
        (of_ratio("greatest", ("a",), ("b",)), 2),
        (of("least", "a") / of("greatest", "b"), 0.5),
        (of("mean", "b") - 1, 1),
        (100 * of("mean", "b"), 200),
        (places(("a",), (("b",),)), (2 / 3, 2, 3)),
        (places(("a",), (), (("b",),)), (2 / 3, 2, 3)),
        (places(("a",), (), (("b",),), True), (1 / 3, 1, 3)),  # strictly below
        (share(places(("a",), (("b",),))), 2 / 3),
        (exceeding(1, "a"), (2 / 3, 2, 3)),
        (tabled(", ", "{}: {:g}/{:g}", ("a",), ("b",)), "10: 4/2, 20: 2/2, 30: 1/2"),
        (points("{}: {:.1f}", "c"), "10: 3.0, 20: 1.0"),
        (box("a"), "2.333 (1.000 to 4.000)"),
        (sentence_of_values("{:g} of {:g}", of("least", "a"), of("count", "a")), "1 of 3"),
        (several(of("least", "a"), of("last", "b")), (1, 2)),
    ],
)
def test_measures_of_curves(measure, value):
    measured = measure(TABLE)
    assert measured == (value if isinstance(value, str | tuple) else pytest.approx(value))


def test_numbers_agree_with_numpy():
    curve = pd.Series([3.0, 1.0, 2.0, 8.0])
    theirs = {"mean": np.mean, "least": np.min, "greatest": np.max, "median": np.median,
              "sum": np.sum, "count": np.size,
              "95th percentile": lambda x: np.quantile(x, 0.95)}  # fmt: skip
    for name, number in theirs.items():
        assert NUMBERS[name](curve) == pytest.approx(number(curve.to_numpy())), name


def test_a_measure_says_its_name_and_arguments():
    assert repr(of("mean", "a")) == "of('mean', 'a')"
    assert math.isnan((of("mean", "b") / at(30, "zero"))(CurveTable(TABLE.wide.assign(zero=0.0))))
    with pytest.raises(LookupError):
        of("mean", "none")(TABLE)


def test_a_picture_has_its_first_number_beside_the_interval():
    order = several(of("greatest", "a"), of("least", "a"))
    measured = picture(points("{}: {:g}", "a"), order, (1, 5), "{1:g} to {0:g}")(TABLE)
    assert measured == Curve("10: 4, 20: 2, 30: 1", 4.0, (1, 5), "1 to 4")


def test_bags_ratios_are_where_both_earn():
    rows = [(1, 0, "tms", 2.0), (1, 0, "ttb", 3.0), (20, 0, "tms", 4.0), (20, 0, "ttb", 4.4),
            (20, 1, "tms", -1.0), (20, 1, "ttb", 2.0)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["q", "draw", "algorithm", "value"]).assign(bound=9.0)
    table = bags.draws(frame)
    assert table.curve("ttb").tolist() == pytest.approx([1.5, 1.1])
    assert table.curve("ttb, few").tolist() == [1.5]
    assert table.curve("ttb, many").tolist() == pytest.approx([1.1])
    programs_rows = frame.assign(data="programs", gamma=1.1, draw=0)
    with pytest.raises(LookupError, match="even split alone"):
        bags.many_splits(programs_rows)


def test_dags_outliers_box_by_box():
    ratios = [1.0, 1.1, 1.2, 1.3, 9.0]
    rows = pd.DataFrame({"application": ["a"] * 5 + ["b"] * 5, "heft": ratios * 2, "LP*": 1.0})
    w = Wide(rows.assign(sqrt=1.0))
    assert outliers("heft", "a", "b")(w) == 2
    assert outliers("heft", "a")(w) == 1
    with pytest.raises(LookupError, match="c at"):
        w.curve("heft", "LP*", "c")


def test_cluster_pairs_are_compared_to_the_printed_digit():
    cells = Cells({("avg", n): Seen(v) for n, v in {"x": 1.04, "y": 1.0, "z": 0.9}.items()})
    assert cluster.not_worse(("x", "y"), ("x", "z"))(cells) == 0.5
    assert cluster.share_better("y", "x", "z")(cells) == 0.5
    assert in_set("weeks", of("greatest", "avg", "x", "y"))({"weeks": cells}) == 1.04


def test_cluster_periods():
    ours = [0.5, 0.3, 0.4, 0.2]
    columns = {("underutilisation", "x"): ours, ("short underutilisation", "x"): ours}
    easy = {("EASY underutilisation", "x"): 0.35}
    wide = pd.DataFrame({**columns, **easy}, [600, 900, 1200, 12000])
    table = CurveTable(wide)
    assert cluster.crossing("x")(table) == 12000  # 900 s is below, and 1,200 s is not
    assert cluster.crossing("x")(CurveTable(wide + [0, 1, 0])) == math.inf
    assert cluster.growth("underutilisation", "x")(table) == pytest.approx(0.4)
    assert cluster.steady_fall("x")(table) == pytest.approx((2 / 3, 0.4, 2 / 3))


def test_the_papers_tables_by_set_number_and_policy():
    assert printed(2)["scaled"].values["max", "EASY"].value == 14534.1
    assert printed(3)["scaled"].values["max migrations_per_job", "MCB8 */opt=min"].value == 90.29
    assert printed(4)["unscaled"].values["avg", "EASY"].value == 0.349
    assert printed(5)["weeks"].values["std", "/per/opt=min"].value == 445.6
    assert not printed(5)["scaled"].values


def test_an_interval_is_of_ratios_of_draws():
    assert with_interval(np.full((10, 1), 3.0), "avg") == Seen(3, 3, 3)
    assert with_interval(np.zeros((10, 1)), "max") == Seen(0, 0, 0)
    value, low, high = with_interval(np.arange(1.0, 101).reshape(-1, 1), "avg")
    assert value == 50.5
    half = 2.576 * 28.87 / 10 * 2**0.5  # of the difference of two means
    assert (low, high) == pytest.approx((50.5 - half, 50.5 + half), rel=0.05)
