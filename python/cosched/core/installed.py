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


#: ``reader(path, slurm_version, accounts)``: a Machine, or None where the file is of another kind.
MACHINE_READERS = "cosched.machine_readers"
#: A ChangeProvider: what-if scenarios of another layer, such as lines of a slurm.conf.
WHAT_IF_CHANGES = "cosched.what_if_changes"
#: A LimitFinder: which limit of a scheduler kept a job waiting.
LIMIT_FINDERS = "cosched.limit_finders"
#: Name of this package in its metadata.
PACKAGE = "cosched-hpc"


@cache
def installed_entry_points(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    """The entry points of a group by name; more than one where several packages offer it."""
    from importlib.metadata import entry_points  # as slow as a tenth of `import cosched`

    points_by_name: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=group):
        points_by_name[point.name] = (*points_by_name.get(point.name, ()), point)
    return points_by_name


@cache
def package_entry_points(group: str) -> dict[str, EntryPoint]:
    """The entry points of cosched itself by name: what a layer above offers to one below.

    The metadata of the other packages are not read, which takes some ten times as long.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        points = distribution(PACKAGE).entry_points
    except PackageNotFoundError:  # a source tree that was never installed
        return {}
    return {point.name: point for point in points if point.group == group}


@cache
def package_offers(group: str) -> tuple[Any, ...]:
    """Import and return everything that the layers of cosched offer in a group."""
    return tuple(point.load() for point in package_entry_points(group).values())


def package_algorithms(family: str) -> list[str]:
    """The algorithms of a family that another layer of cosched offers."""
    prefix = f"{family}."
    names = package_entry_points(ALGORITHMS)
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]


def load_package_algorithm(family: str, name: str) -> Callable[..., Any]:
    """Import an algorithm that another layer of cosched offers."""
    return package_entry_points(ALGORITHMS)[f"{family}.{name}"].load()


class Unusable(ValueError):
    """What an installed package offers under a name cannot be used."""


def algorithms(family: str) -> list[str]:
    """The algorithms that installed packages offer to a family."""
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
