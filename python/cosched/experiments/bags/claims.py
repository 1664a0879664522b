"""What Li, Liu, Zhang, Cai 2016 claim, row by row."""

from functools import partial
from math import inf

from cosched.experiments import measures as f
from cosched.experiments.bags import measures as m
from cosched.experiments.bags.tables import GRID, TABLE_1
from cosched.experiments.ledger import PICTURE, Claim
from cosched.experiments.tolerances import at_least, at_most, between, near, told

_SPLIT = (
    "how the 12,000 tasks are divided, and how much work a task is where the benchmark reports a "
    "rate, is not said; the value is ours on an even split"
)
_PROOF = "a proof is not run; the tests hold it on small cases"

_row = partial(Claim, paper="li2016", study=m.FIGURE)
_table = partial(_row, study=m.TABLE, prepare=m.even)
_figure = partial(_row, "section IV, Figure 3", prepare=m.draws)
_curve = partial(_row, "Figure 3", prepare=m.by_size)

#: Ratios of profits that rounding does not tell apart are not below 1.
_ONE = 1 - 1e-12
_OVER = f.several(
    *(f.of_ratio(n, (GRID,), ("tms",)) for n in ("least", "place of the least", "greatest"))
)
_SAYS = "TTB's curve is {:.3f} (q = {:g}) to {:.3f} times TMS's"


def _gain(name: str, tasks: str) -> f.Measure[float]:
    """The mean gain over TMS with few or many tasks a machine."""
    return f.of("mean", f"{name}, {tasks}") - 1


# fmt: off
CLAIMS = (
    *(claim for gamma, (tms, ttb) in TABLE_1.items() for claim in (
        _table(f"Table 1, gamma {gamma:g}, tms", "profit per unit of time", tms, None,
            f.at(gamma, "tms"), _SPLIT),
        _table(f"Table 1, gamma {gamma:g}, {GRID}", "profit per unit of time", ttb, None,
            f.at(gamma, GRID), _SPLIT),
        _table(f"Table 1, gamma {gamma:g}", "percent by which TTB is above TMS, on an even split",
            float(f"{100 * (ttb / tms - 1):.3f}"), near(1.0, "another split of the tasks moves it "
            "by a point of per cent and more"), 100 * (f.at(gamma, GRID) / f.at(gamma, "tms") - 1),
            "how the paper splits its tasks is not said", m.MEAN_SPLIT))[:3 if gamma > 1 else 2]),
    _table("section IV, Table 1", "every solution produced by TTB is better than that produced by "
        "TMS: share of 40 splits and 5 gammas, TTB on the grid of section III", 1.0,
        at_least(1.0, "every"), f.share(f.exceeding(1, GRID)),
        reading=m.TMS_TRIED, prepare=m.many_splits),
    _table("section IV, Table 1", "with the makespan of TMS's solution we can obtain a better "
        "solution: share of 40 splits and 5 gammas where ttb is not below TMS", 1.0,
        at_least(1.0, "every"), f.share(f.exceeding(_ONE, "ttb")), prepare=m.many_splits),
    _table("section IV, Table 1", "with gamma = 1 TTB produces the optimal solution: its profit",
        0.0, near(1e-6, "no profit is possible; TMS sees that here"), f.at(1.0, GRID)),
    *(claim for name, reading in ((GRID, m.TMS_TRIED_TOO), ("ttb", None)) for claim in (
        _figure("every solution produced by TTB has a higher profit per unit time: share of 1,000 "
            f"draws where {name} is not below TMS", 1.0, at_least(1.0, "every"),
            f.share(f.exceeding(_ONE, name)), reading=reading),
        _figure("with many tasks the solutions of the two methods are close to each other: mean "
            f"percent by which {name} is above TMS for q of 20 and more", "close",
            at_most(5.0, "no number; within a twentieth"), 100 * _gain(name, "many")),
        _figure("TTB performs much better when the average number of tasks per machine is small: "
            f"mean gain of {name} for q up to 5 over that for q of 20 and more", "much above 1",
            at_least(2.0, "much: twice"), _gain(name, "few") / _gain(name, "many")))),
    *(_curve(f"curve of {title}: profit per unit time by q", PICTURE,
        told("TTB's curve is above TMS's at every q"),
        f.picture(f.points("{}: {:.3f}", name), _OVER, (1, inf), _SAYS))
        for name, title in (("tms", "TMS"), (GRID, "TTB"))),
    _row("section III-D", "the worst-case performance ratio is 2 + 2 eps: greatest bound over "
        "profit rate of TTB on the grid, of which the ratio to the optimum is a part", 2.002,
        between(1.0, 2.002, "eps = 0.001"), f.of("greatest", "over"),
        prepare=m.bounds),
    _row("section IV", "for every experiment where gamma is also a random number TTB is better",
        None, None, None, "how gamma is drawn, and how many experiments, is not said"),
    _row("Theorem 1", "an optimal plan is feasible for the programme of its makespan", None, None,
        None, _PROOF),
    _row("Theorem 2", "Algorithm A at most doubles the makespan and does not add energy", None,
        None, None, _PROOF),
)
