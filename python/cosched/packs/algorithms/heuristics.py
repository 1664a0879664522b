"""The heuristics of Section 5, local search, and exact methods."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from cosched import _core
from cosched.core import Bound
from cosched.core.arrays import integer, real_array, seed_of, time_limit_of
from cosched.core.limits import budget, ended_by
from cosched.core.options import named
from cosched.errors import InvalidInstance, shorten
from cosched.packs.instance import KNOWING, Instance
from cosched.packs.result import Result, result_of_packs

NINE = tuple(round(0.1 * step, 1) for step in range(1, 10))
#: Values of epsilon in one call: more are a slip, and each is a schedule.
MOST_EPSILONS = 10_000
#: Effort of ``local-search`` by default, a task: deterministic, no clock. Beyond 260 tasks it falls
#: with their number, so that 1,000 tasks take some seconds as well.
LOCAL_SEARCH_WORK: int = _core.packs.LOCAL_SEARCH_WORK


def sequential(instance: Instance) -> Result:
    """Each task alone, on the best count up to p, in order.

    Optimal for k = 1.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> cs.packs.sequential(inst).cost
    6.5
    """
    Instance.require(instance)
    return result_of_packs(instance, "sequential", *_core.packs.sequential(instance._core))


def pack_approx(instance: Instance, *, reoptimise: bool = True) -> Result:
    """pack-Approx (Section 4.4).

    From one processor each, the longest task gets one more at a time; the best co-schedule
    of Make-pack on the way is kept. The paper has no 1-pack step here; by default each
    candidate's packs are given their optimal counts (never worse).

    A 3-approximation. This is proved for k = p only, and for work q t(q) that does not
    fall with processors: where it does, the algorithm runs, and ``instance.notes`` says so.
    Reference: Aupy et al. 2013, Section 4.4.

    Parameters
    ----------
    reoptimise : bool
        False gives the paper's cost.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> cs.packs.pack_approx(inst).cost
    6.9
    >>> round(cs.packs.pack_approx(inst, reoptimise=False).cost, 6)
    7.6
    """
    Instance.require(instance)
    instance.require_unshared("pack-approx", KNOWING)
    core_result = _core.packs.pack_approx(instance._core, bool(reoptimise))
    return result_of_packs(instance, "pack-approx", *core_result)


def random_pack(instance: Instance, *, draws: int = 1, seed: int | None = None) -> Result:
    """Random-Pack (Section 5): packs of random size and content, 1-pack on each; best draw.

    No guarantee.
    Reference: Aupy et al. 2013, Section 5.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> one, nine = (cs.packs.random_pack(inst, draws=draws, seed=1) for draws in (1, 9))
    >>> nine.cost <= one.cost
    True
    """
    Instance.require(instance)
    count, seed_value = integer(draws, "draws", 1), seed_of(seed)
    core_result = _core.packs.random_pack(instance._core, count, seed_value)
    return result_of_packs(instance, f"random-pack-{count}", *core_result, seed=seed_value)


def random_proc(instance: Instance, *, draws: int = 1, seed: int | None = None) -> Result:
    """Random-Proc (Section 5): random processor counts, Make-pack, 1-pack on each; best draw.

    No guarantee.
    Reference: Aupy et al. 2013, Section 5.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> one, nine = (cs.packs.random_proc(inst, draws=draws, seed=1) for draws in (1, 9))
    >>> nine.cost <= one.cost
    True
    """
    Instance.require(instance)
    count, seed_value = integer(draws, "draws", 1), seed_of(seed)
    core_result = _core.packs.random_proc(instance._core, count, seed_value)
    return result_of_packs(instance, f"random-proc-{count}", *core_result, seed=seed_value)


def pack_by_pack(
    instance: Instance, *, epsilons: Sequence[float] = NINE, choice: str = "greedy"
) -> Result:
    """pack-by-pack (Section 5), the paper's best heuristic; best over `epsilons`.

    Packs of tasks of similar length: tasks whose time is within (1 - eps) of the longest are
    packed as soon as together they ask for all processors; until then the longest task gets
    one more. Then 1-pack on each pack.

    No guarantee; ``"cuts"`` is never worse than ``"greedy"``. ``"idle"`` takes O(c k p) a pack with
    c < p (1 + ln p), a factor k less where k >= p; ``"cuts"`` O(n k p log k) an epsilon.
    Reference: Aupy et al. 2013, Section 5.

    Parameters
    ----------
    epsilons : sequence of float
        Each in [0, 1). ``pack-by-pack-1`` is (0.5,), ``pack-by-pack-9`` is 0.1, ..., 0.9.
    choice : str
        How a pack is made of the tasks that ask for it: ``"greedy"``, the longest that fit, as
        the paper does; or its variants with a dynamic programme: ``"idle"``, those that leave the
        least processor time idle; ``"cuts"``, the greedy packs' tasks in their order, cut into
        packs at the best places.

    Raises
    ------
    InvalidInstance
        No epsilon, or one outside [0, 1); an unknown choice; ``"idle"`` with more than 2^33 states.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> cs.packs.pack_by_pack(inst, epsilons=(0.5,)).cost
    6.9
    >>> cs.packs.pack_by_pack(inst, epsilons=(0.5,), choice="cuts").cost
    6.5
    """
    Instance.require(instance)
    epsilon_values = [epsilons] if isinstance(epsilons, (int, float)) else epsilons
    if not isinstance(epsilon_values, Iterable):
        raise InvalidInstance(f"epsilons = {shorten(epsilons)}: expected numbers")
    first_values = list(islice(epsilon_values, MOST_EPSILONS + 1))
    if len(first_values) > MOST_EPSILONS:
        raise InvalidInstance(f"epsilons: expected at most {MOST_EPSILONS:,} values, got more")
    values = real_array(first_values, "epsilons", 1)
    chosen = named(choice, "choice", _core.packs.PackChoice)
    core_result = _core.packs.pack_by_pack(instance._core, values, chosen)
    return result_of_packs(instance, "pack-by-pack", *core_result)


def local_search(
    instance: Instance,
    *,
    seed: int | None = None,
    work: int | None = None,
    time_limit: float | None = None,
) -> Result:
    """Local search from the best pack-by-pack: the package's own heuristic, never worse.

    With many tasks packs around the longest ones are often the better start, and then taken.
    Up to twelve tasks it finds the optimum. The nine pack-by-packs may take half a second
    whatever the time limit; one that ends them after that leaves the best of those done.

    Parameters
    ----------
    work : int, optional
        Elementary operations a task; by default 5e6, and beyond 260 tasks 1.3e9 in all: up to ten
        seconds.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> round(cs.packs.local_search(inst).cost, 6) == round(cs.packs.optimal(inst).cost, 6)
    True
    """
    Instance.require(instance)
    default = min(LOCAL_SEARCH_WORK, _core.packs.default_work(instance.tasks))
    effort, limit = budget(work, time_limit, default)
    seed_value = seed_of(seed)
    pack_of, procs, end = _core.packs.local_search(instance._core, seed_value, effort, limit)
    return result_of_packs(
        instance, "local-search", pack_of, procs, seed=seed_value, **ended_by(end)
    )


def pairs(instance: Instance) -> Result:
    """Optimal co-schedule for k <= 2, by minimum-weight perfect matching (Theorem 1).

    Exact. O(n^2 p) for the weights and O(n^3) for the matching.
    Its bound is its cost.
    Reference: Aupy et al. 2013, Theorem 1.

    Parameters
    ----------
    instance : Instance
        ``max_tasks`` at most 2.

    Raises
    ------
    InvalidInstance
        max_tasks > 2.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> result = cs.packs.pairs(inst)
    >>> result.pack_of.tolist(), result.procs.tolist(), round(result.cost, 6)
    ([0, 1, 1], [3, 2, 1], 6.3)
    """
    Instance.require(instance)
    pack_of, procs = _core.packs.pairs(instance._core)
    result = result_of_packs(instance, "pairs", pack_of, procs)
    return replace(result, own_bound=Bound(result.value, "pairs"))


def optimal(instance: Instance, *, time_limit: float | None = None) -> Result:
    """Exact co-schedule for any k.

    A dynamic programme over subsets for few tasks, branch and price with the ``columns``
    bound for more. Optimal, with ``bound`` = cost, unless the time limit ends the search:
    then ``status`` is ``"time_limit"``, and ``bound`` is what was proved until then.
    Under a time limit it does the rounds of :func:`local_search` with seed 0, and branch and price
    between them: for a tenth of the time after the first ones, and for most of it once a long round
    finds nothing better.
    Beyond 1,200 tasks it is a local search with the ``columns`` bound beside it; ``gap`` says what
    is proved.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> result = cs.packs.optimal(inst)
    >>> round(result.cost, 6), result.status, result.gap
    (6.3, 'ok', 0.0)
    """
    Instance.require(instance)
    return _exact(
        instance, _core.packs.optimal(instance._core, time_limit_of(time_limit)), "optimal"
    )


def ilp(instance: Instance, *, time_limit: float | None = None) -> Result:
    """The paper's integer programme (Section 4.3), solved by GLPK. For up to five tasks or so.

    See :func:`optimal` for status and time limit; at worst the limit leaves the co-schedule of
    ``pack-by-pack-9``. GLPK proves up to its tolerances: ``bound`` is a millionth below what it
    found, of which a part is real where times differ by twelve orders of magnitude.
    Reference: Aupy et al. 2013, Section 4.3.

    Raises
    ------
    SolverError
        GLPK failed, or the programme has more than two million columns.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> round(cs.packs.ilp(inst).cost, 6)
    6.3
    """
    Instance.require(instance)
    instance.require_unshared("ilp", KNOWING)
    return _exact(instance, _core.packs.ilp(instance._core, time_limit_of(time_limit)), "ilp")


def _exact(instance: Instance, core_result: tuple[Any, ...], method: str) -> Result:
    pack_of, procs, lower, end = core_result
    result = result_of_packs(instance, method, pack_of, procs, **ended_by(end))
    return replace(result, own_bound=Bound(min(lower, result.value), method))
