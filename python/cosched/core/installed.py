"""The registry of what installed packages offer: one group of entry points for each kind of offer.

=========================== ======================================================================
group                       what an entry point names
=========================== ======================================================================
``cosched.algorithms``      ``FAMILY.NAME``: a function as for :func:`cosched.register`
``cosched.policies``        a policy as for :func:`cosched.cluster.register_policy`
``cosched.machine_readers`` ``reader(path, slurm_version, accounts)``: a Machine, or None where the
                            file is of another kind
``cosched.what_if_changes`` a ChangeProvider: what-if scenarios of another layer, such as lines of a
                            slurm.conf
``cosched.limit_finders``   a LimitFinder: which limit of a scheduler kept a job waiting
``cosched.report_writers``  the function that writes a report; its name is that of the command
=========================== ======================================================================

Any package may offer algorithms and policies. The other groups are those of cosched itself: a layer
above offers to a layer below, which neither imports nor names it. An entry point is imported when
it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from cosched.errors import IncompleteInstallation

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ALGORITHMS = "cosched.algorithms"
POLICIES = "cosched.policies"
MACHINE_READERS = "cosched.machine_readers"
WHAT_IF_CHANGES = "cosched.what_if_changes"
LIMIT_FINDERS = "cosched.limit_finders"
REPORT_WRITERS = "cosched.report_writers"
#: Name of this package in its metadata.
PACKAGE = "cosched-hpc"


class UnusableOffer(ValueError):
    """What an installed package offers under a name cannot be used."""


@cache
def installed_entry_points(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    """Return the entry points of a group by name; more than one where several packages offer it."""
    from importlib.metadata import entry_points  # as slow as a tenth of `import cosched`

    points_by_name: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=group):
        points_by_name[point.name] = (*points_by_name.get(point.name, ()), point)
    return points_by_name


@cache
def package_entry_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of cosched itself by name: what a layer above offers to one below.

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


def call_report_writer(name: str, *arguments: Any, **options: Any) -> Any:
    """Write a report by the writer that the layer of reports offers under a name.

    Parameters
    ----------
    name : str
        ``audit``, ``rightsize``, ``tune`` or ``execution``.
    *arguments, **options
        What the writer takes.

    Raises
    ------
    IncompleteInstallation
        The metadata of the package, which are made when it is installed, have no such writer.
    """
    point = package_entry_points(REPORT_WRITERS).get(name)
    if point is None:
        raise IncompleteInstallation(
            f"no entry point {name} of {REPORT_WRITERS} in the metadata of {PACKAGE}: "
            "expected an installed package (install it once more)"
        )
    return point.load()(*arguments, **options)


def package_algorithms(family: str) -> list[str]:
    """Return the names of the algorithms of a family that another layer of cosched offers."""
    return _names_of_family(package_entry_points(ALGORITHMS), family)


def load_package_algorithm(family: str, name: str) -> Callable[..., Any]:
    """Import an algorithm that another layer of cosched offers."""
    function: Callable[..., Any] = package_entry_points(ALGORITHMS)[f"{family}.{name}"].load()
    return function


def installed_algorithms(family: str) -> list[str]:
    """Return the names of the algorithms that installed packages offer to a family."""
    return _names_of_family(installed_entry_points(ALGORITHMS), family)


def installed_policies() -> list[str]:
    """Return the names of the policies that installed packages offer."""
    return list(installed_entry_points(POLICIES))


def _names_of_family(points: dict[str, Any], family: str) -> list[str]:
    prefix = f"{family}."
    return [name.removeprefix(prefix) for name in points if name.startswith(prefix)]


def register_offer(group: str, name: str, register: Callable[[Any], None]) -> None:
    """Register what an installed package offers under a name, where one does.

    Parameters
    ----------
    group : str
        ``cosched.algorithms`` or ``cosched.policies``.
    name : str
        Name of the entry point.
    register : callable
        Called with what the entry point names.

    Raises
    ------
    UnusableOffer
        Several packages offer the name, the package cannot be imported, or what it offers is
        refused.
    """
    points = installed_entry_points(group).get(name, ())
    if len(points) > 1:
        packages = ", ".join(sorted(_package_name(point) for point in points))
        raise UnusableOffer(f"{name}: several installed packages offer it ({packages}): keep one")
    for point in points:
        try:
            register(point.load())
        # Whatever somebody else's module does when it is imported.
        except (Exception, SystemExit) as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise UnusableOffer(
                f"{name} of the installed package {_package_name(point)}: "
                f"{point.value} cannot be used: {why}"
            ) from error


def _package_name(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
