"""The family of moldable jobs: names of algorithms and bounds; any of them on-line, by batches."""

from collections.abc import Callable

from cosched.core import AlgorithmTable, Bound, Family, Presentation
from cosched.core.arrays import seed_of
from cosched.core.options import by_name
from cosched.moldable import algorithms, bounds
from cosched.moldable.instance import Instance
from cosched.moldable.result import Result, result_of_schedule

BOUNDS: dict[str, Callable[..., Bound]] = {
    "dual-approximation": bounds.dual_approximation_bound,
    "slots": bounds.slots_bound,
    "configurations": bounds.configurations_bound,
    "area": bounds.area_bound,
    "longest": bounds.longest_bound,
    "minsum": bounds.minsum_bound,
    "optimal": bounds.optimal_bound,
    "work-and-path": bounds.work_path_bound,
    "destructive": bounds.destructive_bound,
}

ALGORITHMS = AlgorithmTable(
    "moldable",
    by_name(
        algorithms,
        "demt demt-best local-search optimal dual-approximation gang sequential list-shelf "
        "list-lptf list-saf list-lp list-local",
    ),
)

#: What ``compare`` runs; ``gang`` where its processors can be listed, ``optimal`` for few jobs.
DEFAULT_COMPARE = tuple(ALGORITHMS.of_family)


#: Those that know precedence.
WITH_EDGES = ("list-lp", "list-local", "local-search", "optimal")


def _default_names(instance: Instance) -> list[str]:
    if len(instance.edges):
        is_small = instance.jobs <= bounds.EXACT_JOBS
        return [name for name in WITH_EDGES if is_small or name != "optimal"]
    listable = instance.jobs * instance.machines <= 2**25
    suits = {"gang": listable, "optimal": instance.jobs <= bounds.EXACT_JOBS}
    return [name for name in DEFAULT_COMPARE if suits.get(name, True)]


def _bound_name(instance: Instance) -> str:
    if len(instance.edges) and bounds.is_project(instance):
        return "destructive"
    if len(instance.edges):
        return "work-and-path"
    return "configurations" if instance.sharing else "dual-approximation"


FAMILY = Family(
    name="moldable",
    instance_type=Instance,
    result_type=Result,
    default_bound="dual-approximation",
    bound_name=_bound_name,
    result_of=result_of_schedule,
    default_names=_default_names,
    algorithms=ALGORITHMS,
    bounds=BOUNDS,
)

PRESENTATION = Presentation(
    family=FAMILY,
    objective="makespan",
    unit=" s",
)


def online(
    instance: Instance, algorithm: str = "demt", *, seed: int | None = None, **options: object
) -> Result:
    """Schedule jobs as they are released, by batches (Section 2.2).

    When a batch ends, the jobs that were released meanwhile form the next one, which `algorithm`
    schedules off-line; an idle machine waits for the next release. No batch knows anything of
    later releases. **The makespan ratio doubles**: where `algorithm` is within rho of the
    optimum, this is within 2 rho of the optimum that knows all releases (the last batch takes
    at most rho (OPT - r), r = start of the batch before, since its jobs came after r; and that
    batch at most rho OPT). With ``dual-approximation``: 3 (1 + tolerance),
    or 4 where work may fall with processors.

    ``solve`` and every algorithm but ``local-search``, which knows all releases, do this by
    themselves for an instance with release dates.

    Parameters
    ----------
    algorithm : str
        A key of ``ALGORITHMS``, also of one that was registered.
    **options
        The algorithm's.

    Returns
    -------
    Result
        ``ratio`` is twice the algorithm's.

    References
    ----------
    Dutot, Eyraud, Mounie, Trystram 2004, Section 2.2.

    Examples
    --------
    >>> inst = Instance([[2.0], [2.0], [2.0]], [1, 1, 1], release=[10, 0, 1])
    >>> online(inst, "sequential").start.tolist()
    [10.0, 0.0, 2.0]
    """
    Instance.require(instance)
    seed_value = seed_of(seed)

    def run(part: Instance, **options: object) -> Result:
        result = FAMILY.solve(part, algorithm, seed=seed_value, **options)
        assert isinstance(result, Result)
        return result

    return algorithms.by_batches(instance, f"{algorithm} on-line", run, options, seed_value)
