"""The registry: one shape for all families.

``solve``, ``bound`` and ``compare`` are written here once. The command line, the
studies and the tests reach a family only through :func:`family`.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosched.core.arrays import seed_of
from cosched.core.instance import Instance
from cosched.core.result import Bound, Result
from cosched.core.schedule import Schedule
from cosched.errors import InvalidInstance, shorten

if TYPE_CHECKING:
    import pandas as pd

Algorithm = Callable[..., "Result | Schedule"]

#: Names of the families, in the order of the papers. Each is a module ``cosched.<name>``.
FAMILIES = ("packs", "dags", "cluster", "moldable", "bags")


@dataclass(frozen=True)
class Argument:
    """An argument of ``Instance.read`` that the command line offers as an option."""

    flag: str  # "--max-tasks"
    keyword: str  # "max_tasks"
    help: str
    parse: Callable[[str], Any] = int
    #: A comma-separated list makes several instances in ``compare`` (and a column).
    vary: bool = False


@dataclass(frozen=True)
class Output:
    """A file of the family's own that ``cosched solve`` writes on request."""

    flag: str  # "--jobs"
    keyword: str  # "jobs"
    help: str
    #: ``write(result, path)``.
    write: Callable[[Any, Path], None]
    suffixes: tuple[str, ...] = (".csv",)
    #: What the algorithm needs to be told for it, e.g. ``{"log": True}``.
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Family:
    """A family of algorithms for one kind of instance.

    ``algorithms`` and ``bounds`` map public names to functions:
    ``algorithm(instance, *, seed, **options) -> Result or Schedule``,
    ``bound(instance, **options) -> Bound``.
    """

    name: str
    instance_type: type[Instance]
    schedule_type: type[Schedule]
    objective: str
    default_bound: str
    #: Makes a Result of a schedule that a registered algorithm or a file gives.
    result_of: Callable[..., Result]
    maximise: bool = False
    arguments: tuple[Argument, ...] = ()
    #: Files beside the schedule that ``cosched solve`` can write.
    outputs: tuple[Output, ...] = ()
    #: Pictures of a result, ``f(result, ax)``, that ``--plot`` draws one below the other; a Gantt
    #: chart of the schedule where there is none.
    panels: tuple[Callable[..., Any], ...] = ()
    #: Metrics that tables on the screen show (files have all); all of them where empty.
    screen: tuple[str, ...] = ()
    #: Seconds that ``cosched compare`` gives each algorithm unless told; None: no limit.
    patience: float | None = 10.0
    #: A file, its arguments and an algorithm: for the examples that ``--help`` shows.
    example: tuple[str, str, str] = ("FILE", "", "NAME")
    #: Names that ``compare`` takes by default for an instance.
    default_names: Callable[[Any], Sequence[str]] | None = None
    #: How names are spelled, where there are too many to list.
    spelling: str = ""
    #: The bound beside a result; the default bound where None.
    beside: Callable[[Any], Bound | None] | None = None
    #: What a name that is not in the table means (cluster: the policy grammar); None = nothing.
    resolve: Callable[[str], Algorithm | None] | None = None
    algorithms: dict[str, Algorithm] = field(default_factory=dict)
    bounds: dict[str, Callable[..., Bound]] = field(default_factory=dict)
    registered: set[str] = field(default_factory=set)

    def algorithm(self, name: str) -> Algorithm:
        """The function of that name; ValueError that lists near names otherwise."""
        found = self.algorithms.get(name)
        if found is None and self.resolve is not None and isinstance(name, str):
            found = self.resolve(name)
        return found if found is not None else _unknown("algorithm", self, name, self.algorithms)

    def solve(self, instance: Any, name: str, *, seed: int | None = None, **options: Any) -> Result:
        """Run one algorithm by its public name.

        Parameters
        ----------
        instance : Instance
        name : str
            A key of ``ALGORITHMS``.
        seed : int, optional
            Where there is chance; None means 0. ``result.seed`` says what was used.
        **options
            The algorithm's own options.

        Returns
        -------
        Result

        Raises
        ------
        ValueError
            Unknown name; the message lists near ones.
        TypeError
            An option that the algorithm does not take.
        InvalidInstance
            The algorithm does not apply to this instance, or an option's value is bad.
        """
        self._require_instance(instance)
        function = self.algorithm(name)
        used = seed_of(seed)
        accepted = _accepted_options(function)
        if accepted is not None:
            for option in options:
                if option not in accepted - {"seed"}:
                    taken = ", ".join(sorted(accepted - {"seed"})) or "none"
                    raise TypeError(
                        f"{self.name} {name}: unknown option {option!r} (options: {taken})"
                    )
        if accepted is None or "seed" in accepted:
            options["seed"] = used  # functions without chance do not take one
        return self.as_result(function(instance, **options), instance, name, used)

    def as_result(self, outcome: Any, instance: Any, name: str, seed: int) -> Result:
        """A Result under this name and seed from what an algorithm returned."""
        if isinstance(outcome, Schedule):
            outcome = self.result_of(instance, outcome)
        if not isinstance(outcome, Result):
            raise TypeError(
                f"{self.name} {name} returned {type(outcome).__name__}: expected Result or Schedule"
            )
        return replace(outcome, algorithm=name, seed=seed)

    def bound(self, instance: Any, name: str | None = None, **options: Any) -> Bound:
        """A proven bound on the optimum by its public name (None: the family's default).

        Raises
        ------
        ValueError
            Unknown name; the message lists near ones.
        TypeError
            An option that the bound does not take.
        """
        self._require_instance(instance)
        method = self.default_bound if name is None else name
        if method not in self.bounds:
            _unknown("bound", self, method, self.bounds)
        function = self.bounds[method]
        accepted = _accepted_options(function)
        unknown = [option for option in options if accepted is not None and option not in accepted]
        if unknown:
            raise TypeError(
                f"{self.name} bound {method}: unknown option {unknown[0]!r} "
                f"(options: {', '.join(sorted(accepted or ())) or 'none'})"
            )
        return function(instance, **options)

    def bound_beside(self, instance: Any) -> Bound | None:
        """The bound that stands beside every result of `instance`; computed once."""
        memo = instance._memo
        if "bound" not in memo:
            beside = self.beside or (lambda it: self.bound(it))
            memo["bound"] = beside(instance)
        return memo["bound"]

    def compare(
        self,
        instance: Any,
        names: Iterable[str] | None = None,
        *,
        seed: int | None = 0,
        time_limit: float | None = 10.0,
        options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> pd.DataFrame:
        """Run several algorithms; one's failure never loses the others.

        Parameters
        ----------
        instance : Instance
        names : iterable of str, optional
            Keys of ``ALGORITHMS``; by default those of ``DEFAULT_COMPARE`` that suit the size.
        seed : int
            Given to each algorithm.
        time_limit : float or None
            Seconds for each algorithm. One that can stop by itself returns its best so
            far; another is ended. None: no limit.
        options : mapping, optional
            Algorithm name -> its options.

        Returns
        -------
        pandas.DataFrame
            A row a name: ``algorithm, status (ok | time_limit | not_applicable | error),
            value, bound, gap, seconds``, then the metrics, then ``message`` (why a row has
            no value).
        """
        from cosched.core.compare import compare

        return compare(self, instance, names, seed, time_limit, options)

    def register(self, name: str, function: Algorithm) -> None:
        """Add one's own algorithm; see :func:`register`."""
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"algorithm name {shorten(name)}: expected a non-empty text")
        if name in self.algorithms and name not in self.registered:
            raise ValueError(f"{self.name} has a built-in algorithm {name!r}: choose another name")
        if not callable(function):
            raise TypeError(f"{name}: expected a function, got {type(function).__name__}")
        self.algorithms[name] = function
        self.registered.add(name)

    def _require_instance(self, instance: Any) -> None:
        if not isinstance(instance, self.instance_type):
            raise InvalidInstance(
                f"expected a cosched.{self.name}.Instance, got {type(instance).__name__}"
            )


def family(name: str) -> Family:
    """The family of that name; ValueError that lists near names otherwise."""
    if name not in FAMILIES:
        raise ValueError(_near("family", name, FAMILIES))
    return import_module(f"cosched.{name}").FAMILY


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
    TypeError
        `function` cannot be called.

    Examples
    --------
    >>> import cosched as cs
    >>> def one_by_one(instance, *, seed):
    ...     return cs.packs.sequential(instance).schedule
    >>> cs.register("packs", "one-by-one", one_by_one)
    >>> inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]])
    >>> cs.packs.solve(inst, "one-by-one").value
    4.0
    """
    family(family_name).register(name, function)


def _accepted_options(function: Callable[..., Any]) -> set[str] | None:
    """Parameters after the instance; None where the function takes any keyword."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}


def _near(what: str, name: Any, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=5, cutoff=0.4)
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    hint = f"near: {', '.join(near)}" if near else f"known: {shown}"
    return f"unknown {what} {shorten(name)} ({hint})"


def _unknown(what: str, of: Family, name: Any, known: Iterable[str]) -> Any:
    raise ValueError(_near(f"{of.name} {what}", name, known))
