"""The relaxation of bags: for one makespan, for all, and the bounds that follow."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import _core
from cosched.bags.instance import Instance
from cosched.core import Bound
from cosched.core.arrays import any_array, flag, real, real_array
from cosched.core.options import one_of
from cosched.errors import InfeasibleError


@dataclass(frozen=True)
class Relaxation:
    """The relaxation (6) of Li et al. at one makespan.

    Attributes
    ----------
    status : {"optimal", "infeasible"}
    makespan : float
        The one that was asked for (s).
    energy : float
        Least energy (J), idle machines included; infinity where infeasible.
    x : numpy.ndarray, shape (T, M), or None
        Tasks of each type on each machine type, fractional: a basic solution, with at most
        T + M positive entries. None where infeasible.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> cs.bags.relaxation(inst, 20.0).x.round(3).tolist()
    [[1.6, 2.4], [3.0, 0.0]]
    """

    status: str
    makespan: float
    energy: float
    x: NDArray[np.float64] | None


@dataclass(frozen=True)
class Front:
    """The energy-makespan front of the relaxation: a piecewise-linear function.

    Attributes
    ----------
    makespan, energy : numpy.ndarray
        Vertices by rising makespan (s, J); energy is linear between. Where two have the same
        makespan the energy jumps (a task type becomes short enough for a machine type), and
        the second holds.
    idle_power : float
        Watts that are drawn idle: the slope after the last vertex.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> found = cs.bags.front(inst)
    >>> found.makespan.round(3).tolist(), found.energy.round(3).tolist()
    ([16.0, 32.0], [5840.0, 5520.0])
    """

    makespan: NDArray[np.float64]
    energy: NDArray[np.float64]
    idle_power: float

    @property
    def least_makespan(self) -> float:
        """Where the front begins (s)."""
        return float(self.makespan[0])

    def energy_at(self, makespan: object) -> Any:
        """Least energy within a makespan; infinity below the front.

        Parameters
        ----------
        makespan : float or array_like
            Seconds.

        Returns
        -------
        float or numpy.ndarray
            Joules, in the shape of `makespan`.

        Examples
        --------
        >>> etc, apc = [[10, 5], [8, 12]], [[90, 200], [80, 100]]
        >>> inst = cs.bags.Instance([4, 3], [2, 1], etc, apc, price=9000)
        >>> found = cs.bags.front(inst)
        >>> found.energy_at([10.0, 20.0, 100.0]).tolist()
        [inf, 5760.0, 5520.0]
        """
        makespans = real_array(makespan, "makespan", any_array(makespan, "makespan", 1).ndim)
        # The last vertex of those with this makespan, and the next one.
        left_points = np.clip(np.searchsorted(self.makespan, makespans, side="right") - 1, 0, None)
        right_points = np.minimum(left_points + 1, len(self.makespan) - 1)
        width = self.makespan[right_points] - self.makespan[left_points]
        rise = self.energy[right_points] - self.energy[left_points]
        slope = np.divide(rise, width, out=np.zeros_like(width), where=width > 0)
        interpolated = self.energy[left_points] + slope * (makespans - self.makespan[left_points])
        beyond = np.maximum(makespans - self.makespan[-1], 0) * self.idle_power
        energies = np.where(makespans < self.makespan[0], np.inf, interpolated + beyond)
        return float(energies) if energies.ndim == 0 else energies


def relaxation(instance: Instance, makespan: float, *, method: str = "front") -> Relaxation:
    """Least energy of a fractional assignment within a makespan (section III-B).

    min E s.t. sum_j x_ij = T_i, sum_i x_ij ETC_ij <= M_j makespan, x_ij = 0 where
    ETC_ij > makespan, and the power cap.
    ``status`` says whether there is one.

    Parameters
    ----------
    makespan : float
        Seconds, positive and finite.
    method : {"front", "glpk"}
        A walk along the front (parametric simplex), or one linear programme by GLPK's dual
        simplex. Both give a basic optimal solution; where several are optimal they may differ.

    Raises
    ------
    InvalidInstance
        The makespan is not positive and finite; an unknown method.

    Examples
    --------
    >>> inst = Instance([4], [1, 1], [[2.0, 1.0]], [[10.0, 40.0]], price=200)
    >>> found = relaxation(inst, 4.0)
    >>> found.status, found.energy, found.x.tolist()
    ('optimal', 120.0, [[2.0, 2.0]])
    >>> relaxation(inst, 1.0).status
    'infeasible'
    """
    Instance.require(instance)
    one_of(method, "method", ("front", "glpk"))
    seconds = real(makespan, "makespan")
    feasible, joules, x = _core.bags.relaxation(instance._core, seconds, method == "glpk")
    if not feasible:
        return Relaxation("infeasible", seconds, np.inf, None)
    x.flags.writeable = False
    return Relaxation("optimal", seconds, joules + instance._core.idle_power * seconds, x)


def front(instance: Instance, *, cut: bool = True) -> Front:
    """The whole energy-makespan front of the relaxation, by parametric linear programming.

    A dual simplex that follows the makespan down from where every task type is on its
    least-energy machine type: O(T M + M^2) a vertex, whatever the number of tasks.

    Parameters
    ----------
    cut : bool
        Keep tasks off machine types where one alone takes longer than the makespan (Li et
        al.). False: only the mean loads count (Tarplee et al.); the front is convex then.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> round(cs.bags.front(inst).least_makespan, 3) == round(cs.bags.least_makespan(inst), 3)
    True
    """
    Instance.require(instance)
    makespan, joules = _core.bags.front(instance._core, flag(cut, "cut"))
    idle = instance._core.idle_power
    return Front(makespan, joules + idle * makespan, idle)


def least_makespan(instance: Instance) -> float:
    """LB of the paper: the least makespan whose relaxation is feasible, energy ignored.

    In seconds.

    Examples
    --------
    >>> inst = Instance([4], [1, 1], [[2.0, 1.0]], [[10.0, 40.0]], price=200)
    >>> round(least_makespan(inst), 6)
    2.666667
    """
    Instance.require(instance)
    return _core.bags.least_makespan(instance._core)


def round_relaxation(
    instance: Instance, relaxation: Relaxation | Any, *, rule: str = "matching"
) -> NDArray[np.int64]:
    """Integer counts from a fractional assignment.

    Reference: Li, Liu, Zhang, Cai 2016, Algorithm A.

    Parameters
    ----------
    relaxation : Relaxation, or array_like of shape (T, M)
        Rows sum to the counts of the task types.
    rule : {"matching", "largest-part"}
        Algorithm A, by a least-energy b-matching with slots of the machine types: energy does
        not rise, and every list schedule ends by twice the makespan. Or the rule of Tarplee et
        al.: what is left of a type goes to the largest fractional parts (neither holds).

    Returns
    -------
    numpy.ndarray of int, shape (T, M)

    Raises
    ------
    InfeasibleError
        The relaxation is infeasible.
    InvalidInstance
        x is no assignment of this instance; an unknown rule.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> found = cs.bags.relaxation(inst, 20.0)
    >>> found.x.round(3).tolist()
    [[1.6, 2.4], [3.0, 0.0]]
    >>> cs.bags.round_relaxation(inst, found).tolist()
    [[2, 2], [3, 0]]
    """
    Instance.require(instance)
    one_of(rule, "rule", ("matching", "largest-part"))
    has_relaxation = isinstance(relaxation, Relaxation)
    x = relaxation.x if has_relaxation else relaxation
    if has_relaxation and x is None:
        raise InfeasibleError(f"no assignment within makespan {relaxation.makespan:g} s to round")
    table = real_array(x, "x", 2)
    return _core.bags.round_relaxation(instance._core, table, rule == "matching")


def profit_rate_bound(instance: Instance, *, method: str = "front") -> Bound:
    """Upper bound on the profit rate: the linear programme of Tarplee et al. 2014.

    max p r - c sum APC ETC z s.t. sum_j z_ij = T_i r, sum_i z_ij ETC_ij <= M_j, with
    z = x / makespan and r = 1 / makespan. 0 where the price does not pay for the least energy
    (r = 0); what idle machines cost is subtracted.
    In money a second.

    Parameters
    ----------
    method : {"front", "glpk"}
        The best vertex of the front without the cut, or that programme by GLPK: the same value.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> profit_rate_bound(inst)
    Bound(197.5, 'profit-rate')
    """
    Instance.require(instance)
    one_of(method, "method", ("front", "glpk"))
    if method == "glpk":
        return Bound(_core.bags.profit_lp(instance._core)[1], "profit-rate")
    return Bound(_core.bags.best_rate(instance._core, False)[1], "profit-rate")


def cut_bound(instance: Instance) -> Bound:
    """The stronger bound: tasks stay off machine types where one takes longer than the makespan.

    The best profit rate over the makespans of :func:`cosched.bags.front`. Never above
    ``profit-rate``, and far below it where there are few tasks a machine.
    In money a second.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> cut_bound(inst)
    Bound(197.5, 'profit-rate-cut')
    """
    Instance.require(instance)
    return Bound(_core.bags.best_rate(instance._core, True)[1], "profit-rate-cut")
