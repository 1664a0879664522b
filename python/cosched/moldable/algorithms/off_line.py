"""The off-line algorithms."""

from cosched import _core
from cosched.core import Bound
from cosched.core.arrays import integer, real, seed_of
from cosched.core.options import named
from cosched.moldable.algorithms.batches import on_line_by_batches
from cosched.moldable.instance import KNOWING, Instance
from cosched.moldable.result import Result, make_result


@on_line_by_batches
def demt(
    instance: Instance,
    *,
    compaction: str = "shuffle",
    local_order: str = "density",
    shuffles: int = 10,
    horizon: float | None = None,
    seed: int | None = None,
) -> Result:
    """The paper's bi-criteria algorithm (Section 3.2): batches of doubling length, then compaction.

    With C = `horizon`, t_min the least time of any job and K = floor(log2(C / t_min)), batch j has
    length t_j = C / 2^(K-j). Each takes the jobs of greatest total weight that fit in it on m
    processors, each on the fewest processors with t_i <= t_j (a knapsack, exact; short sequential
    jobs are stacked first, by decreasing weight). Compaction in three steps: each item starts as
    early as its processors are idle; list scheduling in batch order; the same with shuffled
    batches. Each step keeps the better schedule: less sum w_i C_i, then less makespan. No
    guarantee.

    Parameters
    ----------
    compaction : {"shuffle", "list", "early", "none"}
        The last step that is made.
    local_order : {"density", "smith", "weight", "area"}
        Order of a batch's jobs in the list: decreasing w / (q t), w / t, w, or increasing q t.
    shuffles : int
        Random orders of the batches, >= 0.
    horizon : float, optional
        C. None: the makespan of :func:`dual_approximation`.
    seed : int, optional
        For the shuffles; None means 0.

    Notes
    -----
    Milliseconds for 400 jobs on 200 processors, a second or two for 100,000 on 10,000. What the
    paper leaves open and is chosen here: the local order, what "best" means for two criteria, and
    that processors a knapsack leaves idle go to jobs of weight 0.

    References
    ----------
    Dutot, Eyraud, Mounie, Trystram 2004, Section 3.2.

    Examples
    --------
    >>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]
    >>> result = cs.moldable.demt(cs.moldable.Instance(times, weights=[1, 2, 4]))
    >>> round(result.makespan, 6), round(result.weighted_completion, 6)
    (8.9, 20.7)
    """
    instance.require_unshared("demt", KNOWING)
    seed_value = seed_of(seed)
    placement = _core.moldable.demt(
        instance._core,
        named(compaction, "compaction", _core.moldable.Compaction),
        named(local_order, "local_order", _core.moldable.LocalOrder),
        integer(shuffles, "shuffles"),
        None if horizon is None else real(horizon, "horizon"),
        seed_value,
    )
    return make_result(instance, "demt", placement, seed=seed_value)


@on_line_by_batches
def dual_approximation(instance: Instance, *, tolerance: float = 0.01) -> Result:
    """Makespan within 3/2 (1 + tolerance) of the optimum (Mounie, Rapine, Trystram); see Notes.

    For a guess d of the makespan, a knapsack parts the long jobs into a shelf of length d and one
    of length d/2; transformations then make both fit side by side. Either that gives a
    schedule of length 3d/2, or d is proved too short. Bisection to the relative tolerance; the
    greatest d that was proved too short is ``bound``.

    Deviation: the published transformations do not always
    suffice (4 processors and 4 jobs can defeat them); a fourth one, with its proof in
    ``cpp/cosched/moldable/dual/shelves.hpp``, closes the gap.

    Returns
    -------
    Result
        ``ratio`` is what is guaranteed: 3/2 (1 + tolerance), or 2 (1 + tolerance).

    Notes
    -----
    3/2 needs work q t(q) that does not fall with processors, and jobs that can run on one. Where a
    profile breaks that, the guarantee is 2, by list scheduling on the counts of least work that
    keep the guess (Turek, Wolf, Yu 1992). The bound holds for any profiles.

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> result = cs.moldable.dual_approximation(inst)
    >>> result.makespan, round(result.ratio, 3), result.gap < 0.5
    (8.0, 1.515, True)
    """
    instance.require_unshared("dual-approximation", KNOWING)
    precision = real(tolerance, "tolerance")
    placement, lower_bound, ratio = _core.moldable.dual_approximation(instance._core, precision)
    return make_result(
        instance,
        "dual-approximation",
        placement,
        own_bound=Bound(lower_bound, "dual-approximation"),
        ratio=ratio * (1 + precision),
    )


@on_line_by_batches
def gang(instance: Instance) -> Result:
    """Each job alone, on its best count up to m, by decreasing w_i / t_i(m).

    Raises
    ------
    InvalidInstance
        Above 2^25 processors in all (n m), where their numbers could not be listed.

    Notes
    -----
    Optimal for sum w_i C_i when all speed-ups are linear. O(n log n).

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> cs.moldable.gang(inst).start.tolist()
    [3.4, 0.9, 0.0]
    """
    return make_result(instance, "gang", _core.moldable.gang(instance._core))


@on_line_by_batches
def sequential(instance: Instance) -> Result:
    """Each job on one processor, the longest first (LPTF) to the processor that is idle first.

    A job that cannot run on one gets the fewest on which it can.

    Notes
    -----
    O(n log n).

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> cs.moldable.sequential(inst).end.tolist()
    [8.0, 6.0, 2.0]
    """
    return make_result(instance, "sequential", _core.moldable.sequential(instance._core))


def _list_graham(instance: Instance, order: str, tolerance: float) -> Result:
    chosen = getattr(_core.moldable.ListOrder, order)
    placement = _core.moldable.list_graham(instance._core, chosen, real(tolerance, "tolerance"))
    return make_result(instance, f"list-{order}", placement)


@on_line_by_batches
def list_shelf(instance: Instance, *, tolerance: float = 0.01) -> Result:
    """List scheduling with the allotment of :func:`dual_approximation`, in its shelf order.

    The allotment is the one after the transformations.

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> cs.moldable.list_shelf(inst).procs.tolist()
    [1, 1, 1]
    """
    return _list_graham(instance, "shelf", tolerance)


@on_line_by_batches
def list_lptf(instance: Instance, *, tolerance: float = 0.01) -> Result:
    """As :func:`list_shelf`, by decreasing w_i / t_i ("weighted LPTF", as the paper defines it).

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> cs.moldable.list_lptf(inst).start.tolist()
    [0.0, 0.0, 0.0]
    """
    return _list_graham(instance, "lptf", tolerance)


@on_line_by_batches
def list_saf(instance: Instance, *, tolerance: float = 0.01) -> Result:
    """As :func:`list_shelf`, smallest area (processors x time) first.

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> cs.moldable.list_saf(inst).start.tolist()
    [0.0, 0.0, 0.0]
    """
    return _list_graham(instance, "saf", tolerance)


def replay(instance: Instance, result: Result) -> Result:
    """A schedule's jobs in its order, on its processors, where they share the machine.

    What a plan made as if nobody slowed anybody comes to: each job starts when those before it on
    its processors have ended, and it fits.

    Parameters
    ----------
    instance : Instance
        The same jobs, sharing something.
    result : Result
        Of :func:`cosched.moldable.solve`, on the same jobs.

    Raises
    ------
    InvalidInstance
        `instance` shares nothing, or has another number of jobs.

    Examples
    --------
    >>> inst = cs.moldable.Instance([[4.0, 2.0], [3.0, 2.0]], slowdowns=[[1, 1.5], [1.5, 1]])
    >>> plain = cs.moldable.solve(inst.without_slowdowns(), "list-shelf")
    >>> plain.value, replay(inst, plain).value
    (4.0, 5.5)
    """
    Instance.require(instance)
    Result.require(result)
    columns = (result.procs, result.start, result.end)
    placement = _core.moldable.replay(instance._core, columns)
    return make_result(instance, result.algorithm, placement)
