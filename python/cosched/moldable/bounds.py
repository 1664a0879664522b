"""Proven lower bounds on both criteria."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosched import _core
from cosched.core import Bound
from cosched.core.arrays import flag, integer, positive, real, real_array, time_limit_of
from cosched.core.limits import budget
from cosched.core.options import named
from cosched.errors import InvalidInstance, SolverError, TimeLimit, shorten
from cosched.moldable.instance import Instance

#: Effort of ``optimal`` by default: deterministic, no clock.
OPTIMAL_WORK: int = _core.moldable.OPTIMAL_WORK
#: Work of the search of ``destructive`` by default: about a second.
DESTRUCTIVE_WORK = 1_000_000_000
#: Work of the search for projects in the bound beside makespans: some ten milliseconds.
PROJECT_WORK = 20_000_000
#: Up to so many jobs a proof of optimality is tried without being asked for.
EXACT_JOBS: int = _core.moldable.EXACT_JOBS


def dual_approximation_bound(instance: Instance, *, tolerance: float = 0.01) -> Bound:
    """The greatest makespan that the dual approximation proves too short (s).

    For any profiles. Release dates are relaxed there; the bound is then the
    better of that and of an area argument that respects them.

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> dual_approximation_bound(inst).value <= cs.moldable.dual_approximation(inst).makespan
    True
    """
    Instance.require(instance)
    precision = real(tolerance, "tolerance")
    value = _core.moldable.dual_approximation_bound(instance._core, precision)
    return Bound(value, "dual-approximation")


def area_bound(instance: Instance) -> Bound:
    """max over r of r + (least work of the jobs released from r on) / m (s). Any profiles.

    Where jobs need resources, the least C for which counts exist whose work keeps within m C and
    whose needs x time within each capacity x C (a linear programme).

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> area_bound(inst)
    Bound(5.33333333, 'area')
    """
    Instance.require(instance)
    return Bound(_core.moldable.area_bound(instance._core), "area")


def longest_bound(instance: Instance) -> Bound:
    """max_i (r_i + min_q t_i(q)): no job is faster than its fastest (s). Any profiles.

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> longest_bound(inst)
    Bound(3.1, 'longest')
    """
    Instance.require(instance)
    return Bound(_core.moldable.longest_bound(instance._core), "longest")


def configurations_bound(instance: Instance, *, time_limit: float | None = None) -> Bound:
    """Lower bound by mixes of what may run together: column generation over configurations.

    Every schedule is a mix of *configurations*, jobs with counts that fit together, each run for
    some seconds. Minimise these seconds so that every job is done, at the rates that the jobs of a
    configuration leave each other. Never below ``area`` and ``longest``.

    Parameters
    ----------
    time_limit : float, optional
        Seconds after which a weaker, still valid bound is returned.

    Returns
    -------
    Bound
        Of the makespan (s). It knows slow-downs and resources, and holds under any law of
        slow-downs; releases it knows by ``area`` and ``longest`` alone.

    Notes
    -----
    Fixed work without a limit; prices divided by the greatest worth that a configuration may have
    are a bound whenever it ends. See ``cpp/cosched/moldable/shared/configurations.hpp``.

    Examples
    --------
    >>> slow = [[1, 2, 2], [2, 1, 2], [2, 2, 1]]
    >>> inst = cs.moldable.Instance([[4.0]] * 3, [1, 1, 1], machines=3, slowdowns=slow)
    >>> round(area_bound(inst).value, 6), round(configurations_bound(inst).value, 6)
    (4.0, 12.0)
    """
    Instance.require(instance)
    value, finished = _core.moldable.configuration_bound(instance._core, time_limit_of(time_limit))
    return Bound(value, "configurations", "ok" if finished else "time_limit")


def slots_bound(instance: Instance, *, time_limit: float | None = None) -> Bound:
    """The longest makespan that prices of time slots refute; never below ``dual-approximation``.

    For a deadline, processor time has a price in each slot. Where the jobs, each on the start and
    count that pay least and keep the deadline, pay more than all the processors are worth, no
    schedule keeps it. Prices by multiplicative weights, the deadline by bisection. For any profiles
    and release dates.

    Parameters
    ----------
    instance : Instance
        With many jobs (more than 2,000 jobs x processors or so) it is ``dual-approximation``,
        which is close to the optimum there.
    time_limit : float, optional
        Seconds after which a weaker, still valid bound is returned.

    Returns
    -------
    Bound
        Of the makespan (s).

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> dual_approximation_bound(inst).value <= slots_bound(inst).value <= 6.3
    True
    """
    value, finished = _core.moldable.slots_bound(instance._core, time_limit_of(time_limit))
    return Bound(value, "slots", "ok" if finished else "time_limit")


def default_grid(instance: Instance) -> NDArray[np.float64]:
    """The grid of the paper's minsum bound: C/2^K, ..., C, 2C (Section 3.3).

    C is the makespan of :func:`dual_approximation` plus the latest release, t_min the least
    time of any job, K = floor(log2(C / t_min)), at most 60.

    Returns
    -------
    numpy.ndarray
        Increasing seconds.

    Examples
    --------
    >>> inst = Instance([[4.0, 2.0], [4.0, 2.0]], weights=[1, 1])
    >>> default_grid(inst).tolist()
    [2.0, 4.0, 8.0]
    """
    Instance.require(instance)
    return _core.moldable.default_grid(instance._core)


def minsum_bound(
    instance: Instance,
    *,
    grid: object = None,
    refine: int = 1,
    tight: bool = True,
    method: str = "structured",
) -> Bound:
    """Lower bound on sum w_i C_i: a linear programme over time intervals (Section 3.3), exact.

    x_ij is the part of job i that ends in interval j, (g_j, g_{j+1}]. Minimise
    sum w_i c_ij x_ij where each job ends somewhere, and for each j the jobs that end by g_{j+1}
    have least areas of at most m g_{j+1} together.

    *It is a bound*: any schedule gives an x with the same jobs ending in the same intervals. A job
    that ends by g_{j+1} runs at most g_{j+1} - r_i seconds, so holds at least the least area
    q t_i(q) with t_i(q) <= g_{j+1} - r_i; all those areas lie between 0 and g_{j+1} on m
    processors. C_i is at least g_j, and at least r_i + min_q t_i(q). This needs an interval from
    0 and one after the last g, since an optimal schedule may be longer than any that was built:
    both are always added here (the last without end and without area row, which gives the
    same value as an interval (C, 2C]). Without them the result can be too high, and no bound.

    *Finer is never lower*: of a grid that contains another, the sums of x over the coarser
    intervals satisfy the coarser programme at no more cost.

    Parameters
    ----------
    instance : Instance
        Any profiles, any release dates.
    grid : array_like, optional
        Ends of the intervals: increasing, finite, > 0 (a leading 0 is allowed).
        None: :func:`default_grid`.
    refine : int
        Cuts each interval of the grid into this many equal ones. The value rises with every
        multiple of it.
    tight : bool
        c_ij = max(g_j, r_i + min_q t_i(q)); False: the paper's c_ij = g_j.
    method : {"structured", "glpk"}
        A simplex method that knows the structure, or GLPK's dual simplex on the programme as it
        stands: the reference, slower. Both agree to 1e-9.

    Raises
    ------
    InvalidInstance
        A bad grid; more than 2,000 intervals, or 50 million intervals x jobs; 20 million
        coefficients for GLPK; an unknown method.

    Notes
    -----
    The structured method solves n + J rows (J intervals) with a J x J basis; its speed against
    GLPK and HiGHS stands in ``docs/benchmarks.md``. Either way the value returned is that of the
    dual solution, so that rounding cannot raise it above the optimum.

    Examples
    --------
    >>> inst = Instance([[4.0, 2.0], [4.0, 2.0]], weights=[1, 1])
    >>> float(minsum_bound(inst)), round(float(minsum_bound(inst, refine=16)), 6)
    (4.0, 4.9375)
    """
    Instance.require(instance)
    if method not in ("structured", "glpk"):
        raise InvalidInstance(f"method = {shorten(method)}: expected 'structured' or 'glpk'")
    ends = None if grid is None else real_array(grid, "grid", 1)
    value = _core.moldable.minsum_bound(
        instance._core, ends, integer(refine, "refine", 1), flag(tight, "tight"), method == "glpk"
    )
    return Bound(value, "minsum")


def time_indexed_bound(instance: Instance, *, time_limit: float | None = None) -> Bound:
    """Lower bound on sum w_i C_i by starts in time slots, mostly far better than ``minsum``.

    Processor time has a price in each slot, and at any prices each job takes its cheapest start
    and count on its own: that sum, less what the machine's processors are worth at these prices, is
    a bound (for times, releases and profiles as they are). Prices are found by a subgradient
    method. See ``cpp/cosched/moldable/search/time_prices.hpp``.

    Parameters
    ----------
    instance : Instance
        Beyond 2,000 jobs, or where jobs x processors are too many: 0, which says nothing.
    time_limit : float, optional
        Seconds after which a weaker, still valid bound is returned.

    Examples
    --------
    >>> inst = Instance([[4.0, 2.0], [4.0, 2.0]], weights=[1, 1])
    >>> minsum_bound(inst).value < time_indexed_bound(inst).value <= 6
    True
    """
    Instance.require(instance)
    value, finished = _core.moldable.time_indexed_bound(instance._core, time_limit_of(time_limit))
    return Bound(value, "time-indexed", "ok" if finished else "time_limit")


def optimal_bound(
    instance: Instance,
    *,
    objective: str = "makespan",
    work: int | None = None,
    time_limit: float | None = None,
) -> Bound:
    """What the search of :func:`cosched.moldable.optimal` proves: for few jobs the optimum itself.

    Up to a dozen jobs the search knows edges and resources. Slow-downs, and edges or resources of
    more jobs, it leaves out. Never below ``configurations`` where jobs share something, nor below
    ``work-and-path`` where they have edges.

    Parameters
    ----------
    instance : Instance
        At most 30 jobs.
    objective : {"makespan", "minsum"}
    work, time_limit
        As for :func:`cosched.moldable.optimal`; by default a tenth of its work.

    Examples
    --------
    >>> inst = Instance([[4.0, 2.0], [4.0, 2.0]], weights=[1, 1])
    >>> float(optimal_bound(inst)), float(optimal_bound(inst, objective="minsum"))
    (4.0, 6.0)
    """
    Instance.require(instance)
    chosen = named(objective, "objective", _core.moldable.Objective)
    effort, limit = budget(work, time_limit, OPTIMAL_WORK // 10)
    is_known = not instance.sharing.slows and instance.jobs <= EXACT_JOBS
    solved = instance._core if is_known else instance._core.alone()
    _, value, stopped_by = _core.moldable.optimal(solved, chosen, effort, limit)
    bound = Bound(value, "optimal", "time_limit" if stopped_by == "time" else "ok")
    if objective == "makespan" and len(instance.edges):
        return max(bound, work_path_bound(instance), key=float)
    if objective == "makespan" and instance.sharing:
        return max(bound, configurations_bound(instance, time_limit=limit), key=float)
    return bound


@dataclass(frozen=True)
class WorkPath:
    """An optimum of the work-and-path programme, with its proof.

    Attributes
    ----------
    value : float
        No schedule is shorter (s).
    duration : numpy.ndarray, shape (n,)
        Seconds of each job in the programme.
    weights : numpy.ndarray, shape (2 + resources,)
        Of the work, of each resource, and of the longest path: sum 1.
    task_flow : numpy.ndarray, shape (n,)
        Flow through each job.
    edges, edge_flow : numpy.ndarray, shapes (r, 2), (r,)
        Edges with flow, and how much.
    status : {"ok", "time_limit"}
    note : str
        What went wrong on the way; empty: nothing.

    Examples
    --------
    >>> inst = Instance([[4.0, 2.5], [3.0, 2.0], [2.0, 1.5]], edges=[(0, 2), (1, 2)])
    >>> programme = work_and_path(inst)
    >>> round(programme.value, 6), round(programme.bound(inst), 6)
    (4.909091, 4.909091)
    """

    value: float
    duration: NDArray[np.float64]
    weights: NDArray[np.float64]
    task_flow: NDArray[np.float64]
    edges: NDArray[np.int64]
    edge_flow: NDArray[np.float64]
    status: str = "ok"
    note: str = ""

    def bound(self, instance: Instance) -> float:
        """The bound it proves, checked from scratch by code that no solver shares.

        Raises
        ------
        SolverError
            It proves nothing for this instance: what is wrong is named.
        """
        certificate = {name: getattr(self, name) for name in _CERTIFICATE}
        return _core.moldable.work_path_certified_bound(instance._core, certificate)


_CERTIFICATE = ("weights", "task_flow", "edges", "edge_flow")


def work_and_path(instance: Instance) -> WorkPath:
    """Solve the work-and-path programme of jobs with precedence.

    Minimise L where the time and the work of each job lie on the lower convex hull of its counts,
    all work is at most m L, the amounts of each resource at most its capacity times L, and the
    longest path, release dates included, at most L.

    Raises
    ------
    TimeLimit
        A limit passed before anything was proved.

    References
    ----------
    Lepere, Trystram, Woeginger 2002; Jansen, Zhang 2006.

    Examples
    --------
    >>> inst = Instance([[4.0, 2.5], [3.0, 2.0], [2.0, 1.5]], edges=[(0, 2), (1, 2)])
    >>> work_and_path(inst).duration.tolist()[2] <= 2.0
    True
    """
    Instance.require(instance)
    value, duration, certificate, complete, failure = _core.moldable.work_and_path(instance._core)
    if not len(certificate["weights"]):
        raise TimeLimit("the time limit has passed")
    status = "ok" if complete or failure else "time_limit"
    return WorkPath(value, duration, **certificate, status=status, note=failure)


def work_path_bound(instance: Instance) -> Bound:
    """The work-and-path programme, or where more is proved heads and tails: the default with edges.

    Heads and tails: within a makespan L each job has a window, from the longest path before it to
    the longest path behind it, so it runs on a count that is short enough; L is refuted where the
    jobs with a head and a tail of at least so much have more work, or need more of a resource, than
    fits between. Never below ``longest`` and ``area``.

    Returns
    -------
    Bound
        Of the makespan (s).

    Examples
    --------
    >>> inst = Instance([[4.0, 2.5], [3.0, 2.0], [2.0, 1.5]], edges=[(0, 2), (1, 2)])
    >>> 4.91 < work_path_bound(inst).value <= 5.5 * (1 + 1e-9)
    True
    """
    programme = work_and_path(instance)
    value = _core.moldable.heads_and_tails(instance._core, programme.value)
    return Bound(value, "work-and-path", programme.status, programme.note)


def destructive_bound(
    instance: Instance,
    *,
    makespan: float | None = None,
    work: int | None = None,
    time_limit: float | None = None,
) -> Bound:
    """The longest makespan that windows and a search rule out, of jobs with edges or resources.

    Within a makespan each job has a window. Windows shrink by precedence, by pairs of jobs that do
    not fit next to each other, by what surely runs, and by energetic reasoning; a makespan is
    ruled out where a window becomes too short, or an interval overfull. Where neither is so, a
    search follows. For jobs on one count with integer times it learns clauses from its conflicts;
    enough work then finds the optimum. Else it orders pairs and halves windows. Never below
    ``work-and-path`` (with edges), ``area`` and ``longest``.

    Parameters
    ----------
    instance : Instance
        With more than 300 jobs, or 20,000 jobs x counts, nothing more is ruled out. Slow-downs are
        left out.
    makespan : float, optional
        Of a schedule that is known (s): the makespan just below it is tried first, none above it.
    work : int, optional
        Of the search, about a nanosecond each; 0: windows alone. By default 1e9, or without end
        where there is a time limit.
    time_limit : float, optional
        Seconds after which what is proved so far is returned.

    Returns
    -------
    Bound
        Of the makespan (s). Where times are no integers it is found to a millionth.

    References
    ----------
    Klein, Scholl, Computing lower bounds by destructive improvement, European Journal of
    Operational Research 112 (1999). Baptiste, Le Pape, Nuijten, Satisfiability tests and time-bound
    adjustments for cumulative scheduling problems, Annals of Operations Research 92 (1999). Vilim,
    Laborie, Shaw, Failure-directed search for constraint-based scheduling, CPAIOR 2015. Schutt,
    Feydy, Stuckey, Wallace, Explaining the cumulative propagator, Constraints 16 (2011).

    Examples
    --------
    >>> cranes = {"resources": {"crane": [2, 2, 1]}, "capacity": {"crane": 3}}
    >>> inst = Instance([[4.0], [3.0], [5.0]], machines=3, edges=[(0, 2)], **cranes)
    >>> area_bound(inst), destructive_bound(inst)
    (Bound(6.33333333, 'area'), Bound(9, 'destructive'))
    """
    Instance.require(instance)
    known_makespan = np.inf if makespan is None else positive(makespan, "makespan")
    steps, limit = budget(work, time_limit, DESTRUCTIVE_WORK)
    low = float(_simple_bound(instance))
    value, finished = _core.moldable.destructive_bound(
        instance._core, low, known_makespan, steps, limit
    )
    return Bound(value, "destructive", "ok" if finished else "time_limit")


def _simple_bound(instance: Instance) -> Bound:
    """The best bound that takes no search."""
    bounds = [area_bound(instance), longest_bound(instance)]
    if len(instance.edges):
        bounds.append(work_path_bound(instance))
    return max(bounds, key=float)


def is_project(instance: Instance) -> bool:
    """Whether jobs with edges or resources have one count and integer times each."""
    has_constraints = bool(len(instance.edges)) or bool(instance.sharing)
    return has_constraints and _core.moldable.suits_project_search(instance._core)


def project_bound(instance: Instance) -> Bound:
    """A short ``destructive``: some ten milliseconds of its search. Requires :func:`is_project`."""
    low = float(_simple_bound(instance))
    return Bound(_core.moldable.project_bound(instance._core, low, PROJECT_WORK), "destructive")


def best_bound(instance: Instance) -> Bound:
    """The bound beside the makespans of an instance."""
    if not is_project(instance):
        return _best_without_search(instance)
    if len(instance.edges):
        return project_bound(instance)  # never below the bound without a search
    return max(project_bound(instance), _best_without_search(instance), key=float)


def _best_without_search(instance: Instance) -> Bound:
    if len(instance.edges):
        return work_path_bound(instance)
    bounds = slots_bound(instance)
    if instance.jobs <= EXACT_JOBS:
        return max(optimal_bound(instance), bounds, key=float)
    if instance.sharing:
        return max(configurations_bound(instance), bounds, key=float)
    return bounds


def minsum_bound_beside(instance: Instance) -> Bound:
    """The best of :func:`time_indexed_bound`, the paper's on a finer grid, and a search."""
    bounds = [time_indexed_bound(instance)]
    if instance.jobs <= EXACT_JOBS:
        bounds.append(optimal_bound(instance, objective="minsum"))
    try:
        grid = default_grid(instance)
        parts = min(8, max(1, 160 // len(grid))) if instance.jobs <= 10_000 else 1
        bounds.append(minsum_bound(instance, grid=grid, refine=parts))
    except TimeLimit:  # of compare: the others say something at any time
        bounds.append(Bound(0.0, "minsum", "time_limit"))
    except SolverError as error:
        bounds.append(Bound(0.0, "minsum", note=f"a part of it failed ({error})"))
    cut = any(bound.status != "ok" for bound in bounds)
    best_value = float(max(bounds, key=float))
    return Bound(best_value, "minsum", "time_limit" if cut else "ok", bounds[-1].note)
