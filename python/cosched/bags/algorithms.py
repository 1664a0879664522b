"""The schedulers of bags."""

import math

from cosched import _core
from cosched.bags.instance import MOST_TASKS, Instance
from cosched.bags.result import Result, result_of_plan
from cosched.core import Bound
from cosched.core.arrays import flag, integer_array, real
from cosched.core.limits import budget, ended_by

#: Step of the makespan grid of ``ttb`` by default.
DEFAULT_EPS: float = _core.bags.DEFAULT_EPS

#: Effort of ``ttb-best`` by default: deterministic, no clock.
BEST_WORK: int = _core.bags.BEST_WORK


def ttb(instance: Instance, *, eps: float = DEFAULT_EPS, with_tms: bool = True) -> Result:
    """TTB, the paper's task-type-based algorithm (section III).

    For makespans LB (1 + eps)^t up to that of ``min-energy``: the relaxation, rounding by
    Algorithm A, Algorithm B; the best profit rate. A makespan whose relaxation earns no more
    than the best plan so far is skipped.

    Parameters
    ----------
    eps : float
        1e-6..1.
    with_tms : bool
        Two more makespans, as the paper proposes at the end of section IV: that of TMS's linear
        programme and that of its plan. TMS's counts are feasible for the relaxation there, and
        integers, which Algorithm A leaves as they are; so they are a candidate too, and the
        result is never below ``tms``. False: the grid of section III alone.

    Notes
    -----
    Guarantee: at least the optimum / (2 + 2 eps) where the price pays for the least energy
    (p >= c E_min) and nothing is drawn idle; with idle power the same for the profit rate plus
    what idling costs. O(log(UB/LB) / eps) roundings, in a time that does not depend on the
    number of tasks. UB is the makespan of least energy; the paper takes least power, with which
    it can end in a loss where a profit exists.

    The grid alone is above TMS on average, not always, however fine: on the data of Tarplee
    et al. at gamma = 1.11 TMS's rounding is lucky, and the best rounding by Algorithm A over
    *all* makespans stays 0.0003% below it (``tests_py/papers/test_bags_paper.py``).

    Reference: Li, Liu, Zhang, Cai 2016, sections III and IV.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> result = cs.bags.ttb(inst)
    >>> result.counts.tolist(), result.makespan, result.energy, result.profit_rate
    ([[1, 3], [3, 0]], 18.0, 5820.0, 176.66666666666666)
    """
    Instance.require(instance)
    plan = _core.bags.ttb(instance._core, real(eps, "eps"), flag(with_tms, "with_tms"))
    return result_of_plan(instance, "ttb", plan)


def ttb_exact(instance: Instance) -> Result:
    """TTB with the best makespan exactly, no grid.

    Rounds at the vertices of the front (between them the profit rate of the relaxation is
    monotone), and between vertices wherever the result of Algorithm A changes: an entry of the
    relaxation, which is linear in the makespan there, becomes an integer, or a slot's border
    passes to the next task type. So no makespan does better, and the result is never below
    ``ttb`` at any eps, nor ``tms``. (Where task types x machine types x such changes exceed
    5 million, as many evenly spread makespans stand for them; then it is never below ``ttb``
    with the default eps.)

    Guarantee: half of the bound ``profit-rate-cut``, hence of the optimum, under the conditions
    of :func:`ttb`.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> cs.bags.ttb_exact(inst).profit_rate >= cs.bags.ttb(inst).profit_rate
    True
    """
    Instance.require(instance)
    return result_of_plan(instance, "ttb-exact", _core.bags.ttb_exact(instance._core))


def ttb_best(
    instance: Instance, *, work: int | None = None, time_limit: float | None = None
) -> Result:
    """The best plan that the package knows: TTB, then patterns and exchanges of tasks.

    For makespans where a better plan can be: what single machines can run within it (patterns,
    by column generation), rounded down, the rest by Algorithms A and B, then moves and swaps
    between machines of one or two types until all end in time, at the least cost in energy. At
    last, on up to a thousand tasks and machines, annealing of single tasks. Never below the other
    algorithms (with their default options).

    With more work than the default, or a time limit, it goes on by turns: an upper bound from the
    same patterns (:attr:`Result.bound`, mostly far below ``profit-rate-cut`` where there are few
    tasks a machine), whole plans by diving into them, parts of the best plan made anew, annealing.

    Parameters
    ----------
    work : int, optional
        Moves of the annealing; a step of the other kinds counts 30,000 to 300,000.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> result = cs.bags.ttb_best(inst)
    >>> result.status, round(result.profit_rate, 3), round(cs.bags.ttb(inst).profit_rate, 3)
    ('ok', 176.667, 176.667)
    """
    Instance.require(instance)
    effort, limit = budget(work, time_limit, BEST_WORK)
    plan, end, rate = _core.bags.ttb_best(instance._core, effort, limit)
    proved = {"own_bound": Bound(rate, "ttb-best")} if math.isfinite(rate) else {}
    return result_of_plan(instance, "ttb-best", plan, **proved, **ended_by(end))


def tms(instance: Instance) -> Result:
    """The baseline of Tarplee, Maciejewski and Siegel 2014.

    The best makespan and assignment by their linear programme, rounding by the largest
    fractional parts, longest tasks first on each machine type. Where the programme has r = 0
    (p <= c E_min), the plan of least energy.

    No guarantee; rounding can cost energy, and the profit where it is small.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> cs.bags.tms(inst).counts.tolist()
    [[1, 3], [3, 0]]
    """
    Instance.require(instance)
    return result_of_plan(instance, "tms", _core.bags.tms(instance._core))


def min_energy(instance: Instance) -> Result:
    """Every task on the machine type where it takes the least energy (ties: the first).

    Its energy is ``instance.least_energy``, and what idling costs.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> result = cs.bags.min_energy(inst)
    >>> result.energy, result.makespan
    (5520.0, 36.0)
    """
    Instance.require(instance)
    return result_of_plan(instance, "min-energy", _core.bags.min_energy(instance._core))


def min_makespan(instance: Instance) -> Result:
    """The relaxation at its least makespan, rounded by Algorithm A.

    At most twice the best makespan.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> result = cs.bags.min_makespan(inst)
    >>> result.makespan, round(cs.bags.least_makespan(inst), 3)
    (18.0, 16.0)
    """
    Instance.require(instance)
    return result_of_plan(instance, "min-makespan", _core.bags.min_makespan(instance._core))


def local_assignment(instance: Instance, counts: object) -> Result:
    """The plan for given counts: Algorithm B (longest tasks first) on each machine type.

    Parameters
    ----------
    counts : array_like of int, shape (T, M)
        Tasks of each type on each machine type; rows sum to the instance's counts.

    Examples
    --------
    >>> inst = Instance([5], [2, 1], [[2.0, 1.0]], [[10.0, 40.0]], price=400)
    >>> plan = local_assignment(inst, [[3, 2]])
    >>> [loads.tolist() for loads in plan.loads], plan.makespan
    ([[4.0, 2.0], [2.0]], 4.0)
    """
    Instance.require(instance)
    table = integer_array(counts, "counts", 2, 0, MOST_TASKS)
    return result_of_plan(instance, "", _core.bags.assign(instance._core, table))
