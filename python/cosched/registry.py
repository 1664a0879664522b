"""The five families by name: the only place that imports by name."""

from importlib import import_module
from types import ModuleType

from cosched.border import guard_public
from cosched.core import Algorithm, Family, Presentation
from cosched.core.text import unknown_name
from cosched.described import described
from cosched.errors import InvalidInstance

#: Names of the families, in the order of the papers. Each is a module ``cosched.<name>``.
FAMILIES = ("packs", "dags", "cluster", "moldable", "bags")


def family(name: str) -> Family:
    """The family of a name.

    Parameters
    ----------
    name : {"packs", "dags", "cluster", "moldable", "bags"}

    Examples
    --------
    >>> family("bags").default_bound
    'profit-rate-cut'
    """
    family_of_module: Family = _module(name).FAMILY
    return family_of_module


def presentation(name: str) -> Presentation:
    """What the command line shows and asks of the family of a name.

    Parameters
    ----------
    name : {"packs", "dags", "cluster", "moldable", "bags"}

    Examples
    --------
    >>> presentation("bags").objective
    'profit rate'
    """
    presentation_of_module: Presentation = _module(name).PRESENTATION
    return presentation_of_module


def _module(name: str) -> ModuleType:
    if name not in FAMILIES:
        raise InvalidInstance(unknown_name("family", name, FAMILIES))
    return import_module(f"cosched.{name}.family")


def register(family_name: str, name: str, function: Algorithm) -> None:
    """Add an algorithm of one's own to a family.

    It then takes part in ``solve``, ``compare`` and the studies like the built-in ones,
    and its schedules go through the same validation.

    Parameters
    ----------
    family_name : str
        ``"packs"``, ...
    name : str
        The public name. A registered name may be registered anew; a built-in one not.
    function : callable
        ``function(instance, *, seed, **options) -> Result or Schedule``.

    Raises
    ------
    ValueError
        Unknown family, or the name of a built-in algorithm.

    Examples
    --------
    >>> def one_by_one(instance, *, seed):
    ...     return cs.packs.sequential(instance).schedule
    >>> cs.register("packs", "one-by-one", one_by_one)
    >>> inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]])
    >>> cs.packs.solve(inst, "one-by-one").value
    4.0
    """
    family(family_name).register(name, function)


described(globals())
guard_public(globals())
