"""What installed packages offer by entry points, looked at only for a name that is not built in."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: ``FAMILY.NAME`` -> function as for :func:`cosched.register`.
ALGORITHMS = "cosched.algorithms"
#: Name -> policy as for :func:`cosched.cluster.register_policy`.
POLICIES = "cosched.policies"


@cache
def offered(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    """The entry points of a group by name; more than one where several packages offer it.

    Parameters
    ----------
    group : str
    """
    from importlib.metadata import entry_points  # as slow as a tenth of `import cosched`

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=group):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


def algorithms(family: str) -> list[str]:
    """The algorithms that packages offer to a family.

    Parameters
    ----------
    family : str
    """
    prefix = f"{family}."
    return [name.removeprefix(prefix) for name in offered(ALGORITHMS) if name.startswith(prefix)]


def load(group: str, name: str) -> Any:
    """What an entry point names; None where no package offers it.

    Parameters
    ----------
    group, name : str

    Raises
    ------
    ValueError
        Several packages offer the name, or the package cannot be imported.
    """
    points = offered(group).get(name, ())
    if not points:
        return None
    if len(points) > 1:
        packages = ", ".join(sorted(_package(point) for point in points))
        raise ValueError(f"{name}: several installed packages offer it ({packages}): keep one")
    try:
        return points[0].load()
    except Exception as error:  # whatever somebody else's module does when it is imported
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(
            f"{name} of the installed package {_package(points[0])}: "
            f"{points[0].value} cannot be loaded: {why}"
        ) from error


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
