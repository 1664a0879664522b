"""Figures 3 to 7 of Amaris et al. 2017: all algorithms on the whole benchmark."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

from cosched import dags
from cosched.dags import Instance
from cosched.experiments.study import Study, Task, data_path, with_registered

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

CPUS = (16, 32, 64, 128)
GPUS = (2, 4, 8, 16)
OFFLINE = ("hlp-est", "hlp-ols", "heft", "hlp-best")
ONLINE = ("er-ls", "eft", "greedy", "r1-ls", "r2-ls", "random")
#: Schedules that the local search of hlp-best builds for each instance of the study.
EVALUATIONS = 100

_APPLICATIONS = {
    "forkJoin": "fork-join",
    "sgetrf_nopiv": "getrf",
    "sposv": "posv",
    "spotrf": "potrf",
    "spotri": "potri",
    "spotrs": "potrs",
}
_PAIRS = {
    "HLP-EST / HLP-OLS": ("hlp-est", "hlp-ols"),
    "HEFT / HLP-OLS": ("heft", "hlp-ols"),
    "Greedy / ER-LS": ("greedy", "er-ls"),
    "ER-LS / EFT": ("er-ls", "eft"),
    "HLP-BEST / HLP-OLS": ("hlp-best", "hlp-ols"),
    "HLP-BEST / HEFT": ("hlp-best", "heft"),
}


def _archive(types: int) -> str:
    return str(data_path("amaris_het", f"formatedTasks_{types}.tar.gz"))


def _names() -> tuple[str, ...]:
    """The algorithms, and those that the user registered."""
    return with_registered("dags", OFFLINE + ONLINE)


def plan(quick: bool) -> list[Task]:
    """Every file of both archives x 16 (two types) or 64 (three types) machines."""
    from cosched.dags.graphs import archive_members

    machines: dict[int, list[tuple[int, ...]]] = {
        2: list(product(CPUS, GPUS)),
        3: list(product(CPUS, GPUS, GPUS)),
    }
    tasks = []
    for types, all_machines in machines.items():
        members = sorted(archive_members(_archive(types)))
        if quick:
            members = [
                m for m in members if m.endswith(("-128-10.txt", "-512-5.txt", "-2-100.txt"))
            ]
            all_machines = [machine for machine in all_machines if set(machine) <= {16, 64, 2, 8}]
        tasks += [
            {"types": types, "member": member, "units": list(machine)}
            for member in members
            for machine in all_machines
        ]
    return tasks


@lru_cache(maxsize=2)
def _graph(types: int, member: str) -> Instance:
    return Instance.read(f"{_archive(types)}:{member}", units=(1,) * types)


def run(task: Task) -> dict[str, Any]:
    """LP* and the makespans of all algorithms of one file on one machine."""
    import time

    instance = _graph(task["types"], task["member"]).with_units(task["units"])
    name = task["member"].rsplit("/", 1)[-1]
    application = next(v for k, v in _APPLICATIONS.items() if name.startswith(k))
    begin = time.perf_counter()
    row: dict[str, Any] = {
        "application": application,
        "tasks": instance.tasks,
        "cpus": task["units"][0],
        "gpus": sum(task["units"][1:]),
        "lp": dags.hlp(instance).value,
        "seconds_lp": time.perf_counter() - begin,
    }
    for algorithm in _names():
        if task["types"] > 2 and algorithm in ONLINE:
            continue
        options = {"evaluations": EVALUATIONS} if algorithm == "hlp-best" else {}
        begin = time.perf_counter()
        result = dags.solve(instance, algorithm, seed=0, **options)
        row[f"seconds_{algorithm}"] = time.perf_counter() - begin
        result.schedule.validate()
        row[algorithm] = result.value
    return row


# --- tables -------------------------------------------------------------------------------


def _by_application(rows: pd.DataFrame, columns: dict[str, pd.Series]) -> pd.DataFrame:
    """Means by application, and over all rows."""
    import pandas as pd

    table = pd.DataFrame(columns)
    means = table.groupby(rows["application"]).mean()
    means.loc["all"] = table.mean()
    return means.round(4).reset_index(names="application")


def _present(rows: pd.DataFrame) -> list[str]:
    return [name for name in _names() if name in rows and rows[name].notna().any()]


def _findings(frame: pd.DataFrame) -> pd.DataFrame:
    """The paper's numbers beside these: both are mean ratios minus one."""
    import pandas as pd

    two, three = frame[frame.types == 2], frame[frame.types == 3]

    def mean(rows: pd.DataFrame, above: str, below: str) -> float:
        return float((rows[above] / rows[below]).mean() - 1)

    potrs = two[two.application == "potrs"]
    found = [
        ("HLP-EST over HLP-OLS, 2 types", 0.08, mean(two, "hlp-est", "hlp-ols")),
        ("HEFT over HLP-OLS, 2 types", 0.02, mean(two, "heft", "hlp-ols")),
        ("QHEFT over QHLP-OLS, 3 types", -0.05, mean(three, "heft", "hlp-ols")),
        ("Greedy over ER-LS, 2 types", 0.16, mean(two, "greedy", "er-ls")),
        ("Greedy over ER-LS, potrs only", -0.10, mean(potrs, "greedy", "er-ls")),
        ("ER-LS over EFT, 2 types", 0.11, mean(two, "er-ls", "eft")),
    ]
    return pd.DataFrame(
        [
            (what, f"{paper:+.0%}", f"{here:+.1%}", "yes" if paper * here > 0 else "no")
            for what, paper, here in found
            if here == here
        ],
        columns=["mean makespan", "paper", "here", "same sign"],
    )


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    found = {"findings": _findings(frame)}
    for types, rows in frame.groupby("types"):
        present = _present(rows)
        found[f"ratio-to-lp-{types}-types"] = _by_application(
            rows, {name: rows[name] / rows["lp"] for name in present}
        )
        found[f"pairs-{types}-types"] = _by_application(
            rows,
            {
                label: rows[above] / rows[below]
                for label, (above, below) in _PAIRS.items()
                if {above, below} <= set(present)
            },
        )
    return found


def figures(frame: pd.DataFrame) -> dict[str, Figure]:
    import matplotlib.pyplot as plt

    from cosched import plot_dags

    def single(rows, pairs, title):
        figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
        plot_dags.ratios(rows, pairs, ax=ax)
        ax.set_title(title, fontsize=10)
        return figure

    two, three = frame[frame.types == 2], frame[frame.types == 3]
    found = {}
    if len(two):
        found["fig3"] = single(two, OFFLINE, "2 types, off-line: makespan / LP*")
        pairs = {k: v for k, v in _PAIRS.items() if k.startswith("H") and "BEST" not in k}
        found["fig4"] = single(two, pairs, "2 types, off-line: pairs")
        found["fig6-left"] = single(two, ONLINE[:3], "2 types, on-line: makespan / LP*")
        figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
        for ax, application in zip(axes, ("potri", "fork-join"), strict=True):
            plot_dags.competitive(two[two.application == application], ONLINE[:3], ax=ax)
            ax.set_title(application, fontsize=10)
        found["fig6-right"] = figure
        pairs = {"Greedy / ER-LS": ("greedy", "er-ls"), "EFT / ER-LS": ("eft", "er-ls")}
        found["fig7"] = single(two, pairs, "2 types, on-line: pairs")
    if len(three):
        found["fig5-left"] = single(three, OFFLINE, "3 types: makespan / LP*")
        pairs = {"QHEFT / QHLP-OLS": ("heft", "hlp-ols")}
        found["fig5-right"] = single(three, pairs, "3 types: QHEFT / QHLP-OLS")
    return found


STUDIES = (
    Study(
        name="dags-fig3-7",
        title="Task graphs on CPUs and GPUs: all algorithms against LP*",
        family="dags",
        paper="Amaris, Lucarelli, Mommessin, Trystram: Generic algorithms for scheduling "
        "applications on heterogeneous multi-core machines, 2017. Figures 3 to 7.",
        about="Every graph of the authors' benchmark (Chameleon kernels and fork-join) on 16 "
        "machines with two resource types and 64 machines with three. LP* is exact to 1e-9. The "
        "paper's HLP optimum was the vertex that glpsol returned; where optima are not unique this "
        "package takes the one that its documentation states, so HLP-EST and HLP-OLS differ "
        f"from the paper's in size, not in sign. hlp-best ({EVALUATIONS} evaluations) is this "
        "package's own.",
        plan=plan,
        run=run,
        tables=tables,
        figures=figures,
        needs=("amaris_het/formatedTasks_2.tar.gz", "amaris_het/formatedTasks_3.tar.gz"),
        quick_needs=("amaris_het/formatedTasks_2.tar.gz", "amaris_het/formatedTasks_3.tar.gz"),
    ),
)
