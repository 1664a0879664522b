"""The pieces of DFRS policies by themselves: yields on given nodes, vector packing."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cosched import _core
from cosched.core.arrays import integer, integer_array, real_array, share
from cosched.errors import InvalidInstance, shorten


def yields(
    mapping: Sequence[Sequence[int]], cpu: object, nodes: int, *, opt: str | None = None
) -> np.ndarray:
    """Yields of jobs whose tasks are on given nodes (Sections 4.6 and 4.7).

    Parameters
    ----------
    mapping : sequence of sequences of int
        Node of each task, a list a job.
    cpu : array_like, shape (jobs,)
        CPU need of one task, in (0, 1].
    nodes : int
        Nodes of the machine; those of `mapping` are 0..nodes-1.
    opt : {None, "min", "avg"}
        None: the greatest common yield. ``"min"``: iterative max-min. ``"avg"``: the greatest
        mean yield that keeps the common minimum (a linear programme).

    Returns
    -------
    numpy.ndarray, shape (jobs,)
        Share of its need that each job gets, in 0..1.

    Raises
    ------
    InvalidInstance
        Another `opt`, a need outside (0, 1], a node that is not there, or lengths that differ.

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Sections 4.6 and 4.7.

    Examples
    --------
    >>> yields([[0], [0], [1]], [1.0, 0.5, 0.5], nodes=2, opt="min").round(3).tolist()
    [0.667, 0.667, 1.0]
    """
    if opt not in (None, "min", "avg"):
        raise InvalidInstance(f"opt = {shorten(opt)}: expected None, 'min' or 'avg'")
    count = integer(nodes, "nodes", 1)
    needs = _fractions(cpu, "cpu")
    where = [
        sorted(integer_array(row, f"mapping[{job}]", 1, 0, count - 1).tolist())
        for job, row in enumerate(mapping)
    ]
    if len(where) != len(needs):
        raise InvalidInstance(f"mapping has {len(where)} jobs, cpu has {len(needs)}")
    # Only nodes that are used matter: memory for them, not for all that there may be.
    row_of_node = {
        node: k for k, node in enumerate(sorted({node for row in where for node in row}))
    }
    where = [[row_of_node[node] for node in row] for row in where]
    return _core.cluster.yields(where, needs, max(len(row_of_node), 1), opt or "base")


def mcb8(
    tasks: object, cpu: object, memory: object, nodes: int, *, yield_: float = 1.0
) -> list[list[int]] | None:
    """Vector packing MCB8 for one yield (Section 4.3).

    Parameters
    ----------
    tasks, cpu, memory : array_like, shape (jobs,)
        Tasks of each job, and what one task needs of a node, in (0, 1].
    yield_ : float
        Every job requires yield x cpu; 0 packs by memory alone. In 0..1.

    Returns
    -------
    list of lists of int, or None
        Node of each task, increasing, a list a job; None where MCB8 finds no packing.

    Notes
    -----
    A heuristic: None is no proof that there is no packing.

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Section 4.3.

    Examples
    --------
    >>> mcb8([2, 1], [1.0, 0.5], [0.1, 0.6], nodes=2, yield_=0.5)
    [[0, 1], [0]]
    """
    return _core.cluster.mcb8(*_items(tasks, cpu, memory, nodes), share(yield_, "yield_"))


def mcb8_search(
    tasks: object, cpu: object, memory: object, nodes: int
) -> tuple[float, list[list[int]]] | None:
    """The greatest yield for which MCB8 packs all jobs, and the packing (Section 4.3).

    What the policies do at each event with the jobs in the system, before any has to be dropped:
    yield 1, then yield 0 (memory alone), then bisection to 0.01.

    Parameters
    ----------
    tasks, cpu, memory : array_like, shape (jobs,)
        Tasks of each job, and what one task needs of a node, in (0, 1].

    Returns
    -------
    (float, list of lists of int), or None
        The yield in 0..1 and the node of each task, increasing, a list a job; None where the
        memory alone finds no packing.

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Section 4.3.

    Examples
    --------
    >>> mcb8_search([2, 1], [1.0, 0.5], [0.1, 0.6], nodes=1)
    (0.3984375, [[0, 0], [0]])
    """
    return _core.cluster.mcb8_search(*_items(tasks, cpu, memory, nodes))


def _items(tasks: object, cpu: object, memory: object, nodes: int) -> tuple[Any, Any, Any, int]:
    counts = integer_array(tasks, "tasks", 1, 1)
    needs, sizes = _fractions(cpu, "cpu"), _fractions(memory, "memory")
    if not len(counts) == len(needs) == len(sizes):
        raise InvalidInstance("tasks, cpu and memory have different lengths")
    return counts, needs, sizes, integer(nodes, "nodes", 1, _core.cluster.MOST_NODES)


def _fractions(values: object, name: str) -> np.ndarray:
    numbers = real_array(values, name, 1)
    good = (numbers > 0) & (numbers <= 1)
    if not good.all():
        row = int(np.argmin(good))
        raise InvalidInstance(f"{name}[{row}] = {numbers[row]}: expected a fraction in (0, 1]")
    return numbers
