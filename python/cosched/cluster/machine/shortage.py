"""Why the nodes of a machine cannot hold a job: the first wish that leaves too few of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cosched.core.text import count_of


class Wish(NamedTuple):
    """Something that a job wants of each of its nodes."""

    #: Which nodes of the machine have it.
    having: np.ndarray
    #: In words that follow a number of nodes: ``with 2 cores``.
    words: str


def shortage(place: str, nodes: np.ndarray, wishes: Sequence[Wish], min_nodes: int) -> str:
    """Which wish leaves fewer than `needed` of these nodes; empty: all together leave enough.

    Parameters
    ----------
    place : str
        Whose nodes they are: ``partition main``.
    nodes : numpy.ndarray of bool, shape (nodes of the machine,)
        Where the job may run before its wishes are looked at.

    Examples
    --------
    >>> nodes = np.ones(3, dtype=bool)
    >>> wishes = [Wish(np.array([True, True, False]), "with gpu"), Wish(~nodes, "with 2 cores")]
    >>> shortage("partition main", nodes, wishes, 1)
    'partition main has 3 nodes, 2 with gpu, none of these with 2 cores'
    """
    remaining = nodes.copy()
    number = int(remaining.sum())
    text = f"{place} has {count_of(number, 'node') if number else 'no nodes'}"
    if number < min_nodes:
        return text
    preposition = ""
    for wish in wishes:
        remaining &= wish.having
        n_remaining = int(remaining.sum())
        if n_remaining == number:
            continue
        number = n_remaining
        text += f", {number or 'none'}{preposition} {wish.words}"
        if number < min_nodes:
            return text
        preposition = " of these"
    return ""


def nodes_after(nodes: np.ndarray, wishes: Sequence[Wish]) -> np.ndarray:
    """Those of the nodes that meet all wishes."""
    return np.logical_and.reduce([nodes, *(wish.having for wish in wishes)])
