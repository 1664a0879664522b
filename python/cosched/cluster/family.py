"""The family of clusters: names of policies, policies of one's own, the command line's options."""

from collections.abc import Callable, Mapping
from typing import Any

from cosched.cluster import algorithms, plots
from cosched.cluster.bounds import max_stretch_bound
from cosched.cluster.exported_files import write_jobs_csv, write_log_csv
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import has_waits
from cosched.cluster.result import Result
from cosched.cluster.schedule import Schedule
from cosched.core import AlgorithmTable, Bound, Family, Output, Presentation

BOUNDS: dict[str, Callable[..., Bound]] = {"max-stretch": max_stretch_bound}

ALGORITHMS = AlgorithmTable(
    "cluster",
    {
        "FCFS": algorithms.fcfs,
        "EASY": algorithms.easy,
        "conservative": algorithms.conservative,
        "EASY (perfect estimates)": algorithms.easy_with_perfect_estimates,
        "conservative (perfect estimates)": algorithms.conservative_with_perfect_estimates,
        "as-logged": algorithms.as_logged,
        **{
            name: policy
            for name in algorithms.paper_policies()
            if (policy := algorithms.resolve(name)) is not None
        },
    },
)

#: What ``compare`` runs: the 20 policies of the paper's Table 2; first what the log itself did,
#: where it says.
DEFAULT_COMPARE = algorithms.TABLE_2


def _default_names(instance: Instance) -> tuple[str, ...]:
    logged = ("as-logged",) if has_waits(instance) else ()
    partitions = len(instance.partition_layout[0]) > 0  # DFRS policies refuse them
    return (*logged, *(("FCFS", "EASY", "conservative") if partitions else DEFAULT_COMPARE))


def remark(row: Mapping[str, Any]) -> str:
    """What a row says of itself: a log that uses more than there is."""
    hours = row.get("overcommitted_hours", 0.0)
    if not hours > 0:
        return ""
    return (
        f"for {hours:.4g} h the log has more nodes in use than the machine or a partition has "
        f"(at most {row['most_nodes_in_use']:g} at once)"
    )


FAMILY = Family(
    name="cluster",
    instance_type=Instance,
    schedule_type=Schedule,
    result_type=Result,
    default_bound="max-stretch",
    result_of=algorithms.result_of_schedule,
    default_names=_default_names,
    resolve=algorithms.resolve,
    register_policy=lambda name, policy: register_policy(name, policy),
    algorithms=ALGORITHMS,
    bounds=BOUNDS,
)

PRESENTATION = Presentation(
    family=FAMILY,
    objective="maximum bounded slowdown",
    outputs=(
        Output(
            "--log",
            "log",
            "Write why jobs started, waited, were paused or moved, one row per event: .csv.",
            write_log_csv,
            options={"log": True},
        ),
        Output(
            "--jobs", "jobs", "Write one row per job, as evalys reads it: .csv.", write_jobs_csv
        ),
    ),
    panels=(plots.occupation, plots.utilization, plots.queue_length),
    recorded="as-logged",
    remark=remark,
    screen=(
        "estimates",
        "mean_wait",
        "median_wait",
        "p95_wait",
        "mean_bounded_slowdown",
        "utilization",
    ),
    patience=None,  # a simulation that is cut short has no result; Ctrl-C keeps the rows
    spelling="FCFS, EASY, conservative, slurm-backfill, as-logged, 'EASY (perfect estimates)', "
    "'conservative (perfect estimates)', "
    "and 'SUBMIT */per/opt=min/minvt=600' with "
    "SUBMIT Greedy, GreedyP, GreedyPM, MCB8 or nothing; also /stretch-per, opt=avg, "
    "opt=max, minft=; parts may be left out",
)


def register_policy(name: str, policy: Any) -> None:
    """Add a policy of one's own to the family, under `name`.

    Parameters
    ----------
    name : str
        Then ``solve(instance, name)`` and ``compare`` know it.
    policy : object or callable
        As for :func:`python_policy`; a class (or a function that returns a policy) is called
        for each simulation, so that a policy may keep a state.

    Raises
    ------
    TypeError
        Neither a policy with ``on_event`` nor a callable.
    ValueError
        An empty name, or the name of a built-in policy.

    Examples
    --------
    >>> class OneAtATime:
    ...     def on_event(self, event, state):
    ...         first = min(state.jobs, default=None)
    ...         return {} if first is None else {first: (range(state.jobs[first].tasks), 1.0)}
    >>> cs.cluster.register_policy("one at a time", OneAtATime)
    >>> jobs = {"submit": [0, 0], "tasks": [2, 1], "cpu": [1, 1], "memory": [1, 1],
    ...         "runtime": [20.0, 30.0]}
    >>> cs.cluster.solve(cs.cluster.Instance(jobs, nodes=2), "one at a time").jobs.end.tolist()
    [20.0, 50.0]
    """
    if not callable(policy) and not callable(getattr(policy, "on_event", None)):
        raise TypeError(f"{name}: expected a policy with on_event(event, state)")

    def build_policy() -> Any:
        ready = hasattr(policy, "on_event") and not isinstance(policy, type)
        policy_object = policy if ready else policy()
        if not callable(getattr(policy_object, "on_event", None)):
            raise TypeError(f"{name}: expected a policy with on_event(event, state)")
        return policy_object

    doc = getattr(policy, "__doc__", None) or f"The registered policy {name!r}."
    FAMILY.register(name, algorithms.algorithm_of(algorithms.python_policy, build_policy, doc))
