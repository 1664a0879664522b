"""The theorems of Amaris et al. 2017 on their worst cases; Figures 3 to 7: off-line and on-line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import dags, plot, workloads
from cosched.core import Result
from cosched.dags import Instance, plots
from cosched.dags.workloads import fork_join, tiled
from cosched.dags.workloads.theorems import theorem5_shares
from cosched.experiments.dags import transfers
from cosched.experiments.study import (
    Functions,
    Task,
    data_path,
    has_data,
    read_studies,
    with_registered,
)
from cosched.lazy import pd, plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Stands for an algorithm in the task that computes LP*.
BOUND = "LP*"
OFFLINE = ("hlp-est", "hlp-ols", "heft", "hlp-best")
#: sqrt(m/k) of the least and the greatest machine.
ROOTS = (1.0, 8.0)
ONLINE = ("er-ls", "eft", "greedy", "random", "r1-ls", "r2-ls")

Pairs = Mapping[str, tuple[str, str]]
_OFFLINE_PAIRS: Pairs = {
    "HLP-EST / HLP-OLS": ("hlp-est", "hlp-ols"),
    "HEFT / HLP-OLS": ("heft", "hlp-ols"),
}
_THREE_TYPE_PAIRS: Pairs = {
    "QHEFT / QHLP-OLS": ("heft", "hlp-ols"),
    "QHLP-EST / QHLP-OLS": ("hlp-est", "hlp-ols"),
}
_OWN_PAIRS: Pairs = {
    "hlp-best / HLP-OLS": ("hlp-best", "hlp-ols"),
    "hlp-best / HEFT": ("hlp-best", "heft"),
}
TWO_TYPES, THREE_TYPES = {**_OFFLINE_PAIRS, **_OWN_PAIRS}, {**_THREE_TYPE_PAIRS, **_OWN_PAIRS}
_ONLINE_PAIRS: Pairs = {"Greedy / ER-LS": ("greedy", "er-ls"), "EFT / ER-LS": ("eft", "er-ls")}


def _wide(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a row an instance, a column an algorithm; ``lp`` is LP*."""
    keys = ["application", "graph", "units", "cpus", "gpus"]
    rows = frame.assign(units=frame.units.astype(str))
    wide = rows.pivot(index=keys, columns="algorithm", values="value").reset_index()
    algorithms = [name for name in frame.algorithm.unique() if name != BOUND]
    return wide[[*keys, BOUND, *algorithms]].rename(columns={BOUND: "lp"})


def _algorithms(wide: pd.DataFrame) -> list[str]:
    return wide.loc[:, "lp":].columns.drop("lp").tolist()


def _offline(wide: pd.DataFrame) -> list[str]:
    """Return the off-line algorithms that were run."""
    return [name for name in OFFLINE if name in wide]


def _ratio_table(wide: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of makespan / LP* by application, over all instances, and the greatest."""
    names = _algorithms(wide)
    ratio = wide[names].div(wide.lp, axis=0)
    means = ratio.groupby(wide.application).mean()
    means.loc["all"] = ratio.mean()
    means.loc["greatest"] = ratio.max()
    return means.round(4).reset_index(names="application")


def _pair_table(wide: pd.DataFrame, pairs: Pairs) -> pd.DataFrame:
    """Return mean, least and greatest of each pairwise ratio, by application and over all."""
    parts = []
    for label, (above, below) in pairs.items():
        ratio = wide[above] / wide[below]
        by_application = ratio.groupby(wide.application).agg(["mean", "min", "max"])
        by_application.loc["all"] = ratio.agg(["mean", "min", "max"])
        parts.append(by_application.reset_index(names="application").assign(ratio=label))
    table = pd.concat(parts).rename(columns={"min": "least", "max": "greatest"})
    return table[["ratio", "application", "mean", "least", "greatest"]].round(4)


def online_tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Makespan / LP*, pairs, mean ratio against sqrt(m / k): on-line."""
    return {**tables(_ONLINE_PAIRS, frame), "competitive": _competitive_table(_wide(frame))}


def tables(pairs: Pairs, frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Makespan / LP*, and of those pairs that were run one over the other."""
    wide = _wide(frame)
    pairs_with_columns = {
        label: pair for label, pair in pairs.items() if set(pair) <= set(wide.columns)
    }
    return {"ratio-to-lp": _ratio_table(wide), "pairs": _pair_table(wide, pairs_with_columns)}


def _competitive_table(wide: pd.DataFrame) -> pd.DataFrame:
    """Return the mean makespan / LP* for each value of sqrt(m / k)."""
    names = _algorithms(wide)
    root = (wide.cpus / wide.gpus) ** 0.5
    means = wide[names].div(wide.lp, axis=0).groupby(root).mean()
    return means.round(4).reset_index(names="sqrt(m/k)").round({"sqrt(m/k)": 4})


def _picture(wide: pd.DataFrame, pairs: Pairs | Sequence[str], title: str) -> Figure:
    figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
    plots.ratios(wide, pairs, ax=ax)
    ax.set_title(title, fontsize=10)
    return figure


def offline_figures(frame: pd.DataFrame) -> dict[str, Figure]:
    """Figures 3 and 4."""
    wide = _wide(frame)
    return {
        "fig3": _picture(wide, _offline(wide), "2 types, off-line: makespan / LP*"),
        "fig4": _picture(wide, _OFFLINE_PAIRS, "2 types, off-line: pairs"),
    }


def three_type_figures(frame: pd.DataFrame) -> dict[str, Figure]:
    """Figure 5."""
    wide = _wide(frame)
    pairs = {"QHEFT / QHLP-OLS": _THREE_TYPE_PAIRS["QHEFT / QHLP-OLS"]}
    return {
        "fig5-left": _picture(wide, _offline(wide), "3 types, off-line: makespan / LP*"),
        "fig5-right": _picture(wide, pairs, "3 types, off-line: QHEFT / QHLP-OLS"),
    }


def online_figures(frame: pd.DataFrame) -> dict[str, Figure]:
    """Figures 6 and 7."""
    wide = _wide(frame)
    applications = [name for name in ("potri", "fork-join") if (wide.application == name).any()]
    figure, axes = plt.subplots(
        1, len(applications), figsize=(10, 4), layout="constrained", squeeze=False
    )
    for ax, application in zip(axes[0], applications, strict=True):
        rows_of_application = wide[wide.application == application]
        ratio = rows_of_application[list(ONLINE[:3])].div(rows_of_application.lp, axis=0)
        long = ratio.assign(root=(rows_of_application.cpus / rows_of_application.gpus) ** 0.5).melt(
            "root", var_name="algorithm"
        )
        plot.lines(long, "root", "value", ax=ax)
        ax.plot(ROOTS, ROOTS, color="grey", linewidth=0.8, label="sqrt(m/k)")
        ax.set(title=application, xlabel="sqrt(m / k)", ylabel="makespan / LP*")
    return {
        "fig6-left": _picture(wide, ONLINE[:3], "on-line: makespan / LP*"),
        "fig6-right": figure,
        "fig7": _picture(wide, _ONLINE_PAIRS, "on-line: pairs"),
    }


def readings_tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Mean makespan by reading, application and algorithm."""
    means = frame.groupby(["reading", "algorithm", "application"], sort=False).value.mean()
    return {"readings": means.unstack("application").reset_index().rename_axis(columns=None)}


#: Theorem -> (m, k, Q) of its families; for list scheduling how many times the CPU is slower.
SIZES = {
    "section 1": [(factor, 1, 2) for factor in (10, 100, 1000)],
    "theorem 1": [(m, k, 2) for m, k in ((4, 2), (9, 3), (16, 4), (64, 8), (100, 1))],
    "theorem 2": [(m, m, 2) for m in (4, 8, 16, 32)],
    "theorem 4": [(m, k, 2) for m, k in ((16, 1), (16, 4), (64, 4), (100, 25))],
    "theorem 5": [(m, m, q) for q, sizes in ((3, (4, 8, 16, 32)), (4, (4, 8, 16))) for m in sizes],
}


def plan_theorems(quick: bool) -> list[Task]:
    """Theorems x sizes of their families."""
    return [
        {"theorem": name, "m": m, "k": k, "types": types}
        for name, sizes in SIZES.items()
        for m, k, types in (sizes[:2] if quick else sizes)
    ]


def run_theorem(task: Task) -> dict[str, Any]:
    """The makespan that the theorem speaks of, beside the best schedule and the best bound."""
    m, k, types = task["m"], task["k"], task["types"]
    if task["theorem"] == "section 1":
        instance = Instance([[float(m), 1.0]] * 2, [], units=(1, 1))
        return _row(instance, dags.solve(instance, "etf").value, m / 2)
    if task["theorem"] == "theorem 1":
        instance = workloads.theorem1(m, k)
        return _row(instance, dags.heft(instance).value, (m + k) / k**2 * (1 - math.exp(-k)))
    if task["theorem"] == "theorem 2":
        instance = workloads.theorem2(m)
        allocation = [0] + [0] * (2 * m + 1) + [1] * (2 * m + 1)
        return _row(instance, _rounded(instance, allocation), 6.0)
    if task["theorem"] == "theorem 4":
        instance = workloads.theorem4(m, k)
        return _row(instance, dags.er_ls(instance).value, math.sqrt(m / k))
    instance = workloads.theorem5(m, types)
    allocation = np.argmax(theorem5_shares(m, types), axis=1)
    return _row(instance, _rounded(instance, allocation), types * (types + 1.0))


def _rounded(instance: Instance, allocation: object) -> float:
    both = [scheduler(instance, allocation).value for scheduler in (dags.est, dags.ols)]
    assert both[0] == both[1], "any schedule of this allocation takes as long"
    return float(both[0])


def _row(instance: Instance, value: float, ratio: float) -> dict[str, Any]:
    best = _best_schedule(instance)
    assert best.bound is not None  # hlp-best proves one
    bound = min(float(best.bound), best.value)
    return {
        "value": value,
        "best": best.value,
        "bound": bound,
        "ratio": value / best.value,
        "paper_ratio": ratio,
    }


#: Schedules that hlp-best builds, and its seed, where its defaults do not prove the optimum.
SECOND_SEARCH: dict[str, Any] = {"work": 100_000, "seed": 1}
#: Tasks up to which there is a second search: it takes some seconds there.
MAX_SECOND_SEARCH_TASKS = 1000


def _best_schedule(instance: Instance) -> Result:
    """Return the best schedule that hlp-best finds; optimal where its bound is its makespan."""
    best_result = dags.hlp_best(instance)
    if best_result.gap and instance.tasks <= MAX_SECOND_SEARCH_TASKS:
        second = dags.hlp_best(instance, **SECOND_SEARCH)
        best_result = min(best_result, second, key=lambda result: float(result.value))
    best_result.schedule.validate()
    return best_result


def tables_of_theorems(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Ratios reached, the paper's beside them."""
    return {"theorems": frame.drop(columns=["task", "status", "seconds"], errors="ignore").round(4)}


CPUS = (16, 32, 64, 128)
GPUS = (2, 4, 8, 16)
#: Schedules that the local search of hlp-best builds for each instance.
EVALUATIONS = 100

#: Name of the files -> the paper's name of the application.
_CHAMELEON = {
    "sgetrf_nopiv": "getrf",
    "sposv": "posv",
    "spotrf": "potrf",
    "spotri": "potri",
    "spotrs": "potrs",
}
_BLOCK_SIZES = (64, 128, 320, 512, 768, 960)
_BLOCKS = (5, 10, 20)
_WIDTHS = (100, 200, 300, 400, 500)
#: The archive of three types has 20 phases too.
_PHASES = {2: (2, 5, 10), 3: (2, 5, 10, 20)}
_GENERATED = "generated"


def _archive(types: int) -> str:
    return f"amaris_het/formatedTasks_{types}.tar.gz"


def _files(types: int) -> Iterator[tuple[str, str]]:
    """Yield (application, path below COSCHED_DATA) of every graph of the authors' benchmark."""
    parts = [
        *(
            (name, size, blocks)
            for name in _CHAMELEON
            for size in _BLOCK_SIZES
            for blocks in _BLOCKS
        ),
        *product(("forkJoin",), _PHASES[types], _WIDTHS),
    ]
    for name, first, second in parts:
        member = f"formatedTasks_{types}/{name}/{name}-{first}-{second}.txt"
        yield _CHAMELEON.get(name, "fork-join"), f"{_archive(types)}:{member}"


def _few_graphs(types: int) -> list[tuple[str, str]]:
    """Return some small files; generated graphs where the benchmark is not there."""
    if has_data(_archive(types)):
        suffixes = ("-128-10.txt", "-512-5.txt", "-512-10.txt", "-2-100.txt", "-5-100.txt")
        return [(name, path) for name, path in _files(types) if path.endswith(suffixes)]
    return [
        *(
            (application, f"{_GENERATED}:{generator} {tiles}")
            for application, generator in (("potrf", "cholesky"), ("getrf", "lu"), ("geqrf", "qr"))
            for tiles in (5, 10)
        ),
        *(("fork-join", f"{_GENERATED}:fork_join {phases}") for phases in (2, 5)),
    ]


def _plan(types: int, names: tuple[str, ...], quick: bool) -> list[Task]:
    """Return graphs x machines x (LP* and the algorithms)."""
    graphs = _few_graphs(types) if quick else list(_files(types))
    machines = list(product(CPUS, *[GPUS] * (types - 1)))
    if quick:
        machines = [units for units in machines if set(units) <= {16, 64, 2, 8}]
    algorithms = (BOUND, *with_registered("dags", names))
    return [
        {
            "application": application,
            "graph": graph,
            "units": list(units),
            "algorithm": name,
            "evaluations": EVALUATIONS if name == "hlp-best" else None,
        }
        for application, graph in graphs
        for units in machines
        for name in algorithms
    ]


@lru_cache(maxsize=2)
def _graph(name: str, types: int) -> Instance:
    """Return a graph of the plan with one unit of each type."""
    place, _, rest = name.partition(":")
    units = (1,) * types
    if place == _GENERATED:
        return _generated(rest, types).with_units(units)
    return Instance.read(f"{data_path(*place.split('/'))}:{rest}", units)


def _generated(name: str, types: int) -> Instance:
    """Return a graph like those of the benchmark; the third type is a GPU of half the speed."""
    generator, _, size = name.partition(" ")
    if generator == "fork_join":
        return fork_join(100, int(size), types=types, seed=0)
    times = {kernel: (cpu, gpu, 2 * gpu)[:types] for kernel, (cpu, gpu) in tiled.TIMES.items()}
    return getattr(tiled, generator)(int(size), times=times, spread=0.1, seed=0)


def _run(task: Task) -> dict[str, Any]:
    """Return LP* or the makespan of one algorithm, for one graph on one machine."""
    cpus, *gpus = task["units"]
    instance = _graph(task["graph"], len(task["units"])).with_units(task["units"])
    row = {"tasks": instance.tasks, "cpus": cpus, "gpus": sum(gpus)}
    if task["algorithm"] == BOUND:
        return {**row, "value": dags.hlp(instance).value}
    options = {"evaluations": task["evaluations"]} if task["evaluations"] else {}
    result = dags.solve(instance, task["algorithm"], seed=0, **options)
    result.schedule.validate()
    return {**row, "status": result.status, "value": result.value, **result.metrics()}


#: Reading -> its algorithms: another optimum of HLP, another order of arrival.
_OTHER_READINGS = {"glpk": ("hlp-est", "hlp-ols"), "levels": ("er-ls", "eft", "greedy")}


def _plan_readings(quick: bool) -> list[Task]:
    return [
        {**task, "reading": reading}
        for reading, names in _OTHER_READINGS.items()
        for task in _plan(2, names, quick)
        if task["algorithm"] in names and (reading != "glpk" or task["graph"].endswith(_SMALL))
    ]


#: GLPK takes no minutes: up to 10 blocks, or two phases up to 300 wide.
_SMALL = ("-5.txt", "-10.txt", "-2-100.txt", "-2-200.txt", "-2-300.txt")


def _run_reading(task: Task) -> dict[str, Any]:
    """Return the makespan of one algorithm under another reading."""
    cpus, gpus = task["units"]
    instance = _graph(task["graph"], 2).with_units(task["units"])
    if task["reading"] == "glpk":
        options: dict[str, Any] = {"method": "glpk"}
    else:
        options = {"order": np.argsort(_levels(task["graph"]), kind="stable")}
    result = dags.solve(instance, task["algorithm"], **options)
    result.schedule.validate()
    return {"tasks": instance.tasks, "cpus": cpus, "gpus": gpus, "value": result.value}


@lru_cache(maxsize=2)
def _levels(graph: str) -> np.ndarray:
    """Return how many tasks precede each on its longest path."""
    instance = _graph(graph, 2)
    level = np.zeros(instance.tasks, dtype=int)
    edges = np.asarray(instance.edges).reshape(-1, 2)
    for _ in range(instance.tasks):
        before = level.copy()
        np.maximum.at(level, edges[:, 1], level[edges[:, 0]] + 1)
        if (before == level).all():
            break
    return level


STUDIES = read_studies(
    "dags",
    {
        "dags-theorems": Functions(plan_theorems, run_theorem, tables_of_theorems),
        "dags-fig3-4": Functions(
            partial(_plan, 2, OFFLINE), _run, partial(tables, TWO_TYPES), offline_figures
        ),
        "dags-fig5": Functions(
            partial(_plan, 3, OFFLINE), _run, partial(tables, THREE_TYPES), three_type_figures
        ),
        "dags-fig6-7": Functions(partial(_plan, 2, ONLINE), _run, online_tables, online_figures),
        "dags-readings": Functions(_plan_readings, _run_reading, readings_tables),
        "dags-transfers": Functions(transfers.plan, transfers.run, transfers.tables),
    },
    globals(),
)
