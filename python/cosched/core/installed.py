"""What installed packages offer by entry points, looked at only for a name that is not built in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: ``FAMILY.NAME`` -> function as for :func:`cosched.register`.
ALGORITHMS = "cosched.algorithms"
#: Name -> policy as for :func:`cosched.cluster.register_policy`.
POLICIES = "cosched.policies"


@cache
def installed_entry_points(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    """The entry points of a group by name; more than one where several packages offer it."""
    from importlib.metadata import entry_points  # as slow as a tenth of `import cosched`

    points_by_name: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=group):
        points_by_name[point.name] = (*points_by_name.get(point.name, ()), point)
    return points_by_name


class Unusable(ValueError):
    """What an installed package offers under a name cannot be used."""


def algorithms(family: str) -> list[str]:
    """The algorithms that packages offer to a family."""
    prefix = f"{family}."
    return [
        name.removeprefix(prefix)
        for name in installed_entry_points(ALGORITHMS)
        if name.startswith(prefix)
    ]


def take(group: str, name: str, register: Callable[[Any], None]) -> None:
    """Register what an installed package offers under a name, where one does: `register` is called
    with what the entry point names.

    ``Unusable``: several packages offer the name, the package cannot be imported, or what it offers
    is refused.
    """
    points = installed_entry_points(group).get(name, ())
    if len(points) > 1:
        packages = ", ".join(sorted(_package(point) for point in points))
        raise Unusable(f"{name}: several installed packages offer it ({packages}): keep one")
    for point in points:
        try:
            register(point.load())
        # Whatever somebody else's module does when it is imported.
        except (Exception, SystemExit) as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise Unusable(
                f"{name} of the installed package {_package(point)}: "
                f"{point.value} cannot be used: {why}"
            ) from error


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
