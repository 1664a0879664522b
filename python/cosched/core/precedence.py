"""Which tasks wait for which: names, before anything is planned."""

import graphlib
import itertools
from collections.abc import Iterable, Mapping, Sequence

from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance, shorten

#: Names of a long cycle that are shown.
_MOST_SHOWN = 8


def before_of(edges: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Who has to end before each, of those that wait."""
    predecessors: dict[int, list[int]] = {}
    for before, after in edges:
        predecessors.setdefault(after, []).append(before)
    return predecessors


def cycle_of(after: Mapping[str, Iterable[str]]) -> list[str]:
    """Names that wait for each other, the first again at the end; empty: there are none.

    `after`: name -> those that it waits for.

    Examples
    --------
    >>> cycle_of({"a": ["b"], "b": ["a"], "c": []})
    ['a', 'b', 'a']
    >>> cycle_of({"a": ["b"], "b": []})
    []
    """
    try:
        graphlib.TopologicalSorter(after).prepare()
    except graphlib.CycleError as error:
        names: list[str] = error.args[1][:-1]
        names.reverse()  # each waits for the next
        first = names.index(min(names))
        return [*names[first:], *names[: first + 1]]
    return []


def waits_for_itself(cycle: Sequence[str]) -> str:
    """The message about a cycle."""
    if len(cycle) == 2:
        return f"{shorten(cycle[0])} waits for itself: expected other tasks"
    pairs = [f"{shorten(a)} for {shorten(b)}" for a, b in itertools.pairwise(cycle)]
    pairs[0] = pairs[0].replace(" for ", " waits for ", 1)
    if len(pairs) > _MOST_SHOWN:
        pairs = [*pairs[: _MOST_SHOWN - 1], "...", pairs[-1]]
    return f"{', '.join(pairs)}: expected no cycle"


def require_order(after: Mapping[str, Iterable[str]]) -> None:
    """Refuse tasks that wait for what is not there, or for themselves."""
    for name, predecessors in after.items():
        for predecessor in predecessors:
            if predecessor not in after:
                message = unknown_name("task", predecessor, after)
                raise InvalidInstance(f"task {shorten(name)}: after: {message}")
    if cycle := cycle_of(after):
        raise InvalidInstance(f"after: {waits_for_itself(cycle)}")
